"""The recap mail: from recipients and pictures to a message.

What is the same for everybody stands in the parts; what differs stands in the copy of each
recipient, under tags. A mail service replaces tags wherever they stand, also in what people wrote,
so every message has tags of its own that nobody can guess.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from markupsafe import escape

from functions.mail.letterhead import Letterhead
from functions.mail.lines import EVENT_NAME_CHARACTERS, shortened
from functions.mail.message import Copy, Message
from functions.mail.templates import templates_in
from functions.preferences.links import PreferencesLinks
from functions.recap.arguments import Mode
from functions.recap.photos import MAIL_BYTES, Picture

_templates: Final = templates_in(Path(__file__).parent / "templates")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """Who gets the mail: `pictures` are their own, newest first, `photo_count` may be more.

    `labels` are what the mail is known by later.
    """

    address: str
    name: str
    links: PreferencesLinks
    pictures: Sequence[Picture] = ()
    photo_count: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """What all mails of a recap have in common.

    Attributes:
        mode: Whose photos a guest sees.
        letterhead: Whom they are from.
        event_name: As the organizer wrote it; may be empty.
        gallery_url: An http or https address, or None.
        subject: One line that replaces the templated one, or None.
        message: The organizer's own paragraph, or None.
        reel: In mode `all` what everybody sees, best first.
        photo_count: Approved photos of the event.
    """

    mode: Mode
    letterhead: Letterhead
    event_name: str
    gallery_url: str | None = None
    subject: str | None = None
    message: str | None = None
    reel: Sequence[Picture] = ()
    photo_count: int = 0


class Composer:
    """Writes messages of one recap."""

    def __init__(self, recap: Recap, *, new_word: Callable[[], str], bytes_each: int) -> None:
        """Prepare what is the same for everybody.

        Args:
            recap: What all mails have in common.
            new_word: Gives a word that nobody can guess.
            bytes_each: How much may differ for one recipient, counted as JSON.
        """
        self._recap = recap
        self._new_word = new_word
        self._bytes_each = bytes_each
        name = shortened(recap.event_name, EVENT_NAME_CHARACTERS)
        self._subject = recap.subject or _subject(recap.mode, name)
        self._common = {
            "event_name": name,
            "gallery_url": recap.gallery_url,
            "message": recap.message,
            "personal": recap.mode is Mode.PERSONAL,
            "address_line": recap.letterhead.address_line,
            "subject": self._subject,
        }

    def message(self, recipients: Iterable[Recipient]) -> Message:
        """One message, with a copy for each of `recipients`."""
        tags = _Tags(lambda: f"%{self._new_word()}%")
        text, html = self._content(tags)
        return Message(
            sender=self._recap.letterhead.sender,
            reply_to=self._recap.letterhead.reply_to,
            subject=self._subject,
            text=text,
            html=html,
            copies=[self._copy(one, tags) for one in recipients],
        )

    def _content(self, tags: "_Tags") -> tuple[str, str]:
        """Text and HTML, with tags for what differs."""
        if self._recap.mode is Mode.PERSONAL:
            return self._render(tags.text, photos=tags.text["photos"], html=False), self._render(
                tags.html, photos=tags.html["photos"], html=True
            )
        frame = [
            self._render(names, photos="", html=html)
            for names, html in ((tags.text, False), (tags.html, True))
        ]
        left = MAIL_BYTES - self._bytes_each - sum(len(one.encode()) for one in frame)
        text, html = _photos(
            self._recap.reel,
            self._recap.photo_count,
            own=False,
            gallery=self._recap.gallery_url,
            size=lambda text, html: len(text.encode()) + len(html.encode()),
            at_most=left,
        )
        return self._render(tags.text, photos=text, html=False), self._render(
            tags.html, photos=html, html=True
        )

    def _render(self, tags: dict[str, str], *, photos: str, html: bool) -> str:
        name = "recap.html" if html else "recap.txt"
        return _templates.get_template(name).render(**self._common, tags=tags, photos=photos)

    def _copy(self, to: Recipient, tags: "_Tags") -> Copy:
        html, text = tags.html, tags.text
        escaped_name = str(escape(to.name))
        values = {
            html["greeting"]: f"Hi {escaped_name}," if to.name else "Hi there,",
            text["greeting"]: f"Hi {to.name}," if to.name else "Hi there,",
            html["preferences"]: str(escape(to.links.page)),
            text["preferences"]: to.links.page,
        }
        if self._recap.mode is Mode.PERSONAL:
            left = self._bytes_each - _json_bytes(values) - 2 * len(html["photos"]) - 16
            values[text["photos"]], values[html["photos"]] = _photos(
                to.pictures,
                to.photo_count,
                own=True,
                gallery=self._recap.gallery_url,
                size=lambda text, html: _json_bytes(text) + _json_bytes(html),
                at_most=left,
            )
        return Copy(
            address=to.address,
            headers={
                "List-Unsubscribe": f"<{to.links.one_click}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            },
            values=values,
            labels=to.labels,
        )


class _Tags:
    """Tags of one message; `html` and `text` have the same names and never the same tag."""

    NAMES: Final = ("greeting", "photos", "preferences")

    def __init__(self, new_tag: Callable[[], str]) -> None:
        self.html = {name: new_tag() for name in self.NAMES}
        self.text = {name: new_tag() for name in self.NAMES}


def _photos(
    pictures: Sequence[Picture],
    count: int,
    *,
    own: bool,
    gallery: str | None,
    size: Callable[[str, str], int],
    at_most: int,
) -> tuple[str, str]:
    """Text and HTML of as many `pictures` as fit, and how many more of `count` there are.

    `size` is their bytes, of which there may be `at_most`; a heading alone is there in any case.
    """

    def rendered(shown: int) -> tuple[str, str]:
        # Own photos tell the evening from its beginning; the reel begins with the best.
        kept = list(pictures[:shown])[:: -1 if own else 1]
        values = {"pictures": kept, "count": count, "own": own, "gallery_url": gallery}
        text, html = (
            _templates.get_template(name).render(values) for name in ("photos.txt", "photos.html")
        )
        return text, html

    shown = len(pictures)
    parts = rendered(shown)
    if size(*parts) <= at_most:
        return parts
    # Pictures take about the same room each, so that this is nearly the number.
    shown = max(shown * at_most // size(*parts), 0)
    parts = rendered(shown)
    while shown and size(*parts) > at_most:
        shown -= 1
        parts = rendered(shown)
    while size(*(more := rendered(shown + 1))) <= at_most:
        shown, parts = shown + 1, more
    return parts


def _subject(mode: Mode, event_name: str) -> str:
    name = event_name or "the event"
    return f"Your photos from {name}" if mode is Mode.PERSONAL else f"The best photos of {name}"


def _json_bytes(value: object) -> int:
    return len(json.dumps(value))
