"""A call that is killed while mails are on their way (design 3.40)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from emulator.accounts import Account
from emulator.mailbox import Mailbox, slow
from tests.suite.call import Answer, call
from tests.suite.process import FunctionProcess
from tests.suite.wall_client import Wall


def test_the_emails_of_a_killed_call_count_as_sent(
    wall: Wall, mailbox: Mailbox, organizer: Account, recap: Callable[..., Answer]
) -> None:
    """The sweep reports them as unconfirmed. Unit tests and the simulation have the other calls."""
    wall.guests(3)
    mailbox.fail_with(slow(100))
    with FunctionProcess("sendEventRecap") as doomed, ThreadPoolExecutor(1) as thread:
        at = f"http://127.0.0.1:{doomed.port}/"
        data = {"eventId": wall.id}
        killed = thread.submit(call, "", data, id_token=organizer.id_token, at=at)
        mailbox.wait_for(lambda mails: len(mails) == 3, 60)
        doomed.kill()
        assert killed.exception()
    mailbox.heal()
    assert recap().error[0] == "ABORTED"
    wall.end_lease()
    with FunctionProcess("sweepDeliveries") as sweeper:
        assert sweeper.dispatch(None) == 200
    (record,) = wall.recaps()
    counts = {name: record[name] for name in ("state", "sent", "unknown", "left")}
    assert counts == {"state": "sent", "sent": 3, "unknown": 3, "left": 0}
    assert recap().error[0] == "RESOURCE_EXHAUSTED"
    assert len(mailbox.emails) == 3
