"""Spec 2.3, 4.1 rule 3 and design 3.53: the flags in user records."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.call.errors import CallError
from functions.preferences.preferences import (
    AddressRecords,
    Flag,
    email_address,
    opted_out_of_recap,
    read_choices,
    to_response,
)

FLAGS = ("lifecycle", "recap", "marketing")


def flags(account: dict[str, Any]) -> Any:
    """Return the flags of an address that has one account."""
    return AddressRecords(accounts={"u1": account}).flags({})


@pytest.mark.parametrize(
    ("stored", "out"),
    [
        ({}, False),
        ({"emailPreferences": None}, False),
        ({"emailPreferences": []}, True),
        ({"emailPreferences": {"recap": 0}}, True),
        ({"emailPreferences": {"lifecycle": "no"}}, True),
        ({"emailPreferences": {"recap": None, "lifecycle": 1}}, False),
        ({"emailPreferences": {"marketing": False}}, False),
        ({"emailPreferences": {"recap": False}}, True),
        ({"emailPreferences": {"lifecycle": False}}, True),
    ],
)
def test_recap_or_lifecycle_off_opts_out_of_recaps(stored: dict[str, Any], out: bool) -> None:
    """See spec 4.1, rule 3."""
    assert opted_out_of_recap(flags(stored)) is out


@pytest.mark.parametrize("stored", [{}, {"chosenForAddress": {"recap": True}}])
@pytest.mark.parametrize("account", [{}, {"recap": True}])
@pytest.mark.parametrize(
    ("own", "earlier", "on"),
    [
        (False, True, False),
        (False, None, False),
        (False, False, False),
        (None, True, True),
        (True, True, True),
    ],
)
def test_off_in_the_addresss_own_record_takes_precedence(
    own: bool | None,
    earlier: bool | None,
    on: bool,
    stored: dict[str, Any],
    account: dict[str, Any],
) -> None:
    """The record of the mailbox, from an earlier release, never overrides a choice with on."""
    records = AddressRecords(
        id="guest-1",
        own={**stored, "emailPreferences": {"recap": own}},
        earlier={"emailPreferences": {"recap": earlier}},
        accounts={"u1": {"emailPreferences": account}},
    )
    assert records.flags({})[Flag.RECAP] is on


@given(st.dictionaries(st.sampled_from([*FLAGS, "transactional", "x"]), st.none() | st.booleans()))
def test_a_flag_is_on_if_it_is_true_or_missing(stored: dict[str, bool | None]) -> None:
    """The flag `transactional` is always on (spec 2.3)."""
    wanted = {name: stored.get(name) is not False for name in FLAGS}
    read = flags({"emailPreferences": stored})
    assert read == wanted
    assert to_response(read) == wanted | {"transactional": True}


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (None, "object"),
        ({}, "object"),
        ([], "object"),
        ({"transactional": False}, "can.t be turned off"),
        ({"transactional": True}, "transactional"),
        ({"newsletter": False}, "recap"),
        ({"recap": False, "emailPreferences.x": False}, "recap"),
        ({"recap": 1}, "true or false"),
        ({"recap": None}, "true or false"),
        ({"recap": False, "lifecycle": 0}, "true or false"),
        ({"recap": "false"}, "true or false"),
        ({"recaps": False}, r'^Unknown argument "recaps" in preferences. Did you mean recap\?$'),
    ],
)
def test_invalid_choices_are_rejected(data: object, hint: str) -> None:
    """The error names the valid choices."""
    with pytest.raises(CallError, match=hint):
        read_choices(data)


@pytest.mark.parametrize(
    ("record", "email"),
    [
        (None, ""),
        ({}, ""),
        ({"email": None}, ""),
        ({"email": 1}, ""),
        ({"email": "g@example.com"}, "g@example.com"),
    ],
)
def test_a_record_without_an_address_has_an_empty_one(
    record: dict[str, Any] | None, email: str
) -> None:
    """See spec 4.2."""
    assert email_address(record) == email
