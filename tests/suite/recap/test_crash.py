"""A call that is killed while mails are on their way (design 3, "Crash while sending")."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from emulator.mailbox import Mailbox, slow
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall

GUESTS = 4200
"""Five requests, of which some are on their way and some are not when the call is killed."""


def test_after_a_crash_the_next_call_goes_on_and_nobody_gets_two(
    wall: Wall, mailbox: Mailbox, recap: Callable[..., Answer]
) -> None:
    """What was under way counts as sent and is reported; the rest is sent."""
    wall.guests(GUESTS)
    mailbox.fail_with(slow(100))
    with ThreadPoolExecutor(1) as thread:
        killed = thread.submit(recap)
        mailbox.wait_in_flight(3, 60)
        under_way = len(mailbox.wait_for(lambda mails: len(mails) >= 3000, 60))
        _kill_function("sendEventRecap")
        assert killed.exception() or killed.result().status >= 500
    mailbox.heal()

    assert recap().error[0] == "ABORTED"
    wall.end_lease()
    answer = recap()
    assert answer.result["sent"] == GUESTS - under_way
    assert f"has not confirmed {under_way} of them" in answer.result["message"]
    assert set(Counter(mail.to for mail in mailbox.mails).values()) == {1}
    assert len(mailbox.mails) == GUESTS
    (record,) = wall.recaps()
    counts = {name: record[name] for name in ("state", "sent", "unknown", "left")}
    assert counts == {"state": "sent", "sent": GUESTS, "unknown": under_way, "left": 0}
    assert recap().error[0] == "RESOURCE_EXHAUSTED"


def _kill_function(name: str) -> None:
    """Kill every process in which this suite runs the function, without a warning."""
    found = 0
    for process in psutil.process_iter(["cmdline", "cwd"]):
        if process.info["cwd"] != str(Path.cwd()):
            continue
        if not any("functions-framework" in one for one in process.info["cmdline"] or ()):
            continue
        if process.environ().get("FUNCTION_TARGET") == name:
            process.kill()
            found += 1
    assert found
