"""The sample event `midsummer` of the tenant `demo`, written as a client would."""

from dataclasses import dataclass
from typing import Any

from google.cloud import firestore

from emulator import pictures
from emulator.firebase import PROJECT
from emulator.firestore_watch import wait_for
from emulator.stand_ins import StandIns

EVENT = "midsummer"
TENANT = "demo"
_SECRET_SECONDS = 60.0
MODERATOR = "moderator@example.com"


@dataclass(frozen=True, slots=True)
class Guest:
    """A guest who uploads photos."""

    uid: str
    name: str
    email: str


ANN = Guest("ann", "Ann", "ann@example.com")
BOB = Guest("bob", "Bob", "bob@example.com")
PHOTOS = {"photo-1": ANN, "photo-2": ANN, "photo-3": BOB}
APPROVED = ("photo-1", "photo-3")


class SampleEvent:
    """The event in the Firestore emulator.

    Attributes:
        event: The event's document.
    """

    def __init__(self, stand_ins: StandIns) -> None:
        self._receiver = stand_ins.receiver
        self.event = firestore.Client(project=PROJECT).collection("events").document(EVENT)

    def configure(self) -> None:
        """Create the event as a draft with four webhook URLs."""
        self.event.collection("settings").document("webhooks").set(
            {
                "urls": [
                    self._receiver.url("/ok"),
                    {"url": self._receiver.url("/flaky"), "events": ["photo.uploaded"]},
                    {"url": self._receiver.url("/dead"), "events": ["photo.approved"]},
                    {"url": "http://localhost/plain", "events": ["event.published"]},
                ],
            },
        )
        fields = {"tenantId": TENANT, "name": "Midsummer", "template": "garden", "status": "draft"}
        self.event.set(fields)

    def publish(self) -> None:
        """Publish the event."""
        self.event.update(
            {
                "status": "published",
                "publishedAt": firestore.SERVER_TIMESTAMP,
                "galleryUrl": "https://example.com/midsummer",
            },
        )

    def secret(self) -> str:
        """Wait until the service has created the event's webhook secret and return it.

        Raises:
            TimeoutError: The secret does not exist after a minute.
        """
        reference = self.event.collection("secrets").document("webhooks")
        for secret in wait_for(reference, bool, _SECRET_SECONDS):
            return str(secret["secret"])
        raise TimeoutError(f"the event has no webhook secret after {_SECRET_SECONDS:.0f} s")

    def upload(self) -> None:
        """Upload the photos of both guests."""
        for photo_id, guest in PHOTOS.items():
            self._photo(photo_id).set(self._fields(photo_id, guest))

    def approve(self) -> None:
        """Approve all photos except one."""
        for photo_id in APPROVED:
            self._photo(photo_id).update(
                {
                    "status": "approved",
                    "approvedAt": firestore.SERVER_TIMESTAMP,
                    "approvedBy": MODERATOR,
                },
            )

    def _photo(self, photo_id: str) -> firestore.DocumentReference:
        photo: firestore.DocumentReference = self.event.collection("photos").document(photo_id)
        return photo

    def _fields(self, photo_id: str, guest: Guest) -> dict[str, Any]:
        return {
            "status": "pending",
            "url": f"{pictures.BUCKET}{photo_id}.svg?alt=media",
            "uploaderName": guest.name,
            "uploaderEmail": guest.email,
            "uploaderUid": guest.uid,
            "createdAt": firestore.SERVER_TIMESTAMP,
        }
