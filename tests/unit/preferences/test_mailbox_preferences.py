"""A link shows the same preferences that a recap uses (design 3.54)."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from functions.email_address import mailbox, record_id, trimmed
from functions.firestore.model import Put, Write
from functions.preferences.preferences import (
    CHOSEN_AT,
    MAX_ACCOUNTS,
    MAX_READ,
)
from tests.unit.preferences.account_fixture import AccountFixture, answer

ANN: Final = "ann@example.com"
TAGGED: Final = "ann+party@example.com"
RECORD: Final = record_id(ANN)
LINK: Final = (RECORD,)
TAGGED_RECORD: Final = record_id(TAGGED)


def test_a_recaps_link_names_the_record_of_the_address(accounts: AccountFixture) -> None:
    """New accounts with the address do not change the meaning of a link."""
    assert accounts.mailed(ANN)[0] == accounts.mailed("Ann@example.com")[0] == LINK
    accounts.account("u2", ANN)
    accounts.account("u1", "Ann@Example.com")
    assert accounts.mailed(ANN)[0] == (RECORD, "u1")
    assert accounts.mailed(TAGGED)[0] == (TAGGED_RECORD,)


def test_a_link_finds_an_account_that_is_not_listed_yet(accounts: AccountFixture) -> None:
    """The trigger can be late, and accounts can be older than the service."""
    accounts.is_late = True
    accounts.account("u1", ANN, marketing=False)
    link, _ = accounts.mailed(ANN)
    assert accounts.look_up(link) == answer(ANN, marketing=False)
    accounts.change(link, recap=False)
    assert accounts.record("u1")["emailPreferences"] == {"marketing": False, "recap": False}
    accounts.account("u1", "evil@example.com")
    assert accounts.look_up(link) == answer(recap=False)


@pytest.mark.parametrize("ids", [LINK, (RECORD, "u1"), ("u1", RECORD), ("u1",), (RECORD, RECORD)])
def test_every_link_shows_the_flags_of_all_records(
    accounts: AccountFixture, ids: tuple[str, ...]
) -> None:
    """A flag is off if any record has it off. The address is that of the account."""
    accounts.verified["u1"] = ANN
    accounts.account("u1", "Ann@example.com", marketing=False)
    accounts.account("u2", ANN, lifecycle=False)
    accounts.click(LINK)
    shown = accounts.look_up(ids)
    email = "Ann@example.com"
    assert shown == answer(email, marketing=False, lifecycle=False, recap=False)


@pytest.mark.parametrize("ids", [LINK, (RECORD, "u1"), ("u1", RECORD), ("u1",), (RECORD, RECORD)])
def test_every_link_changes_all_records(accounts: AccountFixture, ids: tuple[str, ...]) -> None:
    """Spec 4.4: change the record of the address and each account with it."""
    accounts.verified["u1"] = ANN
    accounts.account("u1", ANN)
    accounts.account("u2", "Ann@example.com")
    off = {"recap": False, "lifecycle": False, "marketing": False}
    assert accounts.change(ids, **off) == answer(ANN, **off)
    for uid in (RECORD, "u1", "u2"):
        assert accounts.record(uid)["emailPreferences"] == off
    assert accounts.mailed(ANN)[1] is False
    assert accounts.change(ids, recap=True, lifecycle=True) == answer(ANN, marketing=False)
    assert accounts.mailed(ANN)[1] is True


@pytest.mark.parametrize("has_address", [True, False])
def test_the_id_of_an_account_can_start_with_guest(
    accounts: AccountFixture, *, has_address: bool
) -> None:
    """Spec 4.2: only `guest-` with a hash is the record of an address."""
    email = ANN if has_address else "no address"
    accounts.account("guest-42", email, marketing=False)
    assert accounts.look_up(("guest-42",)) == answer(email, marketing=False)
    assert accounts.change(("guest-42",), recap=False) == answer(
        email, recap=False, marketing=False
    )
    assert accounts.mailed(ANN)[1] is not has_address


def test_one_click_changes_only_recaps(accounts: AccountFixture) -> None:
    """Spec 4.5: change the records of the address and of the account."""
    accounts.account("u1", ANN, marketing=False)
    assert accounts.click(("u1", RECORD)) == 200
    assert accounts.look_up(("u1", RECORD)) == answer(ANN, recap=False, marketing=False)
    flags = {"marketing": False, "recap": False}
    record = {"email": ANN, "emailPreferences": flags, CHOSEN_AT: accounts.now}
    assert accounts.record("u1") == record


@pytest.mark.parametrize("fate", ["deleted", "moved", "erased"])
def test_a_link_keeps_its_meaning_without_its_account(accounts: AccountFixture, fate: str) -> None:
    """Change the mailbox that got the email, and show no data of another address."""
    accounts.account("u1", ANN)
    ids, _ = accounts.mailed(ANN)
    match fate:
        case "deleted":
            accounts.delete("u1")
        case "moved":
            accounts.account("u1", "bea@example.com")
        case "erased":
            accounts.account("u1", "")
    assert accounts.look_up(ids) == answer("")
    assert accounts.change(ids, recap=False) == answer("", recap=False)
    assert accounts.click(ids) == 200
    assert accounts.mailed(ANN)[1] is False
    assert accounts.mailed("bea@example.com")[1] is True
    assert not (accounts.record("u1") or {}).get("emailPreferences")


def test_addresses_of_one_mailbox_have_separate_preferences(accounts: AccountFixture) -> None:
    """Design 3.52: an address with a tag or a dot is another address."""
    accounts.account("u2", TAGGED)
    accounts.change(LINK, recap=False, marketing=False)
    for other in (TAGGED, "a.n.n@example.com", "ann@googlemail.com"):
        ids, is_mailed = accounts.mailed(other)
        assert is_mailed
        assert accounts.look_up(ids)["preferences"] == answer()["preferences"]
    accounts.click((TAGGED_RECORD,))
    accounts.change(LINK, recap=True)
    assert (accounts.mailed(ANN)[1], accounts.mailed(TAGGED)[1]) == (True, False)
    accounts.change((TAGGED_RECORD,), recap=True)
    accounts.click(LINK)
    assert (accounts.mailed(ANN)[1], accounts.mailed(TAGGED)[1]) == (False, True)


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
    accounts: AccountFixture, account: str, verified: str | None, *, is_freed: bool
) -> None:
    """Turning recaps on in the app reverses an opt-out by a link, for a verified owner."""
    accounts.account("u1", account)
    accounts.click(LINK)
    if verified:
        accounts.verified["u1"] = verified
    accounts.turn("u1", recap=True)
    assert accounts.mailed(account)[1] is is_freed


def test_only_the_owners_change_of_the_flag_frees_an_address(accounts: AccountFixture) -> None:
    """New accounts, other fields and flags, and writes of the service do not."""
    accounts.verified |= {"u1": ANN, "u2": ANN}
    accounts.click(LINK)
    accounts.account("u1", ANN, recap=True)
    accounts.turn("u1", recap=True, marketing=False)
    accounts.turn("u1", marketing=True)
    accounts.account("u2", "bea@example.com", recap=False)
    accounts.account("u2", ANN, recap=True)
    assert accounts.mailed(ANN)[1] is False
    accounts.is_late = True
    accounts.change(LINK, recap=True)
    accounts.click(LINK)
    accounts.run_trigger()
    assert accounts.mailed(ANN)[1] is False


def test_an_account_whose_recaps_stay_off_frees_nothing(accounts: AccountFixture) -> None:
    """Another change by the owner keeps the opt-out in the record of the address."""
    accounts.verified["u1"] = ANN
    accounts.account("u1", ANN)
    accounts.click(LINK)
    accounts.turn("u1", marketing=True)
    assert accounts.record(RECORD)["emailPreferences"] == {"recap": False}


def test_a_late_trigger_does_not_reverse_a_later_opt_out(accounts: AccountFixture) -> None:
    """Triggers can be late and out of order."""
    accounts.verified["u1"] = ANN
    accounts.account("u1", ANN, recap=False)
    accounts.is_late = True
    accounts.turn("u1", recap=True)
    accounts.click(LINK)
    accounts.run_trigger()
    assert accounts.mailed(ANN)[1] is False
    assert accounts.record(RECORD)["emailPreferences"] == {"recap": False}


def test_an_opt_in_by_a_link_takes_precedence_over_strangers(accounts: AccountFixture) -> None:
    """A stranger's account with the address has no effect. A verified account has."""
    accounts.account("evil", ANN, recap=False)
    ids, is_mailed = accounts.mailed(ANN)
    assert not is_mailed
    accounts.change(ids, recap=True)
    accounts.turn("evil", recap=False)
    assert accounts.mailed(ANN)[1] is True
    assert accounts.look_up(ids)["preferences"]["recap"] is True
    accounts.verified["evil"] = ANN
    assert accounts.mailed(ANN)[1] is False
    assert accounts.look_up(ids)["preferences"]["recap"] is False


