"""An endpoint that fails: the deployed functions, from a dead receiver to the mail and back."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from emulator.mailbox import Mailbox
from functions.firestore.client import documents
from functions.webhooks.endpoints.endpoint_store import EndpointStore
from functions.webhooks.endpoints.failing_endpoint import FailingEndpoint
from functions.webhooks.webhook_settings import endpoint_id
from tests.suite.process import FunctionProcess
from tests.suite.wall_client import Wall

URL: Final = "https://example.com/hook?key=hush"
LONG: Final = 60.0


def noted(event_id: str, since: datetime) -> None:
    """Record a failure like a worker."""
    record = FailingEndpoint(
        event_id=event_id,
        id=endpoint_id(URL),
        tenant_id="t1",
        url=URL,
        since=since,
        failed_at=datetime.now(UTC) - timedelta(minutes=1),
        due_at=since,
    )
    EndpointStore(documents()).note_failure(record)


def test_a_failing_receiver_is_notified_to_admins(wall: Wall, mailbox: Mailbox) -> None:
    """Spec 6.4: the sweep finds it, the queue calls the notifier, and the record shows it."""
    ann = f"ann-{wall.id}@example.com"
    since = datetime.now(UTC) - timedelta(minutes=9)
    wall.configure(URL, notify=[ann])
    for number in range(5):
        wall.record(URL, endedAt=since + timedelta(minutes=number))
    noted(wall.id, since)
    with FunctionProcess("sweepDeliveries") as sweeper:
        assert sweeper.dispatch(None) == 200

    def has_come(mails: Any) -> bool:
        return any(mail.to == ann for mail in mails)

    [mail] = [mail for mail in mailbox.wait_for(has_come, LONG) if mail.to == ann]
    assert mail.subject == "A webhook URL is failing: Garden party"
    assert "5 deliveries have not arrived" in mail.text
    assert f"/console#/events/{wall.id}/receivers" in mail.html
    assert "hush" not in mail.html + mail.text + mail.subject
