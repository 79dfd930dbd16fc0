"""`ops/deploy`: a first deploy, a repeated deploy, an upgrade and a rollback of one checkout.

In an app's project, with an `.env` that differs from the repository's in every parameter.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from ops import braking
from ops.wanted import APIS, manifest, settings_of
from tests.rehearsal.app import BesideRun, app_project, at_beside, merge
from tests.rehearsal.conftest import ROOT, Operator, commands_of
from tests.rehearsal.fake_google import PROJECT, REGION, FakeGoogle
from tools import env_file

SCRIPTS: Final = {
    "README.md": {"ops/setup", "ops/check", "ops/apply"},
    "docs/operations.md": {"ops/deploy", "ops/staff", "ops/apply", "ops/brake"},
}
UPGRADE: Final = '''

@trigger
@firestore_fn.on_document_written(document="extras/{id}", **_TRIGGER)
def onExtraWritten(event: Any) -> None:
    """A trigger of a later version."""


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(**_worker(instances=1, at_once=10, backoff_seconds=1))
def deliverExtra(request: https_fn.CallableRequest[Any]) -> None:
    """A queue of a later version."""
'''
FUNCTIONS: Final = f"cloudfunctions {REGION}/functions"


def deployed(google: FakeGoogle) -> dict[str, Any]:
    """Return functions by name."""
    return {
        key.rpartition("/")[2]: function
        for key, function in google.resources.items()
        if key.startswith(f"{FUNCTIONS}/")
    }


def changed_functions(operator: Operator) -> set[str]:
    """Return method and name of the calls that changed a function in the last run."""
    calls = [change.split() for change in operator.google.changes]
    return {f"{method} {path.rpartition('/')[2]}" for method, api, path in calls if api == API}


API: Final = "cloudfunctions"


def releases(google: FakeGoogle) -> list[dict[str, Any]]:
    """Return the releases of the pages, oldest first."""
    path = f"firebasehosting projects/{PROJECT}/sites/{PROJECT}-photo-wall/releases/"
    return [release for key, release in google.resources.items() if key.startswith(path)]


@pytest.fixture(scope="module")
def life(
    beside_run: BesideRun, rendered: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Operator]:
    """Yield an operator after `ops/setup` and the merge. The tests depend on their order."""
    with at_beside(beside_run, tmp_path_factory.mktemp("life"), rendered) as operator:
        merge(operator)
        operator.done("check")
        yield operator


def test_the_first_deploy_matches_the_settings(life: Operator) -> None:
    """Check each parameter: environment, instances, accounts, connector, queues."""
    settings = settings_of(life.checkout, PROJECT)
    defaults = env_file.read(ROOT / ".env")
    assert settings.keys() == defaults.keys()
    assert [name for name in settings if settings[name] == defaults[name]] == []
    endpoints = manifest(life.checkout, settings)["endpoints"]
    functions = deployed(life.google)
    assert functions.keys() == {*endpoints, "onOrder"}
    for name, endpoint in endpoints.items():
        service = functions[name]["serviceConfig"]
        assert settings.items() <= service["environmentVariables"].items()
        assert service["maxInstanceRequestConcurrency"] == endpoint["concurrency"]
        assert service["serviceAccountEmail"].startswith("wall-")
        assert life.google.granted(f"run {REGION}/services/{name.lower()}")
    assert functions["deliverWebhook"]["serviceConfig"]["maxInstanceCount"] == 4
    post = functions["deliverWebhook"]["serviceConfig"]
    assert post["vpcConnector"] == f"{REGION}/connectors/other-connector"
    assert post["vpcConnectorEgressSettings"] == "ALL_TRAFFIC"
    trigger = functions["onPhotoWritten"]["eventTrigger"]
    assert trigger["retryPolicy"] == "RETRY_POLICY_RETRY"
    assert trigger["serviceAccountEmail"] == "wall-webhooks@acme.iam.gserviceaccount.com"
    queue = life.google.resources[f"cloudtasks {REGION}/queues/deliverWebhook"]
    assert queue["rateLimits"]["maxConcurrentDispatches"] == 4 * 120
    assert "api" not in functions


def test_the_pages_are_rewritten_to_cloud_run_services(life: Operator) -> None:
    """Check `/unsubscribe` and both `/api` paths."""
    rewrites = releases(life.google)[-1]["version"]["config"]["rewrites"]
    paths = ("/api/getEmailPreferences", "/api/updateEmailPreferences", "/unsubscribe")
    assert rewrites == [
        {
            "glob": path,
            "run": {"serviceId": path.rpartition("/")[2].lower(), "region": "us-central1"},
        }
        for path in paths
    ]


def test_the_same_commit_again_changes_no_function(life: Operator) -> None:
    """Release the pages. Hosting's cache in the checkout is not part of the functions' source.

    These are the last commands of docs/into-your-project.md. The fixture has run the first.
    """
    before = len(releases(life.google))
    assert (life.checkout / ".firebase").exists()
    lines = [line for line in commands_of("docs/into-your-project.md") if "ops/adopt" not in line]
    assert [line.split()[0] for line in lines] == ["ops/setup", "ops/deploy"]
    assert life.follow(lines[-1]) == 0, life.said
    assert changed_functions(life) == set()
    assert len(releases(life.google)) == before + 1


def test_an_upgrade_adds_a_trigger_and_a_queue(life: Operator) -> None:
    """Deploy with a new failure policy, and in a project without a policy for old images."""
    main = life.checkout / "main.py"
    text = main.read_text()
    main.write_text(text.replace("\ngc.freeze()", f"{UPGRADE}\n\ngc.freeze()"))
    before = len(releases(life.google))
    path = f"artifactregistry {REGION}/repositories/gcf-artifacts"
    images = life.google.resources[path]
    life.google.resources[path] = {"name": images["name"]}
    life.done("deploy")
    assert not life.google.resources[path]["cleanupPolicies"], "the app's developers decide"
    life.google.resources[path] = images
    assert {"POST functions"} < changed_functions(life)
    assert {"onExtraWritten", "deliverExtra"} < deployed(life.google).keys()
    assert f"cloudtasks {REGION}/queues/deliverExtra" in life.google.resources
    assert f"eventarc {REGION}/triggers/onextrawritten-1" in life.google.resources
    assert len(releases(life.google)) == before + 1
    life.done("check")


def test_a_rollback_keeps_new_functions_until_delete(life: Operator) -> None:
    """Delete them with `--delete`. The queue keeps its name for a later upgrade."""
    main = life.checkout / "main.py"
    later = main.read_text()
    main.write_text(later.replace(UPGRADE, ""))
    said = life.done("deploy")
    assert "main.py no longer has deliverExtra, onExtraWritten" in said
    assert "deliverExtra" in deployed(life.google)
    life.done("deploy", "--delete")
    assert {"DELETE deliverExtra", "DELETE onExtraWritten"} <= changed_functions(life)
    assert deployed(life.google).keys() & {"deliverExtra", "onExtraWritten"} == set()
    assert f"cloudtasks {REGION}/queues/deliverExtra" in life.google.resources

    main.write_text(later)
    life.done("deploy")
    assert {"onExtraWritten", "deliverExtra"} < deployed(life.google).keys()
    life.done("check")


def test_nothing_of_the_app_was_changed(life: Operator) -> None:
    """Compare the app after all deploys."""
    before = app_project()
    rules = "firebaserules projects/acme/releases/cloud.firestore"
    kept = {key: resource for key, resource in before.resources.items() if key != rules}
    assert {key: life.google.resources.get(key) for key in kept} == kept
    for resource in before.policies:
        assert before.granted(resource) <= life.google.granted(resource)


def test_a_deploy_without_a_setup_stops_at_once(operator: Operator) -> None:
    """Upload nothing."""
    google = operator.google
    google.now, google.has_firebase = 10_000.0, True
    google.apis = dict.fromkeys(APIS, 0.0)
    deploy = [str(operator.checkout / "emulator/node_modules/.bin/firebase"), "deploy"]
    deploy += ["--non-interactive", f"--project={PROJECT}"]
    assert operator.start([*deploy, "--only=functions"]).returncode != 0
    assert "The project acme is not set up. Run ops/setup acme first." in operator.said
    assert google.sources == []
    (operator.machine / "bin/gcloud").write_text("#!/bin/sh\nexit 1\n")
    operator.said = ""
    # No function has this name, so firebase-tools ends after its search.
    operator.start([*deploy, "--only=functions:photo-wall:none"])
    assert "Cannot check whether ops/setup ran in acme: Sign in first" in operator.said
    assert "preparing codebase photo-wall" in operator.said
    assert google.sources == []


@pytest.mark.parametrize("page", SCRIPTS)
def test_the_commands_of_a_page_work(ready: Operator, page: str) -> None:
    """Run each documented command in the order of the page."""
    rules = ready.checkout / "firestore.rules"
    lines = commands_of(page)
    assert {line.split()[0] for line in lines} >= SCRIPTS[page]
    for line in lines:
        if "ops/brake" in line and braking.OFF in rules.read_text():
            rules.write_text(rules.read_text().replace(braking.OFF, braking.ON))
            assert ready.follow(line) == 1, "the deployed rules have no brake"
            ready.done("deploy")
        assert ready.follow(line) == 0, line + ready.said
