"""The sender of emails: `MAIL_FROM`, `MAIL_REPLY_TO` and `MAIL_ADDRESS_LINE`."""

import pytest

from functions.mail.message import MailSender, name_and_address
from functions.mail.outcome import MisconfiguredError, who_can_fix

SENDER = "Wall <photos@example.com>"


def test_reply_to_and_postal_address_may_be_empty() -> None:
    """Replies then go to the sender, and the email ends without an address."""
    assert MailSender(address=SENDER, reply_to="", address_line=" ").validated() == MailSender(
        address=SENDER
    )


@pytest.mark.parametrize(
    "reply_to",
    ["hello@example.com", "Wall, Inc. <hello@example.com>", '"Team, Wall" <hello@example.com>'],
)
def test_reply_to_is_an_address_with_or_without_a_name(reply_to: str) -> None:
    """Spaces around it are ignored."""
    assert MailSender(address=SENDER, reply_to=f" {reply_to}\n").validated().reply_to == reply_to


@pytest.mark.parametrize(
    "reply_to",
    [
        "hello",
        "hello@",
        "hello@localhost",
        "hello@example.com, more@example.com",
        "hello@example.com more@example.com",
        "Wall <hello@example.com> more",
        "Wall <hello>",
        "<>",
        "hello@example.com\r\nBcc: more@example.com",
        "Wall\n<hello@example.com>",
        "h\u00e9llo@example.com",
    ],
)
def test_the_error_of_an_invalid_reply_to_names_the_setting(reply_to: str) -> None:
    """It never contains the value."""
    with pytest.raises(MisconfiguredError) as wrong:
        MailSender(address=SENDER, reply_to=reply_to).validated()
    assert wrong.value.setting == "MAIL_REPLY_TO"
    assert who_can_fix(wrong.value)[1] == (
        "Ask your administrator to correct a setting: MAIL_REPLY_TO should be an "
        "email address, or empty."
    )


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a@b.example", ("", "a@b.example")),
        (" <a@b.example> ", ("", "a@b.example")),
        ("Foobar, Inc. <a@b.example>", ("Foobar, Inc.", "a@b.example")),
        ("Ann; Ben: Photos <a@b.example>", ("Ann; Ben: Photos", "a@b.example")),
        ("Wall (Photos) <a@b.example>", ("Wall (Photos)", "a@b.example")),
        ("I <3 Photos <a@b.example>", ("I <3 Photos", "a@b.example")),
        ("wall@home <a@b.example>", ("wall@home", "a@b.example")),
        ('"Team \\"Wall\\", Inc." <a@b.example>', ('Team "Wall", Inc.', "a@b.example")),
    ],
)
def test_everything_before_the_last_bracket_is_the_name(text: str, read: tuple[str, str]) -> None:
    """Operators write names without the quotes of RFC 5322."""
    assert name_and_address(text) == read


@pytest.mark.parametrize("line", ["Wall, 1 Example Street", "\u00c5gatan\u00a01 & 2", "x" * 200])
def test_a_postal_address_in_any_script_is_accepted(line: str) -> None:
    """It is one line of up to 200 characters."""
    assert MailSender(address=SENDER, address_line=line).validated().address_line == line


@pytest.mark.parametrize("line", ["a\nb", "a\rb", "a\u2028b", "a\0b", "a\tb", "x" * 201])
def test_a_postal_address_of_several_lines_is_rejected(line: str) -> None:
    """Email clients display several lines differently."""
    with pytest.raises(MisconfiguredError, match="MAIL_ADDRESS_LINE"):
        MailSender(address=SENDER, address_line=line).validated()
