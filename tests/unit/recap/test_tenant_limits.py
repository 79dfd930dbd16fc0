"""Limits that protect guests and tenants from each other (spec 4.1, 8; design 3.44)."""

import tracemalloc
from contextlib import suppress
from datetime import timedelta

import pytest

from emulator.provider_models.sendgrid import NO_ANSWER, Answer, Problem, accepted, refused
from functions.call.caller import Caller, Role
from functions.call.errors import CallError
from functions.mail.message import BYTES_PER_RECIPIENT
from functions.recap.audience.guests import HOSTS_COUNTED, Audience
from functions.recap.audience.photos import PhotoHosts
from functions.recap.daily_limit import DailyLimit
from functions.recap.ledger.batch import BatchState
from functions.recap.ledger.recap_store import LEASE
from functions.recap.recap_arguments import Mode
from functions.wall.wall_event import Photo
from tests.unit.recap.recap_fixture import NOON, TENANT, At, RecapFixture, RecapLimits, fail, guest

# Mails of one tenant.


def _events(fixture: RecapFixture, count: int, tenant: str = TENANT) -> list[str]:
    """Create further events, each with the same guest."""
    names = [f"{tenant}-{number}" for number in range(count)]
    for name in names:
        fixture.event(name, tenant)
        fixture.photo("stranger@example.com", event_id=name)
    return names


def test_a_guest_of_four_events_gets_four_recaps(fixture: RecapFixture) -> None:
    """Spec 4.1: recaps of other events do not count."""
    assert [fixture.send(eventId=name).sent for name in _events(fixture, 4)] == [1, 1, 1, 1]
    assert fixture.addresses == ["stranger@example.com"] * 4


def test_another_tenants_emails_do_not_count(fixture: RecapFixture) -> None:
    """Each tenant has a limit of its own."""
    [first], [other] = _events(fixture, 1), _events(fixture, 1, "t2")
    limits = RecapLimits(per_tenant=1)
    assert fixture.send(eventId=first, limits=limits).sent == 1
    caller = Caller("u", Role.ADMIN, "t2")
    assert fixture.send(eventId=other, caller=caller, limits=limits).sent == 1


def test_a_tenants_emails_a_day_are_limited(fixture: RecapFixture) -> None:
    """Guests over the limit are left for the next recap, and the answer has their number."""
    fixture.guests(4)
    fixture.event("e2")
    fixture.guests(4, "e2")
    limits = RecapLimits(per_tenant=6)
    assert fixture.send(limits=limits).sent == 4
    result = fixture.send(eventId="e2", limits=limits)
    assert result.sent == 2
    assert (result.message, result.skipped_by) == (None, {"left": 2})
    assert " ".join(result.notes) == (
        "Your events have reached the limit of recap emails in 24 hours (RECAP_MAILS_PER_DAY). 2 "
        "guests did not fit in this call. They are first in line for the next recap, in 24 hours."
    )
    fixture.event("e3")
    fixture.guests(1, "e3")
    none = fixture.send(eventId="e3", limits=limits)
    assert none.sent == 0
    assert none.message
    assert "RECAP_MAILS_PER_DAY" in none.message
    fixture.later(hours=24)
    assert fixture.send(eventId="e3", limits=limits).sent == 1  # no cooldown before it


def _left(fixture: RecapFixture, emails: int = 100) -> int:
    return DailyLimit(fixture.documents, emails).remaining(TENANT, fixture.now)


def _started(fixture: RecapFixture) -> int:
    started = [batch for batch in fixture.batches() if batch.state is not BatchState.PLANNED]
    return sum(len(batch.mailed) for batch in started)


