"""Arguments that calls of several rooms have: a URL, a time, a place in a list."""

from datetime import UTC, datetime
from typing import Final

from functions.event_arguments import is_id, refuse
from functions.webhooks.deliveries.delivery import Place
from functions.webhooks.settings.webhook_settings import Subscription, WebhookSettings

URL_CHARACTERS: Final = 2048

_TIME_CHARACTERS: Final = 40


def url_argument(given: object) -> str:
    """A URL as it may stand in the settings, without blanks around it."""
    if not isinstance(given, str) or len(given) > URL_CHARACTERS:
        refuse(f"url must be a string of at most {URL_CHARACTERS} characters.")
    return given.strip()


def endpoint_at(url: str, settings: WebhookSettings) -> Subscription:
    """The event's endpoint at `url`.

    Raises:
        CallError: `invalid-argument`; mostly the URL is mistyped.
    """
    endpoint = settings.by_url.get(url)
    if endpoint is None:
        refuse("url must be one of the event's webhook URLs; add it to them first.")
    return endpoint


def time_argument(text: object) -> datetime | None:
    """A time in ISO 8601 with its zone, in UTC; None where `text` is no such time."""
    if not isinstance(text, str) or len(text) > _TIME_CHARACTERS:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def place_text(place: Place) -> str:
    """Where a page stopped, for the call that goes on."""
    return f"{place.at.isoformat()}~{place.delivery_id}"


def place_argument(given: object) -> Place | None:
    """The place in such a text; None where it is none."""
    at, _, delivery_id = given.partition("~") if isinstance(given, str) else ("", "", "")
    moment = time_argument(at)
    return Place(moment, delivery_id) if moment and is_id(delivery_id) else None
