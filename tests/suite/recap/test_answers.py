"""Answers of `sendEventRecap` to what it does not do (spec 4.1, 5, 7.1; order of design 3)."""

from typing import Any

import pytest

from emulator.mailbox import Mailbox
from emulator.people import Person, sign_in, sign_in_anonymously
from tests.suite.call import call
from tests.suite.recap.wall import TENANT, Wall


@pytest.mark.parametrize("data", [None, {"eventId": "a/b"}, {"subject": "x" * 201}])
def test_arguments_against_the_rules_are_invalid(
    wall: Wall, organizer: Person, data: dict[str, Any] | None
) -> None:
    """Spec 7.1; `tests/unit/recap/test_arguments.py` has every rule."""
    given = data and {"eventId": wall.id, **data}
    answer = call("sendEventRecap", given, id_token=organizer.id_token)
    assert (answer.status, answer.error[0]) == (400, "INVALID_ARGUMENT")


def test_the_longest_subject_and_message_pass(
    wall: Wall, mailbox: Mailbox, organizer: Person
) -> None:
    """Spec 8: 200 and 4000 characters."""
    wall.guests(1)
    data = {"eventId": wall.id, "subject": "é" * 200, "message": "<" * 4000}
    answer = call("sendEventRecap", data, id_token=organizer.id_token)
    assert answer.result["sent"] == 1
    assert mailbox.mails[0].subject == "é" * 200


def test_no_token_is_unauthenticated(wall: Wall) -> None:
    """Spec 7.1; before anything is looked at."""
    for data in ({"eventId": wall.id}, {"eventId": "a/b"}):
        answer = call("sendEventRecap", data)
        assert (answer.status, answer.error[0]) == (401, "UNAUTHENTICATED")


def test_a_token_that_is_none_is_unauthenticated(wall: Wall) -> None:
    """Spec 5."""
    answer = call("sendEventRecap", {"eventId": wall.id}, id_token="a.b.c")
    assert (answer.status, answer.error[0]) == (401, "UNAUTHENTICATED")


def test_without_a_role_it_is_denied_before_arguments_are_looked_at(wall: Wall) -> None:
    """Spec 5 and 7.1; order of design 3; an anonymous guest too."""
    for person in (sign_in("guest", TENANT), sign_in_anonymously()):
        for data in ({"eventId": wall.id}, {"eventId": "a/b"}):
            answer = call("sendEventRecap", data, id_token=person.id_token)
            assert (answer.status, answer.error[0]) == (403, "PERMISSION_DENIED")


def test_an_event_that_is_none_is_not_found(organizer: Person, event_id: str) -> None:
    """Spec 7.1; arguments are looked at before."""
    answer = call("sendEventRecap", {"eventId": event_id}, id_token=organizer.id_token)
    assert (answer.status, answer.error[0]) == (404, "NOT_FOUND")
    answer = call("sendEventRecap", {"eventId": event_id, "mode": "x"}, id_token=organizer.id_token)
    assert answer.error[0] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("role", "tenant", "asked", "code"),
    [
        ("moderator", TENANT, None, None),
        ("admin", "tenant-2", None, "PERMISSION_DENIED"),
        ("superadmin", "tenant-2", TENANT, None),
        ("superadmin", None, "tenant-2", "NOT_FOUND"),
    ],
)
def test_who_may_send_for_an_event_of_a_tenant(
    wall: Wall, role: str, tenant: str | None, asked: str | None, code: str | None
) -> None:
    """Spec 5, 4.1 rule 6; `tests/unit/test_access.py` has every row of design 3."""
    person = sign_in(role, tenant)
    data = {"eventId": wall.id} | ({"tenantId": asked} if asked else {})
    answer = call("sendEventRecap", data, id_token=person.id_token)
    assert (answer.body.get("error") or {"status": None})["status"] == code
    if code is None:
        assert answer.result["sent"] == 0
