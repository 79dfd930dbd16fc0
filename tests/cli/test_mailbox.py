"""The mailbox validates like SendGrid, simulates faults, and shows emails."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from emulator.mailbox import (
    MAX_SUBSTITUTION_BYTES,
    Mailbox,
    problems,
    status,
    too_many_requests,
)

LIMIT_SECONDS = 60.0


def _body(*addresses: str, **changed: Any) -> dict[str, Any]:
    people = [
        {"to": [{"email": address}], "substitutions": {"%n%": address}} for address in addresses
    ]
    return {
        "from": {"email": "photos@example.com"},
        "subject": "Photos",
        "content": [{"type": "text/plain", "value": "Hi %n%"}],
        "personalizations": people,
    } | changed


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """Run a mailbox for one test."""
    with Mailbox() as running:
        yield running


def send(
    mailbox: Mailbox,
    body: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> requests.Response:
    """Send an email as the service does."""
    return requests.post(
        f"{mailbox.url}/v3/mail/send",
        json=body or _body("a@example.com", "b@example.com"),
        headers={"Authorization": "Bearer SG.x"} | (headers or {}),
        timeout=LIMIT_SECONDS,
    )


def test_faults_apply_in_order_and_to_their_number_of_requests(mailbox: Mailbox) -> None:
    """After the last fault, emails are accepted again."""
    mailbox.fail_with(status(503, times=2), too_many_requests())

    codes = [send(mailbox).status_code for _ in range(4)]

    assert codes == [503, 503, 429, 202]
    assert [request.status for request in mailbox.requests] == codes


def test_the_pages_show_each_email(mailbox: Mailbox) -> None:
    """Escape the email's text."""
    send(mailbox, _body("a@example.com", subject="<Photos>"))

    overview = requests.get(mailbox.url, timeout=LIMIT_SECONDS).text
    page = requests.get(f"{mailbox.url}/mails/1", timeout=LIMIT_SECONDS).text
    (mail,) = requests.get(f"{mailbox.url}/mails", timeout=LIMIT_SECONDS).json()

    assert '<a href="/mails/1">&lt;Photos&gt;</a>' in overview
    assert "&lt;Photos&gt;" in page
    assert (mail["to"], mail["subject"]) == ("a@example.com", "<Photos>")
    assert requests.get(f"{mailbox.url}/mails/2", timeout=LIMIT_SECONDS).status_code == 404


def _with_first(**changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["personalizations"][0].update(changed)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda body: body.pop("from"), None),
        (lambda body: body["from"].update(email="photos"), "from.email"),
        (lambda body: body["content"].insert(0, {"type": "text/html", "value": "x"}), "content"),
        (lambda body: body["personalizations"].extend(_recipients(1001)), "personalizations"),
        (
            lambda body: body["personalizations"].append(body["personalizations"][0]),
            "personalizations",
        ),
        (_with_first(to=[{"email": "nobody"}]), "personalizations.0.to.0.email"),
        (
            _with_first(substitutions={"%n%": "x" * MAX_SUBSTITUTION_BYTES}),
            "personalizations.0.substitutions",
        ),
        (_with_first(headers={"Subject": "x"}), "personalizations.0.headers.Subject"),
        (_with_first(headers={"X-A": "x\ny"}), "personalizations.0.headers.X-A"),
        (_with_first(custom_args={"a": "x" * 10_000}), "personalizations.0.custom_args"),
    ],
)
def test_the_mailbox_is_as_strict_as_sendgrid(
    change: Callable[[dict[str, Any]], object], field: str | None
) -> None:
    """Reject the errors that SendGrid documents.

    https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors
    """
    body = _body("a@example.com", "b@example.com")
    assert problems(body) == []
    change(body)
    assert {problem.field for problem in problems(body)} == {field}


def _recipients(count: int) -> list[dict[str, Any]]:
    return [{"to": [{"email": f"{n}@example.com"}]} for n in range(count)]
