"""Delivery reports: each email is counted once (design 3.60)."""

import itertools
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.email_address import address_hash, guest_uid, record_id
from functions.firestore.model import ChangedMeanwhileError, Delete, Merge, Put
from functions.mail.mail_status import DeliveryReport, DeliveryStatus, Tally
from functions.preferences.preferences import UNREACHABLE_FOR, Flag
from functions.preferences.user_store import UserStore
from functions.process import ProcessThreads
from functions.recap import delivery_status
from functions.recap.ledger.batch import RecapKey
from functions.recap.preview import Unreached
from tests.in_memory.through import ServiceError
from tests.unit.recap.recap_fixture import EVENT, TENANT, At, RecapFixture, guest

T = TypeVar("T")

ANN, BOB = guest(0), guest(1)
HARD = DeliveryStatus.BOUNCED | DeliveryStatus.UNREACHABLE
SPAM = DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME


@pytest.fixture
def fixture() -> RecapFixture:
    """Return a recap that was sent to five guests, in batches of two."""
    made = RecapFixture()
    made.guests(5)
    made.send()
    return made


def record_reports(fixture: RecapFixture, *news: tuple[str, DeliveryStatus]) -> int:
    """Record reports in one request."""
    report = [fixture.report(address, status) for address, status in news]
    return fixture.report_recorder().record(report)


def counted(fixture: RecapFixture) -> dict[str, int]:
    """Return the recap's counts of emails without zeros."""
    recap = fixture.recap()
    return {name: recap[name] for name in asdict(Tally()) if recap[name]}


