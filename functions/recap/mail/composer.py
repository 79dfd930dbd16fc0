"""Composes the recap email from recipients and pictures.

The parts of the message hold the common text, and the copy of each recipient holds the values of
the tags in it. The email provider replaces tags everywhere, even in text that people wrote. So
every message has its own unguessable tags.

The size of the values is limited in a message with several copies. So a guest with more photos than
fit into the values of one copy gets a separate message.
"""

import bisect
import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import quote
from pathlib import Path
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape

from functions.email_address import deliverable
from functions.links.link import PreferencesLinks
from functions.mail.message import (
    EVENT_NAME_CHARACTERS,
    Copy,
    EmailMessage,
    MailSender,
    name_and_address,
)
from functions.mail.text import shortened
from functions.mail.translation import Texts, templates_in
from functions.ports import Random
from functions.recap.audience.guests import Guest, greeted_name
from functions.recap.audience.photos import MAIL_BYTES, Picture, web_address
from functions.recap.mail.layout import (
    Colors,
    Layout,
    Tags,
    layout,
    linked,
    rows,
    steps,
)
from functions.recap.recap_arguments import Mode, RecapArguments
from functions.wall.wall_event import WallEvent

PREHEADER_CHARACTERS: Final = 110
"""Length of the line next to the subject in a mailbox. Phones show less."""

_OTHER_VALUES: Final = 2_000
"""Bytes of a copy without its photos, counted as JSON: name and links, in both parts."""

_MARKUP: Final = 400
"""Bytes around the addresses of one picture in both parts, counted as JSON."""


_SEPARATOR: Final = 2
"""Bytes between the texts of an object in JSON."""

_templates: Final = templates_in(Path(__file__).parent / "templates")


@dataclass(frozen=True)
class Recipient:
    """A guest with the links in the email."""

    guest: Guest
    links: PreferencesLinks

    @functools.cached_property
    def pictures(self) -> Sequence[Picture]:
        """The guest's own pictures, newest first."""
        return self.guest.newest.pictures()


class Photos(NamedTuple):
    """The photos of an email: in the plain part, and in HTML the first photo and the others."""

    text: str
    first: str
    html: str


