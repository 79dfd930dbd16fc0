"""Parameters of the deployment: `.env` in production, `.env.demo-wall` in the local suite.

And the project and the credentials of this process.

https://firebase.google.com/docs/functions/config-env
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import google.auth
from firebase_functions.params import PROJECT_ID, BoolParam, IntParam, StringParam

from functions.cache import once


def _param(default: Any, description: str, *, required: bool = False) -> Any:
    """A field that a deploy gives; of a `required` parameter the default is for tests alone."""
    return field(default=default, metadata={"description": description, "required": required})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The values of a deploy; each `_param` is a parameter, by its name in capitals."""

    mail_from: str = _param("Wall <wall@example.com>", "Sender of the recap mails", required=True)
    mail_reply_to: str = _param("", "Where answers to mails go; empty: to the sender")
    mail_address_line: str = _param("", "Postal address under mails; may be empty")
    public_base_url: str = _param(
        "https://wall.example.com", "Base of the links in mails", required=True
    )
    sendgrid_host: str = _param("https://api.sendgrid.com", "Address of SendGrid's API")
    sendgrid_webhook_key: str = _param("", "Public keys of SendGrid's Event Webhook")
    trusted_proxy_hops: int = _param(0, "Own proxies in front of Google's front end")
    photo_hosts: str = _param("project", "Hosts whose photos may stand in mails")
    recaps_per_address_a_day: int = _param(3, "Recaps of a tenant to one address")
    recap_mails_per_day: int = _param(20_000, "Recap mails of a tenant, at most 60,000")
    delivery_instances: int = _param(2, "Instances for first attempts, at most")
    threads: int = _param(300, "Threads of one instance")
    vpc_connector: str = _param("", "Connector of requests to receivers; may be empty")
    staff_calls_an_hour: int = _param(60, "Calls of one function by one person of staff")
    public_wall: bool = _param(default=False, description="Whether guests may list approved photos")
    project: str = "demo-wall"
    recipients_per_recap: int = 5000
    event_deliveries_a_second: int = 80
    """Deliveries of busy events that one instance makes due per second. All instances together stay
    below the 500 dispatches per second of a queue."""
    deliveries_at_once: int = 300
    """Deliveries that one call of an organizer, of a recovery or of the sweep reads."""


_KINDS: Final[Mapping[Any, Any]] = {str: StringParam, int: IntParam, bool: BoolParam}

DECLARED: Final[Mapping[str, Any]] = {
    each.name: _KINDS[each.type](
        each.name.upper(),
        default=None if each.metadata["required"] else each.default,
        description=each.metadata["description"],
    )
    for each in fields(Parameters)
    if each.metadata
}
"""The declaration of each parameter, which a deploy reads, by the name of its field."""


def of_deploy() -> Parameters:
    """The values of this deploy; the process that reads `main.py` for a deploy has them too."""
    values = {name: parameter.value for name, parameter in DECLARED.items()}
    values["sendgrid_webhook_key"] += f",{local_mail_key()}"
    return Parameters(**values, project=project_id() or "")


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
    in_emulator = os.environ.get("FUNCTIONS_EMULATOR") == "true"
    given = os.environ if in_emulator else _handed_in
    return given.get(name) or None


def account_address(account: str) -> str:
    """Return the address of a service account of the project; a deploy fills in the project.

    firebase-tools passes the address to the schedule's job unchanged, so it has to be complete.
    From an empty address firebase-tools creates a job and a queue that may call no function.
    """
    return f"{account}@{PROJECT_ID}.iam.gserviceaccount.com"
