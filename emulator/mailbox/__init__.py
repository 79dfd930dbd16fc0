"""A mailbox that stands in for SendGrid: what would have been mailed, to read in a browser.

It answers `POST /v3/mail/send` as SendGrid documents it, refuses what SendGrid would refuse, and
can be told to fail. It knows that documentation only, and shares no code with the service.

    with Mailbox(port=9180) as mailbox:
        mailbox.fail_with(too_many_requests(times=1))
        ...  # have the service send
        mailbox.wait_for(lambda mails: len(mails) == 3, timeout=10)

With an `EventWebhook` it also tells what becomes of the mails, which their addresses decide: see
`events`.

Alone: `python -m emulator.mailbox`, then http://127.0.0.1:9180/ in a browser, and for faults
`curl -X PUT 127.0.0.1:9180/faults -d '{"kind": "status", "status": 503, "times": 1}'`.
"""

from emulator.mailbox.events import EventWebhook, signed
from emulator.mailbox.faults import (
    Fault,
    FaultKind,
    bad_address,
    credits_exceeded,
    drop,
    hang,
    slow,
    status,
    too_many_requests,
    unverified_sender,
    wrong_key,
)
from emulator.mailbox.mailbox import Mailbox
from emulator.mailbox.mails import Mail, Request
from emulator.mailbox.sendgrid import MAX_SUBSTITUTION_BYTES, Problem, problems

# Where the local suite's functions send their mails.
PORT = 9180

__all__ = [
    "MAX_SUBSTITUTION_BYTES",
    "PORT",
    "EventWebhook",
    "Fault",
    "FaultKind",
    "Mail",
    "Mailbox",
    "Problem",
    "Request",
    "bad_address",
    "credits_exceeded",
    "drop",
    "hang",
    "problems",
    "signed",
    "slow",
    "status",
    "too_many_requests",
    "unverified_sender",
    "wrong_key",
]
