"""Notices: the deployed functions, from a dead receiver to the mails and back (design 3.27)."""

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.cloud.api_server import ADDRESS_VARIABLE
from emulator.mailbox import Mail, Mailbox
from emulator.receiver import always
from functions.gcp.cloud_tasks import CloudTasks
from functions.gcp.documents import documents
from functions.gcp.task_queue import Task
from functions.side_by_side import Threads
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE
from functions.webhooks.notices.failure_marks import FailureMarks
from functions.webhooks.notices.store import NoticeStore
from functions.webhooks.notices.sweeper import NoticeSweeper
from functions.webhooks.settings.webhook_settings import key
from tests.suite.actions.conftest import Configure, Named, Record
from tests.suite.preferences.test_change import visit
from tests.suite.preferences.test_notices import CONFIRM
from tests.suite.webhooks.conftest import Deliveries

LONG: Final = 60.0


def now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


@pytest.fixture
def queue(db: firestore.Client) -> CloudTasks:
    """The real queues."""
    return CloudTasks.at_stand_in(os.environ[ADDRESS_VARIABLE], db.project)


@pytest.fixture
def attempted(
    event_id: str, record: Record, named: Named, queue: CloudTasks
) -> Callable[[str, str, int], None]:
    """Put a delivery on record that is owed an attempt, and have it made."""

    def make(url: str, name: str, attempt: int) -> None:
        outcome = "pending" if attempt == 1 else "retrying"
        owed = {"outcome": outcome, "attempts": attempt - 1, "nextAttemptAt": now()}
        record(url, name, **owed, endedAt=None, log=[])
        queue.enqueue(
            Task(
                queue=RETRY_SCHEDULE[attempt - 1].queue,
                name=f"{named(name)}-{attempt}",
                data={"eventId": event_id, "deliveryId": named(name), "attempt": attempt},
                due=now(),
            )
        )

    return make


@pytest.fixture
def an_hour_passes(event: firestore.DocumentReference, queue: CloudTasks) -> Callable[[str], None]:
    """What was told of a URL was told more than an hour ago; then the sweep comes."""

    def pass_(url: str) -> None:
        ago = now() - timedelta(minutes=61)
        event.collection("notices").document("webhooks").update(
            {f"urls.{key(url)}.toldAt": ago, "sentAt": ago, "lookAt": now()}
        )
        NoticeSweeper(
            notices=NoticeStore(documents()),
            enqueue=queue.enqueue,
            side_by_side=Threads(2, "sweep"),
            now=lambda: now() + timedelta(seconds=1),
        ).sweep()

    return pass_


def test_a_dead_receiver_is_told_of_once_and_so_is_its_recovery(
    event: firestore.DocumentReference,
    configure: Configure,
    record: Record,
    attempted: Callable[[str, str, int], None],
    an_hour_passes: Callable[[str], None],
    receiving: Callable[..., Any],
    deliveries: Deliveries,
    mailbox: Mailbox,
    queue: CloudTasks,
) -> None:
    """Everybody is asked, and confirms: then one mail to each; one is acknowledged: another."""
    people = [f"{name}-{event.id}@example.com" for name in ("ann", "bob")]
    with receiving({"/hook": always(500)}) as receiver:
        url = f"{receiver.url('/hook')}?key=hush"
        configure(url, notify=people)
        for number in range(4):
            ended = now() - timedelta(minutes=5 - number)
            record(url, f"d{number}", endedAt=ended)
        attempted(url, "d4", 4)
        for question in _wait(mailbox, people, 1):
            assert event.id not in question.text.replace(question.to, "")
            [token] = re.findall(r"#confirm=(\S+)", question.text)
            assert visit(token, {}, method="POST", body=CONFIRM, of="notices")[0] == 200
        marks = FailureMarks(notices=NoticeStore(documents()), enqueue=queue.enqueue, now=now)
        marks.mark(event.id, [url])  # the next delivery that fails
        _wait(mailbox, people, 2)

        receiver.script("/hook", always())
        attempted(url, "d5", 1)
        deliveries.wait_for(lambda all_: any(entry["outcome"] == "success" for entry in all_), LONG)
        an_hour_passes(url)
        mails = _wait(mailbox, people, 3)

    assert len(receiver.requests) == 2
    for person in people:
        _, fails, works = (mail for mail in mails if mail.to == person)
        assert fails.subject == "A webhook URL is failing: Garden party"
        assert "5 deliveries have not arrived" in fails.text
        assert "HTTP 500" in fails.html
        assert works.subject == "A webhook URL works again: Garden party"
        assert "5 deliveries have not arrived" in works.text
        for mail in (fails, works):
            assert f"/console#/events/{event.id}/endpoints" in mail.html
            assert "hush" not in mail.html + mail.text + mail.subject
    assert {mail.to for mail in mailbox.mails if event.id in mail.html} == set(people)


def _wait(mailbox: Mailbox, people: list[str], each: int) -> tuple[Mail, ...]:
    """Until everybody has so many mails; they."""

    def have(mails: Any) -> bool:
        return all(sum(mail.to == person for mail in mails) >= each for person in people)

    mails = mailbox.wait_for(have, LONG)
    found = tuple(mail for mail in mails if mail.to in people)
    assert len(found) == each * len(people)
    return found
