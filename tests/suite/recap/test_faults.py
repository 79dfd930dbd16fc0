"""What happens when the mail service fails (design 3.39): nobody gets two, counts are true.

`tests/unit/mail/test_sendgrid.py` has every answer of a mail service, and
`tests/unit/recap/test_send_recap.py` what follows from each; here is one that leaves a rest, one
a doubt.
"""

from collections import Counter
from collections.abc import Callable

import pytest

from emulator.mailbox import Mailbox, drop, status
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall

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


def test_a_batch_whose_outcome_is_unknown_is_never_sent_again(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """An unknown batch counts as sent, is reported, and no later call sends it."""
    mailbox.fail_with(drop())
    answer = recap()
    assert answer.error[0] == "INTERNAL"
    (unknown,) = (batch["recipients"] for batch in wall.batches() if batch["state"] == "unknown")
    assert f"did not confirm {len(unknown)} of the mails" in answer.error[1]
    if wall.recaps()[0]["state"] == "interrupted":
        recap()  # what had not begun when the first answer came was left for another call
    (record,) = wall.recaps()
    assert (record["state"], record["sent"]) == ("sent", GUESTS)
    assert record["unknown"] == len(unknown)
    assert len(mailbox.mails) == GUESTS
    assert recap().error[0] == "RESOURCE_EXHAUSTED"
    assert _once_each(mailbox)
