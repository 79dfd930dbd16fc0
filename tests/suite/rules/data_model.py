"""Every path of the data model, and every path that firestore.rules speaks of."""

import re
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
    "events/{eventId}/notices/webhooks",
    "events/{eventId}/recoveries/{url}",
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
    "noticeConsents/{consent}",
    "recapMails/{tenant}",
    "recapStops/{tenant}",
)

_BLOCK: Final = re.compile(r"^( *)match /(\S+) \{$", re.MULTILINE)
_ROOT: Final = "databases/{database}/documents/"


def paths_of(rules: str) -> list[str]:
    """Paths of the match blocks in `rules`, each with the blocks around it; by indentation."""
    paths: list[str] = []
    around: list[tuple[int, str]] = []
    for indentation, path in _BLOCK.findall(rules):
        while around and around[-1][0] >= len(indentation):
            around.pop()
        around.append((len(indentation), path))
        paths.append("/".join(part for _, part in around))
    return [path.removeprefix(_ROOT) for path in paths if path.startswith(_ROOT)]
