"""What happens when the mail service fails (design 3.39): nobody gets two, counts are true.

`tests/unit/mail/test_sendgrid.py` has every answer of a mail service; here is one of each outcome.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from emulator.mailbox import (
    Fault,
    Mailbox,
    bad_address,
    drop,
    hang,
    status,
    too_many_requests,
)
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall, guest

Recap = Callable[..., Answer]

GUESTS = 23
"""Three requests: 10, 10 and 3 mails."""


@pytest.fixture
def recap(wall: Wall, small_recap: Recap) -> Recap:
    """Call the function with small batches, for so many guests."""
    wall.guests(GUESTS)
    return small_recap


def _once_each(mailbox: Mailbox) -> bool:
    return set(Counter(mail.to for mail in mailbox.mails).values()) <= {1}


def test_what_passes_is_waited_for(mailbox: Mailbox, recap: Recap) -> None:
    """The outcome is certain, so the request is made again within the call."""
    mailbox.fail_with(too_many_requests(1))
    assert recap().result == {"sent": GUESTS, "skipped": 0}
    assert len(mailbox.mails) == GUESTS
    assert _once_each(mailbox)


def test_where_nothing_is_accepted_the_organizer_may_retry_at_once(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Design 3.39: a failure while sending is `internal`."""
    mailbox.fail_with(status(413, times=3))
    answer = recap()
    assert (answer.status, answer.error[0]) == (500, "INTERNAL")
    assert len(mailbox.mails) == 0
    assert wall.recaps()[0]["state"] == "failed"
    assert recap().result == {"sent": GUESTS, "skipped": 0}
    assert len(mailbox.mails) == GUESTS
    assert _once_each(mailbox)


def test_where_some_is_accepted_a_retry_sends_the_rest_only(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Design 3.39: a failure while sending is `internal`."""
    mailbox.fail_with(status(403))
    answer = recap()
    assert answer.error[0] == "INTERNAL"
    sent = len(mailbox.mails)
    assert 0 < sent < GUESTS
    (record,) = wall.recaps()
    assert (record["state"], record["sent"]) == ("interrupted", sent)
    assert record["left"] == GUESTS - sent
    assert f"{sent} mails were sent and {GUESTS - sent} were not" in answer.error[1]

    again = recap()
    assert again.result["sent"] == GUESTS - sent
    assert f"{GUESTS} mails in all" in again.result["message"]
    assert len(mailbox.mails) == GUESTS
    assert _once_each(mailbox)
    (record,) = wall.recaps()
    assert (record["state"], record["sent"], record["left"]) == ("sent", GUESTS, 0)
    assert recap().error[0] == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize("fault", [drop(), hang(), status(500)], ids=str)
def test_a_batch_whose_outcome_is_unknown_is_never_sent_again(
    wall: Wall, mailbox: Mailbox, recap: Recap, fault: Fault
) -> None:
    """It counts as sent and is reported, and whatever comes after leaves it alone."""
    mailbox.fail_with(fault)
    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(recap)
        if fault == hang():
            # The others are through; then the one that hangs ends without an answer.
            mailbox.wait_for(lambda mails: len(mails) in (GUESTS - 3, GUESTS - 10), 60)
            mailbox.wait_in_flight(1, 10)
            mailbox.heal()
        answer = call.result()
    assert answer.error[0] == "INTERNAL"
    (unknown,) = (batch["recipients"] for batch in wall.batches() if batch["state"] == "unknown")
    assert f"did not confirm {len(unknown)} of the mails" in answer.error[1]
    if wall.recaps()[0]["state"] == "interrupted":
        recap()  # what had not begun when the first answer came was left for another call
    (record,) = wall.recaps()
    assert (record["state"], record["sent"]) == ("sent", GUESTS)
    assert record["unknown"] == len(unknown)
    assert len(mailbox.mails) == (GUESTS if fault == drop() else GUESTS - len(unknown))
    assert recap().error[0] == "RESOURCE_EXHAUSTED"
    assert _once_each(mailbox)


def test_an_address_that_the_mail_service_refuses_is_skipped(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Everybody else of its batch gets the mail."""
    mailbox.fail_with(bad_address(guest(3), guest(4), guest(15)))
    assert recap().result == {"sent": GUESTS - 3, "skipped": 3}
    assert len(mailbox.mails) == GUESTS - 3
    assert _once_each(mailbox)
    (record,) = wall.recaps()
    assert (record["sent"], record["skipped"], record["left"]) == (GUESTS - 3, 3, 0)
    assert sum(len(batch["recipients"]) for batch in wall.batches()) == GUESTS - 3
