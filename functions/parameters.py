"""Parameters of the deployment: `.env` in production, `.env.demo-wall` in the local suite.

And the project and the credentials of this process.

https://firebase.google.com/docs/functions/config-env
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import google.auth
from firebase_functions.params import PROJECT_ID, BoolParam, IntParam, StringParam

from functions.cache import once

MAIL_FROM = StringParam("MAIL_FROM", description="Sender of the recap mails")
MAIL_REPLY_TO = StringParam(
    "MAIL_REPLY_TO", default="", description="Where answers to mails go; empty: to the sender"
)
MAIL_ADDRESS_LINE = StringParam(
    "MAIL_ADDRESS_LINE", default="", description="Postal address under mails; may be empty"
)
PUBLIC_BASE_URL = StringParam("PUBLIC_BASE_URL", description="Base of the links in mails")
SENDGRID_HOST = StringParam(
    "SENDGRID_HOST", default="https://api.sendgrid.com", description="Address of SendGrid's API"
)
SENDGRID_WEBHOOK_KEY = StringParam(
    "SENDGRID_WEBHOOK_KEY", default="", description="Public keys of SendGrid's Event Webhook"
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
TRIGGER_INSTANCES = IntParam(
    "TRIGGER_INSTANCES", default=2, description="Instances for writes of photos, at most"
)
DELIVERY_INSTANCES = IntParam(
    "DELIVERY_INSTANCES", default=2, description="Instances for first attempts, at most"
)
EVENT_DELIVERIES_A_SECOND = IntParam(
    "EVENT_DELIVERIES_A_SECOND",
    default=80,
    description="Deliveries of busy events that one instance makes due in a second",
)
THREADS = IntParam("THREADS", default=300, description="Threads of one instance")

VPC_CONNECTOR = StringParam(
    "VPC_CONNECTOR", default="", description="Connector of requests to receivers; may be empty"
)
VPC_EGRESS = StringParam(
    "VPC_EGRESS", default="ALL_TRAFFIC", description="Its traffic: ALL_TRAFFIC, PRIVATE_RANGES_ONLY"
)

STAFF_CALLS_AN_HOUR = IntParam(
    "STAFF_CALLS_AN_HOUR", default=60, description="Calls of one function by one person of staff"
)
ENFORCE_APP_CHECK = BoolParam(
    "ENFORCE_APP_CHECK", default=False, description="Whether callables take calls of own apps only"
)
PUBLIC_WALL = BoolParam(
    "PUBLIC_WALL", default=False, description="Whether guests may list approved photos"
)
BRAKE_ON_BUDGET = BoolParam(
    "BRAKE_ON_BUDGET", default=False, description="Whether a spent budget closes the brake"
)
BUDGET_TOPIC: Final = "wall-budget"
"""The topic of Pub/Sub that the month's budget tells of the spending."""
SERVICE_ACCOUNT_WEBHOOKS = StringParam(
    "SERVICE_ACCOUNT_WEBHOOKS", default="wall-webhooks", description="Account of the webhooks"
)
SERVICE_ACCOUNT_LOGS = StringParam(
    "SERVICE_ACCOUNT_LOGS", default="wall-logs", description="Account of the links to logs"
)
SERVICE_ACCOUNT_RECAP = StringParam(
    "SERVICE_ACCOUNT_RECAP", default="wall-recap", description="Account of the recap"
)
SERVICE_ACCOUNT_PREFERENCES = StringParam(
    "SERVICE_ACCOUNT_PREFERENCES",
    default="wall-preferences",
    description="Account of the preferences",
)
SERVICE_ACCOUNT_MAIL_EVENTS = StringParam(
    "SERVICE_ACCOUNT_MAIL_EVENTS",
    default="wall-mail-events",
    description="Account of the mail provider's reports",
)


def service_account(name: StringParam) -> str:
    """Address of the project's service account `name`; a deploy fills in the values.

    firebase-tools passes the address to the schedule's job unchanged, so it has to be complete.
    From an empty address firebase-tools makes a job and a queue that may call no function.
    """
    return f"{name}@{PROJECT_ID}.iam.gserviceaccount.com"


CHANNEL_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
)
"""The options of the channel of Google's own Firestore client. The generated clients alone send no
keepalive, and would keep a connection that went silent for a quarter of an hour."""


def project_id() -> str | None:
    """The project of this function; None: that of the credentials."""
    return os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("GCLOUD_PROJECT")


@once
def credentials() -> tuple[Any, str]:
    """The credentials of this function and their project; all clients share one token."""
    given, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    return given, project or ""


def in_emulator() -> bool:
    """Whether this process belongs to the local emulator suite."""
    return os.environ.get("FUNCTIONS_EMULATOR") == "true"


def api_stand_ins() -> str | None:
    """`host:port` of the stand-ins for Google's APIs; only the local cloud sets it."""
    return os.environ.get("GOOGLE_API_STAND_INS")


_handed_in: Final[dict[str, str]] = {}


def hand_in(settings: Mapping[str, str]) -> None:
    """Take settings that the environment of a deployed function must not change.

    Only the entry point of local processes calls this; no deploy uploads it.
    """
    _handed_in.update(settings)


def webhook_ca_bundle() -> str | None:
    """Path of additional certificate authorities for receivers; locally only."""
    return _local("WEBHOOK_CA_BUNDLE")


def webhook_allow_loopback() -> bool:
    """Whether webhooks may go to this machine; locally only."""
    return _local("WEBHOOK_ALLOW_LOOPBACK") == "true"


def local_mail_key() -> str:
    """Public key of the local mailbox; empty when deployed."""
    path = _local("MAILBOX_KEY")
    return Path(path).read_text().strip() if path and Path(path).exists() else ""


def _local(name: str) -> str | None:
    given = os.environ if in_emulator() else _handed_in
    return given.get(name) or None
