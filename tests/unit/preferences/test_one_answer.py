"""One person, one answer (design 3.54): what a link shows is what a recap obeys."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.email_address import mailbox, record_id, trimmed
from functions.firestore.model import Put, Write
from functions.preferences.preferences import (
    CHOSEN_AT,
    MAX_ACCOUNTS,
    MAX_READ,
    address_record_id,
)
from tests.unit.preferences.people import Ids, People, answer

ANN: Final = "ann@example.com"
TAGGED: Final = "ann+party@example.com"
RECORD: Final = record_id(ANN)
LINK: Final = (RECORD,)
TAGGED_RECORD: Final = record_id(TAGGED)


def test_a_recaps_link_names_the_record_of_the_address(people: People) -> None:
    """A link keeps its meaning, whoever creates accounts with the address."""
    assert people.mailed(ANN)[0] == people.mailed("Ann@example.com")[0] == LINK
    people.account("u2", ANN)
    people.account("u1", "Ann@Example.com")
    assert people.mailed(ANN)[0] == (RECORD, "u1")
    assert people.mailed(TAGGED)[0] == (TAGGED_RECORD,)


def test_a_link_finds_an_account_that_is_not_listed_yet(people: People) -> None:
    """The trigger may be late, and accounts may be older than the service."""
    people.is_late = True
    people.account("u1", ANN, marketing=False)
    link, _ = people.mailed(ANN)
    assert people.look_up(link) == answer(ANN, marketing=False)
    people.change(link, recap=False)
    assert people.record("u1")["emailPreferences"] == {"marketing": False, "recap": False}
    people.account("u1", "evil@example.com")
    assert people.look_up(link) == answer(recap=False)


@pytest.mark.parametrize("ids", [LINK, (RECORD, "u1"), ("u1", RECORD), ("u1",), (RECORD, RECORD)])
def test_every_link_shows_what_holds(people: People, ids: tuple[str, ...]) -> None:
    """The address is the account's, and each flag is off if any record has it off."""
    people.verified["u1"] = ANN
    people.account("u1", "Ann@example.com", marketing=False)
    people.account("u2", ANN, lifecycle=False)
    people.click(LINK)
    shown = people.look_up(ids)
    email = "Ann@example.com"
    assert shown == answer(email, marketing=False, lifecycle=False, recap=False)


@pytest.mark.parametrize("ids", [LINK, (RECORD, "u1"), ("u1", RECORD), ("u1",), (RECORD, RECORD)])
def test_every_link_changes_what_holds(people: People, ids: tuple[str, ...]) -> None:
    """Spec 4.4: a change reaches the address and each account with it, whole."""
    people.verified["u1"] = ANN
    people.account("u1", ANN)
    people.account("u2", "Ann@example.com")
    off = {"recap": False, "lifecycle": False, "marketing": False}
    assert people.change(ids, **off) == answer(ANN, **off)
    for uid in (RECORD, "u1", "u2"):
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
    assert people.click(("u1", RECORD)) == 200
    assert people.look_up(("u1", RECORD)) == answer(ANN, recap=False, marketing=False)
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


def test_an_address_is_an_address(people: People) -> None:
    """Design 3.52: a tag or a dot is another address, whose owner chooses for it."""
    people.account("u2", TAGGED)
    people.change(LINK, recap=False, marketing=False)
    for other in (TAGGED, "a.n.n@example.com", "ann@googlemail.com"):
        ids, is_mailed = people.mailed(other)
        assert is_mailed
        assert people.look_up(ids)["preferences"] == answer()["preferences"]
    people.click((TAGGED_RECORD,))
    people.change(LINK, recap=True)
    assert (people.mailed(ANN)[1], people.mailed(TAGGED)[1]) == (True, False)
    people.change((TAGGED_RECORD,), recap=True)
    people.click(LINK)
    assert (people.mailed(ANN)[1], people.mailed(TAGGED)[1]) == (False, True)