@pytest.mark.parametrize(
    ("answers", "left"),
    [
        ([], 96),
        ([refused(400)], 98),
        ([refused(401), refused(401)], 100),
        ([refused(400, Problem("no", "personalizations.1.to.0.email"))], 97),
        ([refused(429), refused(429)], 96),
        ([NO_ANSWER], 98),
        ([Answer(502)], 98),
        ([accepted("x"), Answer(403)], 98),
    ],
)
def test_an_email_counts_unless_it_was_refused(
    fixture: RecapFixture, answers: list[Answer], left: int
) -> None:
    """Send two requests to four guests. Emails that may have been accepted count."""
    fixture.guests(4)
    fixture.answers = answers
    with suppress(CallError):
        fixture.send()
    assert _left(fixture) == left
    fixture.answers = []
    with suppress(CallError):
        fixture.send()
    assert _left(fixture) == 100 - _started(fixture)


def test_a_refusal_in_the_next_hour_is_subtracted_where_its_request_was_added(
    fixture: RecapFixture,
) -> None:
    """Counters of both hours are right, also after a second request of the same batch."""
    fixture.now = NOON + timedelta(minutes=59, seconds=59)
    fixture.guests(2)
    fixture.answers = [refused(429), refused(401)]
    fixture.refusal()
    assert fixture.now >= NOON + timedelta(hours=1)
    assert _left(fixture) == 100
    [record] = fixture.collection("recapMails").values()
    assert (record["hour12"], record["hour13"]) == (0, 0)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("what", ["update batches", "mailer.send", "update locks"])
def test_a_crash_leaves_the_count_of_the_ledger(
    fixture: RecapFixture, what: str, *, before: bool
) -> None:
    """A crashed call has counted the batches that it started."""
    fixture.guests(6)
    fixture.crash(what, before=before, number=2)
    assert _left(fixture) == 100 - _started(fixture)
    fixture.later(seconds=LEASE.total_seconds())
    with suppress(CallError):
        fixture.send()
    assert _left(fixture) == 100 - 6


def test_a_write_whose_answer_was_lost_counts_once(fixture: RecapFixture) -> None:
    """Starts and results are recorded once, so the emails are counted once."""
    fixture.guests(2)
    fixture.send(At("update batches", fail))
    assert _left(fixture) == 98


@pytest.mark.parametrize(
    ("hours", "left"), [(0, 98), (22, 98), (23, 98), (23.49, 98), (23.5, 100), (24, 100), (48, 100)]
)
def test_an_email_counts_for_23_to_24_hours(fixture: RecapFixture, hours: float, left: int) -> None:
    """Counters are hourly."""
    fixture.now = NOON + timedelta(minutes=30)
    fixture.guests(2)
    fixture.send()
    fixture.later(hours=hours)
    assert _left(fixture) == left


def test_more_emails_than_the_limit_leave_none(fixture: RecapFixture) -> None:
    """A limit that was lowered meanwhile is not negative."""
    fixture.guests(2)
    fixture.send()
    assert _left(fixture, emails=1) == 0


def test_the_record_has_numbers_only(fixture: RecapFixture) -> None:
    """No address and no hash of one is recorded, and the record expires."""
    fixture.guests(1)
    fixture.send()
    [record] = fixture.collection("recapMails").values()
    assert record == {"hour12": 1, "expireAt": NOON.replace(hour=0) + timedelta(days=2)}


# Photos that somebody made up.


def test_many_invented_uids_do_not_displace_earlier_guests(fixture: RecapFixture) -> None:
    """Above the cap the guest with the oldest approved photo comes first, with any uid."""
    fixture.guests(20)
    for number in range(60):
        fixture.later(seconds=1)
        fixture.photo(
            f"made-up-{number}@example.com", photo_id=f"0{number}", uploaderUid=f"u{number}"
        )
    assert fixture.send(limits=RecapLimits(per_call=50)).sent == 50
    assert {guest(number) for number in range(20)} < set(fixture.addresses)


