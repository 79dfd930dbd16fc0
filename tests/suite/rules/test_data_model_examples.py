"""Every example of docs/data-model.md and docs/guests-app.md, run unchanged with the client SDK.

The examples form one evening of one event. They run one after the other in one program, each with
the role that follows its code fence, in a project without triggers.
"""

import json
import re
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.accounts import sign_in
from emulator.firebase import PROJECT as SUITE_PROJECT
from emulator.sample_event import TENANT
from emulator.up import PASSWORD
from tests.suite.rules.client import ADMINISTRATOR, PROJECT

ROOT: Final = Path(__file__).parents[3]
_BLOCK: Final = re.compile(r"```javascript (\w+)\n(.*?)```", re.DOTALL)
_PAGES: Final = ("docs/data-model.md", "docs/guests-app.md")
_NOT_RUN: Final = "storage"
_EXAMPLES: Final = [
    (role, code)
    for page in _PAGES
    for role, code in _BLOCK.findall((ROOT / page).read_text())
    if role != _NOT_RUN
]
_ROLES: Final = ("admin", "moderator", "guest")
_GIVEN_UP: Final = "u0123"
_STILL_GIVEN_UP: Final = "u4567"


@dataclass(frozen=True, slots=True)
class Step:
    """The example that holds the text `what`, and the ids that it runs with."""

    what: str
    photo: str = ""
    event: str = "evening"


EVENING: Final = (
    Step('status: "draft"'),
    Step("publishedAt: serverTimestamp()"),
    Step("labels: {"),
    Step("recover: [", event="given-up"),
    Step("notify: ["),
    Step("const isOpen"),
    Step("uploaderName: name", photo="p5"),
    Step('  status: "pending"', photo="p1"),
    Step("approvedBy: user.email,\n", photo="p1"),
    Step("featured: true", photo="p1"),
    Step('  status: "pending"', photo="p2"),
    Step('reason: "blurred"', photo="p2"),
    Step("approvedBy: user.email,\n", photo="p2"),
    Step("limit(100)"),
    Step("const newest"),
    Step('  status: "pending"', photo="p4"),
    Step("deleteDoc(", photo="p4"),
    Step("{ autoApprove: true }"),
    Step("approvedAt: serverTimestamp(),\n});", photo="p3"),
    Step("archivedAt: serverTimestamp()"),
    Step("publishedAt: serverTimestamp()"),  # once more: an archived event can go live again
    Step("disabled.${key}", event="given-up"),
    Step("emailPreferences.recap"),
    Step("batch.delete(", event="given-up"),
)

_BEGINNING: Final = """
import {{ terminate }} from "firebase/firestore";
{setup}
{up}
await asGuest();
const people = {people};
const key = {key};
let show;
const shown = new Promise((resolve) => {{ show = resolve; }});
"""
_STEP: Final = """
{{
  const {{ email, password }} = people[{role}];
  const {{ user }} = await signInWithEmailAndPassword(auth, email, password);
  const [eventId, photoId] = [{event}, {photo}];
  try {{
{example}
  }} catch (error) {{
    throw new Error({what} + ": " + error.message);
  }}
}}
"""
_END: Final = "console.log(JSON.stringify(await shown));\nawait terminate(db);\nprocess.exit(0);\n"


def example(step: Step) -> tuple[str, str]:
    """Role and code of the one example that `step` names."""
    [found] = [(role, code) for role, code in _EXAMPLES if role in _ROLES and step.what in code]
    return found


@dataclass(frozen=True, slots=True)
class Evening:
    """Result of the examples: documents of this run, its guest's uid, and the wall's photos."""

    name: str
    guest: str
    wall: Sequence[Mapping[str, Any]]

    def read(self, path: str) -> Mapping[str, Any]:
        """Return the document at `path`. `~` is the run's name, `{guest}` the guest's uid."""
        path = path.replace("~", self.name).replace("{guest}", self.guest)
        return firestore.Client(project=PROJECT).document(path).get().to_dict() or {}