@pytest.mark.parametrize(
    ("account", "verified", "is_freed"),
    [
        (ANN, ANN, True),
        ("Ann@Example.com", ANN, True),
        (ANN, None, False),
        (ANN, "bea@example.com", False),
        (TAGGED, ANN, True),
    ],
)
def test_an_accounts_own_change_frees_its_address(
    people: People, account: str, verified: str | None, *, is_freed: bool
) -> None:
    """Switching recaps on in the app undoes an opt-out by a link, for a verified owner."""
    people.account("u1", account)
    people.click(LINK)
    if verified:
        people.verified["u1"] = verified
    people.turn("u1", recap=True)
    assert people.mailed(account)[1] is is_freed


def test_only_a_change_of_the_owners_frees_a_mailbox(people: People) -> None:
    """No new account or address, no other field or flag, and no write of the service frees it."""
    people.verified |= {"u1": ANN, "u2": ANN}
    people.click(LINK)
    people.account("u1", ANN, recap=True)
    people.turn("u1", recap=True, marketing=False)
    people.turn("u1", marketing=True)
    people.account("u2", "bea@example.com", recap=False)
    people.account("u2", ANN, recap=True)
    assert people.mailed(ANN)[1] is False
    people.is_late = True
    people.change(LINK, recap=True)
    people.click(LINK)
    people.tell()
    assert people.mailed(ANN)[1] is False


def test_an_account_whose_recaps_stay_off_frees_nothing(people: People) -> None:
    """Another change of the owner's leaves the opt-out in the record of the mailbox."""
    people.verified["u1"] = ANN
    people.account("u1", ANN)
    people.click(LINK)
    people.turn("u1", marketing=True)
    assert people.record(RECORD)["emailPreferences"] == {"recap": False}


def test_a_late_trigger_frees_nothing_that_was_turned_off_since(people: People) -> None:
    """Triggers run late and out of order: the later choice holds."""
    people.verified["u1"] = ANN
    people.account("u1", ANN, recap=False)
    people.is_late = True
    people.turn("u1", recap=True)
    people.click(LINK)
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


def listed(people: People) -> set[str]:
    """The accounts that the record of the address lists."""
    return set(people.record(RECORD)["accounts"])


def test_a_record_lists_twenty_accounts(people: People) -> None:
    """A verified account takes the place of another one; of tags none is listed."""
    for number in range(MAX_ACCOUNTS + 20):
        people.account(f"s{number:03}", ANN)
        people.account(f"t{number:03}", f"ann+{number}@example.com")
        people.verified[f"s{number:03}"] = f"s{number:03}@example.com"  # of no use here
    assert listed(people) == {f"s{number:03}" for number in range(MAX_ACCOUNTS)}
    people.verified["z"] = ANN
    people.account("z", ANN)
    assert len(listed(people)) == MAX_ACCOUNTS
    assert "z" in listed(people)


def test_an_opt_out_is_not_dropped_for_an_account_that_is_on(people: People) -> None:
    """Whoever verifies an address, an account with recap or lifecycle off stays in the list."""
    people.account("a-owner", ANN, recap=False)
    people.account("z-owner", ANN, lifecycle=False)
    for number in range(MAX_ACCOUNTS + 5):
        people.verified[f"s{number}"] = ANN
        people.account(f"s{number}", ANN)
    assert len(listed(people)) == MAX_ACCOUNTS
    assert {"a-owner", "z-owner"} <= listed(people)
    left_out = next(uid for uid in people.verified if uid not in listed(people))
    people.turn(left_out, recap=False)
    assert left_out in listed(people)
    for uid in ("a-owner", left_out):
        people.turn(uid, recap=True)
    assert people.look_up(LINK)["preferences"]["lifecycle"] is False


