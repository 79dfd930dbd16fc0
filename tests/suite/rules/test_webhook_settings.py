"""What webhook settings may look like (spec 2.1 and 8)."""

from typing import Any

import pytest
from google.cloud.firestore import DELETE_FIELD

from functions.webhooks.messages.event_type import EventType
from tests.suite.rules.client import Client, load_rules
from tests.suite.rules.samples import PAST

URL = "https://example.com/hook"
EVERY_TYPE = [str(event_type) for event_type in EventType]
FULLEST = {"url": "u" * 2048, "events": EVERY_TYPE, "recover": True}
TWENTY = [f"{URL}/{number}" for number in range(20)]
SINCE = "2026-05-01T18:30:00.000Z"
DISABLED = {
    "a": {"url": URL, "reason": "100 deliveries failed", "at": PAST},
    "b": {"url": f"{URL}/b", "reason": "100 deliveries failed", "at": PAST},
}


@pytest.mark.parametrize(
    "urls",
    [
        [],
        [URL],
        ["http://example.com/not-https"],  # shows as skipped deliveries (spec 3.4)
        [""],
        ["u" * 2048],
        [{"url": URL}],
        [{"url": URL, "events": []}],
        [{"url": URL, "events": ["photo.uploaded"]}],
        [URL, {"url": URL, "events": EVERY_TYPE}],
        [{"url": URL, "recover": True}, {"url": URL, "recover": False, "events": []}],
        [FULLEST] * 20,
        [URL] * 20,
    ],
)
def test_an_admin_chooses_urls_and_what_fires_them(
    urls: list[Any], admin: Client, wall: str
) -> None:
    """Spec 2.1: 20 URLs at most, each with all event types or a subset."""
    assert admin.create(f"{wall}/settings/webhooks", {"urls": urls})
    assert admin.update(f"{wall}/settings/webhooks", {"urls": urls})


WRONG_ENTRIES = [
    "u" * 2049,
    1,
    None,
    True,
    {},
    {"events": ["photo.uploaded"]},
    {"url": None},
    {"url": "u" * 2049},
    {"url": URL, "events": None},
    {"url": URL, "events": "photo.uploaded"},
    {"url": URL, "events": {"photo.uploaded": True}},
    {"url": URL, "events": ["photo.deleted"]},
    {"url": URL, "events": [*EVERY_TYPE[:-1], "*"]},
    {"url": URL, "events": [None]},
    {"url": URL, "events": [""]},
    {"url": URL, "events": ["photo.uploaded "]},
    {"url": URL, "events": [*EVERY_TYPE, "photo.uploaded"]},
    {"url": URL, "events": ["photo.uploaded"] * (len(EVERY_TYPE) + 1)},
    {"url": URL, "secret": "mine"},
]


@pytest.mark.parametrize("entry", WRONG_ENTRIES)
def test_an_entry_that_is_not_as_specified_is_refused(
    entry: object, admin: Client, wall: str
) -> None:
    """Spec 2.1 and 6.1: a URL, or a URL with event types of the catalogue."""
    assert not admin.create(f"{wall}/settings/webhooks", {"urls": [URL, entry]})
    assert admin.create(f"{wall}/settings/webhooks", {"urls": [URL]})
    assert not admin.update(f"{wall}/settings/webhooks", {"urls": [URL, entry]})


def test_a_type_is_not_taken_by_the_ten_thousand(admin: Client, wall: str) -> None:
    """Every upload reads the settings: copies of a type would make each read cost more."""
    urls = [{"url": URL, "events": ["photo.uploaded"] * 60_000}]

    assert not admin.create(f"{wall}/settings/webhooks", {"urls": urls})


ADDRESS = "a" * 60 + "@" + "b" * 60 + ".example.com"


