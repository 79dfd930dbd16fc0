"""Requests to SendGrid match SendGrid's own description of its API.

`data/mail_send.json` is the part about our fields of https://github.com/twilio/sendgrid-oai,
spec/json/tsg_mail_v3.json, as of 22 January 2026 (MIT License, Copyright (c) 2024 Twilio).
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from functions.links.link import PreferencesLinks
from functions.mail.message import EmailMessage, MailSender
from functions.mail.sendgrid import RECIPIENTS_PER_REQUEST, request_body
from functions.mail.translation import LANGUAGES
from functions.recap.audience.photos import Picture
from tests.unit.recap.recap_fixture import composer_of, recipient

_SCHEMA: Final = json.loads((Path(__file__).parent / "data/mail_send.json").read_text())
DESCRIBED: Final = Draft202012Validator(_SCHEMA, format_checker=FormatChecker())


def _batch(language: str, recipients: int) -> EmailMessage:
    composer = composer_of(
        sender=MailSender(address="Wall <w@example.com>", reply_to="Anna <a@example.com>"),
        name="Anna & Björn",
        galleryUrl=None,
        language=language,
    )
    links = PreferencesLinks("https://example.com/p#token=a", "https://example.com/u?token=b")
    picture = Picture("https://example.com/t.jpg", "https://example.com/p.jpg")
    guests = [
        recipient([picture] * 2, address=f"guest-{number}@example.com", name="Özil", links=links)
        for number in range(recipients)
    ]
    labels = {"wall_event": "e1", "wall_batch": "0"}
    return composer.message(guests, {to.guest.id: labels for to in guests})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_batch_in_each_language_matches_the_description(language: str) -> None:
    """Include a batch with 1,000 recipients."""
    body = request_body(_batch(language, RECIPIENTS_PER_REQUEST if language == "en" else 3))
    assert [error.message for error in DESCRIBED.iter_errors(body)] == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body.pop("from"),
        lambda body: body.pop("personalizations"),
        lambda body: body.update(subject=""),
        lambda body: body["personalizations"][0].pop("to"),
        lambda body: body["personalizations"][0].update(substitutions={"x": 1}),
        lambda body: body.update(personalizations=body["personalizations"] * 501),
    ],
)
def test_the_description_rejects_wrong_requests(spoil: Callable[[Any], object]) -> None:
    """Otherwise the test above would prove nothing."""
    body = copy.deepcopy(request_body(_batch("en", 2)))
    spoil(body)
    assert not DESCRIBED.is_valid(body)