def test_a_verified_opt_out_comes_first(people: People) -> None:
    """Strangers whose accounts opt out keep the owner's account out of no list."""
    for number in range(MAX_ACCOUNTS + 5):
        people.account(f"s{number}", ANN, recap=False)
    people.verified["z"] = ANN
    people.account("z", ANN, recap=False)
    people.change(LINK, recap=True)
    people.turn("z", recap=False)
    assert "z" in listed(people)
    assert people.look_up(LINK)["preferences"]["recap"] is False


def test_accounts_that_have_left_make_room(people: People) -> None:
    """An account with another address by now leaves a full list first."""
    for number in range(MAX_ACCOUNTS):
        people.account(f"s{number}", ANN, recap=False)
    people.account("s0", "bea@example.com", recap=False)
    people.account("z", ANN)
    assert len(listed(people)) == MAX_ACCOUNTS
    assert "z" in listed(people)
    assert "s0" not in listed(people)


def test_a_change_fits_into_a_commit() -> None:
    """A list that is longer than any that the service writes is read and changed in part."""
    people = People(is_late=True)
    strangers = [f"s{number:04}" for number in range(1000)]
    for uid in strangers:
        people.account(uid, ANN)
    people.write(Put(f"users/{RECORD}", {"accounts": dict.fromkeys(strangers, True)}))
    people.change(LINK, recap=False)
    changed = [uid for uid in strangers if "chosenAt" in people.record(uid)]
    assert len(changed) == MAX_READ


EVIL: Final = "evil@example.com"


@pytest.mark.parametrize("address", [ANN, "ann@EXAMPLE.com", "\u200bAnn@example.com "])
def test_a_link_that_names_an_account_does_not_follow_its_address(
    people: People, address: str
) -> None:
    """An app's link is about the account only, until its owner has verified the address."""
    people.account("evil", EVIL)
    people.change(LINK, recap=False)
    people.account("evil", address)
    assert people.look_up(("evil",)) == answer(trimmed(address))
    people.change(("evil",), marketing=False, recap=True)
    people.click(("evil",))
    assert people.record(RECORD)["emailPreferences"] == {"recap": False}
    people.change(LINK, recap=True)
    people.click(("evil",))
    assert people.look_up(LINK)["preferences"]["recap"] is True
    people.verified["evil"] = EVIL
    assert people.change(("evil",), recap=True)["preferences"]["recap"] is True
    people.click(LINK)
    assert people.look_up(("evil",))["preferences"]["recap"] is False  # the account's own flag
    assert people.change(("evil",), recap=True)["preferences"]["recap"] is True
    assert people.mailed(ANN)[1] is False
    people.verified["evil"] = ANN
    people.change(("evil",), recap=True)
    assert people.mailed(ANN)[1] is True


GMAIL: Final = "First.Last@Gmail.com"
GMAIL_BOX: Final = record_id("firstlast@gmail.com")


@pytest.mark.parametrize("typed", [GMAIL, "first.last@gmail.com", "FIRST.LAST@GMAIL.COM"])
@pytest.mark.parametrize("flag", ["recap", "lifecycle"])
def test_an_upgrade_keeps_what_an_account_turned_off(people: People, typed: str, flag: str) -> None:
    """An account that an earlier release listed in the record of the mailbox counts."""
    people.is_late = True
    people.account("u1", GMAIL, **{flag: False})
    people.write(Put(f"users/{GMAIL_BOX}", {"accounts": {"u1": True}}))
    assert people.mailed(typed)[1] is False
    people.tell()
    assert people.mailed(typed)[1] is False
    assert people.look_up(people.mailed(typed)[0]) == answer(GMAIL, **{flag: False})


@pytest.mark.parametrize("has_account", [True, False])
@pytest.mark.parametrize("address", [GMAIL, TAGGED, "a.b+c@googlemail.com", ANN])
def test_an_earlier_one_click_link_still_works(
    people: People, address: str, *, has_account: bool
) -> None:
    """Links expire after a year: they write the record of the address."""
    box = record_id(mailbox(address))
    ids = (record_id(address), box)
    if has_account:
        people.account("u1", address)
        ids = ("u1", box)
    assert people.mailed(address)[1] is True
    assert people.click(ids) == 200
    assert people.mailed(address)[1] is False
    assert people.record(record_id(address))["emailPreferences"] == {"recap": False}
    if address != ANN:
        assert people.mailed(mailbox(address))[1] is True
    assert people.change(ids, recap=True)["preferences"]["recap"] is True
    assert people.mailed(address)[1] is True


