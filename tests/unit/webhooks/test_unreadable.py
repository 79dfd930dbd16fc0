"""A record that cannot be read, as after a roll-back, keeps no other one waiting (design 3)."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from functions.parameters import Parameters
from functions.webhooks.deliveries.delivery import Delivery, EndedWithin
from functions.webhooks.webhook_settings import key
from tests.unit.webhooks.parts import ADMIN, EVENT, NOW, OTHER, URL, Parts


@pytest.fixture
def parts(parts: Parts) -> Parts:
    """An event with two URLs, where what failed is sent again by itself."""
    parts.subscribe(URL, OTHER, recover=[URL, OTHER])
    return parts


def path_of(delivery: Delivery) -> str:
    """Of the record."""
    return f"events/{EVENT}/deliveries/{delivery.id}"


def of_another_release(parts: Parts, path: str, **fields: object) -> None:
    """The document at `path` gets what this release cannot read."""
    parts.put(path, {**parts.fields(path), **fields})


def swept(parts: Parts, *deliveries: Delivery) -> None:
    """The sweep queues these deliveries, which are late, and no others."""
    parts.now += timedelta(minutes=3)
    assert parts.process().sweeper.sweep() == len(deliveries)
    assert {task.data["deliveryId"] for task in parts.queued} == {late.id for late in deliveries}


@pytest.mark.parametrize(
    "fields",
    [
        {"event": "photo.printed"},
        {"outcome": "paused"},
        {"attempts": 4},
        {"attempts": "none"},
        {"log": [{"attempt": 1}]},
        {"body": None, "log": None},
    ],
)
def test_an_unreadable_delivery_stops_no_sweep(
    parts: Parts, capfd: pytest.CaptureFixture[str], fields: dict[str, object]
) -> None:
    """The sweep logs the path of a delivery that it cannot read."""
    first, bad, last = (parts.delivery(cause=cause) for cause in ("a", "b", "c"))
    of_another_release(parts, path_of(bad), **fields)
    swept(parts, first, last)

    [line] = [line for line in capfd.readouterr().out.splitlines() if "record.unreadable" in line]
    assert json.loads(line)["path"] == path_of(bad)
    assert json.loads(line)["severity"] == "ERROR"


def resent(parts: Parts) -> int:
    """Page after page, of two deliveries each."""
    parts.parameters = Parameters(deliveries_at_once=2)
    after, count = None, 0
    selected = EndedWithin(since=NOW - timedelta(hours=1))
    while True:
        done = parts.process().actions.resend_page(EVENT, selected, after=after)
        count, after = count + done.resent, done.next
        if after is None:
            return count


def recovered(parts: Parts) -> int:
    """Both receivers are back, and the schedule comes."""
    for url in (URL, OTHER):
        parts.attempts(parts.delivery(url=url, cause="arrived"), 204)
    parts.process().endpoint_sweep.sweep()
    return sum(record.round for record in parts.records)


def listed(parts: Parts) -> int:
    """What the bearer of a link sees."""
    _, share = parts.process().log_links.give_out(EVENT, ADMIN, URL, timedelta(days=1))
    return len(parts.process().shared_log.read_page(EVENT, share.id).deliveries)


@pytest.mark.parametrize(("do", "found"), [(resent, 4), (recovered, 4), (listed, 2)])
def test_an_unreadable_delivery_stops_no_listing(
    parts: Parts, do: Callable[[Parts], int], found: int
) -> None:
    """Two other deliveries of each URL are found."""
    failed = [
        parts.failed(parts.delivery(url=url, cause=cause))
        for cause in "abc"
        for url in (URL, OTHER)
    ]
    for delivery in failed[2:4]:
        of_another_release(parts, path_of(delivery), event="photo.printed")

    assert do(parts) == found


def test_an_unreadable_endpoint_stops_no_other(parts: Parts) -> None:
    """An unreadable endpoint stops neither the sweep nor a task that notes a failure."""
    for url in (URL, OTHER):
        parts.failed(parts.delivery(url=url))
    of_another_release(parts, f"events/{EVENT}/endpoints/{key(URL)}", told="puzzled")
    parts.failed(parts.delivery(cause="another"))

    assert recovered(parts) == 1


def test_a_trigger_that_finds_an_unreadable_delivery_goes_on(parts: Parts) -> None:
    """The message to the other URL is recorded and queued."""
    photo = parts.photo()
    parts.process().publisher.photo_written("w1", EVENT, None, photo)
    bad, good = parts.records
    of_another_release(parts, path_of(bad), outcome="paused")
    parts.delete(path_of(good))
    queued = len(parts.queued)
    parts.process().publisher.photo_written("w1", EVENT, None, photo)

    assert parts.record(good).outcome == "pending"
    assert len(parts.queued) == queued, "its task has the same name"
