"""Guests of an event: the unique addresses on its approved photos (spec 4.1, rule 1)."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from functions.mail.address import deliverable
from functions.recap.arguments import Mode
from functions.recap.lines import greeted_name
from functions.recap.photos import MAIL_BYTES, ApprovedPhoto, Newest, Picture
from functions.wall.address import address_hash, guest_uid, normalised

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Guest:
    """One address and what was left with it, whoever left it.

    `spellings` are the normalised forms in which it stands on photos; nearly always one, but an
    international domain has two.
    """

    __slots__ = ("_named_at", "address", "id", "name", "newest", "photo_count", "spellings")

    def __init__(self, address: str, room: int) -> None:
        self.address = address
        self.id = address_hash(address.casefold())
        self.name = ""
        self.photo_count = 0
        self.newest = Newest(room)
        self.spellings: tuple[str, ...] = ()
        self._named_at = _NEVER

    def count(self, photo: ApprovedPhoto) -> None:
        """Count the photo, and take the newest name."""
        self.photo_count += 1
        if photo.created_at >= self._named_at and (name := greeted_name(photo.name)):
            self.name, self._named_at = name, photo.created_at

    def pictures(self) -> list[Picture]:
        """The guest's own pictures, newest first."""
        return self.newest.pictures()

    @property
    def guest_id(self) -> str:
        """Id of the user record of this guest, who has no account (design 3)."""
        return guest_uid(address_hash(self.spellings[0]))

    @property
    def guest_ids(self) -> set[str]:
        """Ids of all records in which a guest without an account may have opted out."""
        return {
            guest_uid(address_hash(spelling))
            for spelling in (self.address.casefold(), *self.spellings)
        }


class Audience:
    """Everybody on the approved photos of an event, collected photo by photo.

    What is kept of a guest is bounded, and the photos themselves are let go. Pictures are kept of
    `at_most` guests: where there are more, of nobody, until it is known who of them is chosen.
    """

    def __init__(
        self, mode: Mode, *, shows: Callable[[str], bool], at_most: int, room: int
    ) -> None:
        """Nobody yet.

        Args:
            mode: Whose photos a guest sees.
            shows: Whether the photo at an address may be shown.
            at_most: How many guests a recap goes to.
            room: Bytes that one guest's pictures may take in a mail.
        """
        self.photo_count = 0
        self.hidden = 0
        self.reel = Newest(MAIL_BYTES)
        self.crowded = False
        self._mode = mode
        self._shows = shows
        self._at_most = at_most
        self._room = room
        self._guests: dict[str, Guest] = {}
        self.by_id: dict[str, Guest] = {}
        self._by_spelling: dict[str, Guest | None] = {}
        self._first_uploads: dict[str, dict[str, datetime]] = {}

    def add(self, photo: ApprovedPhoto) -> None:
        """Count the photo in."""
        self.photo_count += 1
        picture = photo.picture(self._shows)
        self.hidden += picture is None and photo.has_address
        if picture and self._mode is Mode.ALL:
            by_name = picture._replace(by=greeted_name(photo.name))
            self.reel.add(photo.id, (photo.featured, photo.approved_at), by_name)
        if not photo.email:
            return
        spelling = normalised(photo.email)
        if spelling not in self._by_spelling:
            self._by_spelling[spelling] = self._guest(photo.email, spelling)
        guest = self._by_spelling[spelling]
        if guest:
            guest.count(photo)
            self._remember_uploader(guest, photo)
            if picture and self._mode is Mode.PERSONAL and not self.crowded:
                guest.newest.add(photo.id, (False, photo.created_at), picture)

    def add_again(self, photo: ApprovedPhoto, chosen: Mapping[str, Guest]) -> None:
        """Keep the picture of a photo that was counted already, if it is one of the `chosen`'s."""
        guest = self._by_spelling.get(normalised(photo.email)) if photo.email else None
        if guest and guest.id in chosen and (picture := photo.picture(self._shows)):
            guest.newest.add(photo.id, (False, photo.created_at), picture)

    def find(self, email: str) -> Guest | None:
        """Who has left this address, in any spelling; None where nobody has."""
        guest = self._by_spelling.get(normalised(email))
        if guest is None and (address := deliverable(email)):
            guest = self._guests.get(address.casefold())
        return guest

    def in_turn(self) -> list[Guest]:
        """Everybody with a valid address, in an order that no guest can choose.

        It goes by the server's time, and by turns: the first address of each uploader before the
        second of any. An address that several have uploaded with takes the best of its places.
        """
        places: dict[str, tuple[int, datetime]] = {}
        for uploads in self._first_uploads.values():
            in_time = sorted(uploads.items(), key=lambda one: (one[1], one[0]))
            for turn, (guest_id, at) in enumerate(in_time):
                places[guest_id] = min(places.get(guest_id, (turn, at)), (turn, at))
        return sorted(self._guests.values(), key=lambda guest: (places[guest.id], guest.id))

    def _remember_uploader(self, guest: Guest, photo: ApprovedPhoto) -> None:
        # A script may have left the uploader out; each such address has a turn of its own.
        uploads = self._first_uploads.setdefault(photo.uploader or guest.id, {})
        uploads[guest.id] = min(uploads.get(guest.id, photo.uploaded_at), photo.uploaded_at)

    def _guest(self, email: str, spelling: str) -> Guest | None:
        address = deliverable(email)
        if address is None:
            return None
        guest = self._guests.setdefault(address.casefold(), Guest(address, self._room))
        self.by_id[guest.id] = guest
        guest.spellings = (*guest.spellings, spelling)
        if len(self._guests) > self._at_most and not self.crowded:
            self.crowded = True
            for one in self._guests.values():
                one.newest.forget()
        return guest

    @property
    def guests(self) -> list[Guest]:
        """Everybody with a valid address."""
        return list(self._guests.values())

    @property
    def invalid(self) -> int:
        """How many addresses are none."""
        return sum(guest is None for guest in self._by_spelling.values())
