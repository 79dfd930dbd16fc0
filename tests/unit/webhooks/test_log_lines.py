"""The log lines of a delivery (spec 3.4 and 7.3) and the data that they do not contain."""

import json

import pytest

from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from tests.unit.webhooks.webhook_fixture import EVENT, WebhookFixture


def test_each_attempt_logs_one_line_without_private_data(capfd: pytest.CaptureFixture[str]) -> None:
    """Log a warning for a skipped delivery and an error for a failed one (spec 3.4 and 7.3)."""
    webhooks = WebhookFixture()
    urls = ["https://example.com/path-with-a-key", "http://example.com/another-key"]
    webhooks.subscribe(*({"url": url, "events": ["photo.uploaded"]} for url in urls))
    photo = webhooks.photo(email="ann@example.com", url="https://example.com/p1.jpg")
    webhooks.process().publisher.photo_written("write-1", EVENT, None, photo)
    delivery = next(record for record in webhooks.records if record.url == urls[0])
    webhooks.attempts(delivery, *(500 for _ in RETRY_SCHEDULE))

    output = capfd.readouterr().out
    lines = [json.loads(line) for line in output.splitlines()]
    [skipped] = [line for line in lines if line["message"] == "delivery.skipped"]
    attempted = [line for line in lines if line["message"] == "delivery.attempted"]
    [failed] = [line for line in lines if line["message"] == "delivery.failed"]
    assert (skipped["severity"], failed["severity"]) == ("WARNING", "ERROR")
    assert [line["attempt"] for line in attempted] == [1, 2, 3, 4]
    *before, last = (line["outcome"] for line in attempted)
    assert (set(before), last) == ({"retrying"}, "failed")
    common = {
        "severity": "INFO",
        "eventId": EVENT,
        "event": "photo.uploaded",
        "host": "example.com",
    }
    assert attempted[0].items() >= (common | {"status": 500, "error": None}).items()
    assert isinstance(attempted[0]["ms"], int)
    named = {skipped["deliveryId"], failed["deliveryId"]}
    assert {record.id for record in webhooks.records} == named
    for private in ("whsec_", "ann@example.com", "path-with-a-key", "another-key", "p1.jpg"):
        assert private not in output
