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


def test_a_queue_and_a_caller_that_are_gone_come_back(ready: Operator) -> None:
    """`ops/check` names both; of the functions only the queue's is deployed again."""
    caller = f"run {REGION}/services/onphotowritten"
    before = ready.google.granted(caller)
    del ready.google.resources[f"cloudtasks {REGION}/queues/retryWebhookAfter5s"]
    ready.google.policies[caller] = []
    status, said, _ = ready.run("check")
    assert status == 1
    assert "no queue retryWebhookAfter5s" in said
    assert "onPhotoWritten may not be called by serviceAccount:wall-webhooks@" in said
    ready.done("setup")
    [deploy] = ready.commands
    assert "--only=functions:photo-wall:retryWebhookAfter5s " in deploy
    assert "retryWebhookAfter5s" in ready.google.names("queues")
    assert ready.google.granted(caller) == before
    ready.done("check")


def test_what_is_paused_or_broken_runs_again(ready: Operator) -> None:
    """A queue and a job are resumed; a function that failed is deployed."""
    resources = ready.google.resources
    resources[f"cloudtasks {REGION}/queues/deliverWebhook"]["state"] = "PAUSED"
    job = f"cloudscheduler {REGION}/jobs/firebase-schedule-sweepDeliveries-us-central1"
    resources[job]["state"] = "PAUSED"
    resources[f"cloudfunctions {REGION}/functions/mailEvents"]["state"] = "FAILED"
    ready.done("setup")
    [deploy] = ready.commands
    assert "--only=functions:photo-wall:mailEvents " in deploy
    ready.done("check")


def test_a_deploy_that_goes_on_failing_is_told(ready: Operator) -> None:
    """A deploy that fails for ten minutes is told."""
    del ready.google.resources[f"cloudtasks {REGION}/queues/deliverWebhook"]
    tools = ready.checkout / "emulator/node_modules"
    tools.unlink()
    (tools / ".bin").mkdir(parents=True)
    (tools / ".bin/firebase").symlink_to(ready.machine / "bin/firebase")  # always fails
    status, said, errors = ready.run("setup")
    assert status == 1
    assert "no queue deliverWebhook" in said
    assert "Not everything could be deployed" in errors
    assert ready.slept == 600
