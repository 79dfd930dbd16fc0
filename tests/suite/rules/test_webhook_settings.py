"""What webhook settings may look like (spec 2.1 and 8)."""

from typing import Any

import pytest
from google.cloud.firestore import DELETE_FIELD, SERVER_TIMESTAMP

from emulator.people import sign_in
from functions.webhooks.messages.event_type import EventType
from tests.suite.rules.cast import TENANT, Cast, Who
from tests.suite.rules.client import Client, load_rules
from tests.suite.rules.samples import PAST

URL = "https://example.com/hook"
EVERY_TYPE = [str(event_type) for event_type in EventType]
FULLEST = {"url": "u" * 1499, "events": EVERY_TYPE, "id": "i" * 40}
NOW = {"urlsChangedAt": SERVER_TIMESTAMP}
"""Of a write that changes the URLs."""
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
        ["u" * 1499],
        [{"url": URL}],
        [{"url": URL, "events": []}],
        [{"url": URL, "events": ["photo.uploaded"]}],
        [URL, {"url": URL, "events": EVERY_TYPE}],
        [{"url": URL, "id": "aZ09_-"}, {"url": URL, "id": "", "events": []}],
        [FULLEST] * 20,
        [URL] * 20,
    ],
)
def test_an_admin_chooses_urls_and_what_fires_them(
    urls: list[Any], admin: Client, wall: str
) -> None:
    """Spec 2.1: an event has 20 URLs at most, each with all event types or a subset."""
    assert admin.create(f"{wall}/settings/webhooks", {"urls": urls} | NOW)
    assert admin.update(f"{wall}/settings/webhooks", {"urls": urls})


WRONG_ENTRIES = [
    "u" * 1500,
    1,
    None,
    True,
    {},
    {"events": ["photo.uploaded"]},
    {"url": "u" * 1500},
    {"url": URL, "events": None},
    {"url": URL, "events": "photo.uploaded"},
    {"url": URL, "events": {"photo.uploaded": True}},
    {"url": URL, "events": ["photo.hidden"]},
    {"url": URL, "events": [*EVERY_TYPE[:-1], "*"]},
    {"url": URL, "events": [None]},
    {"url": URL, "events": [""]},
    {"url": URL, "events": ["photo.uploaded "]},
    {"url": URL, "events": [*EVERY_TYPE, "photo.uploaded"]},
    {"url": URL, "events": ["photo.uploaded"] * (len(EVERY_TYPE) + 1)},
    {"url": URL, "secret": "mine"},
    {"url": URL, "recover": True},
    {"url": [URL]},
    {"url": URL, "id": "i" * 41},
    {"url": URL, "id": "a b"},
    {"url": URL, "id": "photo.uploaded"},
    {"url": URL, "id": ["a"]},
]


@pytest.mark.parametrize("entry", WRONG_ENTRIES)
def test_an_entry_that_is_not_as_specified_is_refused(
    entry: object, admin: Client, wall: str
) -> None:
    """Spec 2.1 and 6.1: an entry is a URL, or a URL with event types of the catalogue."""
    assert not admin.create(f"{wall}/settings/webhooks", {"urls": [URL, entry]} | NOW)
    assert admin.create(f"{wall}/settings/webhooks", {"urls": [URL]} | NOW)
    assert not admin.update(f"{wall}/settings/webhooks", {"urls": [URL, entry]} | NOW)


