"""Stand-ins for external servers, which `up` and `demo` start together with the emulators.

To add a stand-in, add its address to `ADDRESSES`, a field to `StandIns` and a line to `started`.
"""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import cast

from google.cloud import firestore

from emulator import certificates
from emulator.firebase import PROJECT, read_addresses
from emulator.mailbox import PORT as MAILBOX_PORT
from emulator.mailbox import EventWebhook, Mailbox
from emulator.mailbox.smtp_server import SmtpServer
from emulator.port_numbers import RECEIVER_PORT, SMTP_PORT
from emulator.ports import check_ports
from emulator.receiver import Receiver, Request, Script, always, fails, slow
from functions.ports import LOCATION
from tools import local_secrets
from tools.command_list import SMTP_VARIABLE

# Longer than the 5 seconds that an attempt may take (spec 8).
SLOW_SECONDS = 8.0

ADDRESSES = {
    "webhook receiver": f"127.0.0.1:{RECEIVER_PORT}",
    "mailbox": f"127.0.0.1:{MAILBOX_PORT}",
}
if SMTP_VARIABLE in os.environ:
    ADDRESSES["mail server"] = f"127.0.0.1:{SMTP_PORT}"

RECEIVER_SCRIPTS: dict[str, Script] = {
    "/ok": always(),
    "/flaky": fails(2),
    "/dead": always(500),
    "/slow": slow(SLOW_SECONDS),
}


@dataclass(frozen=True, slots=True)
class StandIns:
    """The running stand-ins."""

    receiver: Receiver
    mailbox: Mailbox


@contextmanager
def started(on_request: Callable[[Request], None] | None = None) -> Iterator[StandIns]:
    """Run the stand-ins.

    Args:
        on_request: Called with each webhook request when it is answered.

    Raises:
        SetupError: A port is in use.
    """
    check_ports(ADDRESSES)
    certificates.ensure()
    with (
        Receiver(
            certificates.SERVER,
            port=RECEIVER_PORT,
            scripts=RECEIVER_SCRIPTS,
            secret_of=webhook_secret,
            on_request=on_request,
        ) as receiver,
        Mailbox(
            port=MAILBOX_PORT, events=EventWebhook(mail_events_url(), certificates.mailbox_key())
        ) as mailbox,
        SmtpServer(mailbox, local_secrets.read()["SMTP_PASSWORD"], port=SMTP_PORT)
        if SMTP_VARIABLE in os.environ
        else nullcontext(),
    ):
        yield StandIns(receiver, mailbox)


def mail_events_url() -> str:
    """Return the URL of the function that receives SendGrid's delivery reports."""
    return f"http://{read_addresses()['functions']}/{PROJECT}/{LOCATION}/mailEvents"


def webhook_secret(event_id: str) -> str | None:
    """Return the event's webhook secret from the Firestore emulator, or None without one."""
    if not event_id or "/" in event_id:
        return None
    secret = _database().document(f"events/{event_id}/secrets/webhooks").get()
    return cast("str | None", secret.get("secret")) if secret.exists else None


@functools.cache
def _database() -> firestore.Client:
    # Connects to FIRESTORE_EMULATOR_HOST, with an administrator's rights.
    return firestore.Client(project=PROJECT)