def listed(accounts: AccountFixture) -> set[str]:
    """Return the accounts that the record of the address lists."""
    return set(accounts.record(RECORD)["accounts"])


def test_a_record_lists_twenty_accounts(accounts: AccountFixture) -> None:
    """A verified account replaces another one. Accounts with a tag are not listed."""
    for number in range(MAX_ACCOUNTS + 20):
        accounts.account(f"s{number:03}", ANN)
        accounts.account(f"t{number:03}", f"ann+{number}@example.com")
        accounts.verified[f"s{number:03}"] = f"s{number:03}@example.com"  # not this address
    assert listed(accounts) == {f"s{number:03}" for number in range(MAX_ACCOUNTS)}
    accounts.verified["z"] = ANN
    accounts.account("z", ANN)
    assert len(listed(accounts)) == MAX_ACCOUNTS
    assert "z" in listed(accounts)


def test_an_opt_out_is_not_dropped_for_an_account_that_is_on(accounts: AccountFixture) -> None:
    """This includes verified accounts that are on."""
    accounts.account("a-owner", ANN, recap=False)
    accounts.account("z-owner", ANN, lifecycle=False)
    for number in range(MAX_ACCOUNTS + 5):
        accounts.verified[f"s{number}"] = ANN
        accounts.account(f"s{number}", ANN)
    assert len(listed(accounts)) == MAX_ACCOUNTS
    assert {"a-owner", "z-owner"} <= listed(accounts)
    left_out = next(uid for uid in accounts.verified if uid not in listed(accounts))
    accounts.turn(left_out, recap=False)
    assert left_out in listed(accounts)
    for uid in ("a-owner", left_out):
        accounts.turn(uid, recap=True)
    assert accounts.look_up(LINK)["preferences"]["lifecycle"] is False


