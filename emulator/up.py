"""`python3 -m emulator up`: a small event to try things with, and its addresses."""

import json
import re
import shlex
from collections.abc import Sequence

from emulator import accounts
from emulator.certificates import SERVER
from emulator.cloud.local_cloud import LOG, LocalCloud
from emulator.firebase import ADDRESS_VARIABLES, PROJECT
from emulator.receiver import Request, describe
from emulator.sample_event import TENANT, SampleEvent
from emulator.stand_ins import ADDRESSES, StandIns
from functions.ports import LOCATION
from tools.paths import ROOT, STATE

# Who can sign in to the console; everybody with the same password.
STAFF = ("admin", "moderator", "superadmin")
PASSWORD = "midsummer"  # noqa: S105 - of people who are made up, on this machine
# For `. .emulator/calls` in another terminal.
CALLS = STATE / "calls"

# What gunicorn says of its own life.
_STARTING = re.compile(r"\[[^]]+\] \[\d+\] \[INFO\] ")
# What structured log lines have besides their message, and nobody reads in a terminal.
_UNREAD_FIELDS = {"severity", "message", "time", "logging.googleapis.com/labels"}

_CALL = (
    "call() { curl -s \"$BASE/$1\" -H 'Content-Type: application/json'"
    ' ${TOKEN:+-H "Authorization: Bearer $TOKEN"} -d "{\\"data\\": $2}"; }'
)
# What Cloud Scheduler runs every five minutes.
_SWEEP = 'sweep() { curl -s -X POST "$BASE/sweepDeliveries" "$@"; }'


def begin(cloud: LocalCloud, stand_ins: StandIns) -> str:
    """Make the event, and write what the calls of docs/calls.md need.

    Returns:
        Where everything is, for the terminal.
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
    """Print a webhook that the receiver got."""
    _say(f"receiver   {describe(request)}")


def print_line(line: str) -> None:
    """Print a line that a function has printed, where it says anything."""
    if text := readable(line):
        _say(text)


def readable(line: str) -> str:
    """Return a line of a function for reading, empty where it is only noise.

    A structured line shows its message first.
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
    rest = [f"{name}={value}" for name, value in record.items() if name not in _UNREAD_FIELDS]
    first = [str(record.get(name, "")) for name in ("severity", "message")]
    return " ".join(["functions ", *first, *rest])


def _say(text: str) -> None:
    # In one piece: several threads speak.
    print(f"{text}\n", end="", flush=True)


def _overview(cloud: LocalCloud, secret: str, lines: Sequence[str]) -> str:
    # By the name in its certificate.
    receiver = ADDRESSES["webhook receiver"].replace("127.0.0.1", "localhost")
    rows = [
        ("functions", f"http://{cloud.addresses['functions']}/{PROJECT}/{LOCATION}/<name>"),
        *((name, cloud.addresses[name]) for name in ("firestore", "auth")),
        ("receiver", f"https://{receiver}  /ok /flaky /dead /slow"),
        ("mailbox", f"http://{ADDRESSES['mailbox']}/"),
        ("page", f"http://{cloud.addresses['hosting']}/preferences"),
        ("console", f"http://{cloud.addresses['hosting']}/console"),
        ("log", str(LOG)),
    ]
    return "\n".join(
        [
            "",
            *(f"  {name:10} {place}" for name, place in rows),
            "",
            f"To the console sign in as {', '.join(f'{name}@example.com' for name in STAFF)};",
            f"the password is {PASSWORD}.",
            "",
            "The event midsummer of the tenant demo has three photos and four webhook URLs. Its",
            f"deliveries are signed with {secret}.",
            f"A receiver of your own: docs/receiving.md; certificate: {SERVER.relative_to(ROOT)}",
            "",
            "For docs/calls.md and for clients of the emulators, in another terminal, here:",
            f"  . {CALLS.relative_to(ROOT)}",
            "",
            "It also makes the command sweep, for lost tasks, automatic recovery and notices:",
            "Google runs it every five minutes, and this suite does not.",
            "",
            "What that sets:",
            *(f"  {line}" for line in lines),
            "",
            "Ctrl-C ends everything.",
            "",
        ],
    )