@pytest.mark.parametrize(
    ("changed", "allowed"),
    [
        ({"urls": [URL, f"{URL}/b"]} | NOW, True),
        ({"urls": []} | NOW, True),
        ({"urls": [{"url": URL, "id": "a"}]} | NOW, True),
        ({"urls": [URL, f"{URL}/b"]}, False),
        ({"urls": [URL, f"{URL}/b"], "urlsChangedAt": PAST}, False),
        ({"urls": [URL, f"{URL}/b"], "urlsChangedAt": DELETE_FIELD}, False),
        ({"labels": {"a": "Screen"}}, True),
        ({"urls": [URL], "off": {"a": SINCE}}, True),
        ({"labels": {"a": "Screen"}} | NOW, False),
        (NOW, False),
        ({"urlsChangedAt": PAST}, False),
        ({"urlsChangedAt": DELETE_FIELD}, False),
    ],
)
def test_the_time_of_the_urls_is_that_of_their_last_change(
    changed: dict[str, Any], *, allowed: bool, admin: Client, wall: str
) -> None:
    """Design 3.11: with another time a milestone would be silent, or late."""
    settings = f"{wall}/settings/webhooks"
    assert not admin.create(settings, {"urls": [URL], "urlsChangedAt": PAST})
    assert admin.create(settings, {"urls": [URL]} | NOW)

    assert allowed is admin.update(settings, changed)


def test_an_app_need_not_know_the_time_of_the_urls(admin: Client, wall: str) -> None:
    """Design 3.11: without `urlsChangedAt` the document's last write counts."""
    settings = f"{wall}/settings/webhooks"
    assert admin.create(settings, {"urls": [URL]})
    assert admin.update(settings, {"urls": [URL, f"{URL}/b"]})
    assert admin.update(settings, {"urls": [URL]} | NOW)
    assert not admin.update(settings, {"urls": [URL, f"{URL}/b"]})


def test_settings_from_before_have_no_such_time(
    admin: Client, administrator: Client, wall: str
) -> None:
    """Labels change without `urlsChangedAt`, with any entries, and URLs with it."""
    settings = f"{wall}/settings/webhooks"
    administrator.replace(settings, {"urls": [URL, {"url": f"{URL}/b", "recover": True}]})

    assert admin.update(settings, {"labels": {"a": "Screen"}})
    assert admin.update(settings, {"urls": []} | NOW)


@pytest.mark.parametrize("filler", [None, "", {}, False])
@pytest.mark.parametrize("field", ["recover", "labels", "off", "events", "url", "id", "notify"])
def test_no_field_is_filled_up(field: str, filler: object, admin: Client, wall: str) -> None:
    """Every upload reads the settings."""
    many = [filler] * 5000
    entry = {"url": URL} | ({field: many} if field in ("events", "url", "id") else {})
    fields: dict[str, Any] = {"urls": [entry]} | NOW
    if field in ("labels", "off"):
        fields[field] = {str(number): filler for number in range(5000)}
    if field in ("recover", "notify"):
        fields[field] = many

    assert not admin.create(f"{wall}/settings/webhooks", fields)


ADDRESS = "a" * 60 + "@" + "b" * 60 + ".example.com"


@pytest.mark.parametrize("wrong", [[""], [1], [None], [{"address": "x"}], "own", {"0": "own"}])
def test_notices_go_to_a_list_of_addresses(
    wrong: object, cast: Cast, admin: Client, wall: str
) -> None:
    """Design 4: `notify` is a list of addresses."""
    own = cast.email(Who.ADMIN)
    fields = {"urls": [URL]} | NOW
    for notify in (wrong, [own, *wrong] if isinstance(wrong, list) else None):
        given = own if notify == "own" else notify
        assert not admin.create(f"{wall}/settings/webhooks", fields | {"notify": given})
    assert admin.create(f"{wall}/settings/webhooks", fields | {"notify": [own]})


def test_an_admin_adds_the_own_address_and_takes_any_out(
    cast: Cast, admin: Client, administrator: Client, wall: str
) -> None:
    """Design 3.27: no mail goes to people who have not asked for it; five addresses at most."""
    settings = f"{wall}/settings/webhooks"
    own, others = cast.email(Who.ADMIN), [f"ann{number}@example.com" for number in range(5)]
    administrator.replace(settings, {"urls": [URL], "notify": others})

    assert not admin.update(settings, {"notify": [*others, own]})
    assert not admin.update(settings, {"notify": ["bob@example.com"]})
    assert not admin.update(settings, {"notify": [own.upper()]})
    assert admin.update(settings, {"labels": {"a": "Screen"}})
    assert admin.update(settings, {"notify": [*others[1:], own]})
    assert admin.update(settings, {"notify": others[3:4]})
    assert not admin.update(settings, {"notify": others})
    assert admin.update(settings, {"notify": []})


