"""Large events (spec 8, design 3)."""

from collections import Counter
from collections.abc import Callable

from emulator.mailbox import Mailbox
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall, guest

Recap = Callable[..., Answer]


def test_5000_guests_of_12000_photos_are_mailed_in_5_requests(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Spec 8; the ledger, the answer, the record and the mailbox agree."""
    wall.photos(*({"uploaderEmail": guest(n % 5000)} for n in range(12_000)))
    assert recap().result == {"sent": 5000, "skipped": 0}
    assert [len(one.recipients) for one in mailbox.requests] == [1000] * 5
    assert {one.status for one in mailbox.requests} == {202}
    assert Counter(mail.to for mail in mailbox.mails) == Counter(map(guest, range(5000)))
    (record,) = wall.recaps()
    assert (record["sent"], record["skipped"], record["left"]) == (5000, 0, 0)
    batches = wall.batches()
    assert {one["state"] for one in batches} == {"accepted"}
    assert len({one for batch in batches for one in batch["recipients"]}) == 5000


def test_beyond_5000_the_next_recap_goes_first_to_those_who_had_none(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Design 3, "More than 5000 recipients"."""
    wall.guests(5200)
    first = recap()
    assert first.result["sent"] == 5000
    assert "200 guests are left" in first.result["message"]
    assert wall.recaps()[0]["left"] == 200
    assert recap().error[0] == "RESOURCE_EXHAUSTED"
    wall.end_cooldown()
    second = recap()
    assert second.result == {"sent": 5000, "skipped": 0}
    counts = Counter(mail.to for mail in mailbox.mails)
    assert len(counts) == 5200
    assert Counter(counts.values()) == {2: 4800, 1: 400}
