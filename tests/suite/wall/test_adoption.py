"""`ops/adopt`: what an app had before is recorded, and a second run does nothing."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from google.cloud import firestore

from functions.wall.address import address_hash, guest_uid
from ops import adopting
from tests.suite.wall.conftest import scan

PAGE: Final = Path(__file__).parents[3] / "docs/into-your-project.md"
NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
Operator = Callable[..., tuple[int, str, str]]
OFF: Final = {"lifecycle": False, "recap": False, "marketing": False}


def record_of(address: str) -> str:
    """Path of the record of an address."""
    return f"users/{guest_uid(address_hash(address))}"


def put(database: firestore.Client, documents: dict[str, Any]) -> None:
    """Write documents as the app would have."""
    writer: Any = database.bulk_writer()
    for path, fields in documents.items():
        writer.set(database.document(path), fields)
    writer.close()


def test_accounts_are_listed_once(operator: Operator, database: Any) -> None:
    """The record of each mailbox lists its accounts; a second run does nothing."""
    users: dict[str, Any] = {
        "users/u1": {"email": " Ann@Example.com", "plan": 1},
        "users/u2": {"email": "bob@example.com"},
        "users/u3": {"email": "ann+party@example.com"},
        "users/u4": {"email": "c.a.t@googlemail.com"},
        record_of("ann@example.com"): {
            "emailPreferences": {"recap": False},
            "accounts": {"u0": True},
        },
    }
    put(database, users)
    before = scan(database)

    status, said, _ = operator(adopting.main, "--dry-run")
    assert (status, scan(database)) == (0, before)
    assert "would be recorded: 3" in said

    status, said, _ = operator(adopting.main)
    assert (status, "recorded: 3" in said) == (0, True)
    after = scan(database)
    accounts = {"u0": True, "u1": True, "u3": True}
    assert after == before | {
        record_of("ann@example.com"): {"emailPreferences": {"recap": False}, "accounts": accounts},
        record_of("bob@example.com"): {"accounts": {"u2": True}},
        record_of("cat@gmail.com"): {"accounts": {"u4": True}},
    }

    assert "Everything is recorded." in operator(adopting.main)[1]
    assert scan(database) == after


def test_photos_of_an_app_with_other_names_are_copied(database: firestore.Client) -> None:
    """The trigger of docs/into-your-project.md copies a written picture, and its deletion."""
    [block] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    made: dict[str, Any] = {}
    exec(compile(block, PAGE, "exec"), made)  # noqa: S102 - our own page
    made["firestore"] = SimpleNamespace(
        Client=lambda: database, transactional=firestore.transactional
    )
    params = {"eventId": "w1", "photoId": "p1"}
    event = SimpleNamespace(document="weddings/w1/pictures/p1", params=params)
    picture = {"state": "visible", "image": "i", "guestName": "Ann", "guestMail": "a@example.com"}
    database.document(event.document).set(picture | {"takenAt": NOON})
    made["copy_picture"].__wrapped__(event)
    assert database.document("events/w1/photos/p1").get().to_dict() == {
        "status": "approved",
        "url": "i",
        "uploaderName": "Ann",
        "uploaderEmail": "a@example.com",
        "createdAt": NOON,
    }
    database.document(event.document).delete()
    made["copy_picture"].__wrapped__(event)
    assert not database.document("events/w1/photos/p1").get().exists


def test_opt_outs_of_a_file(operator: Operator, database: Any, tmp_path: Path) -> None:
    """An opt-out stands in the record of the mailbox, and in that of its account."""
    put(database, {"users/u1": {"email": "Ann@example.com", "emailPreferences": {"recap": False}}})
    path = tmp_path / "opt-outs.csv"
    path.write_text("\ufeffaddress,what\nANN+news@example.com, marketing\nnew@example.com,ALL\n\n")
    assert operator(adopting.main, f"--optouts={path}")[0] == 0
    after = scan(database)
    assert after["users/u1"]["emailPreferences"] == {"recap": False, "marketing": False}
    assert after[record_of("ann@example.com")] == {
        "accounts": {"u1": True},
        "emailPreferences": {"marketing": False},
    }
    assert after[record_of("new@example.com")] == {"emailPreferences": OFF}
    assert "Everything is recorded." in operator(adopting.main, f"--optouts={path}")[1]
    assert scan(database) == after


@pytest.mark.parametrize("line", ["ann@example.com", "ann@example.com,news", "ann,recap"])
def test_a_line_that_cannot_be_read(
    operator: Operator, database: Any, tmp_path: Path, line: str
) -> None:
    """A line that cannot be read is named before anything is written."""
    path = tmp_path / "opt-outs.csv"
    path.write_text(f"address,what\nbob@example.com,all\n{line}\n")
    status, _, errors = operator(adopting.main, f"--optouts={path}")
    assert (status, str(path) in errors) == (1, True)
    assert scan(database) == {}
