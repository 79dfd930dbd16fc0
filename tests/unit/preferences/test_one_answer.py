"""One person, one answer (design 3.54): what a link shows is what a recap obeys."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.firestore.model import Put
from functions.preferences.preferences import CHOSEN_AT, MAX_ACCOUNTS, MAX_READ
from functions.wall.address import address_hash, guest_uid
from tests.unit.preferences.people import Ids, People, answer

ANN: Final = "ann@example.com"
TAGGED: Final = "ann+party@example.com"
BOX: Final = guest_uid(address_hash(ANN))
OLD: Final = (BOX,)
"""What links of guests named before they named the mailbox."""


def test_a_recaps_link_names_the_account_and_the_mailbox(people: People) -> None:
    """A link names the first account by id with the address, else the record of the address."""
    assert people.mailed(ANN)[0] == (BOX, BOX)
    assert people.mailed(TAGGED)[0] == (guest_uid(address_hash(TAGGED)), BOX)
    people.account("u2", "ann@example.com")
    people.account("u1", "Ann@Example.com")
    people.account("u0", TAGGED)
    assert people.mailed(ANN)[0] == ("u1", BOX)


@pytest.mark.parametrize("ids", [("u1", BOX), ("u1",), OLD, (BOX, BOX)])
def test_every_link_shows_what_holds(people: People, ids: tuple[str, ...]) -> None:
    """The address is the account's, and each flag is off where any record has it off."""
    people.account("u1", "Ann@example.com", marketing=False)
    people.account("u2", ANN, lifecycle=False)
    people.click(OLD)
    shown = people.look_up(ids)
    email = "Ann@example.com"
    assert shown == answer(email, marketing=False, lifecycle=False, recap=False)


@pytest.mark.parametrize("ids", [("u1", BOX), ("u1",), OLD])
def test_every_link_changes_what_holds(people: People, ids: tuple[str, ...]) -> None:
    """Spec 4.4: a change reaches the mailbox and each account with the address, whole."""
    people.account("u1", ANN)
    people.account("u2", "Ann@example.com")
    off = {"recap": False, "lifecycle": False, "marketing": False}
    assert people.change(ids, **off) == answer(ANN, **off)
    for uid in (BOX, "u1", "u2"):
        assert people.record(uid)["emailPreferences"] == off
    assert people.mailed(ANN)[1] is False
    assert people.change(ids, recap=True, lifecycle=True) == answer(ANN, marketing=False)
    assert people.mailed(ANN)[1] is True


@pytest.mark.parametrize("has_address", [True, False])
def test_an_app_may_call_its_own_users_guests(people: People, *, has_address: bool) -> None:
    """Spec 4.2: `guest-` and a hash is the record of an address, any other id an account."""
    email = ANN if has_address else "no address"
    people.account("guest-42", email, marketing=False)
    assert people.look_up(("guest-42",)) == answer(email, marketing=False)
    assert people.change(("guest-42",), recap=False) == answer(email, recap=False, marketing=False)
    assert people.mailed(ANN)[1] is not has_address


def test_one_click_changes_recaps_alone(people: People) -> None:
    """Spec 4.5: a click changes one flag of the mailbox's record and of the account."""
    people.account("u1", ANN, marketing=False)
    assert people.click(("u1", BOX)) == 200
    assert people.look_up(("u1", BOX)) == answer(ANN, recap=False, marketing=False)
    flags = {"marketing": False, "recap": False}
    record = {"email": ANN, "emailPreferences": flags, CHOSEN_AT: people.now}
    assert people.record("u1") == record


@pytest.mark.parametrize("fate", ["deleted", "moved", "erased"])
def test_a_link_keeps_its_meaning_without_its_account(people: People, fate: str) -> None:
    """The mailbox that was mailed is switched, and nothing of another address is shown."""
    people.account("u1", ANN)
    ids, _ = people.mailed(ANN)
    match fate:
        case "deleted":
            people.delete("u1")
        case "moved":
            people.account("u1", "bea@example.com")
        case "erased":
            people.account("u1", "")
    assert people.look_up(ids) == answer("")
    assert people.change(ids, recap=False) == answer("", recap=False)
    assert people.click(ids) == 200
    assert people.mailed(ANN)[1] is False
    assert people.mailed("bea@example.com")[1] is True
    assert not (people.record("u1") or {}).get("emailPreferences")


