"""This release reads the records of the last one, and the last one those of this, after a rollback.

`last_release.jsonl` has one line for each document, task and link that `written()` returned at the
last release. Each release rewrites the file with `python -m tests.unit.test_upgrade`.
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
from tests.unit.recap.recap_fixture import RecapFixture, guest
from tests.unit.webhooks.webhook_fixture import EVENT, NOW, OTHER, URL, WebhookFixture

KEY: Final = TokenKeys(["the key that signs links, of the last release"])
LAST_RELEASE: Final = Path(__file__).parent / "last_release.jsonl"
ABOUT: Final = {
    Scope.PREFERENCES: ("guest-1",),
    Scope.UNSUBSCRIBE: ("guest-1",),
    Scope.WEBHOOK_LOG: (EVENT, "s1"),
}
CHANGED: Final = {"since"}
"""Fields with another value than the last release writes, and the same meaning."""


def webhooks_written() -> WebhookFixture:
    """Write deliveries in every state, and the other documents of webhooks."""
    webhooks, superadmin = WebhookFixture(), Caller("u1", Role.SUPERADMIN, "t1")
    webhooks.subscribe(
        {"url": URL, "id": "screen"}, OTHER, "http://example.com/", recover=["screen"]
    )
    webhooks.process().webhook_secrets.create(EVENT)
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
    webhooks.process().log_links.create(EVENT, superadmin, URL, timedelta(days=7))
    return webhooks


def recap_written() -> RecapFixture:
    """Write a sent recap to four guests, and an interrupted one to new guests."""
    fixture = RecapFixture()
    fixture.guests(4)
    fixture.opt_out(guest(3))
    fixture.send()
    fixture.later(hours=25)
    for number in (7, 8, 9):
        fixture.photo(guest(number))
    fixture.crash("update batches", onlyNew=True)
    return fixture


def written() -> dict[str, Any]:
    """Return the records, tasks and links that this release writes."""
    webhooks, fixture = webhooks_written(), recap_written()
    return {
        "webhooks": _documents(webhooks.firestore),
        "recap": _documents(fixture.firestore),
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
    """Return the documents, tasks and links of the last release."""
    found: dict[str, dict[str, Any]] = {}
    for line in LAST_RELEASE.read_text().splitlines():
        kind, name, value = json.loads(line, object_hook=_decoded)
        found.setdefault(kind, {})[name] = value
    return found


def test_deliveries_of_the_last_release_continue(last: Any) -> None:
    """Its tasks make their attempts. The sweep and automatic recovery find the others."""
    webhooks = WebhookFixture()
    for path, fields in last["webhooks"].items():
        webhooks.put(path, fields)
    before = {record.id: record for record in webhooks.records}
    assert len(before) == sum("/deliveries/" in path for path in last["webhooks"])
    webhooks.now += timedelta(minutes=10)
    for data in last["tasks"].values():
        webhooks.process().worker.attempt(AttemptRequest.read(data))
    assert webhooks.process().sweeper.sweep() == 0, "every delivery had a task"
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
    """No guest gets a second email, and opt-outs are kept."""
    fixture = RecapFixture()
    for path, fields in last["recap"].items():
        fixture.documents.commit(Put(path, fields))
    fixture.later(hours=25, minutes=10)
    fixture.send(onlyNew=True)

    assert fixture.addresses == [guest(9)]


@pytest.mark.parametrize("scope", ABOUT)
def test_links_of_the_last_release_keep_their_meaning(last: Any, scope: Scope) -> None:
    """Links are in emails, which a release cannot change."""
    assert KEY.verify(last["links"][scope], NOW, scope) == ABOUT[scope]


def test_the_last_release_can_read_the_records_of_this_one(last: Any) -> None:
    """After a rollback, every record, task and link must have its earlier fields."""
    now = json.loads(json.dumps(written(), default=_encoded), object_hook=_decoded)
    for kind in ("webhooks", "recap"):
        for path, fields in last[kind].items():
            kept = {name: now[kind][path].get(name) for name in fields}
            assert _without(kept, CHANGED) == _without(fields, CHANGED), path
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
