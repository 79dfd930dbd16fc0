"""A call that is killed while mails are on their way (design 3.40)."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from emulator.mailbox import Mailbox, slow
from tests.suite.call import Answer
from tests.suite.process import FunctionProcess
from tests.suite.wall_client import Wall

GUESTS = 42
"""Five requests. Some are on their way when the call is killed, and others are not."""


def test_the_next_call_after_a_crash_sends_the_rest_once(
    wall: Wall,
    mailbox: Mailbox,
    small_recap: Callable[..., Answer],
) -> None:
    """Mails on their way count as sent: the sweep reports them, the next call sends the others."""
    wall.guests(GUESTS)
    mailbox.fail_with(slow(100))
    with (
        FunctionProcess("sendEventRecap", source="tests/suite/recap/small_batches.py") as doomed,
        ThreadPoolExecutor(1) as thread,
    ):
        killed = thread.submit(small_recap, doomed.port)
        mailbox.wait_in_flight(3, 60)
        under_way = len(mailbox.wait_for(lambda mails: len(mails) >= 30, 60))
        doomed.kill()
        assert killed.exception()
    mailbox.heal()

    recap = small_recap
    assert recap().error[0] == "ABORTED"
    wall.end_lease()
    with FunctionProcess("sweepDeliveries") as sweeper:
        assert sweeper.dispatch(None) == 200
    (record,) = wall.recaps()
    assert (record["state"], record["unknown"]) == ("interrupted", under_way)
    answer = recap()
    assert answer.result["sent"] == GUESTS - under_way
    (_, note) = answer.result["notes"]
    assert note.startswith(f"The email provider didn't confirm {under_way} email")
    assert set(Counter(mail.to for mail in mailbox.emails).values()) == {1}
    assert len(mailbox.emails) == GUESTS
    (record,) = wall.recaps()
    counts = {name: record[name] for name in ("state", "sent", "unknown", "left")}
    assert counts == {"state": "sent", "sent": GUESTS, "unknown": under_way, "left": 0}
    assert recap().error[0] == "RESOURCE_EXHAUSTED"
