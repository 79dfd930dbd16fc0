"""Parameters of the deployment: `.env` in production, `.env.demo-wall` in the local suite.

https://firebase.google.com/docs/functions/config-env
"""

import os

from firebase_functions.params import IntParam, StringParam

MAIL_FROM = StringParam("MAIL_FROM", description="Sender of the recap mails")
PUBLIC_BASE_URL = StringParam("PUBLIC_BASE_URL", description="Base of the links in mails")
SENDGRID_HOST = StringParam(
    "SENDGRID_HOST", default="https://api.sendgrid.com", description="Address of SendGrid's API"
)
TRUSTED_PROXY_HOPS = IntParam(
    "TRUSTED_PROXY_HOPS", default=0, description="Own proxies in front of Google's front end"
)
PHOTO_HOSTS = StringParam(
    "PHOTO_HOSTS", default="project", description="Hosts whose photos may stand in mails"
)
RECAPS_PER_ADDRESS_A_DAY = IntParam(
    "RECAPS_PER_ADDRESS_A_DAY", default=3, description="Recaps of a tenant to one address"
)
RECAP_MAILS_PER_DAY = IntParam(
    "RECAP_MAILS_PER_DAY", default=20_000, description="Recap mails of a tenant, at most 60,000"
)
DELIVERY_CONCURRENCY = IntParam(
    "DELIVERY_CONCURRENCY", default=1600, description="Tasks of one queue at work at a time"
)
DELIVERY_QUEUES = IntParam(
    "DELIVERY_QUEUES", default=4, description="Queues that first attempts are spread over, 1 to 4"
)


def in_emulator() -> bool:
    """Whether this process belongs to the local emulator suite."""
    return os.environ.get("FUNCTIONS_EMULATOR") == "true"


def webhook_ca_bundle() -> str | None:
    """Path of further certificate authorities that receivers may have; in the emulator only."""
    return (os.environ.get("WEBHOOK_CA_BUNDLE") or None) if in_emulator() else None


def webhook_allow_loopback() -> bool:
    """Whether receivers may be on this machine; in the emulator only."""
    return in_emulator() and os.environ.get("WEBHOOK_ALLOW_LOOPBACK") == "true"
