"""The recap's service in this process, on given documents and a given mail service."""

import secrets
from typing import Any

from functions.access import Caller, Role
from functions.adapters import Parameters
from functions.firestore.model import Documents
from functions.machine import CLOCK
from functions.mail.sendgrid import SendGridMailer
from functions.parallel import Threads
from functions.service import Service
from tests.in_memory.adapters import service_on
from tests.suite.recap.wall import TENANT

ORGANIZER = Caller("organizer", Role.ADMIN, TENANT)


def service(documents: Documents, host: str = "http://127.0.0.1:9", **adapters: Any) -> Service:
    """As the deployed functions have it, with the mail service at `host`."""
    return service_on(
        documents,
        clock=CLOCK,
        mailer=lambda key: SendGridMailer(key, host, CLOCK.now),
        threads=Threads,
        new_word=lambda: secrets.token_hex(16),
        parameters=Parameters(photo_hosts="*"),
        **adapters,
    )