def test_a_verified_opt_out_comes_first(accounts: AccountFixture) -> None:
    """Strangers whose accounts opt out must not push the owner's account off the list."""
    for number in range(MAX_ACCOUNTS + 5):
        accounts.account(f"s{number}", ANN, recap=False)
    accounts.verified["z"] = ANN
    accounts.account("z", ANN, recap=False)
    accounts.change(LINK, recap=True)
    accounts.turn("z", recap=False)
    assert "z" in listed(accounts)
    assert accounts.look_up(LINK)["preferences"]["recap"] is False


def test_accounts_with_another_address_are_dropped_first(accounts: AccountFixture) -> None:
    """Their address has changed since they were listed."""
    for number in range(MAX_ACCOUNTS):
        accounts.account(f"s{number}", ANN, recap=False)
    accounts.account("s0", "bea@example.com", recap=False)
    accounts.account("z", ANN)
    assert len(listed(accounts)) == MAX_ACCOUNTS
    assert "z" in listed(accounts)
    assert "s0" not in listed(accounts)


def test_a_change_fits_into_a_commit() -> None:
    """Read and change only a part of a list that is longer than the service writes."""
    accounts = AccountFixture(is_late=True)
    strangers = [f"s{number:04}" for number in range(1000)]
    for uid in strangers:
        accounts.account(uid, ANN)
    accounts.write(Put(f"users/{RECORD}", {"accounts": dict.fromkeys(strangers, True)}))
    accounts.change(LINK, recap=False)
    changed = [uid for uid in strangers if "chosenAt" in accounts.record(uid)]
    assert len(changed) == MAX_READ


EVIL: Final = "evil@example.com"


