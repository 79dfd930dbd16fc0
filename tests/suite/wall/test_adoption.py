"""`ops/adopt` records the opt-outs and accounts of an app. A second run changes nothing."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from google.cloud import firestore

from functions.email_address import record_id
from functions.preferences.preferences import MAX_ACCOUNTS
from ops import adopting
from tests.suite.wall.conftest import scan

PAGE: Final = Path(__file__).parents[3] / "docs/into-your-project.md"
NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
Operator = Callable[..., tuple[int, str, str]]
OFF: Final = {"lifecycle": False, "recap": False, "marketing": False}


def record_of(address: str) -> str:
    """Path of the record of an address."""
    return f"users/{record_id(address)}"


def put(database: firestore.Client, documents: dict[str, Any]) -> None:
    """Write documents as the app would have."""
    writer: Any = database.bulk_writer()
    for path, fields in documents.items():
        writer.set(database.document(path), fields)
    writer.close()


def test_accounts_are_listed_once(operator: Operator, database: Any) -> None:
    """The record of each address lists its accounts. A second run changes nothing."""
    users: dict[str, Any] = {
        "users/u1": {"email": " Ann@Example.com\u200b", "plan": 1},
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
    assert "would be recorded: 4" in said

    status, said, _ = operator(adopting.main)
    assert (status, "recorded: 4" in said) == (0, True)
    after = scan(database)
    accounts = {"u0": True, "u1": True}
    assert after == before | {
        record_of("ann@example.com"): {"emailPreferences": {"recap": False}, "accounts": accounts},
        record_of("bob@example.com"): {"accounts": {"u2": True}},
        record_of("ann+party@example.com"): {"accounts": {"u3": True}},
        record_of("c.a.t@googlemail.com"): {"accounts": {"u4": True}},
    }

    assert "Everything is recorded." in operator(adopting.main)[1]
    assert scan(database) == after


def test_photos_with_other_field_names_are_copied(database: firestore.Client) -> None:
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


def test_opt_outs_are_read_from_a_file(operator: Operator, database: Any, tmp_path: Path) -> None:
    """An opt-out is in the record of the address and in that of its account."""
    put(database, {"users/u1": {"email": "Ann@example.com", "emailPreferences": {"recap": False}}})
    path = tmp_path / "opt-outs.csv"
    path.write_text("\ufeffaddress,what\nANN@example.com, marketing\nnew@example.com,ALL\n\n")
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


@pytest.mark.parametrize(
    "cell",
    [
        "<ann@example.com>",
        "mailto:ann@example.com",
        "MAILTO:Ann@example.com?subject=out",
        "ann@example.com;",
        "ann@example.com ; ",
        "'ann@example.com'",
        '"""ann@example.com"""',
        "\u201cann@example.com\u201d",
        "Ann Lee <ann@example.com>;",
        "<mailto:ann@example.com>",
        "\u200bann@example.com\u00ad",
        "'<Ann@Example.com>',",
    ],
)
def test_addresses_of_an_export_are_read(
    operator: Operator, database: Any, tmp_path: Path, cell: str
) -> None:
    """Programs export addresses with brackets, quotes and separators."""
    path = tmp_path / "opt-outs.csv"
    path.write_text(f"{cell.removesuffix(',')},recap\n")
    assert operator(adopting.main, f"--optouts={path}")[0] == 0
    assert scan(database) == {record_of("ann@example.com"): {"emailPreferences": {"recap": False}}}


@pytest.mark.parametrize(
    ("email", "other"),
    [
        ("mike@example.com", "mi\u212ae@example.com"),
        ("ana@strasse.example", "ana@stra\u00dfe.example"),
        ("ann@example.com", "ann+x@example.com"),
        ("annlee@gmail.com", "ann.lee@gmail.com"),
    ],
)
def test_an_opt_out_affects_only_its_address(
    operator: Operator, database: Any, tmp_path: Path, email: str, other: str
) -> None:
    """A text that looks like the address, a tag or a dot is another person's."""
    put(database, {"users/u1": {"email": other}})
    path = tmp_path / "opt-outs.csv"
    path.write_text(f"{email},recap\n", encoding="utf-8")
    assert operator(adopting.main, f"--optouts={path}")[0] == 0
    assert scan(database) == {
        "users/u1": {"email": other},
        record_of(other): {"accounts": {"u1": True}},
        record_of(email): {"emailPreferences": {"recap": False}},
    }


@pytest.mark.parametrize("stored", ["no", 0, [], False])
def test_malformed_preferences_count_as_opted_out(
    operator: Operator, database: Any, tmp_path: Path, stored: object
) -> None:
    """They count as off already."""
    put(database, {"users/u1": {"email": "ann@example.com", "emailPreferences": stored}})
    path = tmp_path / "opt-outs.csv"
    path.write_text("ann@example.com,recap\n")
    assert operator(adopting.main, f"--optouts={path}")[0] == 0
    assert scan(database)["users/u1"]["emailPreferences"] == stored


def test_a_record_lists_twenty_accounts(operator: Operator, database: Any) -> None:
    """An earlier release listed 99 accounts of a mailbox. Opt-outs stay in the list."""
    uids = [f"u{number:02}" for number in range(MAX_ACCOUNTS + 5)]
    users: dict[str, Any] = {f"users/{uid}": {"email": "ann@example.com"} for uid in uids}
    users["users/z"] = {"email": "Ann@example.com", "emailPreferences": {"lifecycle": False}}
    users["users/t"] = {"email": "ann+t@example.com"}
    listed = dict.fromkeys([*uids, "t", "gone"], True)
    put(database, users | {record_of("ann@example.com"): {"accounts": listed}})
    assert operator(adopting.main)[0] == 0
    after = scan(database)
    accounts = after[record_of("ann@example.com")]["accounts"]
    assert accounts.keys() == {"z", *uids[: MAX_ACCOUNTS - 1]}
    assert after[record_of("ann+t@example.com")] == {"accounts": {"t": True}}
    assert "Everything is recorded." in operator(adopting.main)[1]


@pytest.mark.parametrize(
    "line",
    [
        "ann@example.com",
        "ann@example.com,news",
        "ann,recap",
        "ann@example.com;recap",
        "ann@example.com bob@example.com,recap",
        "ann@example,com,recap",
        "an\u200bn@example.com,recap",
        "ann@example.com (Ann),recap",
        "<ann@example.com,recap",
        "mailto:,recap",
        "ann@@example.com,recap",
    ],
)
def test_an_unreadable_line_is_reported(
    operator: Operator, database: Any, tmp_path: Path, line: str
) -> None:
    """A line that cannot be read is named before anything is written."""
    path = tmp_path / "opt-outs.csv"
    path.write_text(f"address,what\nbob@example.com,all\n{line}\n", encoding="utf-8")
    status, _, errors = operator(adopting.main, f"--optouts={path}")
    assert (status, f"{path}, line 3" in errors) == (1, True)
    assert scan(database) == {}
