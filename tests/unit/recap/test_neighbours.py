"""What one guest, one organizer or one address may do to others (spec 4.1, 8; design 3.44)."""

import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest

from functions.call.caller import Caller, Role
from functions.email_address import address_hash
from functions.mail.sendgrid import BYTES_PER_RECIPIENT
from functions.recap import limits
from functions.recap.audience.guests import HOSTS_COUNTED, Audience
from functions.recap.audience.photos import PhotoHosts
from functions.recap.ledger.recap_store import LEASE
from functions.recap.limits import RecapLimits
from functions.recap.recap_arguments import Mode
from functions.wall.wall_event import Photo
from tests.unit.recap.parts import NOON, TENANT, At, House, fail, guest

# Mails of one tenant.


def _events(house: House, count: int, tenant: str = TENANT) -> list[str]:
    """Further events, each with the same guest."""
    names = [f"{tenant}-{number}" for number in range(count)]
    for name in names:
        house.event(name, tenant)
        house.photo("stranger@example.com", event_id=name)
    return names


def test_an_address_gets_three_recaps_of_one_tenant_in_a_day(house: House) -> None:
    """An organizer with many events mails nobody more often; the answer says who is skipped."""
    *first, fourth = _events(house, 4)
    assert [house.send(eventId=name).sent for name in first] == [1, 1, 1]
    house.photo("another@example.com", event_id=fourth)
    result = house.send(eventId=fourth)
    assert (result.sent, result.skipped, result.skipped_by) == (1, 0, {"dayLimit": 1})
    (note,) = result.notes
    assert note == (
        "1 guests were left out, as they have had as many recaps of your events in 24 hours as "
        "one address gets (RECAPS_PER_ADDRESS_A_DAY)."
    )
    assert house.addresses.count("stranger@example.com") == 3


@pytest.mark.parametrize(
    "addresses",
    [
        [f"victim+{number}@example.com" for number in range(50)],
        [f"v{'.' * (number % 2)}i{'.' * (number // 2 % 2)}ctim@gmail.com" for number in range(4)],
    ],
)
def test_each_address_of_a_mailbox_gets_its_first_recap(house: House, addresses: list[str]) -> None:
    """Design 3.44: other recaps count, a recap once for a mailbox; the preview says the same."""
    for address in addresses:
        house.photo(address)
    preview = house.preview()
    result = house.send()
    assert (result.sent, result.skipped, result.skipped_by) == (len(addresses), 0, {})
    assert preview.recipients == result.sent
    for number, sent in ((2, 1), (3, 1), (4, 0)):
        house.event(f"e{number}")
        house.photo(addresses[number - 1], event_id=f"e{number}")
        assert house.send(eventId=f"e{number}").sent == sent


def test_another_tenant_is_not_touched_by_it_and_a_day_later_it_is_over(house: House) -> None:
    """Each tenant has a limit of its own, for a day."""
    for name in _events(house, 3):
        house.send(eventId=name)
    (other,) = _events(house, 1, "t2")
    assert house.send(eventId=other, caller=Caller("u", Role.ADMIN, "t2")).sent == 1
    house.event("late")
    house.photo("stranger@example.com", event_id="late")
    house.later(hours=23, minutes=59)
    assert house.send(eventId="late").skipped_by == {"dayLimit": 1}
    house.later(minutes=1)
    assert house.send(eventId="late").sent == 1


def test_a_tenant_sends_so_many_mails_a_day(house: House) -> None:
    """Guests beyond the tenant's mails of a day are left for the next recap, as the answer says."""
    house.guests(4)
    house.event("e2")
    house.guests(4, "e2")
    limits = RecapLimits(per_tenant=6)
    assert house.send(limits=limits).sent == 4
    result = house.send(eventId="e2", limits=limits)
    assert result.sent == 2
    assert (result.message, result.skipped_by) == (None, {"left": 2})
    assert " ".join(result.notes) == (
        "Your events have sent as many recap mails as they may in 24 hours "
        "(RECAP_MAILS_PER_DAY). 2 guests are left; the next recap, possible in 24 hours, goes to "
        "them first (with onlyNew, only to guests without one)."
    )
    house.event("e3")
    house.guests(1, "e3")
    none = house.send(eventId="e3", limits=limits)
    assert none.sent == 0
    assert none.message
    assert "RECAP_MAILS_PER_DAY" in none.message
    house.later(hours=24)
    assert house.send(eventId="e3", limits=limits).sent == 1  # no cooldown before it


def test_a_late_record_of_a_recap_that_another_call_gave_up_counts_nothing(house: House) -> None:
    """The call is held up before it records its mails; the next call fails before it does so."""

    def fail_after_the_lease() -> None:
        house.now += LEASE
        house.refusal(At("find photos", fail))

    house.guests(1)
    limits = RecapLimits(per_address=1)
    house.refusal(At("create recapMails", fail_after_the_lease, before=True), limits=limits)
    assert house.send(limits=limits).sent == 1


