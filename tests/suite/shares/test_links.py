"""Links to the log of a URL, as their bearers meet them (spec 4.11 to 4.14)."""

import json
from datetime import UTC, datetime

from functions.webhooks.deliveries.endpoint_url import name_of
from tests.suite.actions.conftest import TENANT, Named, Record
from tests.suite.shares.conftest import OTHER, URL, Look, Share


def test_a_link_shows_its_urls_deliveries_and_nothing_else(
    share: Share, look: Look, record: Record, named: Named
) -> None:
    """Of two URLs of one event no link shows the other's deliveries, with any argument."""
    record(URL, "mine", body='{"mine":"\u00fc"}')
    record(OTHER, "theirs", body='{"theirs":1}', outcome="success")
    mine, theirs = share(), share(OTHER, canResend=True, days=1)

    answer = look(mine["token"])
    page = answer.result
    assert [delivery["id"] for delivery in page["deliveries"]] == [named("mine")]
    assert page["deliveries"][0]["body"] == '{"mine":"\u00fc"}'
    assert {attempt["status"] for attempt in page["deliveries"][0]["log"]} == {500}
    assert (page["url"], page["canResend"], page["next"]) == (name_of(URL), False, None)
    assert page["expiresAt"] == mine["expiresAt"]
    for hidden in ("of-the-receiver", "theirs", "whsec_", TENANT):
        assert hidden not in json.dumps(answer.body)

    # A cursor at the other URL's delivery, the filter it would match, and the event's own names.
    for ask in (
        {"after": f"{datetime.now(UTC).isoformat()}~{named('theirs')}"},
        {"outcome": "success"},
        {"url": OTHER, "eventId": "another", "shareId": theirs["shareId"]},
    ):
        assert named("theirs") not in json.dumps(look(mine["token"], **ask).body)
    assert [delivery["id"] for delivery in look(theirs["token"]).result["deliveries"]] == [
        named("theirs")
    ]


def test_a_developer_looks_after_each_change(share: Share, look: Look) -> None:
    """Spec 8: more than the 20 calls an hour of the links in mails, from one address."""
    token = share()["token"]
    assert {look(token).status for _ in range(25)} == {200}
