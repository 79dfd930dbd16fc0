"""From a mail that was really sent to the page, and from the page to the next recap (spec 4.1)."""

import re
from collections.abc import Callable

from google.cloud import firestore

from emulator.mailbox import Mailbox
from functions.email_address import address_hash
from tests.suite.call import Answer
from tests.suite.preferences.test_browser import FRESH, RECAP, SITE, Browse
from tests.suite.wall_client import Wall


def test_a_guest_who_opts_out_gets_no_recap(
    browse: Browse,
    wall: Wall,
    mailbox: Mailbox,
    recap: Callable[..., Answer],
    record: firestore.DocumentReference,
) -> None:
    """Spec 4.1, rule 3: the opt-out is recorded for the mailbox and in the account."""
    anna = f"anna@{wall.id}.example.com"
    record.set({"email": anna})
    wall.photos({"uploaderEmail": anna}, {"uploaderEmail": "ben@example.com"})
    assert recap().result == {"sent": 2, "skipped": 0}
    (mail,) = mailbox.to(anna)
    [link] = re.findall(rf"{SITE}/preferences#token=[\w.-]+", mail.text)
    assert f'href="{link}"' in mail.html
    assert mail.headers["List-Unsubscribe"].startswith(f"<{SITE}/unsubscribe?token=")
    assert mail.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"

    first, turning, later = browse(
        {"link": link},
        {"link": link, "turn": RECAP},
        {"link": link, "reload": True},
    )

    assert f"For a…a@{wall.id}.example.com" in first.text
    assert anna not in first.text
    assert first.switches == FRESH
    assert turning.switches == later.switches == FRESH | {RECAP: False}
    assert turning.said == "Saved."
    assert turning.turned == {"keptFocus": True, "live": ["polite"]}
    for document in (record, wall.db.document(f"users/guest-{address_hash(anna)}")):
        assert document.get().get("emailPreferences") == {"recap": False}

    mailbox.forget()
    wall.end_cooldown()
    assert recap().result == {"sent": 1, "skipped": 1}
    assert [mail.to for mail in mailbox.emails] == ["ben@example.com"]
