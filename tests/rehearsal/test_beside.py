"""`ops/setup` in the project of an app doesn't change the app."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from ops import merging
from tests.rehearsal.app import (
    APP_RULES,
    DATABASE,
    OF_PROJECT,
    BesideRun,
    app_project,
    at_beside,
    merge,
)
from tests.rehearsal.conftest import ROOT, Operator, operating
from tests.rehearsal.fake_google import NUMBER, PROJECT, REGION

OURS: Final = (ROOT / "firestore.rules").read_text()
OPEN: Final = "match /{document=**} { allow read: if request.auth != null; }"
IDP: Final = f"projects/{PROJECT}/defaultSupportedIdpConfigs/google.com"
SITE: Final = f"{PROJECT}-photo-wall"
PUSHES: Final = (
    "iam.serviceAccountTokenCreator",
    f"serviceAccount:service-{NUMBER}@gcp-sa-pubsub.iam.gserviceaccount.com",
)


@pytest.fixture
def app(tmp_path: Path, rendered: str) -> Iterator[Operator]:
    """Yield an operator of the app's project."""
    with operating(app_project(), tmp_path, rendered) as operator:
        yield operator


@pytest.fixture
def beside(beside_run: BesideRun, tmp_path: Path, rendered: str) -> Iterator[Operator]:
    """Yield an operator of the app's project after `ops/setup`."""
    with at_beside(beside_run, tmp_path, rendered) as operator:
        yield operator


def test_the_app_is_unchanged(beside: Operator, beside_run: BesideRun) -> None:
    """Keep each resource of the app, and add only the service's roles."""
    before, after = app_project(), beside_run.google
    status, said, errors = beside_run.told
    assert (status, "Yours to merge: 3" in errors) == (1, True), said + errors
    assert "functions: api, onOrder" in said
    assert "rules for /orders/{id}, /users/{uid}/carts/{id}" in said
    assert "indexes and TTL policies: orders" in said
    assert "sign-in by anonymous" in said
    assert "pages at acme" in said
    assert {key: after.resources.get(key) for key in before.resources} == before.resources
    assert after.sign_in == before.sign_in
    [limited] = [binding for binding in before.policies[OF_PROJECT] if "condition" in binding]
    assert limited in after.policies[OF_PROJECT]
    for resource in before.policies:
        assert before.granted(resource) <= after.granted(resource)
        added = after.granted(resource) - before.granted(resource) - {PUSHES}
        assert all(member.startswith("serviceAccount:wall-") for _, member in added)
    assert PUSHES in after.granted(OF_PROJECT), "the deploy granted it, and triggers may need it"
    assert not any(change.startswith("DELETE") for change in after.changes)
    assert all("--config=firebase.acme.json" in command for command in beside_run.commands)

    assert "Everything is in place" not in beside.stopped("setup"), "manual steps remain"
    merge(beside)
    for script in ("check", "setup"):
        assert "Everything is in place." in beside.done(script)
        assert not beside.google.changes + beside.commands


def test_a_builder_without_its_role_stops_the_run(app: Operator) -> None:
    """Stop: new organizations grant the default account no role, and setup doesn't in an app."""
    app.google.policies[OF_PROJECT].pop(1)
    for script in ("check", "setup"):
        assert "Grant it the role cloudbuild.builds.builder" in app.stopped(script)
        assert not app.commands


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"documents": {"albums": []}}, "documents in albums"),
        ({"documents": {"users": []}}, "documents in users"),
        ({"sign_in": {"signIn": {"phoneNumber": {"enabled": True}}}}, "sign-in by phoneNumber"),
        ({"sign_in": {"signIn": {"email": {"enabled": True}}}}, "sign-in by email"),
        ({"appengine": "apps/acme/services/default"}, "services of App Engine: default"),
        ({"identitytoolkit": IDP}, "sign-in by google.com"),
        ({"run": f"{REGION}/services/backend"}, "services of Cloud Run: backend"),
    ],
)
def test_one_part_of_an_app_is_recognized(app: Operator, part: dict[str, Any], told: str) -> None:
    """Recognize an app by one service, provider or collection."""
    database = f"firestore {DATABASE}"
    app.google.resources = {database: app.google.resources[database]}
    app.google.apis["appengine.googleapis.com"] = -86_400.0
    app.google.sign_in, app.google.milli_cpu = None, 1
    assert "\n  none\n" in app.run("check")[1]
    for name, value in part.items():
        if name in ("documents", "sign_in"):
            setattr(app.google, name, value)
        else:
            app.google.resources[f"{name} {value}"] = {"name": value, "enabled": True}
    said = app.run("check")[1]
    assert (told in said, "The app stays unchanged" in said) == (True, True)
    assert "The app stays unchanged" not in app.run("setup", "--own")[1]


def test_an_unfinished_setup_is_not_an_app(operator: Operator) -> None:
    """Ignore the service's own sign-in and documents before the first deploy."""
    operator.google.milli_cpu = 1
    operator.run("setup")
    operator.google.documents["users"] = [{"email": {}}]
    assert "\n  none\n" in operator.run("setup")[1]


def test_a_separate_project_uses_the_default_site(operator: Operator) -> None:
    """Reject `--site` together with `--own`."""
    assert operator.run("setup", "--own", "--site=the-wall")[0] == 2