def test_tags_are_one_mailbox_for_switching_off_alone(people: People) -> None:
    """Design 3.52: off holds for each address of the mailbox; on reaches the mailed one."""
    people.account("u1", ANN)
    people.account("u2", TAGGED)
    link, _ = people.mailed(ANN)
    people.change(link, recap=False, marketing=False)
    for address in (ANN, TAGGED):
        ids, is_mailed = people.mailed(address)
        assert not is_mailed
        assert people.look_up(ids) == answer(address, recap=False, marketing=False)
    people.change(link, recap=True)
    assert people.mailed(ANN)[1] is True
    assert people.record("u2")["emailPreferences"] == {"recap": False, "marketing": False}


@pytest.mark.parametrize(
    ("account", "verified", "is_freed"),
    [
        (ANN, ANN, True),
        ("Ann@Example.com", ANN, True),
        (ANN, None, False),
        (ANN, "bea@example.com", False),
        (TAGGED, ANN, False),
    ],
)
def test_an_accounts_own_change_frees_its_mailbox(
    people: People, account: str, verified: str | None, *, is_freed: bool
) -> None:
    """Switching recaps on in the app undoes an opt-out by a link, for a verified owner."""
    people.account("u1", account)
    people.click(OLD)
    if verified:
        people.verified["u1"] = verified
    people.turn("u1", recap=True)
    assert people.mailed(account)[1] is is_freed


def test_only_a_change_of_the_owners_frees_a_mailbox(people: People) -> None:
    """No new account or address, no other field or flag, and no write of the service frees it."""
    people.verified |= {"u1": ANN, "u2": ANN}
    people.click(OLD)
    people.account("u1", ANN, recap=True)
    people.turn("u1", recap=True, marketing=False)
    people.turn("u1", marketing=True)
    people.account("u2", "bea@example.com", recap=False)
    people.account("u2", ANN, recap=True)
    assert people.mailed(ANN)[1] is False
    people.is_late = True
    people.change(OLD, recap=True)
    people.click(OLD)
    people.tell()
    assert people.mailed(ANN)[1] is False


def test_an_account_whose_recaps_stay_off_frees_nothing(people: People) -> None:
    """Another change of the owner's leaves the opt-out in the record of the mailbox."""
    people.verified["u1"] = ANN
    people.account("u1", ANN)
    people.click(OLD)
    people.turn("u1", marketing=True)
    assert people.record(BOX)["emailPreferences"] == {"recap": False}


def test_a_late_trigger_frees_nothing_that_was_turned_off_since(people: People) -> None:
    """Triggers run late and out of order: the later choice holds."""
    people.verified["u1"] = ANN
    people.account("u1", ANN, recap=False)
    people.is_late = True
    people.turn("u1", recap=True)
    people.click(OLD)
    people.tell()
    assert people.mailed(ANN)[1] is False


def test_a_repeated_click_outweighs_what_the_trigger_has_not_heard(people: People) -> None:
    """The owner turns recaps on in the app, then clicks: a late trigger frees nothing."""
    people.is_late = True
    people.verified["u1"] = ANN
    people.account("u1", ANN, recap=False)
    people.click(OLD)
    people.turn("u1", recap=True)
    people.click(OLD)
    people.tell()
    assert people.mailed(ANN)[1] is False


def test_an_address_switched_on_by_its_link_outweighs_strangers(people: People) -> None:
    """A stranger's account with the address keeps nobody out; the owner's account does."""
    people.account("evil", ANN, recap=False)
    ids, is_mailed = people.mailed(ANN)
    assert not is_mailed
    people.change(ids, recap=True)
    people.turn("evil", recap=False)
    assert people.mailed(ANN)[1] is True
    assert people.look_up(ids)["preferences"]["recap"] is True
    people.verified["evil"] = ANN
    assert people.mailed(ANN)[1] is False
    assert people.look_up(ids)["preferences"]["recap"] is False


