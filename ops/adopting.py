"""Records what an app knew of its users before the service came: accounts and opt-outs.

Records that are right already stay, so that a second run does nothing.
"""

import argparse
import contextlib
import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from functions.firestore.model import Document, Query, Write, write_as_read
from functions.wall.address import address_hash, guest_uid, is_guest_uid, mailbox, normalised
from ops.cloud import Cloud, OpsError, Outside, parser_of, run, say
from ops.firebase import write_each

FLAGS: Final = ("lifecycle", "recap", "marketing")
_ALL: Final = "all"
_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_DESCRIPTION: Final = """\
Records what an app knew of its users: the accounts of each mailbox, and the opt-outs of a file. A
second run does nothing.
"""

OptOuts = Mapping[str, set[str]]
"""Flags that are off, by the mailbox."""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line and adopt; the exit status."""
    parser = parser_of("ops/adopt", _DESCRIPTION)
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--optouts", type=Path, help=f"CSV of `address,what`; what: {', '.join(FLAGS)} or {_ALL}"
    )
    return run(_adopt, parser.parse_args(arguments), outside)


def _adopt(given: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    wanted = _of_file(given.optouts) if given.optouts else {}
    documents = outside.documents(cloud)
    writes = _writes(documents.find_all(Query(collection="users")), wanted)
    made = len(writes) if given.dry_run else write_each(documents, writes)
    if made < len(writes):
        raise OpsError(f"{len(writes) - made} changed meanwhile: run this again.")
    would = "would be recorded" if given.dry_run else "recorded"
    say(f"{would}: {made}" if made else "Everything is recorded.")


def _writes(users: Iterable[Document], wanted: OptOuts) -> Sequence[Write]:
    """What is not recorded yet: accounts of mailboxes, and opt-outs."""
    there: dict[str, Document] = {}
    missing: dict[str, dict[str, dict[str, bool]]] = defaultdict(dict)  # by path, then by field
    for user in users:
        there[user.path] = user
        uid, email = user.path.partition("/")[2], user.fields.get("email")
        if is_guest_uid(uid) or not isinstance(email, str) or "@" not in email:
            continue
        owner = _mailbox(email)
        missing[_record(owner)].setdefault("accounts", {})[uid] = True
        if owner in wanted:
            missing[user.path]["emailPreferences"] = dict.fromkeys(sorted(wanted[owner]), False)
    for owner, flags in wanted.items():
        missing[_record(owner)]["emailPreferences"] = dict.fromkeys(sorted(flags), False)
    found = [_adding(path, there.get(path), maps) for path, maps in missing.items()]
    return [write for write in found if write]


def _adding(
    path: str, record: Document | None, maps: Mapping[str, Mapping[str, bool]]
) -> Write | None:
    """The write that adds entries to maps of a record; None where they are there."""
    fields = {}
    for name, entries in maps.items():
        there = record.fields.get(name) if record else None
        wanted = {**(there if isinstance(there, dict) else {}), **entries}
        if wanted != there:
            fields[name] = wanted
    return write_as_read(path, fields, record.version if record else None) if fields else None


def _mailbox(email: str) -> str:
    """The form in which the service looks an opt-out up: the mailbox, its domain in ASCII."""
    local, at, domain = normalised(email).rpartition("@")
    with contextlib.suppress(UnicodeError):
        domain = domain.encode("idna").decode()
    return mailbox(f"{local}{at}{domain}")


def _record(owner: str) -> str:
    """Path of the record of a mailbox."""
    return f"users/{guest_uid(address_hash(owner))}"


def _of_file(path: Path) -> OptOuts:
    """Opt-outs of a CSV; a first line without an address is its heading.

    Raises:
        OpsError: a line is not as it should be.
    """
    found: dict[str, set[str]] = defaultdict(set)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.reader(file), 1):
                cells = [cell.strip() for cell in row]
                if not any(cells) or (number == 1 and "@" not in cells[0]):
                    continue
                if len(cells) < 2 or not _ADDRESS.fullmatch(cells[0]):  # noqa: PLR2004 - a pair
                    raise OpsError(f"{path}, line {number}: write `address,what`.")
                if (what := cells[1].lower()) not in (*FLAGS, _ALL):
                    raise ValueError(f"{what!r} is none of {', '.join(FLAGS)}, {_ALL}")
                found[_mailbox(cells[0])] |= set(FLAGS) if what == _ALL else {what}
    except (OSError, ValueError) as error:
        raise OpsError(f"{path}: {error}") from error
    return found
