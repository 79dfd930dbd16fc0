"""Each mail is counted once, however often its events are reported (design 3.60)."""

import itertools
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.email_address import address_hash, guest_uid, record_id
from functions.firestore.model import Delete, Merge, Put
from functions.mail.mail_status import DeliveryStatus, Tally, TrackingEvent
from functions.preferences.preferences import UNREACHABLE_FOR, Flag
from functions.preferences.user_store import UserStore
from functions.process import ProcessThreads
from functions.recap import delivery_status
from functions.recap.delivery_status import ContentionError
from functions.recap.ledger.batch import RecapKey
from functions.recap.preview import Unreached
from tests.in_memory.through import ServiceError
from tests.unit.recap.parts import EVENT, TENANT, At, House, guest

T = TypeVar("T")

ANN, BOB = guest(0), guest(1)
HARD = DeliveryStatus.BOUNCED | DeliveryStatus.UNREACHABLE
SPAM = DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME


@pytest.fixture
def house() -> House:
    """A recap that went to five guests, in batches of two."""
    made = House()
    made.guests(5)
    made.send()
    return made


def tell(house: House, *news: tuple[str, DeliveryStatus]) -> int:
    """Tell it in one request."""
    told = [house.told(address, status) for address, status in news]
    return house.mail_events().record(told)


def counted(house: House) -> dict[str, int]:
    """What the recap counts of the mails, without zeros."""
    recap = house.recap()
    return {name: recap[name] for name in asdict(Tally()) if recap[name]}


@pytest.mark.parametrize(
    ("told", "tally"),
    [
        ([], {}),
        ([DeliveryStatus.DELIVERED], {"delivered": 1}),
        ([DeliveryStatus.BOUNCED], {"bounced": 1}),
        ([HARD], {"bounced": 1}),
        ([DeliveryStatus.DROPPED], {"dropped": 1}),
        ([DeliveryStatus.UNWELCOME], {}),
        ([SPAM], {"complained": 1}),
        ([DeliveryStatus.DELIVERED, SPAM], {"delivered": 1, "complained": 1}),
        ([DeliveryStatus.DELIVERED, DeliveryStatus.BOUNCED], {"bounced": 1}),
        ([DeliveryStatus.DELIVERED, HARD, SPAM], {"bounced": 1, "complained": 1}),
        ([DeliveryStatus.DROPPED, DeliveryStatus.DELIVERED], {"delivered": 1}),
        ([DeliveryStatus.DROPPED, DeliveryStatus.BOUNCED], {"bounced": 1}),
    ],
)
def test_a_mail_counts_as_what_is_known_of_it(
    told: list[DeliveryStatus], tally: dict[str, int]
) -> None:
    """Neither the order of events nor a repeated event changes a count."""
    for order in dict.fromkeys(itertools.permutations(told * 2)):
        house = House()
        house.guests(1)
        house.send()
        for status in order:
            tell(house, (ANN, status))
        assert counted(house) == tally


def test_a_request_reports_many_mails(house: House) -> None:
    """A request may have events of all batches, and several of one mail."""
    news = [(guest(number), DeliveryStatus.DELIVERED) for number in range(5)]
    assert tell(house, *news, *news, (ANN, SPAM)) == 5
    assert counted(house) == {"delivered": 5, "complained": 1}
    assert tell(house, *news, (ANN, SPAM)) == 0


def test_recaps_are_counted_apart(house: House) -> None:
    """An event about the last recap's mail changes no other recap's counts."""
    first = [house.told(guest(number), DeliveryStatus.DELIVERED) for number in range(5)]
    house.later(hours=25)
    house.send()
    second = [house.told(ANN, DeliveryStatus.BOUNCED)]
    assert house.mail_events().record([*first, *second]) == 6
    tallies = sorted((recap["delivered"], recap["bounced"]) for recap in house.recaps().values())
    assert tallies == [(0, 1), (5, 0)]


@pytest.mark.parametrize("status", [SPAM, DeliveryStatus.UNWELCOME])
def test_a_guest_who_wants_no_more_mails_gets_none(house: House, status: DeliveryStatus) -> None:
    """A complaint and the mail service's own unsubscribe turn `recap` off."""
    tell(house, (ANN, status))
    house.later(hours=25)
    result = house.send()
    assert (result.sent, result.skipped) == (4, 1)


def test_a_choice_made_later_stands(house: House) -> None:
    """A repeated event does not overrule a guest who has turned recaps on since."""
    tell(house, (ANN, SPAM))
    house.documents.commit(
        Put(f"users/guest-{address_hash(ANN)}", {"emailPreferences": {"recap": True}})
    )
    tell(house, (ANN, SPAM))
    house.later(hours=25)
    assert house.send().sent == 5


@pytest.mark.parametrize("account", [{"recap": True}, {"recap": True, "lifecycle": True}, {}])
def test_a_complaint_holds_against_an_account_with_the_address(
    account: dict[str, bool],
) -> None:
    """Design 3.62: an account with a guest's unverified address changes only its own record."""
    house = House()
    house.guests(1)
    house.send()
    tell(house, (ANN, SPAM))
    house.account("evil", ANN, **account)
    house.later(hours=25)
    assert (house.send().sent, house.preview().recipients) == (0, 0)
    assert house.collection("users")["evil"] == {"email": ANN, "emailPreferences": account}


