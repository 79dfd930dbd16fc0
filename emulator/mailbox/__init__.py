"""A mailbox that stands in for SendGrid and shows the sent emails in a browser.

It answers `POST /v3/mail/send` as SendGrid documents it, rejects the requests that SendGrid would
reject, and can simulate failures. It shares no code with the service.

    with Mailbox(port=9180) as mailbox:
        mailbox.fail_with(too_many_requests())
        ...  # have the service send
        mailbox.wait_for(lambda emails: len(emails) == 3, timeout=10)

With an `EventWebhook` it also sends delivery reports. An email's address determines its reports:
see `event_webhook`.
"""

from emulator.mailbox.emails import Email, Request
from emulator.mailbox.event_webhook import EventWebhook, signature_headers
from emulator.mailbox.faults import (
    Fault,
    bad_address,
    credits_exceeded,
    drop,
    slow,
    status,
    too_many_requests,
    unverified_sender,
    wrong_key,
)
from emulator.mailbox.mailbox import Mailbox
from emulator.port_numbers import MAILBOX_PORT
from emulator.provider_models.sendgrid import MAX_SUBSTITUTION_BYTES, Problem, problems

# The local functions send their emails to this port.
PORT = MAILBOX_PORT

__all__ = [
    "MAX_SUBSTITUTION_BYTES",
    "PORT",
    "Email",
    "EventWebhook",
    "Fault",
    "Mailbox",
    "Problem",
    "Request",
    "bad_address",
    "credits_exceeded",
    "drop",
    "problems",
    "signature_headers",
    "slow",
    "status",
    "too_many_requests",
    "unverified_sender",
    "wrong_key",
]