@pytest.mark.parametrize("address", [TAGGED, "Ann+x@example.com", ANN])
def test_what_an_earlier_release_turned_off_is_off_for_the_mailbox(
    people: People, address: str
) -> None:
    """Off holds until the address chooses otherwise; on holds for no other address."""
    people.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": False}}))
    assert people.mailed(address)[1] is False
    assert people.mailed("bea+x@example.com")[1] is True
    people.click(LINK)
    assert people.mailed(address)[1] is False
    people.change((record_id(address), RECORD), recap=True)
    assert people.mailed(address)[1] is True
    assert people.look_up((record_id(address), RECORD))["preferences"]["recap"] is True
    people.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": True}}))
    people.account("u1", "ann+y@example.com", recap=False)
    assert people.mailed("ann+y@example.com")[1] is False


def test_a_link_of_an_app_shows_what_an_earlier_release_turned_off(people: People) -> None:
    """The accounts with the address tell which mailbox that was."""
    people.write(Put(f"users/{RECORD}", {"emailPreferences": {"lifecycle": False}}))
    people.account("u1", TAGGED)
    assert people.look_up((TAGGED_RECORD,)) == answer(TAGGED, lifecycle=False)
    assert people.change((TAGGED_RECORD,), lifecycle=True) == answer(TAGGED)
    assert people.mailed(TAGGED)[1] is True


def test_an_owner_frees_an_address_from_an_earlier_opt_out(people: People) -> None:
    """A verified owner who turns recaps on in the app gets them."""
    people.verified["u1"] = TAGGED
    people.account("u1", TAGGED, recap=False)
    people.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": False}}))
    people.turn("u1", recap=True)
    assert (people.mailed(TAGGED)[1], people.mailed(ANN)[1]) == (True, False)


def test_an_earlier_link_of_a_deleted_account_turns_its_mailbox_off(people: People) -> None:
    """The link does not name the address, which may have had a tag."""
    people.click(("gone", RECORD))
    assert [people.mailed(address)[1] for address in (ANN, TAGGED)] == [False, False]


@pytest.mark.parametrize(
    "stored", ["no", "false", 0, "", "on", "TRUE", [], {}, 2, -1, 0.5, b"", float("nan"), "1"]
)
def test_what_is_not_clearly_on_is_off(people: People, stored: object) -> None:
    """Design 3.53: an app or a script may have written another value than a boolean."""
    people.write(Put("users/u1", {"email": ANN, "emailPreferences": {"recap": stored}}))
    assert people.mailed(ANN)[1] is False
    assert people.look_up(LINK) == answer(ANN, recap=False)
    people.write(Put("users/u1", {"email": EVIL}))
    people.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": stored}}))
    assert people.mailed(ANN)[1] is False


@pytest.mark.parametrize("stored", [True, None, 1, "true", "yes"])
def test_what_is_clearly_on_is_on(people: People, stored: object) -> None:
    """Design 3.53: so do those values."""
    people.write(Put("users/u1", {"email": ANN, "emailPreferences": {"recap": stored}}))
    assert people.mailed(ANN)[1] is True
    assert people.look_up(LINK) == answer(ANN)