@pytest.mark.parametrize("address", [BOB, "", "nobody", f"+x{ANN}"])
def test_nobody_elses_mails_are_turned_off(house: House, address: str) -> None:
    """A report of a mail whose label is not the hash of its address is refused."""
    told = TrackingEvent(SPAM | HARD, house.labels(ANN), address)
    assert house.mail_events().record([told]) == 0
    assert (house.collection("users"), counted(house)) == ({}, {})


def test_a_complaint_is_of_the_address(house: House) -> None:
    """Design 3.52: a complaint holds for the exact address, in any spelling of it."""
    tagged = "Ann+party@example.com"
    house.photo(tagged)
    house.photo("ann@example.com")
    house.later(hours=24)
    house.send()
    house.mail_events().record([house.told(tagged, SPAM)])
    assert house.collection("users").keys() == {record_id(tagged)}
    house.photo(tagged.upper())
    house.later(hours=25)
    result = house.send()
    assert (result.sent, result.skipped) == (6, 1)


def test_a_tagged_address_that_bounced_is_freed_behind_its_link(house: House) -> None:
    """Design 3.52: the link in an email leads to the address, whose owner frees it."""
    tagged = "Ann+party@example.com"
    house.photo(tagged)
    house.later(hours=24)
    house.send()
    house.mail_events().record([house.told(tagged, HARD)])
    house.later(hours=25)
    assert house.send().skipped_by == {"bounced": 1}
    users, record = UserStore(house.documents), record_id(tagged)
    users.choose(users.of_address(record), {Flag.RECAP: True}, house.now)
    house.later(hours=25)
    assert house.send().skipped_by == {}


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (DeliveryStatus.DROPPED, "dropped"),
        (DeliveryStatus.DELIVERED, None),
        (DeliveryStatus.DELIVERED | DeliveryStatus.DROPPED, None),
        (DeliveryStatus.DELIVERED | DeliveryStatus.BOUNCED, "bounced"),
        (DeliveryStatus.DELIVERED | SPAM, "complained"),
    ],
)
def test_staff_see_whom_a_recap_did_not_reach(
    house: House, status: DeliveryStatus, trouble: str | None
) -> None:
    """Spec 4.9, `recapId`: staff see the address on a photo; a guest without a photo has none."""
    tell(house, (ANN, status), (BOB, HARD))
    [recap] = house.recaps()
    for photo, fields in house.collection(f"events/{EVENT}/photos").items():
        if fields["uploaderEmail"] == BOB:
            house.documents.commit(Delete(f"events/{EVENT}/photos/{photo}"))
    shown = house.preview(recapId=recap).unreached
    named = [Unreached(trouble, "", ANN)] if trouble else []
    assert set(shown or ()) == {Unreached("bounced"), *named}
    assert house.preview().unreached is None


def test_an_address_that_bounced_for_good_is_left_out(house: House) -> None:
    """The address is left out for a year, with an account and without."""
    house.documents.commit(Put("users/bob", {"email": BOB}))
    tell(house, (ANN, HARD), (BOB, HARD), (guest(2), DeliveryStatus.BOUNCED))
    house.later(hours=25)
    assert (house.send().skipped_by, house.addresses[5:]) == (
        {"bounced": 2},
        [guest(2), guest(3), guest(4)],
    )
    house.now += UNREACHABLE_FOR
    assert house.send().sent == 5


def test_no_address_is_in_what_is_kept(house: House) -> None:
    """No e-mail address stands in a label, or in any document that is written."""
    tell(house, (ANN, HARD), (BOB, SPAM))
    key = RecapKey(EVENT, next(iter(house.recaps())))
    kept = [
        house.documents.get(f"{key.path}/outcomes/mails"),
        *house.collection("users").values(),
    ]
    assert "example.com" not in repr([kept, house.labels(ANN), house.recap()])


@pytest.mark.parametrize(
    "change",
    [
        {"wall_event": "e2"},
        {"wall_event": "a/b"},
        {"wall_event": None},
        {"wall_recap": "another"},
        {"wall_recap": "../e1"},
        {"wall_recap": "x" * 100_000},
        {"wall_batch": "7"},
        {"wall_batch": "1"},  # where somebody else is
        {"wall_batch": "-1"},
        {"wall_batch": "1" * 5000},
        {"wall_batch": 0},
        {"wall_batch": "\N{ARABIC-INDIC DIGIT ZERO}"},
        {"wall_guest": address_hash("stranger@example.com")},
        {"wall_guest": ["x"]},
        {"wall_guest": {}},
        {"wall_guest": ANN},
    ],
)
def test_what_is_in_no_ledger_is_left_alone(house: House, change: dict[str, object]) -> None:
    """A report of another project's mail, or with malformed labels, writes nothing."""
    house.labels(ANN)
    before = repr(vars(house.firestore))
    told = [TrackingEvent(SPAM | HARD, {**house.labels(ANN), **change}, ANN)]
    assert house.mail_events().record(told) == 0
    assert repr(vars(house.firestore)) == before


