"""Valid webhook settings (spec 2.1 and 8)."""

from typing import Any, Final

import pytest
from google.cloud.firestore import DELETE_FIELD, SERVER_TIMESTAMP

from functions.webhooks.events import EventType
from tests.suite.rules.cast import Cast, Who
from tests.suite.rules.client import (
    ADMINISTRATOR,
    Client,
    Fields,
    Values,
    load_rules,
    wrongly_judged,
)
from tests.suite.rules.samples import PAST

URL: Final = "https://example.com/hook"
ABSENT: Final = DELETE_FIELD
EVERY_TYPE: Final = [str(event_type) for event_type in EventType]
FULLEST: Final = {"url": "u" * 1499, "events": EVERY_TYPE, "id": "i" * 40}
NOW: Final = {"urlsChangedAt": SERVER_TIMESTAMP}
"""Of a write that changes the URLs."""
ONE: Final = {"urls": [URL]} | NOW
TWENTY: Final = [f"{URL}/{number}" for number in range(20)]
SINCE: Final = "2026-05-01T18:30:00.000Z"
DISABLED: Final = {
    "a": {"url": URL, "reason": "100 deliveries failed", "at": PAST},
    "b": {"url": f"{URL}/b", "reason": "100 deliveries failed", "at": PAST},
}


@pytest.fixture
def settings(wall: str) -> str:
    """Path of the settings, which do not exist yet."""
    return f"{wall}/settings/webhooks"


URLS: Final[Values] = (
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
    [
        [URL] * 21,
        URL,
        None,
        {"0": URL},
        ABSENT,
        ["u" * 1500],
        [1],
        [None],
        [True],
        [{}],
        [{"events": ["photo.uploaded"]}],
        [{"url": "u" * 1500}],
        [{"url": [URL]}],
        [{"url": URL, "events": None}],
        [{"url": URL, "events": "photo.uploaded"}],
        [{"url": URL, "events": {"photo.uploaded": True}}],
        [{"url": URL, "events": ["photo.hidden"]}],
        [{"url": URL, "events": [*EVERY_TYPE[:-1], "*"]}],
        [{"url": URL, "events": [None]}],
        [{"url": URL, "events": [""]}],
        [{"url": URL, "events": ["photo.uploaded "]}],
        [{"url": URL, "events": [*EVERY_TYPE, "photo.uploaded"]}],
        [{"url": URL, "events": ["photo.uploaded"] * 60_000}],
        [{"url": URL, "secret": "mine"}],
        [{"url": URL, "recover": True}],
        [{"url": URL, "id": "i" * 41}],
        [{"url": URL, "id": "a b"}],
        [{"url": URL, "id": "photo.uploaded"}],
        [{"url": URL, "id": "photo.uploaded\na"}],
        [{"url": URL, "id": "a\n"}],
        [{"url": URL, "id": ["a"]}],
        # every one of 20 entries is checked
        *(
            [*[URL] * index, {"url": URL, "events": ["photo.hidden"]}, *[URL] * (19 - index)]
            for index in range(20)
        ),
    ],
)


def test_an_admin_sets_urls_and_their_event_types(admin: Client, settings: str) -> None:
    """Spec 2.1, 6.1 and 8: 20 URLs at most, each with all event types or a subset."""

    def is_created(urls: object) -> bool:
        ADMINISTRATOR.delete(settings)
        return admin.create(settings, {"urls": urls} | NOW)

    def is_changed(urls: object) -> bool:
        ADMINISTRATOR.replace(settings, {"urls": [f"{URL}/before"]})
        return admin.update(settings, {"urls": urls} | NOW)

    assert wrongly_judged(URLS, is_created) == []
    assert wrongly_judged(URLS, is_changed) == []