def test_the_pages_have_a_separate_site(app: Operator) -> None:
    """Configure the site with the app's web app."""
    app.google.milli_cpu = 1  # stops before the deploy
    app.run("setup", "--site=the-wall")
    site = app.google.resources[f"firebasehosting projects/{PROJECT}/sites/the-wall"]
    assert site["appId"] == "1:123456:web:app"
    config = json.loads((app.checkout / "firebase.acme.json").read_text())
    assert config["hosting"]["site"] == "the-wall"
    assert "rules" not in config["firestore"]
    assert app.google.names("sites") == {"the-wall", PROJECT}
    assert app.run("setup", "--own")[0] == 1


def test_the_apps_site_is_rejected(app: Operator) -> None:
    """Reject the app's site before any change, also as the URL of links."""
    assert "acme has pages of the app" in app.stopped("setup", f"--site={PROJECT}")
    (app.checkout / ".env.acme").write_text("PUBLIC_BASE_URL=https://acme.web.app\n")
    assert "PUBLIC_BASE_URL is a site of the app: acme.web.app" in app.stopped("setup")
    assert not app.google.changes + app.commands


def test_a_function_with_the_same_name_stops_the_setup(app: Operator) -> None:
    """Stop: firebase-tools would replace the app's function or queue."""
    for kind in (
        ("cloudfunctions", "functions/unsubscribe"),
        ("cloudtasks", "queues/deliverWebhook"),
    ):
        name = f"{REGION}/{kind[1]}"
        app.google.resources[f"{kind[0]} {name}"] = {"name": name, "state": "ACTIVE"}
    said = app.stopped("setup")
    assert "the app has a function unsubscribe" in said
    assert "the queue deliverWebhook does not belong to the service" in said
    assert not app.google.changes + app.commands
    app.google.milli_cpu = 1
    _, said, _ = app.run("setup", "--accept=unsubscribe", "--accept=deliverWebhook")
    assert "Google would reject" in said, "stops before the deploy"


def test_the_ttl_deletes_no_documents_of_the_app(app: Operator) -> None:
    """Stop if documents of the app have the TTL's field, for example pizza deliveries."""
    app.google.documents["deliveries"] = [{"expireAt": {}, "pizza": {}}, {"url": {}}]
    said = app.stopped("setup")
    assert "documents of the app have the field deliveries.expireAt" in said
    assert "would delete such documents" in said
    assert "documents of the app have the field deliveries.url" in said
    assert not app.google.changes + app.commands


def test_rules_of_the_app_that_expose_documents_are_reported(beside: Operator) -> None:
    """Test the rules at Google, because Firestore allows what any block allows."""
    opened = APP_RULES.replace("match /orders", f"{OPEN}\n    match /orders")
    merge(beside, merging.merged(opened, OURS))
    said = beside.stopped("check")
    opened = "the app's rules let a guest get, list events/eventId/secrets/webhooks"
    assert opened in said
    assert "let an admin of another tenant get, list recapMails/tenant" in said


def test_beside_treats_an_empty_project_as_an_apps_project(operator: Operator) -> None:
    """Deploy no rules with `--beside`, even without an app."""
    operator.google.milli_cpu = 1  # stops before the deploy
    _, said, _ = operator.run("setup", "--beside")
    assert f"The app stays unchanged. Pages of the service go to the site {SITE}." in said
    config = json.loads((operator.checkout / "firebase.acme.json").read_text())
    assert "rules" not in config["firestore"]


def test_a_separate_project_stays_separate(ready: Operator) -> None:
    """Ignore a brake, a manual index, and resources of earlier versions."""
    brake = f"{REGION}/functions/close-on-budget"
    ready.google.resources[f"cloudfunctions {brake}"] = {"name": brake, "state": "ACTIVE"}
    later = f"{REGION}/functions/deliverExtra"
    labels = {"firebase-functions-codebase": "photo-wall"}
    ready.google.resources |= {
        f"cloudfunctions {later}": {"name": later, "state": "ACTIVE", "labels": labels},
        f"run {REGION}/services/deliverextra": {"name": f"{REGION}/services/deliverextra"},
    }
    name = f"{DATABASE}/collectionGroups/photos/indexes/own"
    index = {"name": name, "queryScope": "COLLECTION", "fields": [], "state": "READY"}
    ready.google.resources[f"firestore {name}"] = index
    ready.done("setup")
    assert not ready.google.changes + ready.commands
    assert not (ready.checkout / "firebase.acme.json").exists()


def test_rules_are_merged_once() -> None:
    """Replace an earlier version. Ignore spaces, comments and the brake."""
    assert merging.merged("", OURS) == OURS
    earlier = merging.merged(APP_RULES, OURS.replace("isId", "isIdentifier"))
    assert not merging.is_merged(earlier, OURS)
    merged = merging.merged(earlier, OURS)
    assert merged == merging.merged(APP_RULES, OURS)
    assert merging.is_merged(merged.replace("    ", "\t") + "// end", OURS)
    assert merging.is_merged(
        merged.replace(
            "return true; // the brake is off",
            "return !exists(/databases/$(database)/documents/service/brake);",
        ),
        OURS,
    )
    assert not merging.is_merged(merged.replace("isSuperadminOf", "isStaffOf"), OURS)
    assert merging.foreign_paths(merged, OURS) == {"/orders/{id}", "/users/{uid}/carts/{id}"}
    assert merging.foreign_paths(OURS.replace("eventId", "id"), OURS) == set()
