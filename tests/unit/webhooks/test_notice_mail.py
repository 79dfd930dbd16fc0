"""The email of a notice: text, copies and data that it must not contain (design 3.30)."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.email_address import address_hash
from functions.mail.message import EmailMessage, MailSender
from functions.webhooks.deliveries.delivery import Attempt
from functions.webhooks.deliveries.endpoint_url import name_of
from functions.webhooks.endpoints.failing_endpoint import NoticeState
from functions.webhooks.endpoints.notifier import Change, compose

SINCE = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
AGAIN = datetime(2026, 5, 1, 20, 5, tzinfo=UTC)
URL = "https://hooks.example.com/services/party?key=hush#part"
SENDER = MailSender(
    address="Photo wall <wall@example.com>",
    reply_to="help@example.com",
    address_line="1 Main St <Springfield>",
)
CONSOLE = "https://wall.example.com/console#/events/e%201/receivers"


def change(state: NoticeState = NoticeState.FAILING, **fields: Any) -> Change:
    """Return a change of a URL that has answered 500 since half past six."""
    given: dict[str, Any] = {"url": URL, "since": SINCE, "waiting": 12, "failed": attempt(500)}
    given |= fields
    return Change(state=state, **given)


def attempt(status: int | None, error: str | None = None) -> Attempt:
    """Return the last attempt of a failed delivery."""
    return Attempt(number=4, at=SINCE, status=status, milliseconds=20, error=error)


def shown(url: str) -> str:
    """Return the name of the URL in a form that email clients do not turn into a link."""
    return name_of(url).replace(".", "[.]")


def mail(*changes: Change, name: str = "Garden party") -> EmailMessage:
    """Compose a notice to Ann and Bob."""
    return compose(
        changes or [change()],
        event_id="e 1",
        event_name=name,
        addresses=["ann@example.com", "bob@example.com"],
        sender=SENDER,
        base_url="https://wall.example.com/",
    )


@pytest.mark.parametrize(
    ("reported", "subject", "sentences"),
    [
        (
            change(),
            "A webhook URL is failing: Garden party",
            ["since 1 May 2026, 18:30 UTC", "Last error: HTTP 500.", "12 deliveries have not"],
        ),
        (
            change(failed=attempt(None, "no answer within 5 seconds"), waiting=1),
            "A webhook URL is failing: Garden party",
            ["Last error: no answer within 5 seconds.", "1 delivery has not arrived."],
        ),
        (
            change(NoticeState.DISABLED, waiting=412),
            "A webhook URL is switched off: Garden party",
            ["Deliveries to it have stopped", "An admin can switch a URL on again."],
        ),
        (
            change(NoticeState.RECOVERED, acknowledged_at=AGAIN, skipped=3),
            "A webhook URL works again: Garden party",
            [
                "on 1 May 2026, 20:05 UTC",
                "after failing since 1 May",
                "12 deliveries have not",
                "Resend failed deliveries in the console.",
                "3 of them were skipped while the URL was switched off.",
            ],
        ),
        (
            change(NoticeState.RECOVERED, acknowledged_at=AGAIN, waiting=0),
            "A webhook URL works again: Garden party",
            ["No action needed."],
        ),
    ],
)
def test_text_and_html_have_url_reason_time_count_and_next_step(
    reported: Change, subject: str, sentences: list[str]
) -> None:
    """See design 3.30."""
    made = mail(reported)
    assert made.subject == subject
    html = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", made.html))
    for sentence in [*sentences, shown(URL), "Any admin can remove it"]:
        assert sentence in html, sentence
        assert sentence in made.text, sentence
    assert CONSOLE in made.text
    assert re.findall('href="([^"]*)"', made.html) == [CONSOLE]


def test_the_subject_counts_several_urls() -> None:
    """Each URL has a block of its own."""
    made = mail(
        change(), change(), change(NoticeState.RECOVERED, url="https://crm.example.com:8443/")
    )
    assert made.subject == "Webhook URLs: 2 are failing, 1 works again: Garden party"
    assert shown("https://crm.example.com:8443/") in made.html


def test_each_recipient_gets_a_separate_copy() -> None:
    """Recipients do not see each other, and `Auto-Submitted` prevents automatic answers."""
    made = mail()
    copies = made.copies
    for copy in copies:
        assert copy.labels == {"wall_notice": address_hash(copy.address)}
    assert [copy.address for copy in copies] == ["ann@example.com", "bob@example.com"]
    assert {copy.headers["Auto-Submitted"] for copy in copies} == {"auto-generated"}


@pytest.mark.parametrize(
    ("url", "hidden"),
    [
        (URL, ["hush", "?", "key=", "/services", "/party"]),
        ("https://ann:hush@hooks.example.com/", ["hush", "ann:"]),
        ('https://hooks.example.com/"><img src=x>', ["<img"]),
        ("https://hooks.example.com/\r\nBcc: eve@example.com", ["Bcc"]),
    ],
)
def test_secret_parts_of_a_url_are_not_shown(url: str, hidden: list[str]) -> None:
    """Show no path or query, as they can contain keys, no user name, markup or line break."""
    made = mail(change(url=url))
    shown = made.html.partition('class="failing"')[2].partition("</div>")[0]
    for text in hidden:
        assert text not in made.subject
        assert text not in shown
        assert text not in made.text.partition("\n--\n")[0]


def test_an_error_is_escaped() -> None:
    """The reason of a failure may quote the receiver."""
    made = mail(change(failed=attempt(None, "<b>bad</b> certificate")))
    assert "&lt;b&gt;bad&lt;" in made.html
    assert "<b>" not in made.html
    assert "Last error: <b>bad<" in made.text


@pytest.mark.parametrize(
    "name",
    [
        "Party\r\nBcc: eve@example.com",
        "<script>alert(1)</script>",
        "https://evil.example/login",
        "n" * 5000,
        "{{ console }}",
        "\u202etxt.exe",
        "evil.example/login",
        "mail me@evil.example",
        "www\u3002evil\u3002example",
        "\uff45\uff56\uff49\uff4c\uff0eexample",
    ],
)
def test_an_events_name_is_one_bounded_line_and_no_link(name: str) -> None:
    """Organizers can enter any text."""
    made = mail(name=name)
    assert "\n" not in made.subject
    assert len(made.subject) < 250
    assert "<script" not in made.html
    assert "\u202e" not in made.html + made.text + made.subject
    assert not re.search(r"evil[^\w\s]|@", made.subject + made.text)
    assert re.findall('href="([^"]*)"', made.html) == [CONSOLE]
    assert len(made.html) < 10_000


def test_a_label_is_one_bounded_line_and_no_link() -> None:
    """Organizers can enter any text. The host of the URL follows it."""
    made = mail(change(label="Hall <b>\r\nBcc: eve@evil.example"))
    assert f"({shown(URL)})" in made.text
    assert not re.search(r"evil[^\w\s]|@|\nBcc", made.text)
    assert "<b>" not in made.html


def test_a_notice_of_an_event_without_a_name_is_sent() -> None:
    """A script may have created an event without a name."""
    made = mail(name="")
    assert made.subject == "A webhook URL is failing"
    assert "to webhook alerts for this event" in made.text


def test_the_sender_is_that_of_the_deployment() -> None:
    """Use `MAIL_FROM`, `MAIL_REPLY_TO` and `MAIL_ADDRESS_LINE`, as in every email."""
    made = mail()
    assert (made.sender, made.reply_to) == (SENDER.address, "help@example.com")
    assert made.text.endswith("\n1 Main St <Springfield>")
    assert "<br>\n<bdi>1 Main St &lt;Springfield&gt;</bdi>\n" in made.html
