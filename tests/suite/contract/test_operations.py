"""Exact cost of links in calls and documents. A change that costs more fails here."""

import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta

from flask import Request

from bench.costs import COSTS
from functions.call.caller import Caller, Role
from functions.gcp.callables import StaffCall
from functions.handlers import webhook_calls
from functions.webhooks.deliveries.delivery_store import NEWEST_AT_MOST
from tests.suite.contract.conftest import OTHER, URL
from tests.suite.operations import Operations, counting_service, link_call
from tests.suite.wall_client import TENANT, Wall


def staff_call(**data: object) -> StaffCall:
    """Return a call of `shareWebhookLog` by an admin."""
    caller = Caller(uuid.uuid4().hex, Role.ADMIN, TENANT)
    return StaffCall(
        function="shareWebhookLog", data=data, request=Request({}), caller=caller, claims={}
    )


def test_the_cost_of_a_link_and_its_first_page(
    wall: Wall, client: str, counted: Operations
) -> None:
    """The call reads only what it shows, the event, the settings and the share."""
    wall.configure(URL, OTHER)
    for number in range(NEWEST_AT_MOST + 1):
        wall.record(URL, createdAt=datetime.now(UTC) - timedelta(seconds=number))
    wall.record(OTHER)
    service = counting_service(counted)
    given = webhook_calls.share_log(service, staff_call(eventId=wall.id, url=URL))
    assert counted.cost() == COSTS["a link to a log"]

    counted.clear()
    token = given["link"].partition("#token=")[2]
    page = webhook_calls.get_log(
        counting_service(counted), link_call("getWebhookLog", client, token=token)
    )
    assert len(page["deliveries"]) == NEWEST_AT_MOST
    once = ("Commit", "BatchGetDocuments", "GetDocument", "RunQuery")
    assert counted.calls == Counter(once)
    assert counted.cost() == COSTS["a page of 50 of a shared log"]


def test_a_limited_page_reads_only_its_deliveries(wall: Wall, counted: Operations) -> None:
    """Large bodies: the call does not wait for documents that do not fit."""
    wall.configure(URL)
    for _ in range(12):
        wall.record(URL, body="x" * 600_000)
    service = counting_service(counted)
    given = webhook_calls.share_log(service, staff_call(eventId=wall.id, url=URL))
    counted.clear()
    page = service.shared_log.read_page(wall.id, given["shareId"])
    assert (len(page.deliveries), page.next is None) == (1, False)
    assert counted.reads == 3 + 2
