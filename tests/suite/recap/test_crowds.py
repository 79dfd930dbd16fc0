"""Large events (spec 8, design 3)."""

from collections import Counter
from collections.abc import Callable

from emulator.mailbox import Mailbox
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall

Recap = Callable[..., Answer]


def test_beyond_the_most_of_a_call_the_next_recap_goes_to_the_guests_without_one(
    wall: Wall, mailbox: Mailbox, small_recap: Recap
) -> None:
    """Design 3, "More than 5000 recipients"; here fifty are the most."""
    wall.guests(52)
    first = small_recap()
    assert first.result["sent"] == 50
    assert "2 guests are left" in first.result["message"]
    assert wall.recaps()[0]["left"] == 2
    assert small_recap().error[0] == "RESOURCE_EXHAUSTED"
    wall.end_cooldown()
    second = small_recap()
    assert second.result["sent"] == 2
    assert "50 guests have had a recap of this event before" in second.result["message"]
    counts = Counter(mail.to for mail in mailbox.mails)
    assert len(counts) == 52
    assert set(counts.values()) == {1}
