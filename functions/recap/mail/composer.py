"""Composes the recap mail from recipients and pictures.

The parts of the message hold the common text, and the copy of each recipient holds the values of
the tags in it. A mail service replaces tags everywhere, even in text that people wrote, so every
message has its own unguessable tags.

The values of one copy are limited where a message has several. So mails with equally many photos
share the markup of their photos: the values are then the ends of the photos' addresses alone.
"""

import bisect
import functools
import json
from collections import defaultdict
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
    Colours,
    Layout,
    SharedLayout,
    Tags,
    layout,
    linked,
    rows,
    steps,
)
from functions.recap.recap_arguments import Mode, RecapArguments
from functions.wall.wall_event import WallEvent

PREHEADER_CHARACTERS: Final = 110
"""Length of the line beside the subject in a mailbox; phones show less."""

_OTHER_VALUES: Final = 2_000
"""Bytes of a copy beside its photos, counted as JSON: name and links, in both parts."""

_MARKUP: Final = 400
"""Bytes around the addresses of one picture in both parts, counted as JSON."""

_TAG: Final = 50
"""Bytes of a tag, and around the tag and its value in JSON."""

_SEPARATOR: Final = 2
"""Bytes between the texts of an object in JSON."""

_templates: Final = templates_in(Path(__file__).parent / "templates")


@dataclass(frozen=True)
class Recipient:
    """A guest, with the links in the mail."""

    guest: Guest
    links: PreferencesLinks

    @functools.cached_property
    def pictures(self) -> Sequence[Picture]:
        """The guest's own pictures, newest first."""
        return self.guest.newest.pictures()

    @functools.cached_property
    def layout(self) -> Layout:
        """The layout of all photos of the guest."""
        return layout(self.pictures, oldest_first=True)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers that decide on the markup of the guest's photos."""
        pictures, links = self.layout
        return len(pictures), len(links), self.guest.photo_count


class Photos(NamedTuple):
    """The photos of a mail: in the plain part, and in HTML the first photo and the others."""

    text: str
    first: str
    html: str