def test_a_stranger_with_many_accounts_keeps_nobody_out() -> None:
    """A mailbox lists 99 accounts; a verified one takes the place of one that is not."""
    people = People()
    for number in range(MAX_ACCOUNTS + 20):
        people.account(f"s{number:03}", f"ann+{number}@example.com")
    assert len(people.record(BOX)["accounts"]) == MAX_ACCOUNTS
    last = max(people.record(BOX)["accounts"])
    people.verified |= {"z": ANN, last: ANN}
    people.account("z", ANN, recap=False)
    assert len(people.record(BOX)["accounts"]) == MAX_ACCOUNTS
    assert people.record(BOX)["accounts"][last]
    listed = people.record(BOX)["accounts"]
    assert listed["z"]
    people.verified |= {uid: f"ann+{uid}@example.com" for uid in listed} | {"y": ANN}
    people.account("y", ANN)
    assert people.record(BOX)["accounts"] == listed  # none of the verified accounts goes
    assert not people.mailed(TAGGED)[1]
    assert not people.look_up((BOX,))["preferences"]["recap"]


def test_a_change_of_a_mailbox_fits_into_a_commit() -> None:
    """A list that is longer than any that the service writes is read and changed in part."""
    people = People(is_late=True)
    strangers = [f"s{number:04}" for number in range(1000)]
    for uid in strangers:
        people.account(uid, ANN)
    listed = dict.fromkeys(strangers, True)
    people.write(Put(f"users/{BOX}", {"accounts": listed, "unreachable": listed}))
    people.account("z", ANN, recap=True)
    people.change(("z", BOX), recap=True)
    people.change(("z", BOX), recap=False)
    changed = [uid for uid in strangers if "chosenAt" in people.record(uid)]
    assert len(changed) == MAX_READ
    assert people.record("z")["emailPreferences"] == {"recap": False}


ADDRESSES: Final = (ANN, TAGGED, "Ann@example.com")
_flags = st.dictionaries(st.sampled_from(["recap", "lifecycle"]), st.booleans(), min_size=1)
_uids = st.sampled_from(["u1", "u2"])
_links = st.sampled_from(range(20))
_acts = st.one_of(
    st.tuples(st.just("account"), _uids, st.sampled_from((*ADDRESSES, "bea@example.com")), _flags),
    st.tuples(st.just("turn"), _uids, _flags),
    st.tuples(st.just("delete"), _uids),
    st.tuples(st.just("verify"), _uids, st.sampled_from(ADDRESSES)),
    st.tuples(st.just("change"), _links, _flags),
    st.tuples(st.just("click"), _links),
    st.tuples(st.just("tell")),
)


def _act(people: People, link: Callable[[int], Ids], act: tuple[Any, ...], *, is_out: bool) -> bool:
    """Have something happen; whether recaps are off now because a link has turned them off."""
    match act:
        case "account", uid, email, flags:
            known = people.record(uid) or {}
            if known.get("email", "").casefold() == email.casefold():
                is_out &= not (uid in people.verified and True in flags.values())
            people.account(uid, email, **flags)
        case "turn", uid, flags if people.record(uid):
            is_out &= not (uid in people.verified and True in flags.values())
            people.turn(uid, **flags)
        case "delete", uid:
            people.delete(uid)
        case "verify", uid, email:
            people.verified[uid] = email
            return is_out and not people.waiting  # the owner may have turned recaps on before
        case "change", number, flags:
            assert people.change(link(number), **flags) == people.look_up(link(number))
            return False in flags.values() or (is_out and True not in flags.values())
        case "click", number:
            people.click(link(number))
            return True
        case ("tell",):
            people.tell()
    return is_out


@settings(max_examples=150)
@given(st.lists(_acts, max_size=12), st.booleans())
def test_whatever_happens_one_answer(acts: list[tuple[Any, ...]], is_late: bool) -> None:
    """A new link shows the flags that a recap obeys, after any acts of accounts, links and clicks.

    What a link has turned off stays off until a link, or a verified owner, turns it on. Before the
    trigger has listed an account, links to a bare mailbox do not know the account.
    """
    people, is_out = People(is_late=is_late), False
    issued: list[Ids] = [
        (guest_uid(address_hash(address.casefold())), BOX) for address in ADDRESSES
    ]
    for act in acts:
        is_out = _act(people, lambda n: issued[n % len(issued)], act, is_out=is_out)
        for address in ADDRESSES:
            ids, is_mailed = people.mailed(address)
            issued.append(ids)
            shown = people.look_up(ids)["preferences"]
            if not people.waiting:
                assert is_mailed is (shown["recap"] and shown["lifecycle"]), (address, ids)
            assert not (is_out and is_mailed), (address, ids)
