"""The whole way, against a stand-in that refuses what Google refuses: set up, deploy, apply, check.

The programs, the APIs and the waits are stand-ins; scripts, manifest, indexes and alerts are real.
"""

from tests.rehearsal.conftest import FirstRun, Operator
from tests.rehearsal.fake_google import REGION


def test_an_empty_project_comes_to_have_everything(first_run: FirstRun, ready: Operator) -> None:
    """APIs, accounts, metrics and Eventarc are new; a second time nothing is changed."""
    assert "has not been used before. Trying again in" in first_run.said, "an API is young"
    assert "does not exist. Trying again in" in first_run.said, "an account is young"
    assert "no trigger calls onPhotoWritten" in first_run.said, "Eventarc is not ready at first"
    ready.done("apply", "--email=ops@example.com", "--budget=50")
    for script in ("check", "setup", "apply"):
        assert "Everything is" in ready.done(script)
        assert not ready.google.changes + ready.commands


def test_a_deploy_that_goes_on_failing_is_told(ready: Operator) -> None:
    """A deploy that fails for ten minutes is told."""
    del ready.google.resources[f"cloudtasks {REGION}/queues/deliverWebhook"]
    tools = ready.checkout / "emulator/node_modules"
    tools.unlink()
    (tools / ".bin").mkdir(parents=True)
    (tools / ".bin/firebase").symlink_to(ready.machine / "bin/firebase")  # always fails
    said = ready.stopped("setup")
    assert "no queue deliverWebhook" in said
    assert "Not everything could be deployed" in said
    assert ready.slept == 600
