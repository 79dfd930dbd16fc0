"""What links cost, as exact numbers: a change that costs more shows itself here."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from google.cloud import firestore

from bench.costs import COSTS
from functions.access import Caller, Role
from functions.gcp import secret_manager
from functions.machine import CLOCK
from functions.signed_links.token import TokenKeys
from functions.webhooks.calls import shared_log_calls
from functions.webhooks.calls.webhook_arguments import LogArguments, ShareArguments
from functions.webhooks.deliveries.delivery_store import NEWEST_AT_MOST
from tests.in_memory.adapters import service_on
from tests.suite.actions.conftest import TENANT, Configure, Record
from tests.suite.operations import Counting, Operations, admit_staff
from tests.suite.preferences.here import request
from tests.suite.shares.conftest import URL


def _now() -> datetime:
    return datetime.now(UTC)


def test_a_link_and_its_first_page(
    event: firestore.DocumentReference,
    configure: Configure,
    record: Record,
    keys: TokenKeys,
    client: str,
) -> None:
    """Nothing is read that is not shown but the event, and the share that says what may be."""
    configure(URL, "https://example.com/other")
    for number in range(NEWEST_AT_MOST + 1):
        made = _now() - timedelta(seconds=number)
        record(URL, f"d{number}", createdAt=made)
    record("https://example.com/other", "other")
    here = Counting(Operations(), keys=keys)
    wanted = ShareArguments(event_id=event.id, url=URL)
    admit_staff("shareWebhookLog", here.documents())
    link, _ = here.log_links().give_out(Caller("u1", Role.ADMIN, TENANT), wanted)
    assert here.counted.cost() == COSTS["a link to a log"]
    here.counted.clear()

    token = link.partition("#token=")[2]
    secrets = secret_manager.of_this_process()
    service = service_on(here.documents(), clock=CLOCK, secrets=secrets)
    page = shared_log_calls.get_log(service, request(client, token=token))
    assert len(page["deliveries"]) == NEWEST_AT_MOST
    assert here.counted.calls == Counter({"Commit": 1, "BatchGetDocuments": 1, "RunQuery": 1})
    assert here.counted.cost() == COSTS["a page of 50 of a shared log"]


def test_a_page_that_is_cut_reads_no_further(
    event: firestore.DocumentReference,
    configure: Configure,
    record: Record,
    keys: TokenKeys,
) -> None:
    """Large bodies: what would not fit is not waited for."""
    configure(URL)
    for number in range(12):
        record(URL, f"d{number}", body="x" * 600_000)
    here = Counting(Operations(), keys=keys)
    wanted = ShareArguments(event_id=event.id, url=URL)
    _, share = here.log_links().give_out(Caller("u1", Role.ADMIN, TENANT), wanted)
    here.counted.clear()
    page = here.shared_log().read_page(event.id, share.id, LogArguments(token="t"))
    assert (len(page.deliveries), page.next is None) == (1, False)
    assert here.counted.reads == 2 + 2
