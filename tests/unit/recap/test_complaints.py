"""Too many complaints stop a tenant's recaps, until an operator allows them again (spec 8)."""

from datetime import datetime

import pytest

from functions.access import Caller, Role
from functions.call_error import CallError, Code
from functions.documents.write import Merge
from functions.mail.tracking import DeliveryStatus, TrackingEvent
from functions.recap.quota.allowance import RecapLimits
from functions.recap.quota.complaint_store import ComplaintStore
from functions.recap.quota.complaints import Complaints, Level, Stop, day_of, stop_path
from tests.in_memory.through import Crash
from tests.unit.recap.parts import EVENT, NOON, TENANT, At, House, guest

SPAM = DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME
OTHER = "e2"


@pytest.mark.parametrize(
    ("complained", "sent", "level"),
    [
        (0, 0, None),
        (1, 1, None),
        (1, 10, None),
        (2, 2_001, None),
        (2, 2_000, Level.WARNING),
        (2, 10, Level.WARNING),
        (4, 10, Level.WARNING),
        (5, 5, Level.STOP),
        (5, 1_666, Level.STOP),
        (5, 1_667, Level.WARNING),
        (5, 5_001, None),
        (59, 20_000, Level.WARNING),
        (60, 20_000, Level.STOP),
    ],
)
def test_what_a_share_of_complaints_leads_to(
    complained: int, sent: int, level: Level | None
) -> None:
    """From 0.1 % and two complaints on an alert; from 0.3 % and five on no recap any more."""
    assert Complaints(complained, sent).level() == level


def complain(house: House, *numbers: int) -> None:
    """Have guests call their last mail spam."""
    told = [TrackingEvent(SPAM, house.labels(guest(number))) for number in numbers]
    house.mail_events().record(told)


def refusal(house: House, event_id: str = EVENT) -> CallError | None:
    """What stands in the way of a recap of the event, beside the cooldown."""
    blocked = house.preview(eventId=event_id).blocked
    return blocked if blocked and blocked.code is Code.FAILED_PRECONDITION else None


def stop_of(house: House) -> Stop | None:
    """The recorded stop of the tenant."""
    of_event, of_tenant = ComplaintStore(house.documents).find(TENANT, EVENT)
    return of_tenant or of_event


def pardon(house: House) -> None:
    """What an operator writes."""
    stop = stop_of(house)
    assert stop
    house.documents.commit(Merge(stop_path(TENANT, stop.event_id), {"pardonedAt": house.now}))


@pytest.fixture
def house() -> House:
    """A recap that went to ten guests, and a second event of the tenant."""
    made = House()
    made.guests(10)
    made.send()
    made.event(OTHER)
    made.photo("zoe@example.com", event_id=OTHER)
    return made


def test_five_complaints_stop_the_event_and_no_other(house: House) -> None:
    """Four complaints do not stop it; the refusal has numbers, and says who can lift it."""
    complain(house, 0, 1, 2, 3)
    assert refusal(house) is None
    complain(house, 4)
    with pytest.raises(CallError) as refused:
        house.send()
    assert refused.value.code is Code.FAILED_PRECONDITION
    message = refused.value.message
    assert "Guests marked 5 of the 10 recap mails that this event sent" in message
    assert "on 2026-05-01 as spam (50 %)" in message
    assert "so this event sends no recap until the operator of this service allows it" in message
    shown = refusal(house)
    assert shown
    assert shown.message == message
    assert house.send(eventId=OTHER).sent == 1


def test_complaints_about_several_events_stop_the_tenant(house: House) -> None:
    """Spec 8: two beside those about one event, so that one party alone stops no other."""
    house.guests(2, OTHER)
    for number in range(10, 20):
        house.photo(guest(number), event_id=OTHER)
    house.send(eventId=OTHER)
    complain(house, 2, 3, 4)
    complain(house, 10)
    assert stop_of(house) is None
    complain(house, 11)
    stop = stop_of(house)
    assert stop
    assert (stop.event_id, stop.complaints) == (None, Complaints(5, 23))
    house.event("e3")
    refused = refusal(house, "e3")
    assert refused
    assert "that your events sent" in refused.message


