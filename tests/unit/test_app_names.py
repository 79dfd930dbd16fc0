"""`APP_NAMES`: names that an app has for its events, photos, their fields and statuses."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from functions.app_names import DATA_MODEL, RECORDS, AppNames, AppNamesError

ROOT: Final = Path(__file__).parents[2]
RULES: Final = (ROOT / "firestore.rules").read_text()
PAGE: Final = (ROOT / "docs/data-model.md").read_text()
WEDDINGS: Final = AppNames.read(
    "events=weddings, photos=pictures, event.tenantId=owner, photo.url=image,"
    "photo.status=state, photo.status.approved=visible, photo.status.pending=in review"
)


@pytest.mark.parametrize(
    "text", ["", "  ", "events=events,photo.url=url,photo.status.approved=approved"]
)
def test_nothing_is_mapped(text: str) -> None:
    """The data model's names, and documents as they are."""
    names = AppNames.read(text)
    assert names == DATA_MODEL
    assert not names.maps_events
    fields = {"status": "approved", "other": 1}
    assert names.photo.read(fields) is fields
    assert names.photo_path("e", "p") == "events/e/photos/p"


def test_an_apps_names() -> None:
    """Of places, of fields, of values."""
    assert WEDDINGS.maps_events
    assert WEDDINGS.event_path("w") == "weddings/w"
    assert WEDDINGS.photos_path("w") == "weddings/w/pictures"
    assert WEDDINGS.event.of("tenantId") == "owner"
    assert WEDDINGS.event.of("name") == "name"
    assert (WEDDINGS.photo.of("status"), WEDDINGS.photo.status("approved")) == ("state", "visible")
    assert WEDDINGS.photo.status("rejected") == "rejected"
    assert WEDDINGS.event.status("published") == "published"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"image": "u", "createdAt": 1}, {"url": "u", "createdAt": 1, "status": None}),
        ({"state": "visible"}, {"status": "approved"}),
        ({"state": "in review"}, {"status": "pending"}),
        ({"state": "rejected"}, {"status": "rejected"}),
        # The service's own names count no longer where they are mapped.
        ({"state": "approved", "status": "visible", "url": "u"}, {"status": None}),
        ({"state": ["visible"]}, {"status": None}),
    ],
)
def test_a_photo_is_read(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """By the service's names; a status that is not mapped counts as none."""
    assert WEDDINGS.photo.read(theirs) == ours


def test_names_may_change_places() -> None:
    """Each of them stands once."""
    names = AppNames.read("photo.url=thumbUrl,photo.thumbUrl=url")
    assert names.photo.read({"url": "small", "thumbUrl": "large"}) == {
        "url": "large",
        "thumbUrl": "small",
    }
    assert not AppNames.read("photos=pictures").maps_events


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("weddings", "does not begin with a name of the service's and `=`; the names are events"),
        ("photo.colour=tint", "'photo.colour=tint' does not begin with a name of the service's"),
        ("Photos=pictures", "does not begin"),
        ("photo.status.visible=approved", "does not begin"),
        ("events=weddings,", "'' does not begin"),
        ("events=weddings photos=pictures", "'weddings photos=pictures' cannot be events"),
        ("events=", "'' cannot be events: the name of a collection has 1 to 100"),
        ("events=weddings/2026", "no path"),
        ("events=..", "no path"),
        ("events=*", "cannot be events"),
        ("events={eventId}", "cannot be events"),
        ("photos=" + "p" * 101, "cannot be photos"),
        ("photos=__pictures__", "__x__ are Firestore's own"),
        ("photo.url=__name__", "__x__ are Firestore's own"),
        ("photo.url=image.large", "the name of a field has 1 to 100"),
        ("photo.url=`image`", "cannot be photo.url"),
        ("photo.url=1st", "no digit first"),
        ("photo.url=", "'' cannot be photo.url"),
        ("photo.status.approved=", "a status has 1 to 100 letters"),
        ("photo.status.approved=a\nEVIL=b", "cannot be photo.status.approved"),
        ("photos=deliveries", "keeps records of its own"),
        ("events=users", "keeps records of its own"),
        ("photo.url=image,photo.url=picture", "photo.url stands there twice"),
        ("photo.url=image,photo.thumbUrl=image", "'image' would be both photo.url and photo.thumb"),
        ("photo.thumbUrl=url", "'url' would be both photo.url and photo.thumbUrl"),
        ("photo.status.approved=pending", "both photo.status.pending and photo.status.approved"),
        ("event.status.archived=x,event.status.draft=x", "give each of them a name of its own"),
    ],
)
def test_a_map_that_is_refused(text: str, told: str) -> None:
    """With the part that is wrong, and the form that is right."""
    with pytest.raises(AppNamesError, match=re.escape(told)) as refused:
        AppNames.read(text)
    assert str(refused.value).startswith("APP_NAMES in .env: ")
    assert "\n" not in str(refused.value)


def test_no_collection_of_the_services_can_be_an_apps() -> None:
    """Every one that the rules name, but events and photos."""
    named = re.findall(r"match /(\w+)/", RULES.partition("documents {")[2])
    assert set(named) - {"events", "photos"} == RECORDS


@pytest.mark.parametrize(
    ("kind", "path"),
    [("event", "events/{eventId}"), ("photo", "events/{eventId}/photos/{photoId}")],
)
def test_every_field_of_the_data_model_can_be_mapped(kind: str, path: str) -> None:
    """But `autoApprove`, which no function reads."""
    section = PAGE.partition(f"\n## `{path}`\n")[2].partition("\n| field |")[2].partition("\n\n")[0]
    fields = re.findall(r"^\| (\w+) \|", section, re.MULTILINE)
    assert "status" in fields
    for field in {*fields} - {"autoApprove"}:
        assert getattr(AppNames.read(f"{kind}.{field}=theirs"), kind).of(field) == "theirs"
