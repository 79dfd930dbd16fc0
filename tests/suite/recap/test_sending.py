"""Who gets which mail (spec 1.1, 4.1)."""

import json
import re
from collections.abc import Callable

from itsdangerous.encoding import base64_decode

from emulator.mailbox import Mailbox
from emulator.pictures import BUCKET
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall

Recap = Callable[..., Answer]


def test_a_personal_recap_shows_a_guest_their_own_photos(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """Spec 1.1; personal is the default."""
    wall.photos(
        {"uploaderEmail": "anna@example.com", "uploaderName": "Anna"},
        {"uploaderEmail": "ben@example.com"},
        {"uploaderEmail": "anna@example.com", "thumbUrl": None},
        {"uploaderEmail": "ben@example.com", "url": "javascript:alert(1)", "thumbUrl": "data:,"},
    )
    recap()
    (anna,), (ben,) = mailbox.to("anna@example.com"), mailbox.to("ben@example.com")
    assert anna.subject == "Your photos from Summer Party"
    for part, greeting in ((anna.html, "Hi <bdi>Anna</bdi>,"), (anna.text, "Hi Anna,")):
        assert greeting in part
        assert f"{BUCKET}photo-1.jpg" in part
        assert f"{BUCKET}photo-3.jpg" in part
        assert "photo-2.jpg" not in part
    assert f'src="{BUCKET}small-1.jpg"' in anna.html
    assert f'src="{BUCKET}photo-3.jpg"' in anna.html
    assert "https://example.com/gallery/summer" in anna.html
    assert "photo-2.jpg" in ben.html
    assert "javascript:" not in ben.html + ben.text
    assert "data:," not in ben.html


def test_every_mail_can_be_unsubscribed_from_by_one_click(
    wall: Wall, mailbox: Mailbox, recap: Recap
) -> None:
    """RFC 8058; the link is the recipient's own, and its token can do nothing else."""
    wall.guests(2)
    recap()
    links = {mail.headers["List-Unsubscribe"] for mail in mailbox.mails}
    assert len(links) == 2
    for mail in mailbox.mails:
        assert mail.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        one_click = mail.headers["List-Unsubscribe"].strip("<>")
        assert one_click.startswith("http://127.0.0.1:5000/unsubscribe?token=")
        [page] = set(re.findall(r"http://127\.0\.0\.1:5000/preferences#token=[\w.-]+", mail.text))
        assert page in mail.html
        header, shown = (_fields(link.partition("token=")[2]) for link in (one_click, page))
        assert header["uid"] == shown["uid"]
        assert (header["scope"], shown["scope"]) == ("unsubscribe", "email-prefs")


def _fields(token: str) -> dict[str, str]:
    payload = token.partition(".")[0]
    fields: dict[str, str] = json.loads(base64_decode(payload))
    return fields
