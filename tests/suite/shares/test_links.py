"""Links to the log of a URL, as their bearers meet them (spec 4.11 to 4.14)."""

import json
import uuid
from datetime import UTC, datetime, timedelta

from google.cloud import firestore

from emulator.people import Person
from functions.signed_links.token import Scope, TokenKeys
from functions.webhooks.deliveries.endpoint_url import name_of
from tests.suite.actions.conftest import TENANT, Named, Record
from tests.suite.call import call
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


def test_one_refusal_for_every_link_that_is_none(
    event: firestore.DocumentReference,
    share: Share,
    look: Look,
    admin: Person,
    keys: TokenKeys,
    token: str,
) -> None:
    """Forged, expired, of another scope, without a share, ended: byte for byte the same answer."""
    good, ended = share()["token"], share()
    now = datetime.now(UTC)
    soon = now + timedelta(days=1)
    end = {"eventId": event.id, "shareId": ended["shareId"]}
    assert look(ended["token"]).status == 200
    assert call("revokeWebhookLog", end, id_token=admin.id_token).status == 200
    bad = {
        "ended": ended["token"],
        "forged": good[:-1] + ("A" if good[-1] != "A" else "B"),
        "expired": keys.sign((event.id, ended["shareId"]), now, Scope.WEBHOOK_LOG),
        "of a mail": token,
        "without a share": keys.sign((event.id, "none"), soon, Scope.WEBHOOK_LOG),
        "without an event": keys.sign((uuid.uuid4().hex, "s"), soon, Scope.WEBHOOK_LOG),
        "no token": "none",
    }
    answers = {name: look(value) for name, value in bad.items()}
    assert {name: given.status for name, given in answers.items()} == dict.fromkeys(bad, 403)
    assert len({json.dumps(answer.body) for answer in answers.values()}) == 1
    assert look(good).status == 200
    # The token does not open the pages of links in mails.
    assert call("getEmailPreferences", {"token": good}).status == 403
    event.delete()
    assert look(good).body == answers["ended"].body