def test_two_events_at_once_count_both(house: House) -> None:
    """A plan of another event between the read and the write is counted before the call goes on."""
    first, second = _events(house, 2)
    limits = RecapLimits(per_address=1)
    other = At("get recapMails", lambda: house.send(eventId=second, limits=limits))
    assert house.send(other, eventId=first, limits=limits).sent == 0
    assert house.addresses == ["stranger@example.com"]


def test_the_record_is_a_list_of_hashes(house: House) -> None:
    """No address is recorded, and the largest document is below 1 MB."""
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    ids = [address_hash(guest(number)) for number in range(limits.MAX_MAILS_PER_DAY)]
    entries = limits.with_recap(b"", "r1", ids, now)
    assert len(entries) < 1_000_000
    assert b"guest-" not in entries
    counted = limits.counted(entries, "r2", now + timedelta(hours=23))
    assert (counted.mails, counted.recaps_of(ids[7])) == (limits.MAX_MAILS_PER_DAY, 1)
    assert limits.counted(entries, "r1", now).mails == 0
    assert limits.with_recap(entries, "r1", [], now) == b""
    assert limits.with_recap(entries, "r2", [], now + timedelta(hours=24)) == b""
    assert limits.with_recap(entries, "r1", ids[:1], now) == entries[:16]
    house.guests(1)
    house.send()
    (record,) = house.collection("recapMails").values()
    assert len(record["entries"]) == 16


# Photos that somebody made up.


def test_many_made_up_uids_push_no_earlier_guest_out(house: House) -> None:
    """Above the cap the guest with the oldest approved photo comes first, with any uid."""
    house.guests(20)
    for number in range(60):
        house.later(seconds=1)
        house.photo(
            f"made-up-{number}@example.com", photo_id=f"0{number}", uploaderUid=f"u{number}"
        )
    assert house.send(limits=RecapLimits(per_call=50)).sent == 50
    assert {guest(number) for number in range(20)} < set(house.addresses)


def test_a_photo_cannot_choose_its_time() -> None:
    """`createdAt` is a field of the document; the time that the server wrote it counts."""
    audience = Audience(
        Mode.ALL, hosts=PhotoHosts.read("*", ""), at_most=1, room=BYTES_PER_RECIPIENT
    )
    for minute, email in enumerate(["x@example.com", "y@example.com", "z@example.com"]):
        fields = {"uploaderEmail": email, "createdAt": NOON - timedelta(minutes=minute)}
        created = NOON + timedelta(minutes=minute)
        audience.add(Photo.read(f"{9 - minute}", fields, created=created, updated=created))
    assert [guest.address[0] for guest in audience.in_order()] == ["x", "y", "z"]


# Memory.


def _photo(number: int, email: str, length: int) -> Photo:
    url = f"https://example.com/{number:06}/"
    at = NOON + timedelta(seconds=number)
    fields = {
        "uploaderEmail": email,
        "uploaderUid": email,
        "url": url + "u" * (length - len(url)),
        "thumbUrl": url + "t" * (length - len(url)),
        "createdAt": at,
    }
    return Photo.read(f"{number:06}", fields, created=at, updated=at)


def _kept(photos: int, guests: int, length: int) -> float:
    """MB that an audience takes in mode `personal`, after so many photos."""
    tracemalloc.start()
    try:
        audience = Audience(
            Mode.PERSONAL, hosts=PhotoHosts.read("*", ""), at_most=50, room=BYTES_PER_RECIPIENT
        )
        for number in range(photos):
            audience.add(_photo(number, guest(number % guests), length))
        taken, _ = tracemalloc.get_traced_memory()
        assert audience.photo_count == photos
    finally:
        tracemalloc.stop()
    return taken / 1e6


def test_memory_is_flat_in_photos_and_in_the_length_of_their_addresses() -> None:
    """All guests together have so much room, and of more guests than are chosen nothing is kept."""
    assert _kept(photos=3000, guests=50, length=2000) < 1.5 * _kept(1000, 50, 2000)
    assert _kept(photos=2000, guests=50, length=2000) < 50 * 16_000 / 1e6
    # `urlsplit` remembers some hundred addresses, which is all that may differ.
    assert _kept(photos=2000, guests=1000, length=2000) < _kept(2000, 1000, 100) + 1


