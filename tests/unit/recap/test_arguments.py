"""The validation of texts from requests and guests before they are in emails (spec 4.1)."""

import pytest

from functions.mail.text import clean_paragraph, one_line, shortened
from functions.recap.audience.guests import greeted_name
from functions.recap.delivery_status import MailLabels
from functions.recap.ledger.batch import RecapKey
from functions.recap.recap_arguments import RecapArguments

_PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"


@pytest.mark.parametrize("event_id", ["my.event", "a b", "Fête", "x" * 1500, "__a", "a\n"])
def test_an_event_id_can_be_any_document_id(event_id: str) -> None:
    """Design 3.5: the labels of an email contain the ID unchanged."""
    assert RecapArguments.read({"eventId": event_id}).event_id == event_id
    labels = MailLabels(RecapKey(event_id, "r1"), 0, "0" * 32)
    assert MailLabels.read(labels.as_texts()) == labels


BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0"]


@pytest.mark.parametrize("line_break", BREAKS, ids=ascii)
def test_line_breaks_of_every_kind_are_removed(line_break: str) -> None:
    """Spec 4.1: a line break could add a header to the email."""
    assert one_line(f"a{line_break}Bcc: b") == "aBcc: b"
    assert len(one_line(f"a{line_break}b").splitlines()) == 1


@pytest.mark.parametrize(
    "line_break", [line_break for line_break in BREAKS if line_break != "\0"], ids=ascii
)
def test_a_paragraph_keeps_its_lines(line_break: str) -> None:
    """Spec 4.1: only control characters are removed."""
    assert clean_paragraph(f" a{line_break}b\0\x07 ") == "a\nb"


def test_surrogates_and_overrides_are_removed() -> None:
    """Half a surrogate pair cannot be encoded, and overrides reverse the line."""
    assert one_line("a\ud800\u202eb") == "a?b"
    assert shortened("x" * 99, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("left", "greeted"),
    [
        ("Anna", "Anna"),
        ("  Anna\tMaria ", "Anna Maria"),
        ("J. R. Ángel", "J. R. Ángel"),
        ("李雷", "李雷"),
        ("", ""),
        ("🎉", ""),
        ("Win at evil.example", ""),
        ("https://evil", ""),
        ("www.evil", ""),
        ("x@example.com", ""),
        ("A" * 100, "A" * 39 + "…"),
        ("Anna 2", "Anna 2"),
        ("O'Neill-Şahin, José", "O'Neill-Şahin, José"),
        ("Anna\u2028Ben\nCarl", "AnnaBenCarl"),
        ("An\u200bna\u202e \u2066Ben\ufeff\U000e0041", "Anna Ben"),
        ("\u3164\u115f\u2800", ""),
        ("A" + "\u0301" * 30, "A" + "\u0301" * 4),
        ("A" + "\u0301\u20dd" * 9 + "b", "A\u0301\u20dd\u0301\u20ddb"),
        ("ကျော်", "ကျော်"),
        ("བསྒྲུབས", "བསྒྲུབས"),
        ("ស្ត្រី", "ស្ត្រី"),
        ("ශ්\u200dරී", "ශ්\u200dරී"),
        ("ന്\u200d", "ന്\u200d"),
        (_PERSIAN, _PERSIAN),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("क्\u200dषमा", "क्\u200dषमा"),
        ("\u200cAn\u200d na\u200d", "An na"),
        ("ann\u200da.\u200dcom", ""),
        ("anna.\u200cex\u200dample", ""),
        ("evil\u3002com", ""),
        ("\uff45\uff56\uff49\uff4c\uff0e\uff43\uff4f\uff4d", ""),
        ("evil\u2024com", ""),
        ("ev\u200bil.co\u200bm", ""),
        ("Call 0800 123 456", ""),
        ("Call \uff10\uff18\uff10\uff10\uff11\uff12\uff13", ""),
        ("Call ٠٨٠٠١٢٣", ""),
        ("mailto\uff1aa", ""),
    ],
)
def test_only_a_plain_name_is_used_in_the_greeting(left: str, greeted: str) -> None:
    """An uploader chooses name and address, so a name must not send a link to a stranger.

    A name is short, in one line, and has visible characters of one direction.
    """
    assert greeted_name(left) == greeted
