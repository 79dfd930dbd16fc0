"""Events as organizers, guests and the service leave them, and receivers of their webhooks."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from google.cloud import firestore

from emulator import certificates
from emulator.firestore_watch import wait_for
from emulator.pictures import BUCKET
from emulator.receiver import Receiver, Request, Script
from emulator.stand_ins import webhook_secret
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE
from functions.webhooks.webhook_settings import endpoint_id

NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
TENANT: Final = "tenant-a"
PAST: Final = datetime(2026, 1, 1, tzinfo=UTC)
_FINAL: Final = ("success", "failed", "skipped")


@contextmanager
def receiving(
    scripts: Mapping[str, Script], on_request: Callable[[Request], None] | None = None
) -> Iterator[Receiver]:
    """Start a receiver with scripts by path.

    It knows each event's secret, as reported to a superadmin.
    """
    certificates.ensure()
    with Receiver(
        certificates.SERVER, scripts=scripts, secret_of=webhook_secret, on_request=on_request
    ) as receiver:
        yield receiver


@dataclass(frozen=True, slots=True)
class Wall:
    """One event in Firestore, and the records below it; at first there are no documents."""

    db: firestore.Client
    event: firestore.DocumentReference
    tenant: str = TENANT

    @property
    def id(self) -> str:
        """The event's id."""
        return str(self.event.id)

    @property
    def settings(self) -> firestore.DocumentReference:
        """The webhook settings' document."""
        return self.db.document("events", self.id, "settings", "webhooks")

    @property
    def lock(self) -> firestore.DocumentReference:
        """The lock's document."""
        return self.db.document("events", self.id, "locks", "recap")

    def publish(self, **fields: Any) -> None:
        """Write the event's document."""
        self.event.set(
            {
                "tenantId": self.tenant,
                "name": "Summer Party",
                "status": "published",
                "galleryUrl": "https://example.com/gallery/summer",
            }
            | fields
        )

    def configure(self, *urls: Any, **further: Any) -> None:
        """Make the event a draft with these webhook URLs."""
        self.event.set({"tenantId": self.tenant, "name": "Garden party", "status": "draft"})
        self.settings.set({"urls": list(urls)} | further)

    # Deliveries.

    def record(self, url: str, *, minutes_ago: float = 60.0, **fields: Any) -> str:
        """Record a delivery of `photo.uploaded` that has failed, and return its ID."""
        delivery_id = str(uuid.uuid4())
        ended = datetime.now(UTC) - timedelta(minutes=minutes_ago)
        created = ended - timedelta(seconds=40)
        body = {
            "event": "photo.uploaded",
            "eventId": self.id,
            "deliveryId": delivery_id,
            "timestamp": created.isoformat(),
            "data": {"photo": {"id": "photo-1", "uploaderName": "Ann"}},
        }
        attempt = {"at": created, "status": 500, "ms": 7, "error": None}
        self.event.collection("deliveries").document(delivery_id).set(
            {
                "event": "photo.uploaded",
                "url": url,
                "endpoint": endpoint_id(url),
                "body": json.dumps(body, separators=(",", ":")),
                "createdAt": created,
                "expireAt": ended + timedelta(days=30),
                "outcome": "failed",
                "attempts": len(RETRY_SCHEDULE),
                "nextAttemptAt": None,
                "endedAt": ended,
                "log": [
                    attempt | {"attempt": number} for number, _ in enumerate(RETRY_SCHEDULE, 1)
                ],
            }
            | fields
        )
        return delivery_id

    def delivery(self, delivery_id: str) -> dict[str, Any]:
        """Return the record of a delivery."""
        return self.event.collection("deliveries").document(delivery_id).get().to_dict() or {}

    def deliveries(
        self, predicate: Callable[[list[dict[str, Any]]], bool], timeout: float = 120
    ) -> list[dict[str, Any]]:
        """Wait until the deliveries satisfy `predicate`, and return their records with their `id`.

        Fails after `timeout` seconds.
        """
        found = wait_for(self.event.collection("deliveries"), predicate, timeout)
        assert predicate(found), f"after {timeout} s: {found}"
        return found

    def ended(self, count: int, timeout: float = 120) -> list[dict[str, Any]]:
        """Wait until `count` deliveries have ended, and return all records."""
        return self.deliveries(
            lambda all_: sum(entry["outcome"] in _FINAL for entry in all_) >= count, timeout
        )

    def forget_deliveries(self) -> None:
        """Leave none behind: one with a due attempt would be the sweeper's business for ever."""
        for delivery in self.event.collection("deliveries").list_documents():
            delivery.delete()

    # Photos and recaps.

    def photos(self, *photos: dict[str, Any]) -> None:
        """Write approved photos, each a minute after the one before."""
        self.write(
            (
                self.event.collection("photos").document(f"photo-{n:05}"),
                {
                    "status": "approved",
                    "url": f"{BUCKET}photo-{n}.jpg",
                    "thumbUrl": f"{BUCKET}small-{n}.jpg",
                    "createdAt": NOON + timedelta(minutes=n),
                    "approvedAt": NOON + timedelta(minutes=n, seconds=30),
                }
                | photo,
            )
            for n, photo in enumerate(photos, start=1)
        )

    def guests(self, count: int) -> None:
        """Write one approved photo for each of so many guests."""
        self.photos(*({"uploaderEmail": guest(n)} for n in range(count)))

    def write(
        self, documents: Iterable[tuple[firestore.DocumentReference, dict[str, Any]]]
    ) -> None:
        """Write documents, some hundred a commit."""
        everything = list(documents)

        def commit(first: int) -> None:
            batch = self.db.batch()
            for reference, fields in everything[first : first + 400]:
                batch.set(reference, fields)
            batch.commit()

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(commit, range(0, len(everything), 400)))

    def recaps(self) -> list[dict[str, Any]]:
        """Return the document of every recap, oldest first."""
        found = [recap.to_dict() for recap in self.event.collection("recaps").get()]
        return sorted(found, key=lambda fields: fields["startedAt"])

    def batches(self) -> list[dict[str, Any]]:
        """Return every batch of every recap, in order."""
        found = []
        for recap in self.event.collection("recaps").list_documents():
            found += recap.collection("batches").get()
        return [batch.to_dict() for batch in sorted(found, key=lambda one: int(one.id))]

    def forget_mails(self) -> None:
        """Let no tenant have mailed anybody yet: other tests have the same guests."""
        for reference in self.db.collection("recapMails").list_documents():
            reference.delete()

    def end_cooldown(self) -> None:
        """Let a day pass."""
        self.lock.update({"cooldownUntil": PAST})

    def end_lease(self) -> None:
        """Let the time of a crashed call pass."""
        self.lock.update({"leasedUntil": PAST})


def guest(number: int) -> str:
    """Return the address of an example guest."""
    return f"guest-{number}@example.com"