def test_an_address_that_is_not_verified_is_not_added(admin: Client, wall: str) -> None:
    """A new account may claim any address."""
    unverified = sign_in("admin", TENANT, verified=False)
    settings = f"{wall}/settings/webhooks"
    assert admin.create(settings, {"urls": []} | NOW)
    claiming = Client(unverified.id_token)

    assert not claiming.update(settings, {"notify": [unverified.email]})
    assert not claiming.update(settings, {"notify": [""]})
    assert claiming.update(settings, {"labels": {"a": "Screen"}})


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({"labels": {URL: "Screen in the hall"}, "off": {URL: SINCE}}, True),
        ({"labels": {}, "off": {}, "recover": []}, True),
        ({"recover": ["a", URL]}, True),
        ({"recover": [URL] * 21}, False),
        ({"recover": ["u" * 41_000]}, False),
        ({"recover": ["two lines\r"]}, False),
        ({"recover": URL}, False),
        ({"recover": {"a": True}}, False),
        ({"labels": {URL: {}}}, False),
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
    """Spec 2.1: a URL has a name of one line, and a time since which it is off."""
    assert allowed is admin.create(f"{wall}/settings/webhooks", {"urls": [URL]} | NOW | fields)


def test_the_fullest_settings_leave_room_for_more_rules(
    cast: Cast, admin: Client, administrator: Client, wall: str, rules: str
) -> None:
    """No request may take more than 1,000 evaluations: some more would be checked as well."""
    addresses = [f"{number}{ADDRESS}" for number in range(5)]
    fullest = {
        "urls": [FULLEST] * 20,
        **NOW,
        "recover": ["u" * 1499] * 20,
        "notify": [*addresses[1:], cast.email(Who.ADMIN)],
        "labels": dict.fromkeys(TWENTY, "l" * 40),
        "off": dict.fromkeys(TWENTY, SINCE),
    }
    before = {"urls": [URL], "disabled": DISABLED, "notify": addresses}
    administrator.replace(f"{wall}/settings/webhooks", before)
    further = rules.replace("isUrl(all[19], keys);", "isUrl(all[19], keys) && 1 == 1 && 2 == 2;")
    assert rules != further
    load_rules(further)
    try:
        assert admin.update(f"{wall}/settings/webhooks", fullest)
    finally:
        load_rules(rules)


@pytest.mark.parametrize("index", range(20))
def test_every_one_of_the_entries_is_checked(index: int, admin: Client, wall: str) -> None:
    """Spec 8: the rules check all 20 entries."""
    urls: list[Any] = [URL] * 20
    urls[index] = {"url": URL, "events": ["photo.hidden"]}

    assert not admin.create(f"{wall}/settings/webhooks", {"urls": urls} | NOW)


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
    """Spec 8: more than 20 URLs, another field, and a URL disabled by hand are refused."""
    assert not admin.create(f"{wall}/settings/webhooks", fields | NOW)
    assert admin.create(f"{wall}/settings/webhooks", {"urls": [URL]} | NOW)
    assert not admin.replace(f"{wall}/settings/webhooks", fields | NOW)


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ({"disabled.a": DELETE_FIELD}, True),
        ({"disabled": {}}, True),
        ({"disabled": DELETE_FIELD}, True),
        ({"disabled": DISABLED, "urls": []} | NOW, True),
        ({"urls": []} | NOW, True),
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
    """An admin enables a URL by removing its entry."""
    administrator.replace(f"{wall}/settings/webhooks", {"urls": [URL], "disabled": DISABLED})

    assert allowed is admin.update(f"{wall}/settings/webhooks", fields)
