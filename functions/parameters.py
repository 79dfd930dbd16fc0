"""Parameters of the deployment.

The parameters are in `.env` in production, and in `.env.demo-wall` for local tests.

https://firebase.google.com/docs/functions/config-env
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from firebase_functions.params import PROJECT_ID, BoolParam, IntParam, StringParam

from functions import environment, local_suite


def _param(default: Any, *, explanation: str, required: bool = False) -> Any:
    """Declare a field that a deploy sets. The default of a `required` parameter is for tests."""
    return field(default=default, metadata={"explanation": explanation, "required": required})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The values of a deploy. A `_param` is a parameter with the field's name in capitals."""

    mail_from: str = _param(
        "Wall <wall@example.com>",
        explanation=(
            "Sender of emails, as an address or as `Name <address>`. The email provider must have "
            "verified the address."
        ),
        required=True,
    )
    mail_reply_to: str = _param(
        "",
        explanation=(
            "Recipient of replies to emails, as an address or as `Name <address>`. If the "
            "value is empty, replies go to the sender."
        ),
    )
    mail_address_line: str = _param(
        "",
        explanation=(
            "The sender's postal address in one line, which ends every email. Many countries "
            "require a postal address. If the value is empty, emails have no such line."
        ),
    )
    public_base_url: str = _param(
        "https://wall.example.com",
        explanation=("URL of the site that hosts `public/`. The links in emails begin with it."),
        required=True,
    )
    sendgrid_host: str = _param(
        "https://api.sendgrid.com",
        explanation=("URL of SendGrid's API. EU subusers and tests use another host."),
    )
    mail_url: str = _param(
        "",
        explanation=(
            "Mail server for all emails, as `smtps://USER@HOST:465`, or as `smtp://USER@HOST:587` "
            "with STARTTLS. Write %40 for an @ in USER. The secret SMTP_PASSWORD has the password. "
            "If the value is empty, SendGrid sends the emails."
        ),
    )
    mail_connections: int = _param(
        4,
        explanation=(
            "Maximum connections of one instance's recaps to the mail server at a time, from 1 to "
            "50."
        ),
    )
    sendgrid_webhook_key: str = _param(
        "",
        explanation=(
            "Public key of SendGrid's signed Event Webhook. While you replace the key, set both "
            "keys, separated by a comma. If the value is empty, `mailEvents` rejects every request."
        ),
    )
    trusted_proxy_hops: int = _param(
        0,
        explanation=(
            "Number of your own proxies in front of Google's front end. Each proxy must add its "
            "client's address to X-Forwarded-For. No client may bypass the proxies, because such a "
            "client could write that entry itself and evade its rate limit. With Firebase Hosting "
            "the number stays 0, because the functions have their own addresses."
        ),
    )
    photo_hosts: str = _param(
        "project",
        explanation=(
            "Hosts whose photos emails and the console show, and whose logos emails show, "
            "separated by commas. `project` means the project's own buckets, "
            "`storage.example.com/photos/` a part of a host, and `*` any host. With "
            "`*` an uploader learns who opens an email, and may change a picture after its "
            "approval."
        ),
    )
    recap_mails_per_day: int = _param(
        20_000,
        explanation=(
            "Maximum recap emails of a tenant in 24 hours. Guests beyond the limit are counted in "
            "the response, and are first in line for the next recap."
        ),
    )
    delivery_instances: int = _param(
        2,
        explanation=(
            "Maximum instances for first attempts. The same limit applies to instances that read "
            "writes of photos. Retries and slow receivers each have half as many, but at least "
            "one. Each instance uses one vCPU of the region's quota."
        ),
    )
    threads: int = _param(
        300,
        explanation=(
            "Threads of one instance. Each request that Cloud Run admits needs one: up to 300 for "
            "slow receivers, and up to 80 elsewhere."
        ),
    )
    vpc_connector: str = _param(
        "",
        explanation=(
            "Serverless VPC Access connector for requests to receivers, which gives them one fixed "
            "address. It costs about $18 a month and $0.045 per GiB. If the value is empty, no "
            "connector is used."
        ),
    )
    staff_calls_an_hour: int = _param(
        60,
        explanation=(
            "Maximum calls of one function by one staff member in an hour. `resendWebhook` has a "
            "limit ten times as high. A preview of 100,000 photos costs $0.03."
        ),
    )
    public_wall: bool = _param(
        default=False,
        explanation=(
            "Whether guests may list approved photos. The service copies the photos for them, "
            "without email addresses."
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
    return Parameters(**values, project=environment.project_id() or "")


def account_address(account: str) -> str:
    """Return the address of a service account of the project, which a deploy fills in.

    firebase-tools passes the address to the schedule's job unchanged, so the address must be
    complete. With an empty address the job and the queue could not call any function.
    """
    return f"{account}@{PROJECT_ID}.iam.gserviceaccount.com"
