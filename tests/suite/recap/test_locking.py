"""One recap at a time (spec 3.3)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from emulator.mailbox import Mailbox, slow
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall

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
