"""The guests of an event, and which of them get the email (spec 4.1, rules 1 to 3).

Guests are the unique addresses on the event's approved photos. Their user records contain opt-outs
and the accounts with the addresses.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Final

from functions.email_address import (
    address_hash,
    deliverable,
    guest_uid,
    identity,
    mailbox,
    spellings,
)
from functions.firestore.model import TEXT_BYTES
from functions.mail.text import normalized, shortened
from functions.recap.audience.photos import (
    MAX_REEL,
    PhotoHosts,
    Picture,
    PictureHeap,
    Problem,
    hosts_of,
    picture_of,
    problem_of,
)
from functions.recap.recap_arguments import Mode
from functions.wall.wall_event import Photo

NAME_CHARACTERS: Final = 40

# A guest chooses the name and the address of the email. So a name must contain no text that an
# email program turns into a link or a telephone number. The patterns match the `plain` name.
_LINKS: Final = re.compile(r"[/@:\\]|www\.|\w\.\w{2,}", re.IGNORECASE)
_DIGITS_AT_MOST: Final = 4

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories that a name loses: controls, format characters, unassigned. Joiners may stay."""

_BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and a symbol that have no visible shape, and that a name loses."""

_JOINERS: Final = frozenset("\u200c\u200d")
"""The joiners that Persian, Sinhala, Malayalam and other scripts spell words with."""

_VIRAMA: Final = 9
"""The combining class of a virama. A joiner after a virama also counts at the end of a word:
https://www.rfc-editor.org/rfc/rfc5892#appendix-A.2"""

_MARKS_AT_MOST: Final = 4
"""Nonspacing and enclosing marks in a row; more of them overlap the lines around:
https://www.unicode.org/reports/tr39/#Optional_Detection"""


def greeted_name(text: str) -> str:
    """Return `text` as a name: one short visible line without a link or a telephone number.

    Return "" if no such name remains.
    """
    name = shortened(_visible(text), NAME_CHARACTERS)
    read = normalized("".join(character for character in name if character not in _JOINERS))
    digits = sum(character.isnumeric() for character in read)
    letters = any(unicodedata.category(character)[0] == "L" for character in read)
    return "" if _LINKS.search(read) or digits > _DIGITS_AT_MOST or not letters else name


def _visible(text: str) -> str:
    kept: list[str] = []
    marks, joiner = 0, ""
    for character in text:
        category = unicodedata.category(character)
        if character in _JOINERS:
            joiner = character
            continue
        # `shortened` turns tabs and line breaks into spaces.
        if not character.isspace() and (category in _INVISIBLE or character in _BLANK):
            continue
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks > _MARKS_AT_MOST:
            continue
        if joiner and _joins(kept, category):
            kept.append(joiner)
        joiner = ""
        kept.append(character)
    if joiner and _joins(kept, ""):
        kept.append(joiner)
    return "".join(kept)


def _joins(before: list[str], category_after: str) -> bool:
    """Return whether a joiner belongs between these characters and one of that category."""
    if not before:
        return False
    last = before[-1]
    is_between_letters = unicodedata.category(last)[0] in "LM" and category_after[:1] == "L"
    return is_between_letters or unicodedata.combining(last) == _VIRAMA


_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_LATER: Final = datetime.max.replace(tzinfo=UTC)

_PHOTOS_OF_MANY: Final = 24
"""Pictures kept per guest once the memory budget is exceeded."""

HOSTS_COUNTED: Final = 1000
"""Hidden hosts that are counted by name. Each photo may have a made-up host of 2 kB."""


@dataclass(slots=True, eq=False)
class Guest:
    """An address, and the photos that were uploaded with it.

    Attributes:
        address: The address, in the form that emails are sent to.
        name: The newest name.
        first_at: When the server got the guest's oldest approved photo.
        photo_count: Number of the guest's approved photos.
        written: The address as one of the photos has it.
        newest: The guest's newest pictures.
        id: Hash of the address, which identifies the guest in the ledger.
        mailbox: Hash of the mailbox, which several addresses may share.
    """

    address: str
    name: str = ""
    first_at: datetime = _LATER
    photo_count: int = 0
    written: str = ""
    newest: PictureHeap = field(default_factory=PictureHeap)
    id: str = field(init=False)
    mailbox: str = field(init=False)
    _named_at: datetime = _NEVER

    def __post_init__(self) -> None:
        """Hash the address."""
        self.id = address_hash(identity(self.address))
        self.mailbox = address_hash(mailbox(self.address))

    def count(self, photo: Photo) -> None:
        """Count the photo, and use its name if it is the newest."""
        self.photo_count += 1
        self.first_at = min(self.first_at, photo.uploaded_at)
        name = greeted_name(photo.uploader_name or "")
        if photo.created_at >= self._named_at and name:
            self.name, self._named_at = name, photo.created_at

    @property
    def uid(self) -> str:
        """ID of the user record that the links in an email to the guest lead to (design 3.53)."""
        return guest_uid(self.id)

    @property
    def earlier_uid(self) -> str:
        """ID of the record in which earlier releases kept the choices of the mailbox."""
        return guest_uid(self.mailbox)

    @property
    def emails(self) -> set[str]:
        """The forms in which accounts may have the address."""
        written = {self.written} if 0 < len(self.written.encode()) <= TEXT_BYTES else set()
        return {self.address, *spellings(self.address)} | written


