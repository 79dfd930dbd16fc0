"""Composes the recap mail from recipients and pictures.

The parts of the message hold the common text, and the copy of each recipient holds the values of
the tags in it. A mail service replaces tags everywhere, even in text that people wrote, so every
message has its own unguessable tags.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parseaddr, quote
from pathlib import Path
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape

from functions.mail.letterhead import Letterhead
from functions.mail.lines import EVENT_NAME_CHARACTERS, shortened
from functions.mail.message import Copy, EmailMessage
from functions.mail.templates import templates_in
from functions.mail.texts import Texts
from functions.preferences.links import PreferencesLinks
from functions.recap.arguments import Mode
from functions.recap.lines import greeted_name
from functions.recap.mail.paragraph import linked
from functions.recap.photos import MAIL_BYTES, MAX_PHOTOS, Picture

PREHEADER_CHARACTERS: Final = 110
"""Length of the line beside the subject in a mailbox; phones show less."""

_templates: Final = templates_in(Path(__file__).parent / "templates")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """A recipient, with their own `pictures`, newest first, of their `photo_count` photos.

    `labels` come back with the mail's tracking events.
    """

    address: str
    name: str
    links: PreferencesLinks
    pictures: Sequence[Picture] = ()
    photo_count: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """The common content of all mails of a recap.

    Attributes:
        mode: Whose photos a guest sees.
        letterhead: The sender.
        event_name: As the organizer wrote it; may be empty.
        language: BCP 47 tag of the event's language, or None.
        reply_to: The organizer's address for replies; None: the letterhead's.
        gallery_url: An http or https address, or None.
        subject: One line that replaces the templated one, or None.
        message: The organizer's own paragraph, or None.
        reel: The pictures of mode `all`, best first.
        photo_count: Approved photos of the event.
    """

    mode: Mode
    letterhead: Letterhead
    event_name: str
    language: str | None = None
    reply_to: str | None = None
    gallery_url: str | None = None
    subject: str | None = None
    message: str | None = None
    reel: Sequence[Picture] = ()
    photo_count: int = 0


class Photos(NamedTuple):
    """The photos of a mail: in the plain part, and in HTML the first photo and the others."""

    text: str
    first: str
    html: str


class Composer:
    """Writes messages of one recap."""

    def __init__(
        self,
        recap: Recap,
        *,
        new_word: Callable[[], str],
        bytes_per_recipient: int,
        texts: Texts | None = None,
    ) -> None:
        """Prepare the common content.

        Args:
            recap: The common content of all mails.
            new_word: Gives an unguessable word.
            bytes_per_recipient: Bytes that may differ for one recipient, counted as JSON.
            texts: The texts; None: those of the recap's language.
        """
        self._recap = recap
        self._new_word = new_word
        self._bytes_per_recipient = bytes_per_recipient
        self._texts = texts or Texts.of(recap.language)
        self._event_name = shortened(recap.event_name, EVENT_NAME_CHARACTERS)
        self._personal = recap.mode is Mode.PERSONAL
        self._subject = recap.subject or self._templated_subject()
        thanks = (
            self._texts.text("Thank you for being part of it.")
            if self._personal
            else self._texts.text("Here are the highlights.")
        )
        self._own_alt = self._texts.text("Your photo")
        self._own_alts = [
            self._texts.text("Your photo %(number)s", number=self._texts.number(number))
            for number in range(1, MAX_PHOTOS + 1)
        ]
        self._common = {
            "language": self._texts.language,
            "direction": self._texts.direction,
            "event_name": self._event_name,
            "gallery_url": recap.gallery_url,
            "personal": self._personal,
            "address_line": recap.letterhead.address_line,
            "subject": self._subject,
            "preheader": shortened(recap.message or thanks, PREHEADER_CHARACTERS),
        }

    def message(self, recipients: Iterable[Recipient]) -> EmailMessage:
        """One message, with a copy for each of `recipients`."""
        tags = _Tags(lambda: f"%{self._new_word()}%")
        text, html = self._content(tags)
        return EmailMessage(
            sender=self._sender(),
            reply_to=self._recap.reply_to or self._recap.letterhead.reply_to,
            subject=self._subject,
            text=text,
            html=html,
            copies=[self._copy(recipient, tags) for recipient in recipients],
        )

    def _templated_subject(self) -> str:
        text, event = self._texts.text, self._event_name
        if self._personal and event:
            return text("Your photos from %(event)s", event=event)
        if self._personal:
            return text("Your photos from the event")
        if event:
            return text("The best photos of %(event)s", event=event)
        return text("The best photos of the event")

    def _sender(self) -> str:
        """The sender, with the event's name added where both names are given."""
        name, address = parseaddr(self._recap.letterhead.sender)
        event = greeted_name(self._event_name)
        if not (name and event):
            return self._recap.letterhead.sender
        shown = self._texts.text("%(event)s via %(sender)s", event=event, sender=name)
        return f'"{quote(shown)}" <{address}>'

    def _content(self, tags: "_Tags") -> tuple[str, str]:
        """Text and HTML, with tags for the values of each recipient."""
        if self._personal:
            own = Photos(tags.text["photos"], tags.html["first"], tags.html["photos"])
            return self._parts(tags, own)
        frame = self._parts(tags, Photos("", "", ""))
        left = MAIL_BYTES - self._bytes_per_recipient - sum(len(part.encode()) for part in frame)
        reel = self._photos(
            self._recap.reel,
            self._recap.photo_count,
            size=lambda part: len(part.encode()),
            at_most=left,
        )
        return self._parts(tags, reel)

    def _parts(self, tags: "_Tags", photos: Photos) -> tuple[str, str]:
        """Text and HTML around the photos."""
        message = self._recap.message
        html = _templates.get_template("recap.html").render(
            **self._common,
            tags=tags.html,
            text=self._texts.html.text,
            message=message and linked(message),
            first=Markup(photos.first),  # noqa: S704 - rendered by a template, or a tag
            photos=Markup(photos.html),  # noqa: S704 - rendered by a template, or a tag
        )
        text = _templates.get_template("recap.txt").render(
            **self._common,
            tags=tags.text,
            text=self._texts.text,
            message=message,
            photos=photos.text,
        )
        return text, html

    def _copy(self, to: Recipient, tags: "_Tags") -> Copy:
        html, text = tags.html, tags.text
        values = {
            html["greeting"]: str(self._greeting(self._texts.html, to.name)),
            text["greeting"]: str(self._greeting(self._texts, to.name)),
            html["preferences"]: str(escape(to.links.page)),
            text["preferences"]: to.links.page,
        }
        if self._personal:
            places = (text["photos"], html["first"], html["photos"])
            left = self._bytes_per_recipient - _json_bytes(values | dict.fromkeys(places, ""))
            photos = self._photos(to.pictures, to.photo_count, size=_json_bytes, at_most=left)
            values |= dict(zip(places, photos, strict=True))
        return Copy(
            address=to.address,
            headers={
                "Content-Language": self._texts.language,
                "List-Unsubscribe": f"<{to.links.one_click}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            },
            values=values,
            labels=to.labels,
        )

    @staticmethod
    def _greeting(texts: Texts, name: str) -> str:
        return texts.text("Hi %(name)s,", name=name) if name else texts.text("Hi there,")

    def _photos(
        self,
        pictures: Sequence[Picture],
        count: int,
        *,
        size: Callable[[str], int],
        at_most: int,
    ) -> Photos:
        """As many `pictures` as fit into `at_most` bytes, and the number of the others of `count`.

        Without room for pictures the sentence with the number remains.
        """

        def fits(photos: Photos) -> bool:
            return sum(map(size, photos)) <= at_most

        shown = len(pictures)
        photos = self._rendered(pictures, count)
        if fits(photos):
            return photos
        # Pictures have about equal sizes, so this estimate is close.
        shown = max(shown * at_most // sum(map(size, photos)), 0)
        photos = self._rendered(pictures[:shown], count)
        while shown and not fits(photos):
            shown -= 1
            photos = self._rendered(pictures[:shown], count)
        while fits(more := self._rendered(pictures[: shown + 1], count)):
            shown, photos = shown + 1, more
        return photos

    def _rendered(self, pictures: Sequence[Picture], count: int) -> Photos:
        # Own photos begin with the oldest, the reel with the best.
        shown = pictures[:: -1 if self._personal else 1]
        values: dict[str, Any] = {
            "pictures": shown,
            "rows": _rows(shown, self._alts(shown)),
            "shown": len(shown),
            "count": count,
            "own": self._personal,
            "gallery_url": self._recap.gallery_url,
        }

        def rendered(name: str, texts: Texts) -> str:
            template = _templates.get_template(name)
            return template.render(values, text=texts.text, plural=texts.plural)

        first, _, others = rendered("photos.html", self._texts.html).partition("\f")
        return Photos(rendered("photos.txt", self._texts), first.rstrip(), others.lstrip())

    def _alts(self, pictures: Sequence[Picture]) -> Sequence[str]:
        """The alternative texts of the pictures."""
        if self._personal:
            alone = len(pictures) == 1
            return [self._own_alt] if alone else self._own_alts[: len(pictures)]
        text, written = self._texts.text, self._texts.number
        return [
            text("Photo by %(name)s", name=picture.by)
            if picture.by
            else text("Photo %(number)s", number=written(number))
            for number, picture in enumerate(pictures, start=1)
        ]


def _rows(
    pictures: Sequence[Picture], alts: Sequence[str]
) -> Sequence[Sequence[tuple[Picture, str, bool]]]:
    """The first picture, five more, and all others; each with its alternative text and width.

    Two pictures stand side by side, so the last of an odd number is wide.
    """
    cells = list(zip(pictures, alts, strict=True))
    rows = (cells[:1], cells[1:6], cells[6:])
    return [
        [
            (picture, alt, len(row) % 2 == 1 and place == len(row))
            for place, (picture, alt) in enumerate(row, start=1)
        ]
        for row in rows
        if row
    ]


class _Tags:
    """Tags of one message; `html` and `text` have the same names and never the same tag."""

    NAMES: Final = ("greeting", "first", "photos", "preferences")

    def __init__(self, new_tag: Callable[[], str]) -> None:
        self.html = {name: new_tag() for name in self.NAMES}
        self.text = {name: new_tag() for name in self.NAMES}


def _json_bytes(value: object) -> int:
    return len(json.dumps(value))
