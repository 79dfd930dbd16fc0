"""What the last release has written meets this one, and the other way round after a roll-back.

`last_release.jsonl` has one line for each document, task and link that `written()` gave at the last
release; a release writes the file anew, by `python -m tests.unit.test_upgrade`.
"""

import json
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from itsdangerous.encoding import base64_decode

from functions.call.caller import Caller, Role
from functions.firestore.model import Put, Query
from functions.links.token import Scope, TokenKeys
from functions.webhooks.deliveries.attempt_task import AttemptRequest
from functions.webhooks.deliveries.delivery import Outcome
from tests.in_memory.documents import Firestore
from tests.unit.recap.parts import House, guest
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, OTHER, URL, WebhookFixture

KEY: Final = TokenKeys(["the key that signs links, of the last release"])
LAST_RELEASE: Final = Path(__file__).parent / "last_release.jsonl"
ABOUT: Final = {
    Scope.PREFERENCES: ("guest-1",),
    Scope.UNSUBSCRIBE: ("guest-1",),
    Scope.WEBHOOK_LOG: (EVENT, "s1"),
}
MEANT: Final = {"since"}
"""Fields with another value than the last release writes, and the same meaning."""


def webhooks_written() -> WebhookFixture:
    """Deliveries in every state, and what stands beside them."""
    webhooks, superadmin = WebhookFixture(), Caller("u1", Role.SUPERADMIN, "t1")
    webhooks.subscribe(
        {"url": URL, "id": "screen"}, OTHER, "http://example.com/", recover=["screen"]
    )
    webhooks.process().webhook_secrets.make(EVENT)
    webhooks.earlier_photos(99)
    photo = webhooks.photo(status="approved", email="ann@example.com")
    webhooks.process().publisher.photo_written("w1", EVENT, None, photo)
    deliveries = {f"{record.event_type} {record.url}": record for record in webhooks.records}
    webhooks.attempts(deliveries[f"photo.uploaded {URL}"], 204)
    webhooks.failed(deliveries[f"photo.approved {URL}"])
    webhooks.failed(deliveries[f"photo.uploaded {OTHER}"])
    webhooks.attempts(deliveries[f"guest.joined {OTHER}"], 500, None)
    again = webhooks.record(deliveries[f"photo.uploaded {OTHER}"])
    webhooks.process().actions.resend(EVENT, again.id)
    webhooks.process().actions.rotate_secret(EVENT, superadmin, timedelta(hours=1))
    webhooks.process().log_links.give_out(EVENT, superadmin, URL, timedelta(days=7))
    return webhooks


def recap_written() -> House:
    """A recap of four guests that was sent, and one of two newcomers that was interrupted."""
    house = House()
    house.guests(4)
    house.opt_out(guest(3))
    house.send()
    house.later(hours=25)
    for number in (7, 8, 9):
        house.photo(guest(number))
    house.crash("update batches", onlyNew=True)
    return house


def written() -> dict[str, Any]:
    """The records, tasks and links of this release, by the clocks of the tests."""
    webhooks, house = webhooks_written(), recap_written()
    return {
        "webhooks": _documents(webhooks.firestore),
        "recap": _documents(house.firestore),
        "tasks": {f"{task.queue}/{task.name}": dict(task.data) for task in webhooks.queued},
        "links": {
            scope: KEY.sign(about, NOW + timedelta(days=1), scope) for scope, about in ABOUT.items()
        },
    }


def _documents(firestore: Firestore) -> dict[str, Any]:
    under_events = firestore.query(Query(collection="events/", group=True))
    found = [*under_events, *firestore.query(Query(collection="users"))]
    return {
        document.path: document.fields for document in found if "/photos/crowd" not in document.path
    }


def _encoded(value: object) -> dict[str, str]:
    assert isinstance(value, datetime)
    return {"time": value.isoformat()}


def _decoded(value: dict[str, Any]) -> Any:
    return datetime.fromisoformat(value["time"]) if set(value) == {"time"} else value


@pytest.fixture(name="last")
def last_release() -> Any:
    """What the last release has written."""
    found: dict[str, dict[str, Any]] = {}
    for line in LAST_RELEASE.read_text().splitlines():
        kind, name, value = json.loads(line, object_hook=_decoded)
        found.setdefault(kind, {})[name] = value
    return found


def test_deliveries_of_the_last_release_go_on(last: Any) -> None:
    """Its tasks make their attempts, the sweep and automatic recovery find the rest."""
    webhooks = WebhookFixture()
    for path, fields in last["webhooks"].items():
        webhooks.put(path, fields)
    before = {record.id: record for record in webhooks.records}
    assert len(before) == sum("/deliveries/" in path for path in last["webhooks"])
    webhooks.now += timedelta(minutes=10)
    for data in last["tasks"].values():
        webhooks.process().worker.attempt(AttemptRequest.read(data))
    assert webhooks.process().sweeper.sweep() == 0, "every task was found"
    webhooks.process().endpoint_sweep.sweep()
    [recovered] = [record for record in webhooks.records if record.outcome.is_open]
    webhooks.attempts(recovered, 204)

    outcomes = {Outcome.SUCCESS, Outcome.SKIPPED}
    assert {record.outcome for record in webhooks.records} == outcomes
    assert all(record.body == before[record.id].body for record in webhooks.records)
    secret = last["webhooks"][f"events/{EVENT}/secrets/webhooks"]["secret"]
    assert webhooks.process().webhook_secrets.of(EVENT) == secret
    page = webhooks.process().shared_log.read_page(EVENT, "1")
    shown = {delivery.id for delivery in page.deliveries}
    assert shown == {key for key in before if before[key].url == URL}


def test_a_recap_of_the_last_release_is_continued(last: Any) -> None:
    """Nobody gets a second mail, and opt-outs hold."""
    house = House()
    for path, fields in last["recap"].items():
        house.documents.commit(Put(path, fields))
    house.later(hours=25, minutes=10)
    house.send(onlyNew=True)

    assert house.addresses == [guest(9)]


@pytest.mark.parametrize("scope", ABOUT)
def test_links_of_the_last_release_keep_their_meaning(last: Any, scope: Scope) -> None:
    """Links stand in mails and in people's notes, where no release changes them."""
    assert KEY.verify(last["links"][scope], NOW, scope) == ABOUT[scope]


def test_the_last_release_reads_what_this_one_writes(last: Any) -> None:
    """After a roll-back: every record, task and link has what it had, and perhaps more."""
    now = json.loads(json.dumps(written(), default=_encoded), object_hook=_decoded)
    for kind in ("webhooks", "recap"):
        for path, fields in last[kind].items():
            kept = {name: now[kind][path].get(name) for name in fields}
            assert _without(kept, MEANT) == _without(fields, MEANT), path
    assert now["tasks"] == last["tasks"]
    for scope, link in now["links"].items():
        payloads = [
            base64_decode(token.partition(".")[0]) for token in (link, last["links"][scope])
        ]
        assert json.loads(payloads[0]) == json.loads(payloads[1])


def _without(fields: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


if __name__ == "__main__":
    LINES = [
        json.dumps([kind, *item], default=_encoded, sort_keys=True, ensure_ascii=False)
        for kind, items in sorted(written().items())
        for item in sorted(items.items())
    ]
    LAST_RELEASE.write_text("".join(f"{line}\n" for line in LINES))