def test_a_mailbox_complains_once(house: House) -> None:
    """Design 3.63: under five addresses, of five recaps, it is one complaint."""
    tagged = [f"victim+{number}@example.com" for number in range(5)]
    for address in tagged:
        house.photo(address, event_id=OTHER)
    house.send(eventId=OTHER, limits=RecapLimits(per_address=5))
    told = [TrackingEvent(SPAM, house.labels(text), text) for text in tagged]
    house.mail_events().record(told)
    assert stop_of(house) is None
    assert refusal(house, OTHER) is None


def test_five_addresses_of_one_uploader_complain_once(house: House) -> None:
    """Design 3.63: the addresses may be of five mailboxes."""
    for number in range(10, 15):
        house.photo(guest(number), event_id=OTHER, uploaderUid="evil")
    house.send(eventId=OTHER)
    complain(house, 10, 11, 12, 13, 14)
    assert refusal(house, OTHER) is None


def test_another_tenant_goes_on(house: House) -> None:
    """Complaints count for the tenant whose recap it was."""
    house.event("theirs", tenant="t2")
    house.photo("zoe@example.com", event_id="theirs")
    complain(house, 0, 1, 2, 3, 4)
    theirs = Caller("organizer", Role.ADMIN, "t2")
    assert house.send(caller=theirs, eventId="theirs").sent == 1


def test_complaints_of_two_days_are_counted_apart(house: House) -> None:
    """A day's complaints are about the recaps that began on that day."""
    complain(house, 0, 1, 2)
    house.later(hours=24)
    house.send()
    complain(house, 3, 4, 5)
    assert stop_of(house) is None


def test_a_stop_stays_until_an_operator_lifts_it(house: House) -> None:
    """Time alone does not; complaints about mails from before the pardon count no more."""
    complain(house, 0, 1, 2, 3, 4)
    house.later(days=30)
    assert refusal(house)
    pardon(house)
    house.later(seconds=1)
    complain(house, 5, 6, 7, 8, 9)
    assert refusal(house) is None


def test_a_pardoned_tenant_is_stopped_again(house: House) -> None:
    """Complaints about mails that were sent since the pardon stop the tenant."""
    complain(house, 0, 1, 2, 3, 4)
    pardon(house)
    house.later(hours=25)
    for number in range(10, 20):
        house.photo(guest(number))
    house.send()
    complain(house, 10, 11, 12, 13, 14)
    assert refusal(house)


def test_a_crash_before_the_look_loses_no_stop(house: House) -> None:
    """The mail service tells again what was not answered, and nothing of it is new then."""

    def crash() -> None:
        raise Crash

    told = [TrackingEvent(SPAM, house.labels(guest(number))) for number in range(5)]
    with pytest.raises(Crash):
        house.mail_events(At("outcomes.save", crash)).record(told)
    assert stop_of(house) is None
    assert house.mail_events().record(told) == 0
    assert stop_of(house)


def test_a_pardon_during_the_look_stands(house: House) -> None:
    """The look begins anew, and finds nothing that counts any more."""
    complain(house, 0, 1, 2, 3, 4)
    pardon(house)
    house.later(hours=25)
    house.send()
    house.later(seconds=1)
    told = [TrackingEvent(SPAM, house.labels(guest(number))) for number in range(5, 10)]
    house.mail_events(At("complaints.put", lambda: pardon(house), before=True)).record(told)
    stop = stop_of(house)
    assert stop
    assert not stop.holds


def test_the_operator_is_told(house: House, capfd: pytest.CaptureFixture[str]) -> None:
    """Each look beyond a limit is a line of the log, with what the alerts look at."""
    complain(house, 0)
    assert "recap.complaints" not in capfd.readouterr().out
    complain(house, 1)
    assert (
        f'"message": "recap.complaints", "tenantId": "{TENANT}", "day": "2026-05-01", '
        '"level": "warning", "complained": 2, "sent": 10' in capfd.readouterr().out
    )
    complain(house, 2, 3, 4)
    assert '"level": "stop"' in capfd.readouterr().out


def test_a_day_is_utc() -> None:
    """The day is that of UTC for a moment with any offset."""
    evening = datetime.fromisoformat("2026-05-01T23:30:00-02:00")
    begin, end = day_of(evening)
    assert (begin.isoformat(), end.isoformat()) == (
        "2026-05-02T00:00:00+00:00",
        "2026-05-03T00:00:00+00:00",
    )
    assert day_of(NOON)[0].date() == NOON.date()
