"""An event with photos, as guests and moderators would have made it."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud import firestore

from emulator.pictures import BUCKET

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TENANT = "tenant-1"
PAST = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Wall:
    """One event in Firestore, and what the recap leaves beside it."""

    db: firestore.Client
    event: firestore.DocumentReference

    @property
    def id(self) -> str:
        """The event's id."""
        return str(self.event.id)

    @property
    def lock(self) -> firestore.DocumentReference:
        """The lock's document."""
        return self.db.document("events", self.id, "locks", "recap")

    def publish(self, **fields: Any) -> None:
        """Write the event's document."""
        self.event.set(
            {
                "tenantId": TENANT,
                "name": "Summer Party",
                "status": "published",
                "galleryUrl": "https://example.com/gallery/summer",
            }
            | fields
        )

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
        """Every recap's document, oldest first."""
        found = [recap.to_dict() for recap in self.event.collection("recaps").get()]
        return sorted(found, key=lambda fields: fields["startedAt"])

    def batches(self) -> list[dict[str, Any]]:
        """Every batch of every recap, in order."""
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
    """The address of a made-up guest."""
    return f"guest-{number}@example.com"
