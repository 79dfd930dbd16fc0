"""Parameters of the deployment.

The parameters are in `.env` in production, and in `.env.demo-wall` for local tests.

https://firebase.google.com/docs/functions/config-env
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from firebase_functions.params import PROJECT_ID, BoolParam, IntParam, StringParam

from functions import local_suite
from functions.environment import project_id


def _param(default: Any, *, explanation: str, required: bool = False) -> Any:
    """Declare a field that a deploy sets. The default of a `required` parameter is for tests."""
    return field(default=default, metadata={"explanation": explanation, "required": required})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The values of a deploy. A `_param` is a parameter with the field's name in capitals."""

    mail_from: str = _param(
        "Wall <wall@example.com>",
        explanation=(
            "Sender of emails, verified at the email provider: an address, or a name and an "
            "address in angle brackets."
        ),
        required=True,
    )
    mail_reply_to: str = _param(
        "",
        explanation=(
            "Where replies to emails go: an address or `Name <address>`. Empty: to the sender."
        ),
    )
    mail_address_line: str = _param(
        "",
        explanation=(
            "The sender's postal address, one line at the end of every email. Many "
            "countries require it. Empty: no line."
        ),
    )
    public_base_url: str = _param(
        "https://wall.example.com",
        explanation=("Base of the links in emails: the site that hosts `public/`."),
        required=True,
    )
    sendgrid_host: str = _param(
        "https://api.sendgrid.com",
        explanation=("SendGrid's API. EU subusers and tests have another host."),
    )
    mail_url: str = _param(
        "",
        explanation=(
            "Mail server for all emails: `smtps://USER@HOST:465`, or `smtp://USER@HOST:587` with "
            "STARTTLS. Write %40 for an @ in USER. The secret SMTP_PASSWORD has the password. "
            "Empty: SendGrid."
        ),
    )
    mail_connections: int = _param(
        4,
        explanation=(
            "Connections to the mail server that the recaps of one instance use at a time, 1 to 50."
        ),
    )
    sendgrid_webhook_key: str = _param(
        "",
        explanation=(
            "Public key of SendGrid's signed Event Webhook. While a key is replaced, both "
            "keys with a comma between. Empty: `mailEvents` refuses every request."
        ),
    )
    trusted_proxy_hops: int = _param(
        0,
        explanation=(
            "Your own proxies in front of Google's front end. Each proxy must add its "
            "client's address to X-Forwarded-For, and no client may reach the functions "
            "around it: such a client could write that entry, and would never be limited. "
            "It stays 0 with Firebase Hosting, because the functions have addresses of "
            "their own."
        ),
    )
    photo_hosts: str = _param(
        "project",
        explanation=(
            "Hosts whose photos emails and the console show, and whose logos emails show, "
            "separated by commas. `project` stands for the project's own buckets, "
            "`storage.example.com/photos/` for a part of a host, and `*` for any host. With "
            "`*` an uploader learns who opens an email, and may change a picture after its "
            "approval."
        ),
    )
    recap_mails_per_day: int = _param(
        20_000,
        explanation=(
            "Recap emails of a tenant in 24 hours. Guests beyond the limit are counted in the "
            "response, and are first in line for the next recap."
        ),
    )
    delivery_instances: int = _param(
        2,
        explanation=(
            "Maximum instances that make first attempts, and as many that read writes of "
            "photos. Retries and slow receivers have half as many each, and at least one. "
            "Each instance is one vCPU of the region's quota."
        ),
    )
    threads: int = _param(
        300,
        explanation=(
            "Threads of one instance, one for each request that Cloud Run admits: 300 at "
            "slow receivers, 80 elsewhere."
        ),
    )
    vpc_connector: str = _param(
        "",
        explanation=(
            "Serverless VPC Access connector that requests to receivers go through, for one "
            "fixed address. It costs about $18 a month and $0.045 a GiB. Empty: none."
        ),
    )
    staff_calls_an_hour: int = _param(
        60,
        explanation=(
            "Calls of one function that one staff member has in an hour, ten times as many "
            "of `resendWebhook`. A preview of 100,000 photos costs $0.03."
        ),
    )
    public_wall: bool = _param(
        default=False,
        explanation=(
            "Whether approved photos are copied, without addresses, to where guests may list them."
        ),
    )
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
        description=each.metadata["explanation"].partition(". ")[0].rstrip("."),
    )
    for each in fields(Parameters)
    if each.metadata
}
"""Declarations of the parameters by field name. A deploy reads them."""

EXPLAINED: Final[Mapping[str, str]] = {
    each.name.upper(): each.metadata["explanation"] for each in fields(Parameters) if each.metadata
}
"""The text of each parameter in `.env` and in the reference, by the name of the parameter."""


def from_deploy() -> Parameters:
    """Return the values of this deploy, also in the process that reads `main.py` for a deploy."""
    values = {name: parameter.value for name, parameter in DECLARED.items()}
    values["sendgrid_webhook_key"] += f",{local_suite.mail_key()}"
    values["mail_connections"] = min(max(values["mail_connections"], 1), 50)
    return Parameters(**values, project=project_id() or "")


def account_address(account: str) -> str:
    """Return the address of a service account of the project, which a deploy fills in.

    firebase-tools passes the address to the schedule's job unchanged, so the address must be
    complete. With an empty address the job and the queue could not call any function.
    """
    return f"{account}@{PROJECT_ID}.iam.gserviceaccount.com"