@pytest.mark.parametrize(
    ("changed", "allowed"),
    [
        ({"urls": [URL, f"{URL}/b"]} | NOW, True),
        ({"urls": []} | NOW, True),
        ({"urls": [{"url": URL, "id": "a"}]} | NOW, True),
        ({"urls": [URL, f"{URL}/b"]}, False),
        ({"urls": [URL, f"{URL}/b"], "urlsChangedAt": PAST}, False),
        ({"urls": [URL, f"{URL}/b"], "urlsChangedAt": ABSENT}, False),
        ({"labels": {"a": "Screen"}}, True),
        ({"urls": [URL], "off": {"a": SINCE}}, True),
        ({"labels": {"a": "Screen"}} | NOW, False),
        (NOW, False),
        ({"urlsChangedAt": PAST}, False),
        ({"urlsChangedAt": ABSENT}, False),
    ],
)
def test_the_settings_have_the_time_of_their_last_change(
    changed: Fields, allowed: bool, admin: Client, settings: str
) -> None:
    """Design 3.11: with another time a milestone would be silent, or late."""
    assert not admin.create(settings, {"urls": [URL], "urlsChangedAt": PAST})
    assert admin.create(settings, ONE)

    assert allowed is admin.update(settings, changed)


def test_an_app_may_omit_the_time_of_the_change(admin: Client, settings: str) -> None:
    """Design 3.11: without `urlsChangedAt` the document's last write counts."""
    assert admin.create(settings, {"urls": [URL]})
    assert admin.update(settings, {"urls": [URL, f"{URL}/b"]})
    assert admin.update(settings, {"urls": [URL]} | NOW)
    assert not admin.update(settings, {"urls": [URL, f"{URL}/b"]})


def test_unchanged_entries_are_not_validated(admin: Client, settings: str) -> None:
    """Labels change without `urlsChangedAt` beside entries of any form, and URLs with it."""
    ADMINISTRATOR.replace(settings, {"urls": [URL, {"url": f"{URL}/b", "recover": True}]})

    assert admin.update(settings, {"labels": {"a": "Screen"}})
    assert admin.update(settings, {"urls": []} | NOW)


@pytest.mark.parametrize("filler", [None, "", {}, False])
@pytest.mark.parametrize("field", ["recover", "labels", "off", "events", "url", "id", "notify"])
def test_every_field_has_a_size_limit(
    field: str, filler: object, admin: Client, settings: str
) -> None:
    """Every upload reads the settings. Large fields would make each read cost more."""
    many: Any = [filler] * 5000
    if field in ("events", "url", "id"):
        assert not admin.create(settings, {"urls": [{"url": URL} | {field: many}]} | NOW)
        return
    if field in ("labels", "off"):
        many = {str(number): filler for number in range(5000)}
    assert not admin.create(settings, ONE | {field: many})


def test_an_admin_adds_their_own_address_and_removes_any(cast: Cast, settings: str) -> None:
    """Design 3.27: only people who asked for it get notices, at most five addresses."""
    admin, unverified = cast[Who.ADMIN], cast[Who.UNVERIFIED]
    others = [f"ann{number}@example.com" for number in range(5)]

    def is_accepted(given: tuple[Client, object]) -> bool:
        client, notify = given
        ADMINISTRATOR.replace(settings, {"urls": [URL], "notify": others})
        return client.update(settings, {"notify": notify})

    cases: Values = (
        [(admin, [*others[1:], admin.email]), (admin, others[3:4]), (admin, [])],
        [
            (admin, [*others, admin.email]),
            (admin, [others[0], "bob@example.com"]),
            (admin, [admin.email.upper()]),
            *((admin, wrong) for wrong in ([""], [1], [None], [{"address": "x"}])),
            *((admin, wrong) for wrong in (admin.email, {"0": admin.email}, None)),
            (unverified, [unverified.email]),
            (unverified, [""]),
        ],
    )
    assert wrongly_judged(cases, is_accepted) == []
    ADMINISTRATOR.delete(settings)
    assert not admin.create(settings, ONE | {"notify": [others[0]]})
    assert admin.create(settings, ONE | {"notify": [admin.email]})
    assert unverified.update(settings, {"labels": {"a": "Screen"}})


