"""`ops/setup` in a project that an app lives in: nothing of the app is changed."""

import copy
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from ops import merging
from ops.wanted import APIS
from tests.unit.ops.conftest import ROOT, Operator, operating
from tests.unit.ops.fake_google import BUILD_SECONDS, BUILDER, PROJECT, REGION, FakeGoogle

OURS: Final = (ROOT / "firestore.rules").read_text()
APP_RULES: Final = (Path(__file__).parent / "app.rules").read_text()
OPEN: Final = "match /{document=**} { allow read: if request.auth != null; }"
OF_PROJECT: Final = f"cloudresourcemanager projects/{PROJECT}"
DATABASE: Final = f"projects/{PROJECT}/databases/(default)"
OWNER: Final = "user:owner@example.com"
SITE: Final = f"{PROJECT}-photo-wall"
SIGN_IN: Final[dict[str, Any]] = {
    "signIn": {"email": {"enabled": True}},
    "authorizedDomains": ["localhost", "acme.web.app", "wall.events"],
}


def _app() -> FakeGoogle:
    """A project with an app that was deployed a year ago."""
    google = FakeGoogle()
    long_ago = -365 * 86_400.0
    google.now = long_ago
    google.has_firebase = True
    google.apis = dict.fromkeys(APIS, long_ago)
    europe = f"projects/{PROJECT}/locations/europe-west1"
    groups = f"{DATABASE}/collectionGroups"
    order = {"fieldPath": "at", "order": "ASCENDING"}
    there: dict[str, dict[str, Any]] = {
        f"firestore {DATABASE}": {"type": "FIRESTORE_NATIVE", "locationId": "eur3"},
        f"firestore {groups}/orders/indexes/i1": {
            "queryScope": "COLLECTION",
            "fields": [{"fieldPath": "paid", "order": "ASCENDING"}, order],
            "state": "READY",
        },
        f"firestore {groups}/sessions/fields/endsAt": {"ttlConfig": {"state": "ACTIVE"}},
        f"cloudfunctions {REGION}/functions/onOrder": {"state": "ACTIVE"},
        f"cloudfunctions {europe}/functions/api": {"state": "ACTIVE", "environment": "GEN_1"},
        f"run {REGION}/services/onorder": {},
        f"cloudtasks {REGION}/queues/sendPush": {"state": "PAUSED"},
        f"cloudscheduler {REGION}/jobs/nightly": {"state": "PAUSED"},
        f"eventarc {REGION}/triggers/onorder-1": {
            "destination": {"cloudFunction": f"{REGION}/functions/onOrder"}
        },
        f"artifactregistry {REGION}/repositories/gcf-artifacts": {
            "cleanupPolicies": {"own": {"action": "KEEP"}}
        },
        f"secretmanager projects/{PROJECT}/secrets/STRIPE_KEY": {},
        f"firebase projects/{PROJECT}/webApps/0": {"appId": "1:123456:web:app"},
        f"firebasehosting projects/{PROJECT}/sites/{PROJECT}": {"type": "DEFAULT_SITE"},
        f"firebasehosting projects/{PROJECT}/sites/{PROJECT}/releases/r1": {},
        f"firebaserules projects/{PROJECT}/rulesets/app": {
            "source": {"files": [{"name": "firestore.rules", "content": APP_RULES}]}
        },
        f"firebaserules projects/{PROJECT}/releases/cloud.firestore": {
            "rulesetName": f"projects/{PROJECT}/rulesets/app"
        },
    }
    google.resources = {
        key: {"name": key.partition(" ")[2], **resource} for key, resource in there.items()
    }
    google.policies = {
        OF_PROJECT: [
            {"role": "roles/owner", "members": [OWNER]},
            {"role": "roles/editor", "members": [BUILDER]},
            {"role": "roles/viewer", "members": [OWNER], "condition": {"title": "until May"}},
        ],
        f"run {REGION}/services/onorder": [{"role": "roles/run.invoker", "members": [BUILDER]}],
    }
    google.sign_in = {
        "signIn": {"anonymous": {"enabled": True}},
        "authorizedDomains": ["localhost", "acme.web.app"],
    }
    google.now = 0.0
    return google


@pytest.fixture
def app(tmp_path: Path, rendered: str) -> Iterator[Operator]:
    """At the project of the app."""
    with operating(_app(), tmp_path, rendered) as operator:
        yield operator


def _merge(operator: Operator, rules: str | None = None) -> None:
    """What the app's developers do: they deploy the merged rules, and mend the sign-in."""
    text = rules or (operator.checkout / f"firestore.{PROJECT}.rules").read_text()
    resources = operator.google.resources
    ruleset = f"projects/{PROJECT}/rulesets/merged"
    files = [{"name": "firestore.rules", "content": text}]
    resources[f"firebaserules {ruleset}"] = {"name": ruleset, "source": {"files": files}}
    resources[f"firebaserules projects/{PROJECT}/releases/cloud.firestore"]["rulesetName"] = ruleset
    operator.google.sign_in = SIGN_IN


def test_everything_of_the_app_stays(app: Operator) -> None:
    """Resource by resource; of roles, ours are added and none is taken."""
    before = copy.deepcopy(app.google)
    status, said, errors = app.run("setup")
    assert (status, "Yours to merge: 3" in errors) == (1, True), said + errors
    assert "functions: api, onOrder" in said
    assert "rules for /orders/{id}, /users/{uid}/carts/{id}" in said
    assert "indexes and TTL policies: 2" in said
    assert "pages at acme" in said
    after = app.google
    assert {key: after.resources.get(key) for key in before.resources} == before.resources
    assert after.sign_in == before.sign_in
    [limited] = [binding for binding in before.policies[OF_PROJECT] if "condition" in binding]
    assert limited in after.policies[OF_PROJECT]
    for resource in before.policies:
        assert before.granted(resource) <= after.granted(resource)
        added = {member for _, member in after.granted(resource) - before.granted(resource)}
        assert all(member.startswith("serviceAccount:wall-") for member in added)
    assert not any(change.startswith("DELETE") for change in after.changes)
    assert all("--config=firebase.acme.json" in command for command in app.commands)

    _merge(app)
    app.google.sleep(BUILD_SECONDS)
    for script in ("check", "setup"):
        assert "Everything is there." in app.done(script)
        assert not app.google.changes + app.commands