@pytest.mark.parametrize("stored", ["no", "yes", True, False, 0, 1, [], ["recap"], b"{}"])
def test_preferences_that_are_no_map_are_all_off(people: People, stored: object) -> None:
    """Design 3.53: a change of one flag leaves the others off."""
    everything = {"lifecycle": False, "recap": False, "marketing": False}
    people.write(Put("users/u1", {"email": ANN, "emailPreferences": stored}))
    assert people.mailed(ANN)[1] is False
    assert people.look_up(LINK) == answer(ANN, **everything)
    changed = everything | {"lifecycle": True}
    assert people.change(LINK, lifecycle=True) == answer(ANN, **changed)
    assert people.record("u1")["emailPreferences"] == changed
    people.write(Put(f"users/{RECORD}", {"emailPreferences": stored}))
    people.change(LINK, recap=True)
    assert people.record(RECORD)["emailPreferences"] == everything | {"recap": True}


def test_a_thousand_clicks_are_one_write(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated click costs one read, and always applies if recaps were on meanwhile."""
    people.account("u1", ANN)
    people.click(LINK)
    reads, writes = list[str](), list[Write]()
    get_all: Callable[..., Any] = people.documents.get_all

    def counted(paths: Sequence[str], *how: Any, **limits: Any) -> Any:
        reads.extend(paths)
        return get_all(paths, *how, **limits)

    with monkeypatch.context() as patch:
        patch.setattr(people.documents, "get_all", counted)
        patch.setattr(people.documents, "commit", lambda *them, **_: writes.extend(them))
        assert {people.click(LINK) for _ in range(1000)} == {200}
    assert (reads, writes) == ([f"users/{RECORD}"] * 1000, [])
    people.change(LINK, recap=True)
    people.click(LINK)
    assert people.mailed(ANN)[1] is False


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


def _act(
    people: People, link: Callable[[int], Ids], act: tuple[Any, ...], out: set[str]
) -> set[str]:
    """Have something happen and return the records whose recaps a link has turned off."""
    match act:
        case "account", uid, email, flags:
            known = people.record(uid) or {}
            before = address_record_id(known)
            if before == address_record_id({"email": email}):
                out = _freed(people, uid, before, flags, out)
            people.account(uid, email, **flags)
        case "turn", uid, flags if people.record(uid):
            out = _freed(people, uid, address_record_id(people.record(uid)), flags, out)
            people.turn(uid, **flags)
        case "delete", uid:
            people.delete(uid)
        case "verify", uid, email:
            people.verified[uid] = email
            return set() if people.waiting else out  # the owner may have turned recaps on before
        case "change", number, flags:
            assert people.change(link(number), **flags) == people.look_up(link(number))
            record, *_ = link(number)
            if False in flags.values():
                return out | {record}
            return out - {record} if True in flags.values() else out
        case "click", number:
            people.click(link(number))
            # A repeated click writes nothing, so what the trigger has not handled may free it.
            return out if people.waiting else out | {link(number)[0]}
        case ("tell",):
            people.tell()
    return out


def _freed(
    people: People, uid: str, record: str | None, flags: dict[str, bool], out: set[str]
) -> set[str]:
    return out - {record or ""} if uid in people.verified and True in flags.values() else out


@settings(max_examples=150)
@given(st.lists(_acts, max_size=12), st.booleans())
def test_whatever_happens_one_answer(acts: list[tuple[Any, ...]], is_late: bool) -> None:
    """A new link shows the flags that a recap obeys, after any acts of accounts, links and clicks.

    What a link has turned off stays off until a link, or a verified owner, turns it on. Before the
    trigger has listed an account, links do not know the account.
    """
    people, out = People(is_late=is_late), set[str]()
    issued: list[Ids] = [
        *((record_id(address), "u1") for address in ADDRESSES),
        *((record_id(address),) for address in ADDRESSES),
        *((record_id(address), RECORD) for address in ADDRESSES),
    ]
    for act in acts:
        out = _act(people, lambda n: issued[n % len(issued)], act, out)
        for address in ADDRESSES:
            ids, is_mailed = people.mailed(address)
            shown = people.look_up(ids)["preferences"]
            if not people.waiting:
                assert is_mailed is (shown["recap"] and shown["lifecycle"]), (address, ids)
            assert not (ids[0] in out and is_mailed), (address, ids)