def test_a_photo_cannot_choose_its_time() -> None:
    """A client writes `createdAt`, so the server's time of the document counts."""
    audience = Audience(
        Mode.ALL, hosts=PhotoHosts.read("*", ""), at_most=1, bytes_per_guest=BYTES_PER_RECIPIENT
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
    """Return the memory in MB of an audience in mode `personal`."""
    tracemalloc.start()
    try:
        audience = Audience(
            Mode.PERSONAL,
            hosts=PhotoHosts.read("*", ""),
            at_most=50,
            bytes_per_guest=BYTES_PER_RECIPIENT,
        )
        for number in range(photos):
            audience.add(_photo(number, guest(number % guests), length))
        taken, _ = tracemalloc.get_traced_memory()
        assert audience.photo_count == photos
    finally:
        tracemalloc.stop()
    return taken / 1e6


def test_memory_is_flat_in_photos_and_in_the_length_of_their_addresses() -> None:
    """All guests share a budget, and guests that are not selected use none of it."""
    assert _kept(photos=3000, guests=50, length=2000) < 1.5 * _kept(1000, 50, 2000)
    assert _kept(photos=2000, guests=50, length=2000) < 50 * 16_000 / 1e6
    # `urlsplit` remembers some hundred addresses, which is all that may differ.
    assert _kept(photos=2000, guests=1000, length=2000) < _kept(2000, 1000, 100) + 1


def test_the_number_of_counted_hosts_is_limited(fixture: RecapFixture) -> None:
    """Each approved photo can name another host. At most a thousand are counted by name."""
    fixture.hosts = "example.com"
    for number in range(HOSTS_COUNTED + 3):
        fixture.photo("a@example.com", url=f"https://{number}.example/a.jpg")
    audience = Audience(
        Mode.ALL, hosts=PhotoHosts.read("example.com", ""), at_most=1, bytes_per_guest=1
    )
    for number in range(HOSTS_COUNTED + 3):
        fields = {"url": f"https://{number}.example/a.jpg"}
        audience.add(Photo.read("p1", fields, created=NOON, updated=NOON))
    assert (len(audience.hidden_hosts), audience.hidden_hosts[""]) == (HOSTS_COUNTED + 1, 3)
    [note] = fixture.preview().notes
    assert note.startswith(f"{HOSTS_COUNTED + 3:,} photos are hidden")
    assert "PHOTO_HOSTS: 0.example (1), 1.example (1)" in note
    assert note.endswith("(1), others. Ask the operator to add them.")


def test_selected_guests_get_all_their_photos(fixture: RecapFixture) -> None:
    """If pictures were dropped for lack of memory, read the photos of selected guests again."""
    fixture.guests(5)
    reads = []

    def count(what: str, effect: object, *, retried: bool = True) -> object:
        del retried
        reads.append(what)
        return effect()  # type: ignore[operator]

    fixture.send(count, limits=RecapLimits(per_call=3))  # type: ignore[arg-type]
    assert reads.count("find photos") == 2
    for address, message in fixture.mails:
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
    """The host of a picture can track readers and change the picture after its approval."""
    assert PhotoHosts.read(hosts, "p1").allow(url) is shown


HIDDEN = (
    "1 photo is hidden because its host isn't in PHOTO_HOSTS: evil.example (1). Ask the operator "
    "to add it."
)


@pytest.mark.parametrize("mode", Mode)
def test_a_photo_of_another_host_is_left_out_and_reported(
    fixture: RecapFixture, mode: Mode
) -> None:
    """Spec 4.9: preview and recap name the host of the hidden photo. The guest gets the others."""
    fixture.hosts = "example.com"
    fixture.photo("a@example.com")
    other = "https://evil.example/track.gif"
    fixture.photo("a@example.com", url=other, thumbUrl=other)
    preview = fixture.preview(mode=mode)
    result = fixture.send(mode=mode)
    assert (result.message, result.notes) == (None, preview.notes)
    assert preview.notes == [HIDDEN]
    assert preview.hidden == 1
    ((_, message),) = fixture.mails
    everything = message.text + message.html + "".join(message.copies[0].values.values())
    assert "https://example.com/0.jpg" in everything
    assert "evil.example" not in everything
