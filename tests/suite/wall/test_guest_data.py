"""A guest's data in Firestore itself: written out, erased, forgotten in time (docs/privacy.md)."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from google.cloud import firestore

from functions.email_address import address_hash, guest_uid, record_id
from functions.mail.mail_status import DeliveryStatus
from functions.recap import delivery_status
from ops import guest_data
from tests.suite.wall.conftest import SendGrid, scan

ADDRESS: Final = "ann.x7@example.com"
NAME: Final = "Ann Uniquename"
HASH: Final = address_hash(ADDRESS)
OTHER: Final = address_hash("bob@example.com")
NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
Scan = Mapping[str, Mapping[str, Any]]


def photo(email: str, name: str) -> dict[str, Any]:
    """Return a recorded photo."""
    return {"status": "approved", "uploaderEmail": email, "uploaderName": name, "uploaderUid": "x"}


def delivery(data: Mapping[str, Any], answer: str = "") -> dict[str, Any]:
    """Return a delivery that failed once."""
    attempt = {"attempt": 1, "at": NOON, "status": 500} | ({"answer": answer} if answer else {})
    body = json.dumps({"event": "any", "data": data}, separators=(",", ":"))
    return {"outcome": "retrying", "body": body, "log": [attempt], "url": "https://example.com"}


DATABASE: Final[Scan] = {
    "events/e1": {"tenantId": "a", "status": "archived"},
    "events/e1/photos/p1": photo(" Ann.X7@Example.com", NAME),
    "events/e1/photos/p2": photo("bob@example.com", "Bob"),
    "events/e1/wall/p1": {"uploaderName": NAME, "url": "u"},
    "events/e1/deliveries/d1": delivery(
        {"photo": photo(ADDRESS, NAME) | {"id": "p1"}}, "thanks Ann"
    ),
    "events/e1/deliveries/d2": delivery({"photo": {"id": "p1", "uploaderName": NAME}}),
    "events/e1/deliveries/d3": delivery({"firstPhotoId": "p1", "uploaderEmail": ADDRESS}),
    "events/e1/deliveries/d4": delivery({"latestPhoto": {"id": "p1", "uploaderName": NAME}}),
    "events/e1/deliveries/d5": delivery({"photo": photo("bob@example.com", "Bob")}, "thanks"),
    "events/e1/deliveries/d6": delivery({"photo": {"id": "p2"}}, f"not for {ADDRESS}"),
    "events/e1/recaps/r1": {"state": "sent"},
    "events/e1/recaps/r1/batches/0": {"recipients": [HASH, OTHER], "refused": []},
    "events/e1/recaps/r1/outcomes/mails": {
        "entries": delivery_status.entries_of({HASH: DeliveryStatus(1), OTHER: DeliveryStatus(2)})
    },
    "users/u1": {
        "email": "ANN.X7@example.com",
        "emailPreferences": {"recap": False},
        "plan": "pro",
    },
    "users/u2": {"email": "bob@example.com"},
    f"users/{guest_uid(HASH)}": {"accounts": {"u1": True}, "unreachableUntil": NOON},
    # The addresses of others end, and begin, with the guest's.
    "events/e3": {"tenantId": "a"},
    "events/e3/photos/p4": photo(f"jo{ADDRESS}", "Jo"),
    "events/e3/photos/p5": photo(f"{ADDRESS}.au", "Jo"),
    "events/e3/deliveries/d7": delivery(
        {"photo": photo(f"jo{ADDRESS}", "Jo") | {"id": "p4"}}, f"thanks jo{ADDRESS}"
    ),
    "events/e3/recaps/r3/batches/0": {"recipients": [address_hash(f"jo{ADDRESS}")], "refused": []},
    "users/u3": {"email": f"jo{ADDRESS}", "emailPreferences": {"recap": False}},
    "users/u4": {"note": f"\njo{ADDRESS}, {ADDRESS}.au"},
    "events/e2": {"tenantId": "b"},
    "events/e2/photos/p3": photo(ADDRESS, NAME),
}


@pytest.fixture
def guest(
    operator: Callable[..., tuple[int, str, str]], database: firestore.Client, sendgrid: SendGrid
) -> Callable[..., str]:
    """Run `ops/guest` on that database, and return its output."""
    for path, fields in DATABASE.items():
        database.document(path).set(dict(fields))
    assert sendgrid.asked == []

    def run(what: str, *arguments: str) -> str:
        status, said, errors = operator(guest_data.main, what, "ann.x7@EXAMPLE.com", *arguments)
        assert status == 0, errors
        return said

    return run


def identifies_guest(fields: Mapping[str, Any]) -> bool:
    """Return whether a document has the guest's address, name, or a hash of the address."""
    text = json.dumps(fields, default=lambda value: value.hex() if isinstance(value, bytes) else "")
    text = text.lower().replace(f"jo{ADDRESS}", "").replace(f"{ADDRESS}.au", "")
    return any(part in text for part in (ADDRESS, NAME.lower(), "ann", HASH[:16]))


