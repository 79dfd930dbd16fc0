"""What a process has of the outside, as `functions/service.py` is handed it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from functions.firestore.model import Documents
from functions.outside import Clock, InParallel, SecretReader, TaskQueue

if TYPE_CHECKING:
    from functions.mail.outcome import BulkMailer
    from functions.preferences.preferences import VerifiedAddresses
    from functions.webhooks.sender.sender import Sender


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The values of a deploy (docs/reference.md); the defaults are those of `.env`."""

    public_base_url: str = "https://wall.example.com"
    mail_from: str = "Photo wall <wall@example.com>"
    mail_reply_to: str = ""
    mail_address_line: str = ""
    sendgrid_webhook_key: str = ""
    photo_hosts: str = "project"
    project: str = "demo-wall"
    recaps_per_address_a_day: int = 3
    recap_mails_per_day: int = 20_000
    recipients_per_recap: int = 5000
    staff_calls_an_hour: int = 60
    event_deliveries_a_second: int = 80
    delivery_instances: int = 2
    threads: int = 300
    trusted_proxy_hops: int = 0
    deliveries_at_once: int = 300
    """Deliveries that one call of an organizer, of a recovery or of the sweep reads."""


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """What a process has of the outside.

    Attributes:
        documents: Makes the way to Firestore, for which a process needs credentials.
        grouped_documents: The same, for many threads that each read and write one document.
        task_queue: Cloud Tasks.
        secrets: Secret Manager.
        sender: Makes what posts to receivers; it loads the authorities that are trusted.
        mailer: Makes the mail service's client.
        threads: Makes what works on items in parallel; see `Threads`.
        verified_addresses: Firebase Authentication: the verified addresses of users, by user id.
        claims_of: Firebase Authentication: what a user's next ID token says; None without the user.
        new_word: Makes 32 random hex digits, an id that was never there before.
        new_secret: Makes a secret of webhooks.
    """

    clock: Clock
    documents: Callable[[], Documents]
    grouped_documents: Callable[[], Documents]
    task_queue: TaskQueue
    secrets: SecretReader
    sender: "Callable[[], Sender]"
    mailer: "Callable[[], BulkMailer]"
    threads: Callable[..., InParallel]
    verified_addresses: "VerifiedAddresses"
    claims_of: Callable[[str], dict[str, Any] | None]
    new_word: Callable[[], str]
    new_secret: Callable[[], str]
    parameters: Parameters = Parameters()