def test_made_up_hosts_take_no_memory_without_end(house: House) -> None:
    """Each approved photo may name a host of its own: a thousand are counted by name."""
    house.hosts = "example.com"
    for number in range(HOSTS_COUNTED + 3):
        house.photo("a@example.com", url=f"https://{number}.example/a.jpg")
    audience = Audience(Mode.ALL, hosts=PhotoHosts.read("example.com", ""), at_most=1, room=1)
    for number in range(HOSTS_COUNTED + 3):
        fields = {"url": f"https://{number}.example/a.jpg"}
        audience.add(Photo.read("p1", fields, created=NOON, updated=NOON))
    assert (len(audience.hidden_hosts), audience.hidden_hosts[""]) == (HOSTS_COUNTED + 1, 3)
    [note] = house.preview().notes
    assert note.startswith(f"{HOSTS_COUNTED + 3} photos are not shown")
    assert "PHOTO_HOSTS: 0.example (1), 1.example (1)" in note
    assert note.endswith("(1), others. The operator of the service can add them.")


def test_where_guests_are_chosen_they_see_their_photos_all_the_same(house: House) -> None:
    """Where pictures were dropped, the photos are read once more, for the chosen guests alone."""
    house.guests(5)
    reads = []

    def count(what: str, effect: object, *, retried: bool = True) -> object:
        del retried
        reads.append(what)
        return effect()  # type: ignore[operator]

    house.send(count, limits=RecapLimits(per_call=3))  # type: ignore[arg-type]
    assert reads.count("find photos") == 2
    for address, message in house.mails:
        (copy,) = (copy for copy in message.copies if copy.address == address)
        shown = [f"https://example.com/{number}.jpg" for number in range(5)]
        own = f"https://example.com/{address[6]}.jpg"
        assert [line for line in shown if line in message.render(copy)[0]] == [own]


# Addresses of photos.


@pytest.mark.parametrize(
    ("hosts", "url", "shown"),
    [
        ("project", "https://firebasestorage.googleapis.com/v0/b/p1.appspot.com/o/a.jpg", True),
        (
            "project",
            "https://firebasestorage.googleapis.com/v0/b/p1.firebasestorage.app/o/a%2Fb.jpg?alt=media",
            True,
        ),
        ("project", "https://storage.googleapis.com/p1.appspot.com/a.jpg", True),
        ("project", "https://STORAGE.googleapis.com/p1.appspot.com/a.jpg", True),
        ("project", "https://storage.googleapis.com/p2.appspot.com/a.jpg", False),
        ("project", "https://storage.googleapis.com/p1.appspot.com.evil/a.jpg", False),
        ("project", "https://storage.googleapis.com/p1.appspot.com/../evil/a.jpg", False),
        ("project", "https://storage.googleapis.com/p1.appspot.com/%2e%2E/evil/a.jpg", False),
        ("project", "https://storage.googleapis.com/p1.appspot.com/..%2fevil/a.jpg", False),
        (  # as Firebase's SDK for iOS writes it
            "project",
            "https://firebasestorage.googleapis.com:443/v0/b/p1.appspot.com/o/a.jpg",
            True,
        ),
        ("photos.example.com:443", "https://photos.example.com/a.jpg", True),
        ("project", "https://storage.googleapis.com:8443/p1.appspot.com/a.jpg", False),
        ("project", "http://storage.googleapis.com/p1.appspot.com/a.jpg", False),
        ("project", "https://evil.example/a.jpg", False),
        ("project", "https://project/a.jpg", False),
        ("photos.example.com, project", "https://photos.example.com/a.jpg", True),
        ("photos.example.com", "https://storage.googleapis.com/p1.appspot.com/a.jpg", False),
        ("photos.example.com/wall/", "https://photos.example.com/wall/a.jpg", True),
        ("photos.example.com/wall/", "https://photos.example.com/other/a.jpg", False),
        ("", "https://photos.example.com/a.jpg", False),
        ("*", "http://anything.example/a.jpg", True),
    ],
)
def test_photos_come_from_hosts_that_the_project_trusts(
    hosts: str, url: str, *, shown: bool
) -> None:
    """The host of a picture learns who looks, and may change it after its approval."""
    assert PhotoHosts.read(hosts, "p1").allow(url) is shown


HIDDEN = (
    "1 photos are not shown, as their hosts are none of PHOTO_HOSTS: evil.example (1). The "
    "operator of the service can add them."
)


@pytest.mark.parametrize("mode", Mode)
def test_a_photo_of_another_host_is_in_no_mail_and_the_answer_says_so(
    house: House, mode: Mode
) -> None:
    """Spec 4.9: preview and recap name the hidden photo's host; the guest has the other photos."""
    house.hosts = "example.com"
    house.photo("a@example.com")
    other = "https://evil.example/track.gif"
    house.photo("a@example.com", url=other, thumbUrl=other)
    preview = house.preview(mode=mode)
    result = house.send(mode=mode)
    assert (result.message, result.notes) == (None, preview.notes)
    assert preview.notes == [HIDDEN]
    assert preview.hidden == 1
    ((_, message),) = house.mails
    everything = message.text + message.html + "".join(message.copies[0].values.values())
    assert "https://example.com/0.jpg" in everything
    assert "evil.example" not in everything
