"""Every path of the data model, and every path that firestore.rules speaks of."""

from pathlib import Path
from typing import Final

RULES: Final = Path(__file__).parents[3] / "firestore.rules"

DATA_MODEL: Final = (
    "events/{eventId}",
    "events/{eventId}/photos/{photoId}",
    "events/{eventId}/wall/{photoId}",
    "events/{eventId}/settings/webhooks",
    "events/{eventId}/secrets/webhooks",
    "events/{eventId}/deliveries/{deliveryId}",
    "events/{eventId}/endpoints/{endpointId}",
    "events/{eventId}/shares/{shareId}",
    "events/{eventId}/milestones/{number}",
    "events/{eventId}/recaps/{recapId}",
    "events/{eventId}/recaps/{recapId}/batches/{number}",
    "events/{eventId}/recaps/{recapId}/outcomes/mails",
    "events/{eventId}/guestData/timer",
    "events/{eventId}/locks/recap",
    "deletedEvents/{eventId}",
    "users/{uid}",
    "rateLimits/{key}",
    "recapMails/{tenant}",
    "recapStops/{tenant}",
)
