"""A project with an existing app, and the setup of the service in it."""

import copy
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from functions.parameters import DECLARED
from ops.wanted import APIS
from tests.rehearsal.conftest import Operator, commands_of, operating
from tests.rehearsal.fake_google import BUILD_SECONDS, BUILDER, PROJECT, REGION, FakeGoogle
from tools.generate import written

APP_RULES: Final = (Path(__file__).parent / "app.rules").read_text()
OF_PROJECT: Final = f"cloudresourcemanager projects/{PROJECT}"
DATABASE: Final = f"projects/{PROJECT}/databases/(default)"
OWNER: Final = "user:owner@example.com"
SIGN_IN: Final[dict[str, Any]] = {
    "signIn": {"email": {"enabled": True}},
    "authorizedDomains": ["localhost", "acme.web.app", "photos.wall.events"],
}


def app_project() -> FakeGoogle:
    """Return a project with an app that was deployed a year ago."""
    google = FakeGoogle()
    long_ago = -365 * 86_400.0
    google.now = long_ago
    google.has_firebase = True
    google.apis = dict.fromkeys(APIS, long_ago)
    europe = f"projects/{PROJECT}/locations/europe-west1"
    groups = f"{DATABASE}/collectionGroups"
    order = {"fieldPath": "at", "order": "ASCENDING"}
    google.resources = _resources("eur3", APP_RULES) | {
        f"firestore {groups}/orders/indexes/i1": {
            "queryScope": "COLLECTION",
            "fields": [
                {"fieldPath": "paid", "order": "ASCENDING"},
                order,
                {"fieldPath": "__name__", "order": "ASCENDING"},
            ],
            "state": "READY",
        },
        f"firestore {groups}/sessions/fields/endsAt": {
            "ttlConfig": {"state": "ACTIVE"},
            "indexConfig": {"indexes": []},
        },
        f"cloudfunctions {REGION}/functions/onOrder": {
            "state": "ACTIVE",
            "labels": {"deployment-tool": "cli-firebase"},
            "buildConfig": {"runtime": "nodejs22", "entryPoint": "onOrder"},
            "serviceConfig": {"service": f"{REGION}/services/onorder", "availableMemory": "256Mi"},
            "eventTrigger": {
                "eventType": "google.cloud.firestore.document.v1.written",
                "eventFilters": [{"attribute": "document", "value": "orders/{id}"}],
                "retryPolicy": "RETRY_POLICY_RETRY",
            },
        },
        f"cloudfunctions {europe}/functions/api": {
            "state": "ACTIVE",
            "labels": {"deployment-tool": "cli-firebase"},
            "buildConfig": {"runtime": "nodejs22", "entryPoint": "api"},
            "serviceConfig": {"service": f"{europe}/services/api", "availableMemory": "256Mi"},
        },
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
    }
    _name_each(google)
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


LOCKED: Final = """\
rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    match /{document=**} {
      allow read, write: if false;
    }
  }
}
"""


def _resources(place: str, rules: str) -> dict[str, dict[str, Any]]:
    """Return a database with rules."""
    database = {"type": "FIRESTORE_NATIVE", "databaseEdition": "STANDARD", "locationId": place}
    return {f"firestore {DATABASE}": database} | _rules("app", rules)


def _rules(name: str, text: str) -> dict[str, dict[str, Any]]:
    """Return a ruleset and its release."""
    ruleset = f"projects/{PROJECT}/rulesets/{name}"
    release = f"projects/{PROJECT}/releases/cloud.firestore"
    files = [{"name": "firestore.rules", "content": text}]
    return {
        f"firebaserules {ruleset}": {"name": ruleset, "source": {"files": files}},
        f"firebaserules {release}": {"name": release, "rulesetName": ruleset},
    }


def _name_each(google: FakeGoogle) -> None:
    for key, resource in google.resources.items():
        resource.setdefault("name", key.partition(" ")[2])


SETTINGS: Final = """
export MAIL_FROM="Other <other@wall.events>"  # quoted, with a comment
MAIL_REPLY_TO='answers@wall.events'
MAIL_ADDRESS_LINE="1 Main Street, Springfield"
PUBLIC_BASE_URL=https://photos.wall.events
MAIL_URL=smtp://other%40wall.events@smtp.wall.events:587
SENDGRID_HOST=https://api.eu.sendgrid.com
SENDGRID_WEBHOOK_KEY=MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
TRUSTED_PROXY_HOPS=1
PHOTO_HOSTS=project,photos.wall.events
RECAP_MAILS_PER_DAY=30000
STAFF_CALLS_AN_HOUR=70
PUBLIC_WALL=true
DELIVERY_INSTANCES=4
VPC_CONNECTOR=other-connector
THREADS=200
MALLOC_ARENA_MAX=2
OPENSSL_CONF=other.cnf
"""


def _other_settings() -> str:
    """Return lines for the parameters that `SETTINGS` does not have, with other values."""
    others = [each for each in DECLARED.values() if f"{each.name}=" not in SETTINGS]
    return "".join(f"{each.name}={written(_other_value(each.default))}\n" for each in others)


def _other_value(default: Any) -> Any:
    """Return a value of the same type."""
    if isinstance(default, bool):
        return not default
    return default + (1 if isinstance(default, int) else "other")


@dataclass(frozen=True)
class BesideRun:
    """The result of `ops/setup` in the app's project: resources, output, commands, checkout."""

    google: FakeGoogle
    told: tuple[int, str, str]
    commands: list[str]
    checkout: Path


def set_up(folder: Path, manifest_text: str) -> BesideRun:
    """Run the first command of docs/into-your-project.md with other settings than the defaults."""
    [setup, *_] = commands_of("docs/into-your-project.md")
    arguments = shlex.split(setup.replace("$PROJECT", PROJECT), comments=True)[2:]
    with operating(app_project(), folder, manifest_text) as operator:
        (operator.checkout / ".env").write_text(SETTINGS + _other_settings())
        (operator.checkout / "manifest.json").unlink()  # rendered with these settings
        operator.google.milli_cpu = 40_000
        told = operator.run("setup", *arguments)
        return BesideRun(operator.google, told, operator.commands, operator.checkout)


@contextmanager
def at_beside(run: BesideRun, folder: Path, manifest_text: str) -> Iterator[Operator]:
    """Yield an operator of the project after that run. All indexes are built."""
    with operating(copy.deepcopy(run.google), folder, manifest_text) as operator:
        operator.google.sleep(BUILD_SECONDS)
        for name in (".env", f"firestore.{PROJECT}.rules", f"firebase.{PROJECT}.json"):
            shutil.copy(run.checkout / name, operator.checkout / name)
        # Hosting's cache of the release.
        shutil.copytree(run.checkout / ".firebase", operator.checkout / ".firebase")
        (operator.checkout / "manifest.json").unlink()
        yield operator


def merge(operator: Operator, rules: str | None = None) -> None:
    """Deploy the merged rules and fix the sign-in, as the app's developers do."""
    text = rules or (operator.checkout / f"firestore.{PROJECT}.rules").read_text()
    operator.google.resources |= _rules("merged", text)
    operator.google.sign_in = SIGN_IN
