"""An endpoint that fails: the deployed functions, from a dead receiver to the mail and back."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from google.cloud import firestore

from emulator.mailbox import Mailbox
from functions.firestore.client import documents
from functions.webhooks.failing_endpoints.endpoint_store import EndpointStore
from functions.webhooks.failing_endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.webhook_settings import key
from tests.suite.contract.conftest import Configure, Named, Record
from tests.suite.process import FunctionProcess

URL: Final = "https://example.com/hook?key=hush"
LONG: Final = 60.0


def noted(event_id: str, since: datetime) -> None:
    """A worker has noted a failure."""
    record = FailingEndpoint(
        event_id=event_id,
        id=key(URL),
        tenant_id="t1",
        url=URL,
        since=since,
        failed_at=datetime.now(UTC) - timedelta(minutes=1),
        due_at=since,
    )
    EndpointStore(documents()).note_failure(record)


def test_people_are_told_of_a_dead_receiver(
    event: firestore.DocumentReference, configure: Configure, record: Record, mailbox: Mailbox
) -> None:
    """Spec 6.4: the sweep finds it, the queue calls the notifier, and the record says so."""
    ann = f"ann-{event.id}@example.com"
    since = datetime.now(UTC) - timedelta(minutes=9)
    configure(URL, notify=[ann])
    for number in range(5):
        record(URL, f"d{number}", endedAt=since + timedelta(minutes=number))
    noted(event.id, since)
    with FunctionProcess("sweepDeliveries") as sweeper:
        assert sweeper.dispatch(None) == 200

    def has_come(mails: Any) -> bool:
        return any(mail.to == ann for mail in mails)

    [mail] = [mail for mail in mailbox.wait_for(has_come, LONG) if mail.to == ann]
    assert mail.subject == "A webhook URL is failing: Garden party"
    assert "5 deliveries have not arrived" in mail.text
    assert f"/console#/events/{event.id}/receivers" in mail.html
    assert "hush" not in mail.html + mail.text + mail.subject


def test_what_failed_is_sent_again_once_its_receiver_answers(
    event: firestore.DocumentReference, configure: Configure, record: Record, named: Named
) -> None:
    """Spec 6.5: a later failure holds nothing up."""
    since = datetime.now(UTC) - timedelta(minutes=30)
    configure(URL, recover=[key(URL)])
    missed = record(URL, "missed", endedAt=since)
    record(URL, "arrived", outcome="success", endedAt=since + timedelta(minutes=1))
    refused = record(URL, "refused", endedAt=since + timedelta(minutes=2))
    noted(event.id, since)
    with FunctionProcess("sweepDeliveries") as sweeper:
        assert sweeper.dispatch(None) == 200

    assert named("missed") == missed.id
    assert (missed.get().to_dict() or {})["round"] == 1
    assert "round" not in (refused.get().to_dict() or {})