def test_the_page_is_followed(app: Operator) -> None:
    """docs/into-your-project.md, command by command; a later deploy of everything too."""
    page = (ROOT / "docs/into-your-project.md").read_text().replace("$PROJECT", PROJECT)
    marked = re.findall(r"^```([\w ]*)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    blocks = "".join(block for language, block in marked if not language)
    commands = {line.split()[0]: shlex.split(line, comments=True) for line in blocks.splitlines()}
    before = copy.deepcopy(app.google)
    assert app.run("setup", *commands["ops/setup"][2:])[0] == 1
    _merge(app)
    app.google.sleep(BUILD_SECONDS)
    assert '`ops/check "acme"`' in page
    app.done("check")
    merged = copy.deepcopy(app.google)
    assert app.start(commands["firebase"]) == 0
    app.done("check")
    rules = "firebaserules projects/acme/releases/cloud.firestore"
    assert app.google.resources[rules] == merged.resources[rules]
    kept = {key: one for key, one in before.resources.items() if key != rules}
    assert {key: app.google.resources.get(key) for key in kept} == kept
    assert app.google.policies == merged.policies


def test_our_pages_have_a_site_of_their_own(app: Operator) -> None:
    """Which knows the app's web app, and so how people sign in."""
    app.run("setup", "--site=the-wall")
    site = app.google.resources[f"firebasehosting projects/{PROJECT}/sites/the-wall"]
    assert site["appId"] == "1:123456:web:app"
    config = json.loads((app.checkout / "firebase.acme.json").read_text())
    assert config["hosting"]["site"] == "the-wall"
    assert "rules" not in config["firestore"]
    assert app.google.names("sites") == {"the-wall", PROJECT}
    assert app.run("setup", "--own")[0] == 1


def test_the_apps_own_site_is_refused(app: Operator) -> None:
    """Before anything is made."""
    status, said, _ = app.run("setup", f"--site={PROJECT}")
    assert (status, "acme has pages of the app" in said) == (1, True)
    assert not app.google.changes + app.commands


def test_a_function_of_the_same_name_stops_it(app: Operator) -> None:
    """firebase-tools would replace it, whatever its codebase; a queue of the name as well."""
    for kind in (
        ("cloudfunctions", "functions/unsubscribe"),
        ("cloudtasks", "queues/deliverWebhook"),
    ):
        name = f"{REGION}/{kind[1]}"
        app.google.resources[f"{kind[0]} {name}"] = {"name": name, "state": "ACTIVE"}
    status, said, _ = app.run("setup")
    assert status == 1
    assert "the app has a function unsubscribe" in said
    assert "there is a queue deliverWebhook without our function" in said
    assert not app.google.changes + app.commands
    _, said, _ = app.run("setup", "--accept=unsubscribe", "--accept=deliverWebhook")
    assert app.commands


def test_documents_of_the_app_are_not_deleted_by_our_ttl(app: Operator) -> None:
    """`deliveries` may be those of a pizza service."""
    app.google.documents["deliveries"] = [{"expireAt": {}, "pizza": {}}, {"url": {}}]
    status, said, _ = app.run("setup")
    assert status == 1
    assert "documents of the app have the field deliveries.expireAt" in said
    assert "would delete such documents" in said
    assert "documents of the app have the field deliveries.url" in said
    assert not app.google.changes + app.commands


def test_rules_of_the_app_that_open_ours_are_told(app: Operator) -> None:
    """Firestore allows what any block allows; Google itself is asked."""
    app.run("setup")
    _merge(
        app, merging.merged(APP_RULES.replace("match /orders", f"{OPEN}\n    match /orders"), OURS)
    )
    app.google.sleep(BUILD_SECONDS)
    status, said, _ = app.run("check")
    assert status == 1
    assert "the app's own rules open events/…/secrets/webhooks to every guest" in said


@pytest.mark.parametrize("arguments", [[], ["--beside"]])
def test_an_empty_project_is_ones_own(operator: Operator, arguments: list[str]) -> None:
    """Unless the operator says otherwise; then no rules are deployed."""
    assert operator.run("setup", *arguments)[0] == len(arguments)
    deployed = "firebaserules projects/acme/releases/cloud.firestore" in operator.google.resources
    assert deployed is not bool(arguments)


def test_a_project_of_our_own_stays_one(ready: Operator) -> None:
    """With the brake on the budget, an index that somebody added, and an earlier file of rules."""
    brake = f"{REGION}/functions/close-on-budget"
    ready.google.resources[f"cloudfunctions {brake}"] = {"name": brake, "state": "ACTIVE"}
    name = f"{DATABASE}/collectionGroups/photos/indexes/own"
    index = {"name": name, "queryScope": "COLLECTION", "fields": [], "state": "READY"}
    ready.google.resources[f"firestore {name}"] = index
    ready.done("setup")
    assert not ready.google.changes + ready.commands
    assert not (ready.checkout / "firebase.acme.json").exists()


def test_rules_are_merged_once() -> None:
    """A later version replaces an earlier one; spaces, comments and the brake do not count."""
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
    assert merging.foreign_paths(OURS, OURS) == set()