@pytest.mark.parametrize(
    ("report", "tally"),
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
def test_the_order_and_repetition_of_reports_do_not_matter(
    report: list[DeliveryStatus], tally: dict[str, int]
) -> None:
    """SendGrid repeats reports and sends them in any order."""
    for order in dict.fromkeys(itertools.permutations(report * 2)):
        fixture = RecapFixture()
        fixture.guests(1)
        fixture.send()
        for status in order:
            record_reports(fixture, (ANN, status))
        assert counted(fixture) == tally


def test_a_request_can_have_reports_of_many_emails(fixture: RecapFixture) -> None:
    """It can include all batches, and several reports of one email."""
    news = [(guest(number), DeliveryStatus.DELIVERED) for number in range(5)]
    assert record_reports(fixture, *news, *news, (ANN, SPAM)) == 5
    assert counted(fixture) == {"delivered": 5, "complained": 1}
    assert record_reports(fixture, *news, (ANN, SPAM)) == 0


def test_recaps_are_counted_apart(fixture: RecapFixture) -> None:
    """A report of an earlier recap's email does not affect the counts of others."""
    first = [fixture.report(guest(number), DeliveryStatus.DELIVERED) for number in range(5)]
    fixture.later(hours=25)
    fixture.send()
    second = [fixture.report(ANN, DeliveryStatus.BOUNCED)]
    assert fixture.report_recorder().record([*first, *second]) == 6
    tallies = sorted((recap["delivered"], recap["bounced"]) for recap in fixture.recaps().values())
    assert tallies == [(0, 1), (5, 0)]


@pytest.mark.parametrize("status", [SPAM, DeliveryStatus.UNWELCOME])
def test_a_complaint_or_unsubscribe_opts_the_guest_out(
    fixture: RecapFixture, status: DeliveryStatus
) -> None:
    """A complaint, and an unsubscribe at the email provider, turn `recap` off."""
    record_reports(fixture, (ANN, status))
    fixture.later(hours=25)
    result = fixture.send()
    assert (result.sent, result.skipped) == (4, 1)


def test_a_repeated_report_does_not_override_a_later_choice(fixture: RecapFixture) -> None:
    """The guest has turned recaps on after the complaint."""
    record_reports(fixture, (ANN, SPAM))
    fixture.documents.commit(
        Put(f"users/guest-{address_hash(ANN)}", {"emailPreferences": {"recap": True}})
    )
    record_reports(fixture, (ANN, SPAM))
    fixture.later(hours=25)
    assert fixture.send().sent == 5


@pytest.mark.parametrize("account", [{"recap": True}, {"recap": True, "lifecycle": True}, {}])
def test_a_complaint_holds_against_an_account_with_the_address(
    account: dict[str, bool],
) -> None:
    """Design 3.62: an account with a guest's unverified address changes only its own record."""
    fixture = RecapFixture()
    fixture.guests(1)
    fixture.send()
    record_reports(fixture, (ANN, SPAM))
    fixture.account("evil", ANN, **account)
    fixture.later(hours=25)
    assert (fixture.send().sent, fixture.preview().recipients) == (0, 0)
    assert fixture.collection("users")["evil"] == {"email": ANN, "emailPreferences": account}


@pytest.mark.parametrize("address", [BOB, "", "nobody", f"+x{ANN}"])
def test_a_report_with_a_wrong_hash_opts_no_one_out(fixture: RecapFixture, address: str) -> None:
    """The label must be the hash of the address."""
    report = DeliveryReport(SPAM | HARD, fixture.labels(ANN), address)
    assert fixture.report_recorder().record([report]) == 0
    assert (fixture.collection("users"), counted(fixture)) == ({}, {})


def test_a_complaint_is_of_the_address(fixture: RecapFixture) -> None:
    """Design 3.52: a complaint holds for the exact address, in any spelling of it."""
    tagged = "Ann+party@example.com"
    fixture.photo(tagged)
    fixture.photo("ann@example.com")
    fixture.later(hours=24)
    fixture.send()
    fixture.report_recorder().record([fixture.report(tagged, SPAM)])
    assert fixture.collection("users").keys() == {record_id(tagged)}
    fixture.photo(tagged.upper())
    fixture.later(hours=25)
    result = fixture.send()
    assert (result.sent, result.skipped) == (6, 1)


def test_a_link_frees_a_tagged_address_that_bounced(fixture: RecapFixture) -> None:
    """Design 3.52: the link is for the exact address."""
    tagged = "Ann+party@example.com"
    fixture.photo(tagged)
    fixture.later(hours=24)
    fixture.send()
    fixture.report_recorder().record([fixture.report(tagged, HARD)])
    fixture.later(hours=25)
    assert fixture.send().skipped_by == {"bounced": 1}
    users, record = UserStore(fixture.documents), record_id(tagged)
    users.choose(users.of_address(record), {Flag.RECAP: True}, fixture.now)
    fixture.later(hours=25)
    assert fixture.send().skipped_by == {}


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
    fixture: RecapFixture, status: DeliveryStatus, trouble: str | None
) -> None:
    """Spec 4.9, `recapId`: show the address of a photo. A guest without a photo has none."""
    record_reports(fixture, (ANN, status), (BOB, HARD))
    [recap] = fixture.recaps()
    for photo, fields in fixture.collection(f"events/{EVENT}/photos").items():
        if fields["uploaderEmail"] == BOB:
            fixture.documents.commit(Delete(f"events/{EVENT}/photos/{photo}"))
    shown = fixture.preview(recapId=recap).unreached
    named = [Unreached(trouble, "", ANN)] if trouble else []
    assert set(shown or ()) == {Unreached("bounced"), *named}
    assert fixture.preview().unreached is None


def test_a_hard_bounced_address_is_skipped_for_a_year(fixture: RecapFixture) -> None:
    """An account does not matter."""
    fixture.documents.commit(Put("users/bob", {"email": BOB}))
    record_reports(fixture, (ANN, HARD), (BOB, HARD), (guest(2), DeliveryStatus.BOUNCED))
    fixture.later(hours=25)
    assert (fixture.send().skipped_by, fixture.addresses[5:]) == (
        {"bounced": 2},
        [guest(2), guest(3), guest(4)],
    )
    fixture.now += UNREACHABLE_FOR
    assert fixture.send().sent == 5


def test_no_address_is_in_labels_or_documents(fixture: RecapFixture) -> None:
    """Neither labels nor documents contain an email address."""
    record_reports(fixture, (ANN, HARD), (BOB, SPAM))
    key = RecapKey(EVENT, next(iter(fixture.recaps())))
    kept = [
        fixture.documents.get(f"{key.path}/outcomes/mails"),
        *fixture.collection("users").values(),
    ]
    assert "example.com" not in repr([kept, fixture.labels(ANN), fixture.recap()])


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
def test_a_report_that_matches_no_ledger_writes_nothing(
    fixture: RecapFixture, change: dict[str, object]
) -> None:
    """It may be of another project's email, or have malformed labels."""
    fixture.labels(ANN)
    before = repr(vars(fixture.firestore))
    report = [DeliveryReport(SPAM | HARD, {**fixture.labels(ANN), **change}, ANN)]
    assert fixture.report_recorder().record(report) == 0
    assert repr(vars(fixture.firestore)) == before