@pytest.mark.parametrize("address", [ANN, "ann@EXAMPLE.com", "\u200bAnn@example.com "])
def test_a_link_that_names_an_account_does_not_follow_its_address(
    accounts: AccountFixture, address: str
) -> None:
    """An app's link applies only to the account until its owner has verified the address."""
    accounts.account("evil", EVIL)
    accounts.change(LINK, recap=False)
    accounts.account("evil", address)
    assert accounts.look_up(("evil",)) == answer(trimmed(address))
    accounts.change(("evil",), marketing=False, recap=True)
    accounts.click(("evil",))
    assert accounts.record(RECORD)["emailPreferences"] == {"recap": False}
    accounts.change(LINK, recap=True)
    accounts.click(("evil",))
    assert accounts.look_up(LINK)["preferences"]["recap"] is True
    accounts.verified["evil"] = EVIL
    assert accounts.change(("evil",), recap=True)["preferences"]["recap"] is True
    accounts.click(LINK)
    assert accounts.look_up(("evil",))["preferences"]["recap"] is False  # the account's own flag
    assert accounts.change(("evil",), recap=True)["preferences"]["recap"] is True
    assert accounts.mailed(ANN)[1] is False
    accounts.verified["evil"] = ANN
    accounts.change(("evil",), recap=True)
    assert accounts.mailed(ANN)[1] is True


GMAIL: Final = "First.Last@Gmail.com"
GMAIL_BOX: Final = record_id("firstlast@gmail.com")


@pytest.mark.parametrize("typed", [GMAIL, "first.last@gmail.com", "FIRST.LAST@GMAIL.COM"])
@pytest.mark.parametrize("flag", ["recap", "lifecycle"])
def test_an_upgrade_keeps_the_opt_out_of_an_account(
    accounts: AccountFixture, typed: str, flag: str
) -> None:
    """An earlier release listed the account in the record of the mailbox."""
    accounts.is_late = True
    accounts.account("u1", GMAIL, **{flag: False})
    accounts.write(Put(f"users/{GMAIL_BOX}", {"accounts": {"u1": True}}))
    assert accounts.mailed(typed)[1] is False
    accounts.run_trigger()
    assert accounts.mailed(typed)[1] is False
    assert accounts.look_up(accounts.mailed(typed)[0]) == answer(GMAIL, **{flag: False})


@pytest.mark.parametrize("has_account", [True, False])
@pytest.mark.parametrize("address", [GMAIL, TAGGED, "a.b+c@googlemail.com", ANN])
def test_an_earlier_one_click_link_still_works(
    accounts: AccountFixture, address: str, *, has_account: bool
) -> None:
    """Links expire after a year. They write the record of the address."""
    box = record_id(mailbox(address))
    ids = (record_id(address), box)
    if has_account:
        accounts.account("u1", address)
        ids = ("u1", box)
    assert accounts.mailed(address)[1] is True
    assert accounts.click(ids) == 200
    assert accounts.mailed(address)[1] is False
    assert accounts.record(record_id(address))["emailPreferences"] == {"recap": False}
    if address != ANN:
        assert accounts.mailed(mailbox(address))[1] is True
    assert accounts.change(ids, recap=True)["preferences"]["recap"] is True
    assert accounts.mailed(address)[1] is True


@pytest.mark.parametrize("address", [TAGGED, "Ann+x@example.com", ANN])
def test_an_opt_out_in_an_earlier_mailbox_record_applies_to_all_its_addresses(
    accounts: AccountFixture, address: str
) -> None:
    """It applies until the address chooses otherwise. An opt-in there has no effect."""
    accounts.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": False}}))
    assert accounts.mailed(address)[1] is False
    assert accounts.mailed("bea+x@example.com")[1] is True
    accounts.click(LINK)
    assert accounts.mailed(address)[1] is False
    accounts.change((record_id(address), RECORD), recap=True)
    assert accounts.mailed(address)[1] is True
    assert accounts.look_up((record_id(address), RECORD))["preferences"]["recap"] is True
    accounts.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": True}}))
    accounts.account("u1", "ann+y@example.com", recap=False)
    assert accounts.mailed("ann+y@example.com")[1] is False


