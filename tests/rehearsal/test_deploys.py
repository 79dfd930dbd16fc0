"""One checkout through its life: deployed, deployed again, upgraded, rolled back, by `ops/deploy`.

Beside an app, with an `.env` that differs from the repository's in every parameter.
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
    """Functions by their names."""
    return {
        key.rpartition("/")[2]: function
        for key, function in google.resources.items()
        if key.startswith(f"{FUNCTIONS}/")
    }


def changed_functions(operator: Operator) -> set[str]:
    """Calls of the last run that made, changed or deleted a function: method and name."""
    calls = [change.split() for change in operator.google.changes]
    return {f"{method} {path.rpartition('/')[2]}" for method, api, path in calls if api == API}


API: Final = "cloudfunctions"


def releases(google: FakeGoogle) -> list[dict[str, Any]]:
    """Releases of our pages, the oldest first."""
    path = f"firebasehosting projects/{PROJECT}/sites/{PROJECT}-photo-wall/releases/"
    return [release for key, release in google.resources.items() if key.startswith(path)]


@pytest.fixture(scope="module")
def life(
    beside_run: BesideRun, rendered: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Operator]:
    """After `ops/setup` and the merge; the tests follow each other."""
    with at_beside(beside_run, tmp_path_factory.mktemp("life"), rendered) as operator:
        merge(operator)
        operator.done("check")
        yield operator


def test_the_first_deploy_is_as_the_settings_have_it(life: Operator) -> None:
    """Each parameter reaches the functions: environment, instances, accounts, connector, queues."""
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


def test_the_pages_lead_to_services_of_cloud_run(life: Operator) -> None:
    """`/unsubscribe` and both `/api` paths lead to services of Cloud Run."""
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
    """The pages are released; what Hosting remembers in the checkout is no source of functions.

    So end the commands of docs/into-your-project.md, of which the fixture has followed the first.
    """
    before = len(releases(life.google))
    assert (life.checkout / ".firebase").exists()
    lines = [line for line in commands_of("docs/into-your-project.md") if "ops/adopt" not in line]
    assert [line.split()[0] for line in lines] == ["ops/setup", "ops/deploy"]
    assert life.follow(lines[-1]) == 0, life.said
    assert changed_functions(life) == set()
    assert len(releases(life.google)) == before + 1


def test_an_upgrade_adds_a_trigger_and_a_queue(life: Operator) -> None:
    """A new failure policy and a project without a policy for old images do not stop it."""
    main = life.checkout / "main.py"
    text = main.read_text()
    main.write_text(text.replace("\ngc.freeze()", f"{UPGRADE}\n\ngc.freeze()"))
    before = len(releases(life.google))
    path = f"artifactregistry {REGION}/repositories/gcf-artifacts"
    images = life.google.resources[path]
    life.google.resources[path] = {"name": images["name"]}
    life.done("deploy")
    assert not life.google.resources[path]["cleanupPolicies"], "it is the app's to decide"
    life.google.resources[path] = images
    assert {"POST functions"} < changed_functions(life)
    assert {"onExtraWritten", "deliverExtra"} < deployed(life.google).keys()
    assert f"cloudtasks {REGION}/queues/deliverExtra" in life.google.resources
    assert f"eventarc {REGION}/triggers/onextrawritten-1" in life.google.resources
    assert len(releases(life.google)) == before + 1
    life.done("check")


def test_a_roll_back_leaves_functions_until_they_are_let_go(life: Operator) -> None:
    """`--delete` deletes them; the queue keeps its name, so that the upgrade may come again."""
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
    """After all these deploys the app is as it was."""
    before = app_project()
    rules = "firebaserules projects/acme/releases/cloud.firestore"
    kept = {key: resource for key, resource in before.resources.items() if key != rules}
    assert {key: life.google.resources.get(key) for key in kept} == kept
    for resource in before.policies:
        assert before.granted(resource) <= life.google.granted(resource)


def test_a_deploy_without_a_set_up_says_so_at_once(operator: Operator) -> None:
    """A deploy of a project without a set-up uploads nothing."""
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
    # No function has that name: firebase-tools end after they have looked for it.
    operator.start([*deploy, "--only=functions:photo-wall:none"])
    assert "Cannot check whether ops/setup ran in acme: Sign in first" in operator.said
    assert "preparing codebase photo-wall" in operator.said
    assert google.sources == []


@pytest.mark.parametrize("page", SCRIPTS)
def test_the_commands_of_a_page_are_run(ready: Operator, page: str) -> None:
    """Each line of a page that starts a script works, in the order of the page."""
    rules = ready.checkout / "firestore.rules"
    lines = commands_of(page)
    assert {line.split()[0] for line in lines} >= SCRIPTS[page]
    for line in lines:
        if "ops/brake" in line and braking.OFF in rules.read_text():
            rules.write_text(rules.read_text().replace(braking.OFF, braking.ON))
            assert ready.follow(line) == 1, "the deployed rules have no brake yet"
            ready.done("deploy")
        assert ready.follow(line) == 0, line + ready.said