@pytest.fixture(scope="module")
def evening(rules: str, tmp_path_factory: pytest.TempPathFactory) -> Evening:
    """Run the evening."""
    assert rules  # loaded
    name = uuid.uuid4().hex[:12]
    people: dict[str, dict[str, str]] = {}
    uid = ""
    for role in _ROLES:
        staff = role != "guest"
        email = f"{role}@example.com" if staff else None
        claims = (role, TENANT) if staff else ()
        person = sign_in(*claims, email=email, password=PASSWORD)  # as `up` has them
        people[role] = {"email": person.email, "password": PASSWORD}
        uid = person.uid
    ADMINISTRATOR.replace(f"users/{uid}", {"email": "ann@example.com", "emailPreferences": {}})
    given_up = f"events/given-up-{name}"
    now = datetime.now(UTC)
    ADMINISTRATOR.replace(given_up, {"tenantId": TENANT, "name": "Late", "status": "published"})
    entry = {"url": "https://example.com/gone", "reason": "no answer", "at": now}
    settings = {
        "urls": ["https://example.com/gone"],
        "disabled": {_GIVEN_UP: entry, _STILL_GIVEN_UP: entry},
    }
    ADMINISTRATOR.replace(f"{given_up}/settings/webhooks", settings)

    copy = {"uploaderName": "Ann", "createdAt": now}
    ADMINISTRATOR.replace(f"events/evening-{name}/wall/p1", copy)
    [setup, up] = [code for role, code in _EXAMPLES if role not in _ROLES]
    program = _BEGINNING.format(
        people=json.dumps(people),
        key=f'"{_GIVEN_UP}"',
        setup=setup,
        up=up.replace(f'"{SUITE_PROJECT}"', f'"{PROJECT}"'),  # a project without triggers
    )
    for step in EVENING:
        role, code = example(step)
        program += _STEP.format(
            role=json.dumps(role),
            event=json.dumps(f"{step.event}-{name}"),
            photo=json.dumps(step.photo),
            example=code,
            what=json.dumps(step.what),
        )
    folder = tmp_path_factory.mktemp("examples")
    (folder / "node_modules").symlink_to(ROOT / "emulator" / "node_modules")
    script = folder / "evening.mjs"
    script.write_text(program + _END)
    ran = subprocess.run(
        ["node", "--preserve-symlinks-main", str(script)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return Evening(name, uid, json.loads(ran.stdout))


def test_every_example_is_run() -> None:
    """No example of the page is left out."""
    shown = [code for role, code in _EXAMPLES if role in _ROLES]
    assert sorted(shown) == sorted({example(step)[1] for step in EVENING})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("events/evening-~", {"status": "published", "autoApprove": True, "name": "Midsummer"}),
        (
            "events/evening-~/photos/p1",
            {"status": "approved", "featured": True, "uploaderName": "Ann"},
        ),
        ("events/evening-~/photos/p2", {"status": "approved", "reason": "blurred"}),
        ("events/evening-~/photos/p3", {"status": "approved", "uploaderName": "Bob"}),
        ("events/evening-~/photos/p4", {"status": None}),
        ("events/evening-~/photos/p5", {"status": "pending", "uploaderEmail": "eve@example.com"}),
        ("users/{guest}", {"email": "ann@example.com", "emailPreferences": {"recap": False}}),
        ("events/given-up-~", {"status": None}),
    ],
)
def test_the_examples_pass_the_rules_with_the_documented_result(
    path: str, expected: dict[str, Any], evening: Evening
) -> None:
    """A client app writes documents as spec 2.1, 2.3, 3.1 and 3.2 say, and deletes an event."""
    found = evening.read(path)
    assert {field: found.get(field) for field in expected} == expected
    assert list(evening.read("deletedEvents/given-up-~")) == ["deletedAt"]


def test_enabling_a_url_removes_its_disabled_entry(evening: Evening) -> None:
    """An admin writes the URLs, and enables one that was given up (spec 2.1 and 7.3)."""
    assert len(evening.read("events/evening-~/settings/webhooks")["urls"]) == 2
    settings = evening.read("events/given-up-~/settings/webhooks")
    assert list(settings["disabled"]) == [_STILL_GIVEN_UP]


def test_a_guest_sees_the_wall(evening: Evening) -> None:
    """The recipe shows the copies of approved photos, not the photos."""
    assert [photo["uploaderName"] for photo in evening.wall] == ["Ann"]
