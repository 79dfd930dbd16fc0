"""A mailbox that stands in for SendGrid: what would have been mailed, to read in a browser.

It answers `POST /v3/mail/send` as SendGrid documents it, refuses what SendGrid would refuse, and
can be told to fail. It knows that documentation only, and shares no code with the service.

    with Mailbox(port=9180) as mailbox:
        mailbox.fail_with(too_many_requests(times=1))
        ...  # have the service send
        mailbox.wait_for(lambda mails: len(mails) == 3, timeout=10)

With an `EventWebhook` it also tells what becomes of the mails, which their addresses decide: see
`events`.
"""

from emulator.mailbox.emails import Mail, Request
from emulator.mailbox.event_webhook import EventWebhook, signed
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

# Where the local suite's functions send their mails.
PORT = MAILBOX_PORT

__all__ = [
    "MAX_SUBSTITUTION_BYTES",
    "PORT",
    "EventWebhook",
    "Fault",
    "Mail",
    "Mailbox",
    "Problem",
    "Request",
    "bad_address",
    "credits_exceeded",
    "drop",
    "problems",
    "signed",
    "slow",
    "status",
    "too_many_requests",
    "unverified_sender",
    "wrong_key",
]
