"""What the adapters of the watched URLs keep: the real one, and the one in memory (design 3.31)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.gcp.documents import documents
from functions.webhooks.deliveries.delivery import Attempt, Delivery, Ended, Outcome
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.messages.event_type import EventType
from functions.webhooks.notices.ports import Notices, StoredWatch
from functions.webhooks.notices.store import NoticeStore
from functions.webhooks.notices.watch import Standing, Watch, WatchedUrl
from tests.in_memory.database import Database
from tests.in_memory.documents import InMemoryDocuments
from tests.in_memory.webhooks import InMemoryNotices

NOW: Final = datetime(2026, 5, 1, 18, 30, 0, 123456, UTC)
LONG_AGO: Final = datetime(2001, 1, 1, tzinfo=UTC)
"""Nobody else's in this project."""
URL: Final = "https://example.com/hook"
OTHER: Final = 'https://example.com/"other"?key=…'


@dataclass(frozen=True, slots=True)
class Ground:
    """An event and the adapters."""

    event_id: str
    notices: Notices
    deliveries: DeliveryStore

    def load(self) -> StoredWatch:
        """The watched URLs."""
        found = self.notices.load(self.event_id)
        assert found is not None
        return found

    def ended(self, outcome: Outcome, seconds: float, **fields: Any) -> Delivery:
        """Put a delivery on record that ended then."""
        at = NOW + timedelta(seconds=seconds)
        given: dict[str, Any] = {"url": URL, "ended_at": at} | fields
        made = Delivery(
            id=f"{outcome}-{seconds}-{self.event_id}",
            event_id=self.event_id,
            event_type=EventType.PHOTO_UPLOADED,
            body="{}",
            created_at=NOW,
            outcome=outcome,
            **given,
        )
        self.deliveries.create(self.event_id, [made])
        return made


@pytest.fixture(params=["in memory", "in Firestore"])
def ground(request: pytest.FixtureRequest, event_id: str) -> Ground:
    """Each of them."""
    if request.param == "in memory":
        database = Database(lambda: NOW)
        return Ground(event_id, InMemoryNotices(database), DeliveryStore(InMemoryDocuments()))
    real = documents()
    return Ground(event_id, NoticeStore(real), DeliveryStore(real))


def watch(**fields: Any) -> Watch:
    """Two URLs, of which one was told of."""
    urls = (
        WatchedUrl(url=URL, marked_at=NOW),
        WatchedUrl(
            url=OTHER, marked_at=NOW, told=Standing.FAILING, told_at=NOW, since=NOW - timedelta(1)
        ),
    )
    given: dict[str, Any] = {
        "urls": urls,
        "look_at": NOW,
        "sent_at": NOW,
        "sending": "m",
        "tries": 2,
    }
    return Watch(**(given | fields))


@pytest.mark.parametrize("made", [watch(), Watch(), watch(look_at=None, sending=None)])
def test_a_watch_is_found_as_it_was(ground: Ground, made: Watch) -> None:
    """Every field; the order of its URLs means nothing."""
    assert ground.notices.load(ground.event_id) is None
    ground.notices.create(ground.event_id, made)
    found = ground.load().watch
    assert {url.url: url for url in found.urls} == {url.url: url for url in made.urls}
    assert replace(found, urls=()) == replace(made, urls=())


def test_the_first_one_is_created_once(ground: Ground) -> None:
    """Also where only the answer was lost."""
    ground.notices.create(ground.event_id, watch())
    with pytest.raises(AlreadyRecordedError):
        ground.notices.create(ground.event_id, Watch())
    assert ground.load().watch.urls


def test_a_watch_is_saved_as_it_was_read(ground: Ground) -> None:
    """The second writer reads again; a URL that is not watched any more is gone."""
    ground.notices.create(ground.event_id, watch())
    found = ground.load()
    fewer = replace(found.watch, urls=(), look_at=None)
    ground.notices.save(ground.event_id, fewer, found.version)
    assert ground.load().watch == fewer
    with pytest.raises(ChangedMeanwhileError):
        ground.notices.save(ground.event_id, watch(), found.version)
    assert ground.load().watch == fewer
    with pytest.raises(ChangedMeanwhileError):
        ground.notices.save(f"no-{ground.event_id}", watch(), found.version)


def test_what_is_due_is_found(ground: Ground) -> None:
    """The longest due comes first; checks that are due later or never are left out."""
    events = [f"{name}-{ground.event_id}" for name in ("a", "b", "c", "d")]
    looks = (LONG_AGO + timedelta(2), LONG_AGO, None, LONG_AGO + timedelta(3))
    for event_id, look_at in zip(events, looks, strict=True):
        ground.notices.create(event_id, watch(look_at=look_at))
    assert ground.notices.due(LONG_AGO + timedelta(3), 9) == [events[1], events[0]]
    assert ground.notices.due(LONG_AGO + timedelta(3), 1) == [events[1]]
    for event_id in events:
        found = ground.notices.load(event_id)
        assert found is not None
        ground.notices.save(event_id, Watch(), found.version)
    assert not ground.notices.due(LONG_AGO + timedelta(9), 9)


def test_the_last_that_have_ended(ground: Ground) -> None:
    """Of one URL, of these outcomes, the last one first, with how its last attempt went."""
    at = Attempt(number=4, at=NOW, status=None, milliseconds=5, error="no answer")
    for seconds in (1, 3):
        ground.ended(Outcome.FAILED, seconds, log=(replace(at, number=3, status=500), at))
    ground.ended(Outcome.SUCCESS, 2, test=True)
    ground.ended(Outcome.SKIPPED, 5)
    ground.ended(Outcome.FAILED, 6, url=OTHER)
    ground.ended(Outcome.RETRYING, 7, ended_at=None)

    both = (Outcome.SUCCESS, Outcome.FAILED)
    found = ground.deliveries.last_ended(ground.event_id, URL, both, 9)
    assert list(found) == [
        Ended(outcome=Outcome.FAILED, at=NOW + timedelta(seconds=3), error="no answer"),
        Ended(outcome=Outcome.SUCCESS, at=NOW + timedelta(seconds=2), test=True),
        Ended(outcome=Outcome.FAILED, at=NOW + timedelta(seconds=1), error="no answer"),
    ]
    assert list(ground.deliveries.last_ended(ground.event_id, URL, both, 2)) == list(found)[:2]
    [success] = ground.deliveries.last_ended(ground.event_id, URL, (Outcome.SUCCESS,), 2)
    assert success == list(found)[1]


def test_the_first_failure(ground: Ground) -> None:
    """After a moment, or at all; None without any."""
    first: Callable[..., datetime | None] = ground.deliveries.first_failure
    assert first(ground.event_id, URL, None) is None
    for seconds in (3, 1, 2):
        ground.ended(Outcome.FAILED, seconds)
    ground.ended(Outcome.FAILED, 0, url=OTHER)
    ground.ended(Outcome.SUCCESS, 0.5)
    found = [
        first(ground.event_id, URL, after and NOW + timedelta(seconds=after))
        for after in (None, 1, 2.5, 3)
    ]
    assert found == [
        NOW + timedelta(seconds=1),
        *(NOW + timedelta(seconds=s) for s in (2, 3)),
        None,
    ]
