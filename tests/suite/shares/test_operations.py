"""What links cost, as exact numbers: a change that costs more shows itself here."""

import os
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from google.cloud import firestore

from bench.costs import COSTS
from functions.access import Caller, Role
from functions.documents.documents import Documents
from functions.machine import CLOCK
from functions.signed_links import wiring as links
from functions.signed_links.limiter import Limiter
from functions.signed_links.token import TokenKeys
from functions.webhooks.deliveries.next_round import NextRound
from functions.webhooks.deliveries.pace import Pace
from functions.webhooks.deliveries.store import DeliveryStore
from functions.webhooks.settings.store import SettingsStore
from functions.webhooks.shared_logs import handlers, wiring
from functions.webhooks.shared_logs.arguments import LogArguments, ShareArguments
from functions.webhooks.shared_logs.log_links import LogLinks
from functions.webhooks.shared_logs.shared_log import PAGE, SharedLog
from functions.webhooks.shared_logs.store import LogShareStore
from functions.webhooks.store import WallStore
from tests.suite.actions.conftest import TENANT, Configure, Record
from tests.suite.operations import Operations, admit_staff, counting_documents
from tests.suite.preferences.here import request
from tests.suite.process import local_parameters
from tests.suite.shares.conftest import URL


def _now() -> datetime:
    return datetime.now(UTC)


class Here:
    """The use cases of links in this process; every call is counted."""

    def __init__(self, keys: TokenKeys) -> None:
        self.counted = Operations()
        self.documents = counting_documents(self.counted)
        self.deliveries = DeliveryStore(self.documents)
        self.shares = LogShareStore(self.documents)
        self.keys = keys

    def log_links(self) -> LogLinks:
        """What an admin calls."""
        return LogLinks(
            wall=WallStore(self.documents),
            settings=SettingsStore(self.documents),
            shares=self.shares,
            keys=lambda: self.keys,
            base_url="https://wall.example.com",
            clock=CLOCK,
            new_id=lambda: "s1",
        )

    def shared_log(self) -> SharedLog:
        """What the bearer of a link calls."""
        return SharedLog(
            settings=SettingsStore(self.documents),
            deliveries=self.deliveries,
            shares=self.shares,
            next_round=NextRound(
                self.deliveries, self.counted.enqueue, Pace(1_000, time.monotonic, str), CLOCK
            ),
            may_resend=lambda _: True,
            clock=CLOCK,
        )


def _limiter(documents: Documents) -> Limiter:
    return Limiter(documents, now=_now)


def test_a_link_and_its_first_page(
    event: firestore.DocumentReference,
    configure: Configure,
    record: Record,
    keys: TokenKeys,
    client: str,
) -> None:
    """Nothing is read that is not shown but the event, and the share that says what may be."""
    configure(URL, "https://example.com/other")
    for number in range(PAGE + 1):
        made = _now() - timedelta(seconds=number)
        record(URL, f"d{number}", createdAt=made)
    record("https://example.com/other", "other")
    here = Here(keys)
    wanted = ShareArguments(event_id=event.id, url=URL)
    admit_staff("shareWebhookLog", here.documents)
    shared = here.log_links().give_out(Caller("u1", Role.ADMIN, TENANT), wanted)
    assert here.counted.cost() == COSTS["a link to a log"]
    here.counted.clear()

    limiter = _limiter(here.documents)
    token = shared.link.partition("#token=")[2]
    with (
        patch.dict(os.environ, local_parameters()),
        patch.object(wiring, "shared_log", here.shared_log),
        patch.object(links, "limiter", lambda: limiter),
    ):
        page = handlers.get_log(request(client, token=token))
    assert len(page["deliveries"]) == PAGE
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
    here = Here(keys)
    wanted = ShareArguments(event_id=event.id, url=URL)
    here.log_links().give_out(Caller("u1", Role.ADMIN, TENANT), wanted)
    here.counted.clear()
    page = here.shared_log().read_page(event.id, "s1", LogArguments(token="t"))
    assert (len(page.deliveries), page.next is None) == (1, False)
    assert here.counted.reads == 2 + 2