@dataclass(slots=True)
class Audience:
    """The guests on the approved photos of an event, collected photo by photo.

    Memory is bounded. Photos are not kept, and pictures only for up to `at_most` guests. With more
    guests no pictures are kept, and `add_pictures_of` later adds those of the chosen guests. As
    many pictures of a guest are kept as an email holds, up to `at_most * bytes_per_guest` bytes for
    all guests. Beyond that, each guest keeps the newest pictures that fit into `bytes_per_guest`.

    Attributes:
        mode: Whether guests see their own photos or the highlight reel.
        hosts: Allowed hosts of photos.
        at_most: Maximum number of guests for which pictures are kept.
        bytes_per_guest: Bytes for one guest's pictures, on average.
        hidden_hosts: Numbers of photos that may not be shown, by host. At most `HOSTS_COUNTED`
            hosts are counted by name.
        problems: Numbers of photos without a picture, by reason.
        pictures_dropped: Whether there were more guests than `at_most`.
    """

    mode: Mode
    _: KW_ONLY
    hosts: PhotoHosts
    at_most: int
    bytes_per_guest: int
    photo_count: int = 0
    hidden_hosts: Counter[str] = field(default_factory=Counter)
    problems: Counter[Problem] = field(default_factory=Counter)
    pictures_dropped: bool = False
    reel: PictureHeap = field(default_factory=lambda: PictureHeap(at_most=MAX_REEL))
    by_id: dict[str, Guest] = field(default_factory=dict)
    _by_identity: dict[str, Guest | None] = field(default_factory=dict)
    _over_budget: bool = False
    _budget_left: int = field(init=False)

    def __post_init__(self) -> None:
        """Start without guests."""
        self._budget_left = self.at_most * self.bytes_per_guest

    def add(self, photo: Photo) -> None:
        """Count the photo, its guest and its picture."""
        self.photo_count += 1
        picture = picture_of(photo, self.hosts)
        if problem := problem_of(photo, picture):
            self.problems[problem] += 1
        if picture is None:
            for host in hosts_of(photo)[:1]:
                is_named = host in self.hidden_hosts or len(self.hidden_hosts) < HOSTS_COUNTED
                self.hidden_hosts[host if is_named else ""] += 1
        if picture and self.mode is Mode.ALL:
            rank = (photo.featured, photo.approved_at or photo.created_at)
            self.reel.add(photo.id, rank, picture)
        address = photo.guest
        if address is None:
            return
        if address not in self._by_identity:
            self._by_identity[address] = self._guest(photo.uploader_email or "")
        guest = self._by_identity[address]
        if guest:
            guest.count(photo)
            if picture and self.mode is Mode.PERSONAL and not self.pictures_dropped:
                self._keep(guest, photo, picture)

    def add_pictures_of(self, photo: Photo, chosen: Mapping[str, Guest]) -> None:
        """Keep the picture of a photo that was counted before if its guest is `chosen`."""
        guest = self._by_identity.get(photo.guest) if photo.guest else None
        if guest and guest.id in chosen and (picture := picture_of(photo, self.hosts)):
            self._keep(guest, photo, picture)

    def _keep(self, guest: Guest, photo: Photo, picture: Picture) -> None:
        before = guest.newest.memory
        guest.newest.add(photo.id, (False, photo.created_at), picture)
        self._budget_left -= guest.newest.memory - before
        if self._budget_left < 0 and not self._over_budget:
            self._over_budget = True
            for each in self.by_id.values():
                each.newest.limit(self.bytes_per_guest, _PHOTOS_OF_MANY)

    def find(self, email: str) -> Guest | None:
        """Return the guest with this address, in any spelling, or None without such a guest."""
        return self._by_identity.get(identity(email))

    def in_order(self) -> list[Guest]:
        """Return all guests with a valid address, ordered by their first approved photo."""
        return sorted(self.guests, key=lambda guest: (guest.first_at, guest.id))

    def _guest(self, email: str) -> Guest | None:
        address = deliverable(email)
        if address is None:
            return None
        guest = Guest(address, written=email)
        self.by_id[guest.id] = guest
        if self._over_budget:
            guest.newest.limit(self.bytes_per_guest, _PHOTOS_OF_MANY)
        if len(self.by_id) > self.at_most and not self.pictures_dropped:
            self.pictures_dropped, self._over_budget = True, False
            for each in self.by_id.values():
                each.newest = PictureHeap()
            self._budget_left = self.at_most * self.bytes_per_guest
        return guest

    @property
    def guests(self) -> list[Guest]:
        """All guests with a valid address."""
        return list(self.by_id.values())

    @property
    def invalid(self) -> int:
        """Number of invalid addresses."""
        return sum(guest is None for guest in self._by_identity.values())


def least_recently_mailed_first(
    guests: Iterable[Guest], sent_at: Mapping[str, datetime], *, only_new: bool
) -> Sequence[Guest]:
    """Return guests sorted by their last recap, guests without a recap first.

    The order of `guests` is kept among equals.

    Args:
        guests: The guests.
        sent_at: Time of each guest's last recap of the event, by guest ID.
        only_new: Whether to omit guests who had a recap of the event.
    """
    return sorted(
        (guest for guest in guests if not (only_new and guest.id in sent_at)),
        key=lambda guest: sent_at.get(guest.id, _NEVER),
    )
