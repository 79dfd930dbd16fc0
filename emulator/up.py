"""`python3 -m emulator up`: the sample event, and the addresses of the local service."""

import json
import os
import re
import shlex
from collections.abc import Sequence

from emulator import accounts
from emulator.certificates import SERVER
from emulator.cloud.local_cloud import LOG, LocalCloud
from emulator.firebase import ADDRESS_VARIABLES, PROJECT
from emulator.port_numbers import SMTP_URL
from emulator.receiver import Request, describe
from emulator.sample_event import TENANT, SampleEvent
from emulator.stand_ins import ADDRESSES, StandIns
from functions.ports import LOCATION
from tools.command_list import SMTP_VARIABLE
from tools.paths import ROOT, STATE

# Roles of the sample accounts. All accounts have the same password.
STAFF = ("admin", "moderator", "superadmin")
PASSWORD = "midsummer"  # noqa: S105 - of sample accounts on this machine
# For `. .emulator/calls` in another terminal.
CALLS = STATE / "calls"

# Gunicorn's own log lines.
_STARTING = re.compile(r"\[[^]]+\] \[\d+\] \[INFO\] ")
# Fields of a structured log line that are shown first, or not at all.
_OMITTED_FIELDS = {"severity", "message", "time", "logging.googleapis.com/labels"}

_CALL = (
    "call() { curl -s \"$BASE/$1\" -H 'Content-Type: application/json'"
    ' ${TOKEN:+-H "Authorization: Bearer $TOKEN"} -d "{\\"data\\": $2}"; }'
)
# Cloud Scheduler calls this function every five minutes.
_SWEEP = 'sweep() { curl -s -X POST "$BASE/sweepDeliveries" "$@"; }'


def begin(cloud: LocalCloud, stand_ins: StandIns) -> str:
    """Create the sample event, and write the shell functions of docs/calls.md.

    Returns:
        The overview for the terminal.
    """
    sample = SampleEvent(stand_ins)
    sample.configure()
    sample.publish()
    sample.upload()
    sample.approve()
    staff = {
        role: accounts.sign_in(role, TENANT, email=f"{role}@example.com", password=PASSWORD)
        for role in STAFF
    }
    variables = {
        "BASE": f"http://{cloud.addresses['functions']}/{PROJECT}/{LOCATION}",
        "TOKEN": staff["admin"].id_token,
        "SUPERADMIN": staff["superadmin"].id_token,
        "WALL_SECRET": sample.secret(),
    }
    variables |= {name: cloud.environment[name] for name in ADDRESS_VARIABLES.values()}
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    CALLS.write_text("\n".join([*lines, _CALL, _SWEEP, ""]))
    return _overview(cloud, variables["WALL_SECRET"], lines)


def print_request(request: Request) -> None:
    """Print a webhook request that the receiver got."""
    _say(f"receiver   {describe(request)}")


def print_line(line: str) -> None:
    """Print a function's log line, unless it is noise."""
    if text := readable(line):
        _say(text)


def readable(line: str) -> str:
    """Return a function's log line as text for a terminal, or an empty text for noise.

    A structured line begins with its severity and message.
    """
    text = line.strip()
    if not text or _STARTING.match(text):
        return ""
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        return f"functions  {text}"
    rest = [f"{name}={value}" for name, value in record.items() if name not in _OMITTED_FIELDS]
    first = [str(record.get(name, "")) for name in ("severity", "message")]
    return " ".join(["functions ", *first, *rest])


def _say(text: str) -> None:
    # One write, because several threads print.
    print(f"{text}\n", end="", flush=True)


def _overview(cloud: LocalCloud, secret: str, lines: Sequence[str]) -> str:
    # The certificate's name is localhost.
    receiver = ADDRESSES["webhook receiver"].replace("127.0.0.1", "localhost")
    rows = [
        ("functions", f"http://{cloud.addresses['functions']}/{PROJECT}/{LOCATION}/<name>"),
        *((name, cloud.addresses[name]) for name in ("firestore", "auth")),
        ("receiver", f"https://{receiver}  /ok /flaky /dead /slow"),
        ("mailbox", f"http://{ADDRESSES['mailbox']}/"),
        *([("mail", SMTP_URL)] if SMTP_VARIABLE in os.environ else []),
        ("page", f"http://{cloud.addresses['hosting']}/preferences"),
        ("console", f"http://{cloud.addresses['hosting']}/console"),
        ("log", str(LOG)),
    ]
    return "\n".join(
        [
            "",
            *(f"  {name:10} {place}" for name, place in rows),
            "",
            f"Console accounts: {', '.join(f'{name}@example.com' for name in STAFF)}.",
            f"Password: {PASSWORD}.",
            "",
            "The event midsummer of the tenant demo has three photos and four webhook URLs. Its",
            f"deliveries are signed with {secret}.",
            "To write a receiver, see docs/receiving.md. Its certificate can be",
            f"{SERVER.relative_to(ROOT)}.",
            "",
            "To use the calls of docs/calls.md, run this in another terminal, in this folder:",
            f"  . {CALLS.relative_to(ROOT)}",
            "",
            "It defines call and the command sweep, which finds lost tasks and runs automatic",
            "recovery and notices. Google runs it every five minutes. Here, you run it.",
            "",
            "It also sets these variables:",
            *(f"  {line}" for line in lines),
            "",
            "Ctrl-C ends everything.",
            "",
        ],
    )