def test_a_recap_that_is_gone_stays_gone(house: House) -> None:
    """A recap that is deleted between the read and the commit is not written again."""
    [recap_id] = house.recaps()
    key = RecapKey(EVENT, recap_id)
    told = [house.told(ANN, DeliveryStatus.DELIVERED)]

    def empty() -> None:
        gone = [Delete(f"{key.path}/batches/{number}") for number in range(3)]
        house.documents.commit(Delete(key.path), *gone)

    assert house.mail_events(At("create outcomes", empty, before=True)).record(told) == 0
    assert house.recaps() == {}
    assert house.documents.get(f"{key.path}/outcomes/mails") is None


@pytest.mark.parametrize(
    ("complaining", "sent", "alerts"),
    [(3, 5, 0), (4, 5, 1), (5, 5, 2), (4, 1_333, 1), (4, 1_334, 0)],
)
def test_many_complaints_about_a_recap_alert_the_operator(
    complaining: int, sent: int, alerts: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spec 8: from 3 in 1,000 emails and four addresses on; nothing stops by itself."""
    house = House()
    house.guests(5)
    house.send()
    [recap] = house.recaps()
    house.documents.commit(Merge(f"events/{EVENT}/recaps/{recap}", {"sent": sent}))
    for number in range(complaining):
        tell(house, (guest(number), SPAM))
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    told = [line for line in lines if line["message"] == "recap.complaints"]
    assert [line["complained"] for line in told] == [*range(4, 4 + alerts)]
    for line in told:
        assert (line["severity"], line["tenantId"], line["eventId"]) == ("ERROR", TENANT, EVENT)
    house.later(hours=25)
    assert house.preview().blocked is None


def test_a_request_that_is_never_first_has_to_come_again(house: House) -> None:
    """A request gives up after ten tries within seconds."""
    statuses = itertools.cycle(
        [DeliveryStatus.DELIVERED, SPAM, HARD, DeliveryStatus.UNWELCOME, DeliveryStatus.DROPPED]
    )

    def busy(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        if what in ("create outcomes", "update outcomes"):
            key = RecapKey(EVENT, next(iter(house.recaps())))
            house.documents.commit(
                Put(
                    f"{key.path}/outcomes/mails",
                    {"entries": delivery_status.entries_of({"0" * 32: next(statuses)})},
                )
            )
        return effect()

    with pytest.raises(ContentionError):
        house.mail_events(busy).record([house.told(ANN, DeliveryStatus.DELIVERED)])
    assert sum(house.slept) < 6


def test_one_recap_that_fails_holds_up_no_other(house: House) -> None:
    """The other recap's status is recorded, and the request comes again for the first."""
    house.event("e2")
    house.photo(ANN, event_id="e2")
    house.send(eventId="e2")
    of_e2 = house.told(ANN, DeliveryStatus.DELIVERED)
    failed = [0]

    def through(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        if what == "get batches" and not failed[0]:
            failed[0] = 1
            raise ServiceError(what)
        return effect()

    told = [house.told(BOB, DeliveryStatus.DELIVERED), of_e2]
    with pytest.raises(ServiceError):
        house.mail_events(through, ProcessThreads().pool(1, "recaps")).record(told)
    assert house.mail_events().record(told) == 1


@given(st.dictionaries(st.binary(min_size=16, max_size=16).map(bytes.hex), st.integers(0, 63)))
def test_what_is_written_is_read(facts: dict[str, int]) -> None:
    """Entries hold every combination of guests and facts, 17 bytes a guest."""
    statuses = {guest_id: DeliveryStatus(one) for guest_id, one in facts.items()}
    entries = delivery_status.entries_of(statuses)
    assert (delivery_status.read_entries(entries), len(entries)) == (statuses, 17 * len(statuses))


@pytest.mark.parametrize(
    ("fate", "ends"),
    [
        (DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME, True),
        (DeliveryStatus.BOUNCED | DeliveryStatus.UNREACHABLE, True),
        (DeliveryStatus.BOUNCED, False),
        (DeliveryStatus.DELIVERED, False),
    ],
)
def test_a_notice_that_is_complained_of_is_the_last(fate: DeliveryStatus, *, ends: bool) -> None:
    """A complaint or hard bounce ends notices; a label that is not the address's hash does not."""
    house = House()
    ann = address_hash("ann@example.com")
    labels: list[dict[str, object]] = [
        {"wall_notice": ann},
        {"wall_notice": "../users/u1"},
        {"wall_notice": [ann]},
    ]
    told = [TrackingEvent(fate, label, "Ann@example.com") for label in labels]
    told.append(TrackingEvent(fate, labels[0], "eve@example.com"))
    for _ in range(2):
        assert house.mail_events().record(told) == int(ends)
    until = house.now + UNREACHABLE_FOR
    assert house.collection("users").get(guest_uid(ann)) == (
        {"unreachableUntil": until} if ends else None
    )