class Composer:
    """Composes the messages of one recap."""

    def __init__(
        self,
        event: WallEvent,
        arguments: RecapArguments,
        sender: MailSender,
        *,
        reel: Sequence[Picture],
        photo_count: int,
        random: Random,
        bytes_per_recipient: int,
        texts: Texts | None = None,
        logo_url: str | None = None,
    ) -> None:
        """Prepare the common content.

        Args:
            event: Its name may be missing, and its addresses may be invalid.
            arguments: The organizer's texts and the mode.
            sender: The sender. Replies go to the event's own address if it has one.
            reel: The pictures of mode `all`, best first.
            photo_count: Number of approved photos of the event.
            random: The source of unguessable tags.
            bytes_per_recipient: Maximum size of one recipient's values in a message with several
                copies, in bytes of JSON.
            texts: The texts, or None for the event's language.
            logo_url: The event's logo if an email may show it.
        """
        self._sender = sender
        self._reply_to = deliverable(event.reply_to or "") or sender.reply_to
        self._reel, self._photo_count = reel, photo_count
        self._random = random
        self._bytes_per_recipient = bytes_per_recipient
        self._texts = texts or Texts.of(event.language)
        self._event_name = shortened(event.name or "", EVENT_NAME_CHARACTERS)
        self._gallery_url = web_address(event.gallery_url)
        self._colors = Colors.of(event.accent_color)
        self._personal = arguments.mode is Mode.PERSONAL
        self._subject = arguments.subject or self._templated_subject()
        thanks = (
            self._texts.text("Thanks for being there!")
            if self._personal
            else self._texts.text("Here are the highlights.")
        )
        self._common = {
            "language": self._texts.language,
            "direction": self._texts.direction,
            "event_name": self._event_name,
            "gallery_url": self._gallery_url,
            "logo_url": logo_url,
            "colors": self._colors,
            "thanks": "" if self._personal and arguments.message else thanks,
            "address_line": sender.address_line,
            **arguments.texts,
            "subject": self._subject,
            "linked": linked,
            "preheader": shortened(arguments.message or thanks, PREHEADER_CHARACTERS),
        }
        self._frame_bytes = sum(map(_bytes, self._parts(Tags(""), Photos("", "", ""))))

    def groups(self, recipients: Mapping[str, Recipient]) -> list[list[str]]:
        """Divide recipients, by ID, into groups for one message each.

        The first group has the recipients with few photos. Each other recipient is a group of one.
        """
        few = [guest for guest, to in recipients.items() if self._has_few_photos(to)]
        others = recipients.keys() - few
        alone = [[guest] for guest in recipients if guest in others]
        return [few, *alone] if few else alone

    def message(
        self,
        recipients: Iterable[Recipient],
        labels: Mapping[str, Mapping[str, str]] | None = None,
    ) -> EmailMessage:
        """Return one message with a copy for each recipient. A single copy can have more photos.

        Args:
            recipients: The recipients.
            labels: Labels by guest ID, which the delivery reports repeat.
        """
        recipients = list(recipients)
        tags = Tags(self._random.new_id())
        if self._personal:
            photos = Photos(tags.text["photos"], tags.html["first"], tags.html["photos"])
        else:
            left = MAIL_BYTES - self._bytes_per_recipient - self._frame_bytes
            photos = self._photos(self._reel, self._photo_count, size=_bytes, at_most=left)
        text, html = self._parts(tags, photos)
        size, room = _json_bytes, self._bytes_per_recipient
        if len(recipients) == 1:
            size, room = _bytes, MAIL_BYTES - _bytes(text) - _bytes(html)
        return EmailMessage(
            sender=self._from(),
            reply_to=self._reply_to,
            subject=self._subject,
            text=text,
            html=html,
            copies=[
                replace(
                    self._copy(to, tags, size, room),
                    labels=(labels or {}).get(to.guest.id, {}),
                )
                for to in recipients
            ],
        )

    def _has_few_photos(self, to: Recipient) -> bool:
        """Return whether the markup of the recipient's photos fits into one of several copies."""
        room = self._bytes_per_recipient - _OTHER_VALUES
        return not self._personal or self._written_out(to) <= room

    def _written_out(self, to: Recipient) -> int:
        """Return the maximum bytes of the recipient's photos in both parts."""
        addresses = [self._gallery_url or ""]
        for picture in to.pictures:
            addresses += [picture.thumb, picture.url, picture.url]  # the link in both parts
        return sum(len(escape(address)) for address in addresses) + _MARKUP * len(to.pictures)

    def _templated_subject(self) -> str:
        text, event = self._texts.text, self._event_name
        if not event:
            return text("Photos from the event")
        if self._personal:
            return text("Your photos: %(event)s", event=event)
        return text("Highlights: %(event)s", event=event)

    def _from(self) -> str:
        """Return the sender, with the event's name added if both names exist."""
        name, address = name_and_address(self._sender.address)
        event = greeted_name(self._event_name)
        if not (name and event):
            return self._sender.address
        shown = self._texts.text("%(event)s via %(sender)s", event=event, sender=name)
        return f'"{quote(shown)}" <{address}>'

    def _parts(self, tags: Tags, photos: Photos) -> tuple[str, str]:
        """Render text and HTML around the photos."""
        html = _templates.get_template("recap.html").render(
            self._common,
            tags=tags.html,
            text=self._texts.html.text,
            first=Markup(photos.first),  # noqa: S704 - rendered by a template, or a tag
            photos=Markup(photos.html),  # noqa: S704 - rendered by a template, or a tag
        )
        text = _templates.get_template("recap.txt").render(
            self._common,
            tags=tags.text,
            text=self._texts.text,
            photos=photos.text,
        )
        return text, html

    def _copy(
        self,
        to: Recipient,
        tags: Tags,
        size: Callable[[str], int],
        room: int,
    ) -> Copy:
        """Return the copy for one recipient, with at most `room` of values, measured by `size`."""
        html, text = tags.html, tags.text
        values = {
            html["greeting"]: str(self._greeting(self._texts.html, to.guest.name)),
            text["greeting"]: str(self._greeting(self._texts, to.guest.name)),
            html["preferences"]: str(escape(to.links.page)),
            text["preferences"]: to.links.page,
        }
        if self._personal:
            tags_of_photos = (text["photos"], html["first"], html["photos"])
            left = room - sum(map(size, (*values, *values.values(), *tags_of_photos)))
            photos = self._photos(to.pictures, to.guest.photo_count, size=size, at_most=left)
            values |= dict(zip(tags_of_photos, photos, strict=True))
        return Copy(
            address=to.guest.address,
            headers={
                "Content-Language": self._texts.language,
                "List-Unsubscribe": f"<{to.links.one_click}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            },
            values=values,
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
        """Render as many of `pictures` as fit into `at_most` bytes, and the number of the others.

        Pictures that do not fit become links first, and are omitted next. If no photo fits, the
        sentence with the number remains.
        """

        # The first layouts are the largest: look for the first that fits.
        def rendered(step: int) -> Photos:
            photos = layout(pictures, oldest_first=self._personal, step=step)
            return self._rendered(photos, count)

        def fits(photos: Photos) -> bool:
            return sum(map(size, photos)) <= at_most

        everything = rendered(0)
        if fits(everything):
            return everything
        numbers = range(steps(pictures))
        return rendered(bisect.bisect(numbers, 0, lo=1, key=lambda step: fits(rendered(step))))

    def _rendered(self, photos: Layout, count: int) -> Photos:
        pictures, links = photos
        everything = [*pictures, *links]
        number, text = self._texts.number, self._texts.text
        names = [
            text("Photo %(number)s", number=number(index))
            for index in range(1, len(everything) + 1)
        ]
        values: dict[str, Any] = {
            "pictures": everything,
            "rows": rows(pictures, names[: len(pictures)]),
            "links": list(zip(links, names[len(pictures) :], strict=True)),
            "shown": len(everything),
            "count": count,
            "own": self._personal,
            "colors": self._colors,
            "gallery_url": self._gallery_url,
        }

        def rendered(name: str, texts: Texts) -> str:
            template = _templates.get_template(name)
            return template.render(values, text=texts.text, plural=texts.plural)

        first, _, others = rendered("photos.html", self._texts.html).partition("\f")
        return Photos(rendered("photos.txt", self._texts), first.rstrip(), others.lstrip())


def _bytes(text: str) -> int:
    return len(text.encode())


def _json_bytes(text: str) -> int:
    return len(json.dumps(text)) + _SEPARATOR
