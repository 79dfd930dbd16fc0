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

from functions.mail.lines import EVENT_NAME_CHARACTERS, shortened
from functions.mail.message import Copy, EmailMessage
from functions.mail.sender import MailSender
from functions.mail.templates import templates_in
from functions.mail.texts import Texts
from functions.preferences.links import PreferencesLinks
from functions.recap.arguments import Mode
from functions.recap.audience.names import greeted_name
from functions.recap.audience.photos import MAIL_BYTES, Picture
from functions.recap.mail.paragraph import linked

PREHEADER_CHARACTERS: Final = 110
"""Length of the line beside the subject in a mailbox; phones show less."""

FULL_SIZE_PICTURES: Final = 8
"""In one mail; an original, shown where no smaller picture exists, has some 4 MB."""

_CERTAINLY_FIT: Final = 4
"""Pictures with addresses of ordinary length that need not be measured."""

_OTHER_VALUES: Final = 2_000
"""Bytes of a copy beside its photos, counted as JSON: name and links, in both parts."""

_SHORT: Final = 600
"""Characters of both addresses of a picture of ordinary length."""

_BETWEEN: Final = 2
"""Bytes between the texts of an object in JSON."""

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
        sender: The sender.
        event_name: As the organizer wrote it; may be empty.
        language: BCP 47 tag of the event's language, or None.
        reply_to: The organizer's address for replies; None: the sender's.
        gallery_url: An http or https address, or None.
        subject: One line that replaces the templated one, or None.
        message: The organizer's own paragraph, or None.
        reel: The pictures of mode `all`, best first.
        photo_count: Approved photos of the event.
    """

    mode: Mode
    sender: MailSender
    event_name: str
    language: str | None = None
    reply_to: str | None = None
    gallery_url: str | None = None
    subject: str | None = None
    message: str | None = None
    reel: Sequence[Picture] = ()
    photo_count: int = 0


class _Layout(NamedTuple):
    """The photos of a mail, in order: those shown as pictures, and the links behind them."""

    pictures: Sequence[Picture]
    links: Sequence[Picture]


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
            bytes_per_recipient: Bytes that may differ for each of several recipients, as JSON.
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
        self._common = {
            "language": self._texts.language,
            "direction": self._texts.direction,
            "event_name": self._event_name,
            "gallery_url": recap.gallery_url,
            "personal": self._personal,
            "address_line": recap.sender.address_line,
            "subject": self._subject,
            "preheader": shortened(recap.message or thanks, PREHEADER_CHARACTERS),
        }

    def message(self, recipients: Iterable[Recipient]) -> EmailMessage:
        """One message, with a copy for each of `recipients`; a single one has more room."""
        recipients = list(recipients)
        tags = _Tags(lambda: f"%{self._new_word()}%")
        text, html = self._content(tags)
        size, room = _json_bytes, self._bytes_per_recipient
        if len(recipients) == 1:
            size, room = _bytes, MAIL_BYTES - _bytes(text) - _bytes(html)
        return EmailMessage(
            sender=self._sender(),
            reply_to=self._recap.reply_to or self._recap.sender.reply_to,
            subject=self._subject,
            text=text,
            html=html,
            copies=[self._copy(recipient, tags, size, room) for recipient in recipients],
        )

    def fits_among_others(self, to: Recipient) -> bool:
        """Whether a message to several recipients has room for all photos of this one."""
        few = len(to.pictures) <= _CERTAINLY_FIT
        if not self._personal or (few and all(map(_is_short, to.pictures))):
            return True
        photos = self._rendered(_layout(to.pictures, 0, oldest_first=True), to.photo_count)
        return sum(map(_json_bytes, photos)) <= self._bytes_per_recipient - _OTHER_VALUES

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
        name, address = parseaddr(self._recap.sender.address)
        event = greeted_name(self._event_name)
        if not (name and event):
            return self._recap.sender.address
        shown = self._texts.text("%(event)s via %(sender)s", event=event, sender=name)
        return f'"{quote(shown)}" <{address}>'

    def _content(self, tags: "_Tags") -> tuple[str, str]:
        """Text and HTML, with tags for the values of each recipient."""
        if self._personal:
            own = Photos(tags.text["photos"], tags.html["first"], tags.html["photos"])
            return self._parts(tags, own)
        frame = self._parts(tags, Photos("", "", ""))
        left = MAIL_BYTES - self._bytes_per_recipient - sum(map(_bytes, frame))
        reel = self._photos(
            self._recap.reel,
            self._recap.photo_count,
            size=_bytes,
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

    def _copy(self, to: Recipient, tags: "_Tags", size: Callable[[str], int], room: int) -> Copy:
        """The copy for one recipient, whose values may take `room`, measured by `size`."""
        html, text = tags.html, tags.text
        values = {
            html["greeting"]: str(self._greeting(self._texts.html, to.name)),
            text["greeting"]: str(self._greeting(self._texts, to.name)),
            html["preferences"]: str(escape(to.links.page)),
            text["preferences"]: to.links.page,
        }
        if self._personal:
            places = (text["photos"], html["first"], html["photos"])
            left = room - sum(map(size, (*values, *values.values(), *places)))
            photos = self._photos(to.pictures, to.photo_count, size=size, at_most=left)
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
        """As many of `pictures` as fit into `at_most` bytes, and the number of the others.

        Pictures that do not fit become links, before links are left out. Without room for any photo
        the sentence with the number remains.
        """
        # The first layouts are the largest: look for the first that fits.
        begin, end = 0, len(pictures) + max(len(pictures) - FULL_SIZE_PICTURES, 0)
        fitting = self._rendered(_layout(pictures, begin, oldest_first=self._personal), count)
        if sum(map(size, fitting)) <= at_most:
            return fitting
        fitting = self._rendered(_layout(pictures, end, oldest_first=self._personal), count)
        while end - begin > 1:
            middle = (begin + end) // 2
            photos = self._rendered(_layout(pictures, middle, oldest_first=self._personal), count)
            if sum(map(size, photos)) <= at_most:
                end, fitting = middle, photos
            else:
                begin = middle
        return fitting

    def _rendered(self, layout: "_Layout", count: int) -> Photos:
        pictures, links = layout
        number, text = self._texts.number, self._texts.text
        values: dict[str, Any] = {
            "pictures": [*pictures, *links],
            "rows": _rows(pictures, self._alts(pictures)),
            "links": [
                (link, text("Photo %(number)s", number=number(place)))
                for place, link in enumerate(links, start=len(pictures) + 1)
            ],
            "shown": len(pictures) + len(links),
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
        text, number = self._texts.text, self._texts.number
        if self._personal and len(pictures) == 1:
            return [text("Your photo")]
        return [
            text("Your photo %(number)s", number=number(place))
            if self._personal
            else text("Photo by %(name)s", name=picture.by)
            if picture.by
            else text("Photo %(number)s", number=number(place))
            for place, picture in enumerate(pictures, start=1)
        ]


def _layout(pictures: Sequence[Picture], step: int, *, oldest_first: bool) -> _Layout:
    """The photos after so many steps, each of which takes less room than the one before.

    First all photos, of which the originals behind the first few are links; then one more picture
    becomes a link with each step; then one photo fewer is there.

    Args:
        pictures: The best or newest first.
        step: From 0 on.
        oldest_first: Whether the order is turned round.
    """
    made_links = min(step, max(len(pictures) - FULL_SIZE_PICTURES, 0))
    kept = pictures[: len(pictures) + made_links - step]
    at_most = min(len(pictures) - made_links, len(kept))
    shown: list[Picture] = []
    links: list[Picture] = []
    originals = 0
    for picture in kept[:: -1 if oldest_first else 1]:
        originals += not picture.small
        fits = len(shown) < at_most and (picture.small or originals <= FULL_SIZE_PICTURES)
        (shown if fits else links).append(picture)
    return _Layout(shown, links)


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


def _is_short(picture: Picture) -> bool:
    return len(picture.thumb) + len(picture.url) <= _SHORT


def _bytes(text: str) -> int:
    return len(text.encode())


def _json_bytes(text: str) -> int:
    return len(json.dumps(text)) + _BETWEEN