@pytest.mark.parametrize(
    ("notify", "allowed"),
    [
        ([], True),
        (["ann@example.com"], True),
        (["Ann.O'Neill+wall@mail.example.co"] * 5, True),
        (["ann@example.com"] * 6, False),
        (["ann@example.com", ""], False),
        ([""], False),
        (["ann"], False),
        (["ann@example"], False),
        (["ann@@example.com"], False),
        (["ann@example.com bob@example.com"], False),
        (["ann@example.com "], False),
        (["Ann <ann@example.com>"], False),
        (["ann@example.com\nBcc: bob@example.com"], False),
        (["änn@example.com"], False),
        (["a" * 65 + "@example.com"], False),
        ([1], False),
        ([None], False),
        ([{"address": "ann@example.com"}], False),
        ("ann@example.com", False),
        ({"0": "ann@example.com"}, False),
        (None, False),
    ],
)
def test_notices_go_to_five_addresses_at_most(
    notify: object, allowed: bool, admin: Client, wall: str
) -> None:
    """Design 4: a list of e-mail addresses of valid form."""
    fields = {"urls": [URL], "notify": notify}

    assert allowed is admin.create(f"{wall}/settings/webhooks", fields)


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({"labels": {URL: "Screen in the hall"}, "off": {URL: SINCE}}, True),
        ({"labels": {}, "off": {}}, True),
        ({"labels": {URL: "l" * 41}}, False),
        ({"labels": {URL: "two\nlines of " + "l" * 40}}, False),
        ({"labels": {URL: ["a"] * 100}}, False),
        ({"labels": dict.fromkeys([*TWENTY, URL], "Screen")}, False),
        ({"labels": "Screen"}, False),
        ({"off": {URL: True}}, False),
        ({"off": {URL: PAST}}, False),
        ({"off": {URL: "yesterday"}}, False),
        ({"off": dict.fromkeys([*TWENTY, URL], SINCE)}, False),
        ({"off": [URL]}, False),
    ],
)
def test_a_url_has_a_name_and_is_switched_off(
    fields: dict[str, Any], *, allowed: bool, admin: Client, wall: str
) -> None:
    """Spec 2.1: a line for people, and since when the URL is off."""
    assert allowed is admin.create(f"{wall}/settings/webhooks", {"urls": [URL]} | fields)


def test_the_fullest_settings_leave_room_for_more_rules(
    admin: Client, administrator: Client, wall: str, rules: str
) -> None:
    """No request may take more than 1,000 evaluations: a further entry would still be checked."""
    fullest = {
        "urls": [FULLEST] * 20,
        "notify": [ADDRESS] * 5,
        "labels": dict.fromkeys(TWENTY, "l" * 40),
        "off": dict.fromkeys(TWENTY, SINCE),
    }
    administrator.replace(f"{wall}/settings/webhooks", {"urls": [URL], "disabled": DISABLED})
    further = rules.replace("isUrl(all[19], keys);", "isUrl(all[19], keys) && isUrl(all[0], keys);")
    assert rules != further
    load_rules(further)
    try:
        assert admin.update(f"{wall}/settings/webhooks", fullest)
    finally:
        load_rules(rules)


@pytest.mark.parametrize("index", range(20))
def test_every_one_of_the_entries_is_checked(index: int, admin: Client, wall: str) -> None:
    """Spec 8: all 20 of them."""
    urls: list[Any] = [URL] * 20
    urls[index] = {"url": URL, "events": ["photo.deleted"]}

    assert not admin.create(f"{wall}/settings/webhooks", {"urls": urls})


@pytest.mark.parametrize(
    "fields",
    [
        {"urls": [URL] * 21},
        {"urls": URL},
        {"urls": None},
        {"urls": {"0": URL}},
        {},
        {"urls": [URL], "secret": "mine"},
        {"urls": [URL], "tenantId": "tenant-b"},
        {"urls": [URL], "disabled": DISABLED},
        {"urls": [URL], "disabled": None},
        {"urls": [URL], "disabled": []},
    ],
)
def test_settings_that_are_not_as_specified_are_refused(
    fields: dict[str, Any], admin: Client, wall: str
) -> None:
    """Spec 8: 20 URLs; no other field, and nothing disabled by hand."""
    assert not admin.create(f"{wall}/settings/webhooks", fields)
    assert admin.create(f"{wall}/settings/webhooks", {"urls": [URL]})
    assert not admin.replace(f"{wall}/settings/webhooks", fields)


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({"disabled.a": DELETE_FIELD}, True),
        ({"disabled": {}}, True),
        ({"disabled": DELETE_FIELD}, True),
        ({"disabled": DISABLED, "urls": []}, True),
        ({"urls": []}, True),
        ({"disabled.a.reason": "none"}, False),
        ({"disabled.a.at": DELETE_FIELD}, False),
        ({"disabled.c": DISABLED["a"]}, False),
        ({"disabled": {"c": DISABLED["a"]}}, False),
        ({"disabled": None}, False),
        ({"disabled": "nothing"}, False),
    ],
)
def test_an_admin_enables_a_disabled_url_and_disables_none(
    fields: dict[str, Any],
    allowed: bool,
    admin: Client,
    administrator: Client,
    wall: str,
) -> None:
    """Removing the entry is all there is to it."""
    administrator.replace(f"{wall}/settings/webhooks", {"urls": [URL], "disabled": DISABLED})

    assert allowed is admin.update(f"{wall}/settings/webhooks", fields)