def test_an_erased_guest_is_in_no_document(
    guest: Callable[..., str], database: firestore.Client, sendgrid: SendGrid
) -> None:
    """A scan finds only the opt-out of the guest. Everyone else's data stays."""
    guest("erase")

    after = scan(database)
    assert {path for path, fields in after.items() if identifies_guest(fields)} == set()
    assert after[f"users/{guest_uid(HASH)}"] == {"emailPreferences": {"recap": False}}
    assert after["users/u1"] == {"emailPreferences": {"recap": False}, "plan": "pro"}
    untouched = [
        path
        for path, fields in DATABASE.items()
        if not identifies_guest(fields) and HASH not in path
    ]
    assert "events/e1/deliveries/d5" in untouched
    assert {path: after[path] for path in untouched} == {path: DATABASE[path] for path in untouched}
    assert after["events/e1/recaps/r1/batches/0"]["recipients"] == [OTHER]
    assert delivery_status.read_entries(after["events/e1/recaps/r1/outcomes/mails"]["entries"]) == {
        OTHER: DeliveryStatus(2)
    }
    assert after["events/e1/photos/p1"]["uploaderUid"] == "x"
    [asked] = sendgrid.asked
    assert asked == ("POST /v3/recipients/erasejob", {"email_addresses": [ADDRESS]})

    guest("erase")
    assert scan(database) == after


OTHERS: Final = [
    ("a.nn+x@gmail.com", "a.nn@gmail.com"),
    ("ann@gmail.com", "ann@googlemail.com"),
    ("mike@example.com", "mi\u212ae@example.com"),
    ("fiona@example.com", "\ufb01ona@example.com"),
    ("ana@strasse.example", "ana@stra\u00dfe.example"),
    ("ana@example.com", "\u00fcana@example.com"),
]


@pytest.mark.parametrize(("email", "other"), OTHERS)
def test_an_erasure_affects_only_its_address(
    operator: Callable[..., tuple[int, str, str]],
    database: firestore.Client,
    sendgrid: SendGrid,
    email: str,
    other: str,
) -> None:
    """Data of another address stays, even if the address looks similar."""
    theirs: dict[str, Any] = {
        "events/e1": {"tenantId": "a"},
        "events/e1/photos/p1": photo(other, "Jo"),
        "events/e1/deliveries/d1": delivery({"photo": photo(other, "Jo") | {"id": "p1"}}, other),
        "users/u2": {"email": other, "emailPreferences": {"marketing": False}},
        f"users/{record_id(other)}": {"accounts": {"u2": True}, "unreachableUntil": NOON},
    }
    off = {"emailPreferences": {"recap": False}}
    for path, fields in {**theirs, "users/u1": {"email": email.title()} | off}.items():
        database.document(path).set(dict(fields))
    _, said, _ = operator(guest_data.main, "export", email)
    assert [user["document"] for user in json.loads(said)["users"]] == ["users/u1"]
    for _ in range(2):
        assert operator(guest_data.main, "erase", email)[0] == 0
        assert scan(database) == {**theirs, "users/u1": off, f"users/{record_id(email)}": off}
    assert len(sendgrid.asked) == 2


def test_an_event_whose_recap_is_being_sent_keeps_its_records(
    operator: Callable[..., tuple[int, str, str]], database: firestore.Client, sendgrid: SendGrid
) -> None:
    """The script reports it and exits with 1. A run after the recap erases them."""
    for path, fields in DATABASE.items():
        database.document(path).set(dict(fields))
    lock = database.document("events/e1/locks/recap")
    lock.set(
        {"recapId": "r1", "holder": "h", "leasedUntil": datetime.now(UTC) + timedelta(hours=1)}
    )

    status, _, errors = operator(guest_data.main, "erase", ADDRESS)

    assert (status, "A recap is being sent: e1." in errors) == (1, True)
    after = scan(database)
    records = [path for path in DATABASE if path.startswith("events/e1")]
    assert {path: after[path] for path in records} == {path: DATABASE[path] for path in records}
    assert not identifies_guest(after["events/e2/photos/p3"])
    assert sendgrid.asked == []

    lock.update({"leasedUntil": datetime.now(UTC)})
    assert operator(guest_data.main, "erase", ADDRESS)[0] == 0
    assert not any(map(identifies_guest, scan(database).values()))


def test_a_dry_run_changes_nothing(
    guest: Callable[..., str], database: firestore.Client, sendgrid: SendGrid
) -> None:
    """A dry run writes nothing, and asks SendGrid for nothing."""
    guest("erase", "--dry-run")
    assert scan(database) == DATABASE
    assert sendgrid.asked == []


def test_an_erasure_may_be_limited_to_a_tenant(
    guest: Callable[..., str], database: firestore.Client, sendgrid: SendGrid
) -> None:
    """Another tenant's photos stay, and so do the records that tenants share."""
    guest("erase", "--tenant=a")
    telling = {path for path, fields in scan(database).items() if identifies_guest(fields)}
    assert telling == {"events/e2/photos/p3", "users/u1"}
    assert sendgrid.asked == []


def test_an_export_has_the_guests_data(guest: Callable[..., str]) -> None:
    """An export is one JSON object without the data of others."""
    export = json.loads(guest("export"))
    assert export["address"] == ADDRESS
    assert [photo["document"] for photo in export["photos"]] == [
        "events/e1/photos/p1",
        "events/e2/photos/p3",
    ]
    assert export["deliveries"][0]["data"]["photo"]["uploaderName"] == NAME
    assert {user["document"] for user in export["users"]} == {
        "users/u1",
        f"users/{guest_uid(HASH)}",
    }
    assert "bob" not in json.dumps(export).lower()
    assert "Jo" not in json.dumps(export)
    assert OTHER not in json.dumps(export)
