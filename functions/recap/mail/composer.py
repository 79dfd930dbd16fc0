"""Composes the recap email from recipients and pictures.

The parts of the message hold the common text, and the copy of each recipient holds the values of
the tags in it. The email provider replaces tags everywhere, even in text that people wrote. So
every message has its own unguessable tags.

The size of the values is limited in a message with several copies. So a guest with more pictures
than fit into the values of one copy gets a separate message. If room is short, the plain part loses
links first, because nearly all readers see the HTML.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import quote
from typing import Final

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
from functions.mail.translation import Texts
from functions.ports import Random
from functions.recap.audience.guests import Guest, greeted_name
from functions.recap.audience.photos import MAIL_BYTES, Picture, web_address
from functions.recap.mail.layout import Colors, Tags, linked
from functions.recap.mail.photo_renderer import (
    TEMPLATES,
    PhotoRenderer,
    Photos,
    Size,
    in_bytes,
    json_bytes,
)
from functions.recap.recap_arguments import Mode, RecapArguments
from functions.wall.wall_event import WallEvent

PREHEADER_CHARACTERS: Final = 110
"""Length of the line next to the subject in a mailbox. Phones show less."""

_TAGS: Final = Tags("0" * 32)
"""Tags with the length of all tags, whose word comes from `Random.new_id`."""


@dataclass(frozen=True)
class Recipient:
    """A guest with the links in the email."""

    guest: Guest
    links: PreferencesLinks

    @functools.cached_property
    def pictures(self) -> Sequence[Picture]:
        """The guest's own pictures, newest first."""
        return self.guest.newest.pictures()


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
        self._photos = PhotoRenderer(
            self._texts, self._colors, is_personal=self._personal, gallery_url=self._gallery_url
        )

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
        """Return one message with a copy for each recipient.

        The single recipient of a message can have many photos. An email with few photos is the same
        in a message to one and to several.

        Args:
            recipients: The recipients.
            labels: Labels by guest ID, which the delivery reports repeat.
        """
        recipients = list(recipients)
        tags = Tags(self._random.new_id())
        photos = _tags_of_photos(tags) if self._personal else self._highlights
        text, html = self._parts(tags, photos)
        size, room = json_bytes, self._bytes_per_recipient
        if len(recipients) == 1 and not self._has_few_photos(recipients[0]):
            size, room = in_bytes, MAIL_BYTES - in_bytes(text) - in_bytes(html)
        return EmailMessage(
            sender=self._from(),
            reply_to=self._reply_to,
            subject=self._subject,
            text=text,
            html=html,
            copies=[
                self._copy(to, (labels or {}).get(to.guest.id, {}), tags, size, room)
                for to in recipients
            ],
        )

    @functools.cached_property
    def _highlights(self) -> Photos:
        """The photos of mode `all`, which all messages share."""
        frame = sum(map(in_bytes, self._parts(Tags(""), Photos("", "", ""))))
        left = MAIL_BYTES - self._bytes_per_recipient - frame
        return self._photos.render(self._reel, self._photo_count, size=in_bytes, at_most=left)

    def _has_few_photos(self, to: Recipient) -> bool:
        """Return whether one of several copies has room for the HTML of all photos."""
        if not self._personal:
            return True
        left = self._bytes_per_recipient - _total(self._values(to, _TAGS), json_bytes)
        return self._photos.fits(to.pictures, to.guest.photo_count, size=json_bytes, at_most=left)

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
        html = TEMPLATES.get_template("recap.html").render(
            self._common,
            tags=tags.html,
            text=self._texts.html.text,
            first=Markup(photos.first),  # noqa: S704 - rendered by a template, or a tag
            photos=Markup(photos.html),  # noqa: S704 - rendered by a template, or a tag
        )
        text = TEMPLATES.get_template("recap.txt").render(
            self._common,
            tags=tags.text,
            text=self._texts.text,
            photos=photos.text,
        )
        return text, html

    def _copy(
        self,
        to: Recipient,
        labels: Mapping[str, str],
        tags: Tags,
        size: Size,
        room: int,
    ) -> Copy:
        """Return the copy for one recipient, with at most `room` of values, measured by `size`."""
        values = self._values(to, tags)
        if self._personal:
            left = room - _total(values, size)
            photos = self._photos.render(to.pictures, to.guest.photo_count, size=size, at_most=left)
            values |= dict(zip(_tags_of_photos(tags), photos, strict=True))
        return Copy(
            address=to.guest.address,
            headers={
                "Content-Language": self._texts.language,
                "List-Unsubscribe": f"<{to.links.one_click}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            },
            values=values,
            labels=labels,
        )

    def _values(self, to: Recipient, tags: Tags) -> dict[str, str]:
        """Return the values of one recipient, with empty photos."""
        photos = _tags_of_photos(tags) if self._personal else ()
        return dict.fromkeys(photos, "") | {
            tags.html["greeting"]: str(self._greeting(self._texts.html, to.guest.name)),
            tags.text["greeting"]: str(self._greeting(self._texts, to.guest.name)),
            tags.html["preferences"]: str(escape(to.links.page)),
            tags.text["preferences"]: to.links.page,
        }

    @staticmethod
    def _greeting(texts: Texts, name: str) -> str:
        return texts.text("Hi %(name)s,", name=name) if name else texts.text("Hi there,")


def _tags_of_photos(tags: Tags) -> Photos:
    return Photos(tags.text["photos"], tags.html["first"], tags.html["photos"])


def _total(values: Mapping[str, str], size: Size) -> int:
    """Return the size of all keys and values.

    They are measured as one text, which is faster. Each text adds the size of an empty one.
    """
    texts = (*values, *values.values())
    return size("".join(texts)) + size("") * (len(texts) - 1)
