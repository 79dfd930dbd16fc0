"""A disabled URL: what happens meanwhile is recorded, and can be sent later."""

from collections.abc import Callable
from typing import Any

from google.cloud import firestore

from emulator.people import Person
from emulator.receiver import always
from functions.webhooks.settings.webhook_settings import key
from tests.suite.actions.conftest import Configure
from tests.suite.call import call
from tests.suite.webhooks.conftest import Deliveries


def test_what_was_skipped_is_sent_once_the_url_is_enabled(
    event: firestore.DocumentReference,
    admin: Person,
    configure: Configure,
    receiving: Callable[..., Any],
    deliveries: Deliveries,
) -> None:
    """Skipped with the reason while disabled; the other URLs of the event go on."""
    with receiving({"/hook": always(), "/other": always()}) as receiver:
        urls = [receiver.url("/hook"), receiver.url("/other")]
        entry = {"url": urls[0], "reason": "nobody answers"}
        types = ["event.published"]
        configure(*({"url": url, "events": types} for url in urls), disabled={key(urls[0]): entry})
        event.update({"status": "published"})
        records = {one["url"]: one for one in deliveries.ended(2)}
        assert [one.path for one in receiver.requests] == ["/other"]

        settings = event.collection("settings").document("webhooks")
        settings.update({f"disabled.{key(urls[0])}": firestore.DELETE_FIELD})
        skipped = records[urls[0]]
        since = skipped["endedAt"].isoformat()
        answer = call(
            "resendWebhook", {"eventId": event.id, "since": since}, id_token=admin.id_token
        )
        receiver.wait_for(lambda seen: len(seen) == 2, timeout=60)
        requests = receiver.to("/hook")

    assert (skipped["outcome"], skipped["attempts"]) == ("skipped", 0)
    assert skipped["reason"] == "the URL is disabled: nobody answers"
    assert answer.result["resent"] == 1
    assert [one.body for one in requests] == [skipped["body"].encode()]