class Composer:
    """Writes messages of one recap."""

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
            event: Its name may be missing, and its addresses may be none.
            arguments: The organizer's texts, and whose photos a guest sees.
            sender: Of all mails; replies go to the event's own address if it has one.
            reel: The pictures of mode `all`, best first.
            photo_count: Approved photos of the event.
            random: Gives unguessable words.
            bytes_per_recipient: What may differ for each of several recipients, as JSON.
            texts: Those of the event's language, if None.
            logo_url: The event's logo, if a mail may show it.
        """
        self._sender = sender
        self._reply_to = deliverable(event.reply_to or "") or sender.reply_to
        self._reel, self._photo_count = reel, photo_count
        self._random = random
        self._bytes_per_recipient = bytes_per_recipient
        self._texts = texts or Texts.of(event.language)
        self._event_name = shortened(event.name or "", EVENT_NAME_CHARACTERS)
        self._gallery_url = web_address(event.gallery_url)
        self._colours = Colours.of(event.accent_color)
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
            "colours": self._colours,
            "thanks": "" if self._personal and arguments.message else thanks,
            "address_line": sender.address_line,
            "subject": self._subject,
            "message": arguments.message,
            "linked": linked,
            "preheader": shortened(arguments.message or thanks, PREHEADER_CHARACTERS),
        }
        self._frame_bytes = sum(map(_bytes, self._parts(Tags(""), Photos("", "", ""))))

    def groups(self, recipients: Mapping[str, Recipient]) -> list[list[str]]:
        """Divide recipients, by id, into groups whose members may share a message.

        The first group has few photos. The members of each further group have equally many photos.
        A recipient whose photos have no room among others is a group of one; these come last.
        """
        few: list[str] = []
        many: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for guest, to in recipients.items():
            (few if self._has_few_photos(to) else many[to.shape]).append(guest)
        groups, alone = [few], []
        for group in many.values():
            shared = SharedLayout.of([recipients[guest].layout for guest in group], Tags(""))
            fits = {guest: self._has_room(shared, recipients[guest]) for guest in group}
            groups.append([guest for guest in group if fits[guest]])
            alone += [[guest] for guest in group if not fits[guest]]
        return [group for group in groups if group] + alone

    def message(
        self,
        recipients: Iterable[Recipient],
        labels: Mapping[str, Mapping[str, str]] | None = None,
    ) -> EmailMessage:
        """One message, with a copy for each of `recipients`; a single one has more room.

        The `labels` of a guest, by id, come back with the tracking events of the mail.
        """
        recipients = list(recipients)
        tags = Tags(self._random.new_id())
        shared = self._shared(recipients, tags)
        if shared:
            photos = self._rendered(shared.photos, recipients[0].guest.photo_count)
        elif self._personal:
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
                    self._copy(to, tags, shared, size, room),
                    labels=(labels or {}).get(to.guest.id, {}),
                )
                for to in recipients
            ],
        )

    def _has_few_photos(self, to: Recipient) -> bool:
        """Whether a copy among others has room for the markup of the recipient's photos."""
        room = self._bytes_per_recipient - _OTHER_VALUES
        return not self._personal or self._written_out(to) <= room

    def _has_room(self, shared: SharedLayout, to: Recipient) -> bool:
        """Whether a copy has room for the ends of the addresses, and the mail for its photos."""
        ends = shared.values(to.layout).values()
        # One tag stands in both parts.
        are_plain = all(Markup(end).unescape() == end for end in ends)  # noqa: S704 - for reading
        fits = sum(len(end) + _TAG for end in ends) <= self._bytes_per_recipient - _OTHER_VALUES
        left = MAIL_BYTES - self._frame_bytes - _OTHER_VALUES
        return fits and are_plain and self._written_out(to) <= left

    def _written_out(self, to: Recipient) -> int:
        """Bytes of the recipient's photos in both parts, at most."""
        addresses = [self._gallery_url or ""]
        for picture in to.pictures:
            addresses += [picture.thumb, picture.url, picture.url]  # the link in both parts
        return sum(len(escape(address)) for address in addresses) + _MARKUP * len(to.pictures)

    def _shared(self, recipients: Sequence[Recipient], tags: Tags) -> SharedLayout | None:
        """The layout of all these mails; None where the mails differ, or one has no room."""
        are_alike = self._personal and len({to.shape for to in recipients}) == 1
        if not are_alike or len(recipients) == 1:
            return None
        shared = SharedLayout.of([to.layout for to in recipients], tags)
        return shared if all(self._has_room(shared, to) for to in recipients) else None

    def _templated_subject(self) -> str:
        text, event = self._texts.text, self._event_name
        if not event:
            return text("Photos from the event")
        if self._personal:
            return text("Your photos: %(event)s", event=event)
        return text("Highlights: %(event)s", event=event)

    def _from(self) -> str:
        """The sender, with the event's name added where both names are given."""
        name, address = name_and_address(self._sender.address)
        event = greeted_name(self._event_name)
        if not (name and event):
            return self._sender.address
        shown = self._texts.text("%(event)s via %(sender)s", event=event, sender=name)
        return f'"{quote(shown)}" <{address}>'

    def _parts(self, tags: Tags, photos: Photos) -> tuple[str, str]:
        """Text and HTML around the photos."""
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
        shared: SharedLayout | None,
        size: Callable[[str], int],
        room: int,
    ) -> Copy:
        """The copy for one recipient, whose values may take `room`, measured by `size`."""
        html, text = tags.html, tags.text
        values = {
            html["greeting"]: str(self._greeting(self._texts.html, to.guest.name)),
            text["greeting"]: str(self._greeting(self._texts, to.guest.name)),
            html["preferences"]: str(escape(to.links.page)),
            text["preferences"]: to.links.page,
        }
        if shared:
            values |= shared.values(to.layout)
        elif self._personal:
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
        """As many of `pictures` as fit into `at_most` bytes, and the number of the others.

        Pictures that do not fit become links, before links are left out. Without room for any photo
        the sentence with the number remains.
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
            "colours": self._colours,
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