def test_a_recap_that_is_gone_stays_gone(fixture: RecapFixture) -> None:
    """A recap that is deleted between the read and the commit is not written again."""
    [recap_id] = fixture.recaps()
    key = RecapKey(EVENT, recap_id)
    report = [fixture.report(ANN, DeliveryStatus.DELIVERED)]

    def empty() -> None:
        gone = [Delete(f"{key.path}/batches/{number}") for number in range(3)]
        fixture.documents.commit(Delete(key.path), *gone)

    assert fixture.report_recorder(At("create outcomes", empty, before=True)).record(report) == 0
    assert fixture.recaps() == {}
    assert fixture.documents.get(f"{key.path}/outcomes/mails") is None


@pytest.mark.parametrize(
    ("complaining", "sent", "alerts"),
    [(3, 5, 0), (4, 5, 1), (5, 5, 2), (4, 1_333, 1), (4, 1_334, 0)],
)
def test_many_complaints_about_a_recap_alert_the_operator(
    complaining: int, sent: int, alerts: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spec 8: alert from 3 in 1,000 emails and four addresses. No recap is stopped."""
    fixture = RecapFixture()
    fixture.guests(5)
    fixture.send()
    [recap] = fixture.recaps()
    fixture.documents.commit(Merge(f"events/{EVENT}/recaps/{recap}", {"sent": sent}))
    for number in range(complaining):
        record_reports(fixture, (guest(number), SPAM))
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    report = [line for line in lines if line["message"] == "recap.complaints"]
    assert [line["complained"] for line in report] == [*range(4, 4 + alerts)]
    for line in report:
        assert (line["severity"], line["tenantId"], line["eventId"]) == ("ERROR", TENANT, EVENT)
    fixture.later(hours=25)
    assert fixture.preview().blocked is None


def test_a_request_fails_after_ten_conflicts(fixture: RecapFixture) -> None:
    """SendGrid then repeats it."""
    statuses = itertools.cycle(
        [DeliveryStatus.DELIVERED, SPAM, HARD, DeliveryStatus.UNWELCOME, DeliveryStatus.DROPPED]
    )

    def busy(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        if what in ("create outcomes", "update outcomes"):
            key = RecapKey(EVENT, next(iter(fixture.recaps())))
            fixture.documents.commit(
                Put(
                    f"{key.path}/outcomes/mails",
                    {"entries": delivery_status.entries_of({"0" * 32: next(statuses)})},
                )
            )
        return effect()

    with pytest.raises(ChangedMeanwhileError):
        fixture.report_recorder(busy).record([fixture.report(ANN, DeliveryStatus.DELIVERED)])
    assert sum(fixture.slept) < 6


def test_one_recap_that_fails_holds_up_no_other(fixture: RecapFixture) -> None:
    """Record the other recap's status. SendGrid repeats the request."""
    fixture.event("e2")
    fixture.photo(ANN, event_id="e2")
    fixture.send(eventId="e2")
    of_e2 = fixture.report(ANN, DeliveryStatus.DELIVERED)
    failed = [0]

    def through(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
        del retried
        if what == "get batches" and not failed[0]:
            failed[0] = 1
            raise ServiceError(what)
        return effect()

    report = [fixture.report(BOB, DeliveryStatus.DELIVERED), of_e2]
    with pytest.raises(ServiceError):
        fixture.report_recorder(through, ProcessThreads().pool(1, "recaps")).record(report)
    assert fixture.report_recorder().record(report) == 1


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
    """A hard bounce also ends notices. The label must be the hash of the address."""
    fixture = RecapFixture()
    ann = address_hash("ann@example.com")
    labels: list[dict[str, object]] = [
        {"wall_notice": ann},
        {"wall_notice": "../users/u1"},
        {"wall_notice": [ann]},
    ]
    report = [DeliveryReport(fate, label, "Ann@example.com") for label in labels]
    report.append(DeliveryReport(fate, labels[0], "eve@example.com"))
    for _ in range(2):
        assert fixture.report_recorder().record(report) == int(ends)
    until = fixture.now + UNREACHABLE_FOR
    assert fixture.collection("users").get(guest_uid(ann)) == (
        {"unreachableUntil": until} if ends else None
    )
