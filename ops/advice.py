"""What `ops/check` tells besides missing parts: settings that do not suit what is there."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from functions.recap.audience.photo_hosts import PhotoHosts
from ops.documents import plain
from ops.parts import Lack, Look, Parts

_EVENTS: Final = 5
_PHOTOS: Final = 20
"""Of each of the events that were published last."""


class Advice(Parts):
    """Looks whose findings are notes: only the operator knows what is meant."""

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """All of them."""
        return [
            ("Hosts of the newest photos", self.photo_hosts),
            ("App Check, where anybody may sign in", self.app_check),
        ]

    def photo_hosts(self) -> Iterator[Lack]:
        """Recaps show no photo of a host that `PHOTO_HOSTS` leaves out."""
        allowed = self._wanted.settings.get("PHOTO_HOSTS", "")
        hosts = PhotoHosts.read(allowed, self._cloud.project)
        left_out = Counter(
            urlsplit(url).netloc for url in self._newest_photos() if not hosts.allow(url)
        )
        for host, count in sorted(left_out.items()):
            yield Lack(
                f"{count} of the newest photos are at {host}, and PHOTO_HOSTS is {allowed}",
                ask=f"No recap shows them. Where you trust that host, add {host} to PHOTO_HOSTS.",
                is_note=True,
            )

    def app_check(self) -> Iterator[Lack]:
        """Without it a script signs in like a guest, and uploads and lists at the owner's cost."""
        config = self._readable("identitytoolkit", f"admin/v2/{self._project}/config") or {}
        is_anonymous = config.get("signIn", {}).get("anonymous", {}).get("enabled")
        is_public = self._wanted.settings.get("PUBLIC_WALL") == "true"
        if not is_anonymous and not is_public:
            return
        path = f"v1/{self._project}/services/firestore.googleapis.com"
        service = self._readable("firebaseappcheck", path) or {}
        if service.get("enforcementMode") != "ENFORCED":
            why = "guests sign in anonymously" if is_anonymous else "PUBLIC_WALL is on"
            yield Lack(
                f"{why}, and App Check is not enforced for Firestore",
                ask="docs/security.md, App Check: first let all clients send tokens.",
                is_note=True,
            )

    def _newest_photos(self) -> Iterator[str]:
        """Addresses of the pictures that a recap would show."""
        for event in self._asked(_newest("events", "publishedAt", _EVENTS, "publishedAt")):
            below = f"/events/{event['name'].rpartition('/')[2]}"
            for photo in self._asked(
                _newest("photos", "createdAt", _PHOTOS, "url", "thumbUrl"), below
            ):
                fields = {name: plain(value) for name, value in photo.get("fields", {}).items()}
                url = fields.get("thumbUrl") or fields.get("url")
                if isinstance(url, str):
                    yield url


def _newest(collection: str, by: str, count: int, *select: str) -> dict[str, Any]:
    return {
        "from": [{"collectionId": collection}],
        "orderBy": [{"field": {"fieldPath": by}, "direction": "DESCENDING"}],
        "select": {"fields": [{"fieldPath": name} for name in select]},
        "limit": count,
    }