def test_a_link_of_an_app_shows_the_opt_out_of_an_earlier_mailbox_record(
    accounts: AccountFixture,
) -> None:
    """The accounts with the address determine the mailbox."""
    accounts.write(Put(f"users/{RECORD}", {"emailPreferences": {"lifecycle": False}}))
    accounts.account("u1", TAGGED)
    assert accounts.look_up((TAGGED_RECORD,)) == answer(TAGGED, lifecycle=False)
    assert accounts.change((TAGGED_RECORD,), lifecycle=True) == answer(TAGGED)
    assert accounts.mailed(TAGGED)[1] is True


def test_an_owner_frees_an_address_from_an_earlier_opt_out(accounts: AccountFixture) -> None:
    """The owner is verified and turns recaps on in the app."""
    accounts.verified["u1"] = TAGGED
    accounts.account("u1", TAGGED, recap=False)
    accounts.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": False}}))
    accounts.turn("u1", recap=True)
    assert (accounts.mailed(TAGGED)[1], accounts.mailed(ANN)[1]) == (True, False)


def test_an_earlier_link_of_a_deleted_account_opts_its_mailbox_out(
    accounts: AccountFixture,
) -> None:
    """The link does not contain the address, which may have had a tag."""
    accounts.click(("gone", RECORD))
    assert [accounts.mailed(address)[1] for address in (ANN, TAGGED)] == [False, False]


@pytest.mark.parametrize(
    "stored", ["no", "false", 0, "", "on", "TRUE", [], {}, 2, -1, 0.5, b"", float("nan"), "1"]
)
def test_any_other_value_is_off(accounts: AccountFixture, stored: object) -> None:
    """Design 3.53: apps and scripts can write other values than booleans."""
    accounts.write(Put("users/u1", {"email": ANN, "emailPreferences": {"recap": stored}}))
    assert accounts.mailed(ANN)[1] is False
    assert accounts.look_up(LINK) == answer(ANN, recap=False)
    accounts.write(Put("users/u1", {"email": EVIL}))
    accounts.write(Put(f"users/{RECORD}", {"emailPreferences": {"recap": stored}}))
    assert accounts.mailed(ANN)[1] is False


@pytest.mark.parametrize("stored", [True, None, 1, "true", "yes"])
def test_true_null_1_and_yes_are_on(accounts: AccountFixture, stored: object) -> None:
    """See design 3.53."""
    accounts.write(Put("users/u1", {"email": ANN, "emailPreferences": {"recap": stored}}))
    assert accounts.mailed(ANN)[1] is True
    assert accounts.look_up(LINK) == answer(ANN)


@pytest.mark.parametrize("stored", ["no", "yes", True, False, 0, 1, [], ["recap"], b"{}"])
def test_preferences_that_are_not_a_map_are_off(accounts: AccountFixture, stored: object) -> None:
    """Design 3.53: after a change of one flag the others remain off."""
    everything = {"lifecycle": False, "recap": False, "marketing": False}
    accounts.write(Put("users/u1", {"email": ANN, "emailPreferences": stored}))
    assert accounts.mailed(ANN)[1] is False
    assert accounts.look_up(LINK) == answer(ANN, **everything)
    changed = everything | {"lifecycle": True}
    assert accounts.change(LINK, lifecycle=True) == answer(ANN, **changed)
    assert accounts.record("u1")["emailPreferences"] == changed
    accounts.write(Put(f"users/{RECORD}", {"emailPreferences": stored}))
    accounts.change(LINK, recap=True)
    assert accounts.record(RECORD)["emailPreferences"] == everything | {"recap": True}


def test_repeated_clicks_write_nothing(
    accounts: AccountFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated click costs one read. It applies if recaps were turned on in between."""
    accounts.account("u1", ANN)
    accounts.click(LINK)
    reads, writes = list[str](), list[Write]()
    get_all: Callable[..., Any] = accounts.documents.get_all

    def counted(paths: Sequence[str], *how: Any, **limits: Any) -> Any:
        reads.extend(paths)
        return get_all(paths, *how, **limits)

    with monkeypatch.context() as patch:
        patch.setattr(accounts.documents, "get_all", counted)
        patch.setattr(accounts.documents, "commit", lambda *them, **_: writes.extend(them))
        assert {accounts.click(LINK) for _ in range(1000)} == {200}
    assert (reads, writes) == ([f"users/{RECORD}"] * 1000, [])
    accounts.change(LINK, recap=True)
    accounts.click(LINK)
    assert accounts.mailed(ANN)[1] is False
