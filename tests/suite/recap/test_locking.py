"""One recap at a time, one a day (spec 3.3, 8)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from emulator.mailbox import Mailbox, slow
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall, guest

Recap = Callable[..., Answer]


def test_of_four_calls_at_once_exactly_one_sends(
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
    assert len(mailbox.mails) == 3
    assert len(wall.recaps()) == 1


def test_a_second_recap_within_a_day_is_refused(wall: Wall, mailbox: Mailbox, recap: Recap) -> None:
    """Spec 3.3: cooldown, so `resource-exhausted`; after it everybody gets a new one."""
    wall.guests(2)
    assert recap().result["sent"] == 2
    answer = recap(mode="all")
    assert (answer.status, answer.error[0]) == (429, "RESOURCE_EXHAUSTED")
    assert sorted(mail.to for mail in mailbox.mails) == [guest(0), guest(1)]
    wall.end_cooldown()
    assert recap().result["sent"] == 2
    assert len(mailbox.mails) == 4
    assert [record["sent"] for record in wall.recaps()] == [2, 2]


def test_the_cooldown_of_one_event_is_none_for_another(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Spec 8: per event."""
    wall.guests(1)
    assert recap().result["sent"] == 1
    other = Wall(wall.db, wall.db.collection("events").document(f"{wall.id}-2"))
    other.publish()
    other.guests(1)
    assert recap(eventId=other.id).result["sent"] == 1
    assert len(mailbox.mails) == 2
