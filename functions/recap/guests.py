"""Guests of an event: the unique addresses on its approved photos (spec 4.1, rule 1)."""

from datetime import UTC, datetime
from typing import Final

from email_validator import EmailNotValidError, validate_email

from functions.recap.arguments import Mode
from functions.recap.lines import greeted_name
from functions.recap.photos import ApprovedPhoto, Newest, Picture
from functions.wall.address import address_hash, normalised

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


def deliverable(email: str) -> str | None:
    """The address to send to, with its domain in ASCII; None where the syntax is not valid."""
    try:
        # Nobody's mail server is asked: 5000 look-ups take longer than the mails.
        found = validate_email(email, check_deliverability=False, allow_smtputf8=False, strict=True)
    except EmailNotValidError:
        return None
    return found.ascii_email


class Guest:
    """One address and what was left with it.

    `spellings` are the normalised forms in which it stands on photos; nearly always one, but an
    international domain has two.
    """

    __slots__ = ("_named_at", "address", "id", "name", "photos", "spellings")

    def __init__(self, address: str) -> None:
        self.address = address
        self.id = address_hash(address.casefold())
        self.name = ""
        self.photos = Newest()
        self.spellings: tuple[str, ...] = ()
        self._named_at = _NEVER

    def add(self, photo: ApprovedPhoto, *, keep: bool) -> None:
        """Take the newest name, and the photo itself if `keep`."""
        if photo.created_at >= self._named_at and (name := greeted_name(photo.name)):
            self.name, self._named_at = name, photo.created_at
        if keep:
            self.photos.add(photo, (False, photo.created_at))

    def pictures(self) -> list[Picture]:
        """The guest's own pictures, newest first."""
        return self.photos.pictures()

    @property
    def guest_id(self) -> str:
        """Id of the user record of this guest, who has no account (design 3)."""
        return f"guest-{address_hash(self.spellings[0])}"

    @property
    def guest_ids(self) -> set[str]:
        """Ids of all records in which a guest without an account may have opted out."""
        return {f"guest-{address_hash(one)}" for one in (self.address.casefold(), *self.spellings)}


class Audience:
    """Everybody on the approved photos of an event, collected photo by photo.

    What is kept of a guest is bounded, and the photos themselves are let go.
    """

    def __init__(self, mode: Mode) -> None:
        self.photo_count = 0
        self.reel = Newest()
        self._mode = mode
        self._guests: dict[str, Guest] = {}
        self._by_spelling: dict[str, Guest | None] = {}

    def add(self, photo: ApprovedPhoto) -> None:
        """Count the photo in."""
        self.photo_count += 1
        if self._mode is Mode.ALL:
            rank = (photo.featured, photo.approved_at)
            self.reel.add(photo, rank, greeted_name(photo.name))
        if not photo.email:
            return
        spelling = normalised(photo.email)
        if spelling not in self._by_spelling:
            self._by_spelling[spelling] = self._guest(photo.email, spelling)
        guest = self._by_spelling[spelling]
        if guest:
            guest.add(photo, keep=self._mode is Mode.PERSONAL)

    def _guest(self, email: str, spelling: str) -> Guest | None:
        address = deliverable(email)
        if address is None:
            return None
        guest = self._guests.setdefault(address.casefold(), Guest(address))
        guest.spellings = (*guest.spellings, spelling)
        return guest

    @property
    def guests(self) -> list[Guest]:
        """Everybody with a valid address."""
        return list(self._guests.values())

    @property
    def invalid(self) -> int:
        """How many addresses are none."""
        return sum(guest is None for guest in self._by_spelling.values())