FIELDS: Final[dict[str, Values]] = {
    # field: accepted, refused values
    "labels": (
        [{URL: "Screen in the hall"}, {}],
        [
            {URL: {}},
            {URL: "l" * 41},
            {URL: "two\nlines"},
            {URL: 7},
            {URL: True},
            {URL: None},
            {URL: "a", f"{URL}/b": ["b"]},
            {URL: ["a"] * 100},
            dict.fromkeys([*TWENTY, URL], "Screen"),
            "Screen",
        ],
    ),
    "off": (
        [{URL: SINCE}, {}],
        [
            {URL: True},
            {URL: PAST},
            {URL: "yesterday"},
            dict.fromkeys([*TWENTY, URL], SINCE),
            [URL],
        ],
    ),
    "recover": (
        [["a", URL], []],
        [[URL] * 21, ["u" * 41_000], ["two lines\r"], URL, {"a": True}],
    ),
    "disabled": ([{}, ABSENT], [DISABLED, None, []]),
    "secret": ([], ["mine"]),
    "tenantId": ([], ["tenant-b"]),
}


@pytest.mark.parametrize("field", FIELDS)
def test_settings_have_the_fields_of_the_specification(
    field: str, admin: Client, settings: str
) -> None:
    """Spec 2.1 and 8: a URL has a name of one line, and a time since which it is off."""

    def is_created(value: object) -> bool:
        ADMINISTRATOR.delete(settings)
        return admin.create(settings, ONE | {field: value})

    def is_changed(value: object) -> bool:
        ADMINISTRATOR.replace(settings, {"urls": [URL]})
        return admin.update(settings, {field: value})

    assert wrongly_judged(FIELDS[field], is_created) == []
    assert wrongly_judged(FIELDS[field], is_changed) == []


@pytest.mark.parametrize("who", [Who.ADMIN, Who.SUPERADMIN, Who.SUPERADMIN_OF_NONE])
def test_the_fullest_settings_leave_room_for_more_rules(
    cast: Cast, who: Who, settings: str, rules: str
) -> None:
    """No request may take more than 1,000 evaluations: some more would be checked as well."""
    admin = cast[who]
    addresses = [f"{number}{'a' * 60}@{'b' * 60}.example.com" for number in range(5)]
    fullest = {
        "urls": [FULLEST] * 20,
        **NOW,
        "recover": ["u" * 1499] * 20,
        "notify": [*addresses[1:], admin.email],
        "labels": dict.fromkeys(TWENTY, "l" * 40),
        "off": dict.fromkeys(TWENTY, SINCE),
    }
    before = {"urls": [URL], "disabled": DISABLED, "notify": addresses}
    ADMINISTRATOR.replace(settings, before)
    further = rules.replace("isUrl(all[19], keys);", "isUrl(all[19], keys) && 1 == 1 && 2 == 2;")
    assert rules != further
    load_rules(further)
    try:
        assert admin.update(settings, fullest)
    finally:
        load_rules(rules)


def test_an_admin_enables_a_disabled_url_and_disables_none(admin: Client, settings: str) -> None:
    """An admin enables a URL by removing its entry."""

    def is_accepted(fields: Fields) -> bool:
        ADMINISTRATOR.replace(settings, {"urls": [URL], "disabled": DISABLED})
        return admin.update(settings, fields)

    changes: Values = (
        [
            {"disabled.a": ABSENT},
            {"disabled": {}},
            {"disabled": ABSENT},
            {"disabled": DISABLED, "urls": []} | NOW,
            {"urls": []} | NOW,
        ],
        [
            {"disabled.a.reason": "none"},
            {"disabled.a.at": ABSENT},
            {"disabled.c": DISABLED["a"]},
            {"disabled": {"c": DISABLED["a"]}},
            {"disabled": None},
            {"disabled": "nothing"},
        ],
    )
    assert wrongly_judged(changes, is_accepted) == []
