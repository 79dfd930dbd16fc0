"""One recap at a time (spec 3.3), by a call or as it was planned (spec 4.15)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime, timedelta

from emulator.accounts import Account, sign_in
from emulator.firestore_watch import wait_for
from emulator.mailbox import Mailbox, slow
from tests.suite.call import Answer, call
from tests.suite.process import FunctionProcess
from tests.suite.wall_client import TENANT, Wall, guest

Recap = Callable[..., Answer]


def test_exactly_one_of_four_concurrent_calls_sends(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Spec 3.3: in progress, so `aborted`; the simulation has the interleavings."""
    wall.guests(3)
    mailbox.fail_with(slow(100))
    with ThreadPoolExecutor(4) as threads:
        calls = as_completed([threads.submit(recap) for _ in range(4)])
        refused: list[Answer] = [next(calls).result() for _ in range(3)]
        mailbox.heal()
        last: Answer = next(calls).result()
    assert {(answer.status, answer.error[0]) for answer in refused} == {(409, "ABORTED")}
    assert last.result == {"sent": 3, "skipped": 0}
    assert len(mailbox.emails) == 3
    assert len(wall.recaps()) == 1


def test_a_scheduled_recap_requires_the_organizers_role(
    wall: Wall, mailbox: Mailbox, organizer: Account
) -> None:
    """Spec 4.15: the task's own function asks Auth for the planner's claims."""
    wall.guests(3)
    schedule = wall.event.collection("schedules").document("recap")
    for person, state in ((sign_in("guest", TENANT), "failed"), (organizer, "sent")):
        version = person.uid
        task = {"eventId": wall.id, "version": version, "at": datetime.now(UTC).isoformat()}
        by = {"uid": person.uid, "email": person.email}
        schedule.set({"at": datetime.now(UTC), "by": by, "version": version, "state": "scheduled"})
        assert [call("sendScheduledRecap", task).status for _ in range(2)] == [200, 200]
        assert (schedule.get().to_dict() or {})["state"] == state
    # An account without the role gets no email about it.
    assert {mail.to for mail in mailbox.emails} == {guest(0), guest(1), guest(2)}


def test_a_lost_schedule_ends_with_a_notice(
    wall: Wall, mailbox: Mailbox, organizer: Account
) -> None:
    """Spec 4.15: the sweep has it ended, by the account that may send email."""
    wall.guests(3)
    schedule = wall.event.collection("schedules").document("recap")
    at = datetime.now(UTC) - timedelta(hours=3)
    by = {"uid": organizer.uid, "email": organizer.email}
    schedule.set({"at": at, "by": by, "version": "lost", "state": "scheduled"})
    with FunctionProcess("sweepDeliveries") as sweeper:
        assert sweeper.dispatch(None) == 200
    [record] = wait_for(schedule, lambda found: found[0]["state"] != "scheduled", 60)
    assert (record["state"], record["outcome"]["code"]) == ("failed", "internal")
    assert [mail.to for mail in mailbox.wait_for(lambda mails: len(mails) > 0, 60)] == [
        organizer.email
    ]
