"""Records what an app knew of its users before the service came: spellings and opt-outs.

Records that are right already stay, so that a second run does nothing.
"""

import argparse
import contextlib
import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from functions.wall.address import address_hash, guest_uid, mailbox, normalised
from ops.cloud import Cloud, OpsError, Outside, say
from ops.documents import Document, Documents, Write, raw

FLAGS: Final = ("lifecycle", "recap", "marketing")
_ALL: Final = "all"
_SHOWN: Final = 3
_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_DESCRIPTION: Final = """\
Records what an app knew of its users: accounts whose address is not written as its mailbox, and the
opt-outs of a file. A second run does nothing.
"""

OptOuts = Mapping[str, set[str]]
"""Flags that are off, by the mailbox."""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line and adopt; the exit status."""
    parser = argparse.ArgumentParser(prog="ops/adopt", description=_DESCRIPTION)
    parser.add_argument("project", help="the project's id")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--optouts", type=Path, help=f"CSV of `address,what`; what: {', '.join(FLAGS)} or {_ALL}"
    )
    given = parser.parse_args(arguments)
    outside = outside or Outside()
    cloud = Cloud(given.project, outside)
    try:
        wanted = _of_file(given.optouts) if given.optouts else {}
        adoption = Adoption(Documents(cloud), dry_run=given.dry_run)
        adoption.users(wanted)
    except OpsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if adoption.overtaken:
        sys.stderr.write(f"{adoption.overtaken} changed meanwhile: run this again.\n")
        return 1
    would = "would be recorded" if given.dry_run else "recorded"
    say(f"{would}: {adoption.changes}" if adoption.changes else "Everything is recorded.")
    return 0


class Adoption:
    """Brings the records of one project in line with its users.

    Attributes:
        changes: How many records were written, or would have been.
        overtaken: How many were not, as somebody else changed them at the same time.
    """

    def __init__(self, documents: Documents, *, dry_run: bool) -> None:
        self._documents = documents
        self._dry_run = dry_run
        self.changes = 0
        self.overtaken = 0

    def users(self, wanted: OptOuts) -> None:
        """Accounts in a spelling of their own, noted; opt-outs, in the records of addresses.

        Raises:
            OpsError: Firestore refuses.
        """
        records: dict[str, Document] = {}
        notes: dict[str, set[str]] = defaultdict(set)
        writes: list[Write] = []
        for user in self._documents.walk("users"):
            uid, email = user.path.partition("/")[2], user.fields.get("email")
            if uid.startswith("guest-"):
                records[uid] = user
            elif isinstance(email, str) and "@" in email:
                owner = _mailbox(email)
                if owner != email:  # a query by the mailbox does not find the account
                    notes[_record(owner)].add(uid)
                writes += _turned_off(user, wanted.get(owner, set()))
        spelled = sorted(uid for accounts in notes.values() for uid in accounts)
        if spelled:
            some = ", ".join([*spelled[:_SHOWN], *["…"][: len(spelled) - _SHOWN]])
            say(f"accounts whose address is written in another way: {len(spelled)} ({some})")
        for owner, flags in wanted.items():
            uid = _record(owner)
            record = records.get(uid) or Document(f"users/{uid}", {}, "")
            records[uid] = record
            writes += _turned_off(record, flags)
        noted = [
            write
            for uid, accounts in notes.items()
            for write in _noted(records.get(uid) or Document(f"users/{uid}", {}, ""), accounts)
        ]
        self._make(_joined(writes + noted))

    def _make(self, writes: Sequence[Write]) -> None:
        made = len(writes) if self._dry_run else self._documents.write(writes)
        self.changes += made
        self.overtaken += len(writes) - made


def _mailbox(email: str) -> str:
    """The form in which the service looks an opt-out up: the mailbox, its domain in ASCII."""
    local, at, domain = normalised(email).rpartition("@")
    with contextlib.suppress(UnicodeError):
        domain = domain.encode("idna").decode()
    return mailbox(f"{local}{at}{domain}")


def _record(owner: str) -> str:
    return guest_uid(address_hash(owner))


def _turned_off(user: Document, flags: set[str]) -> Iterator[Write]:
    """The write that turns flags off in a record, where they are on."""
    choices = user.fields.get("emailPreferences")
    choices = choices if isinstance(choices, dict) else {}
    missing = {flag: False for flag in sorted(flags) if choices.get(flag) is not False}
    if missing:
        yield _with(user, "emailPreferences", missing)


def _noted(record: Document, accounts: set[str]) -> Iterator[Write]:
    """The write that has the record of an address name its accounts (see `onUserWritten`)."""
    there = record.fields.get("accounts")
    there = there if isinstance(there, dict) else {}
    if accounts - there.keys():
        yield _with(record, "accounts", dict.fromkeys(sorted(accounts), True))


def _with(record: Document, field: str, added: Mapping[str, bool]) -> Write:
    """The write that adds entries to a map of a record."""
    there = record.raw.get(field, {}).get("mapValue", {}).get("fields", {})
    entries = {**there, **{name: raw(value) for name, value in added.items()}}
    return Write(record.path, {field: {"mapValue": {"fields": entries}}}, record.version)


def _joined(writes: Sequence[Write]) -> list[Write]:
    """One write for each document."""
    found: dict[str, Write] = {}
    for write in writes:
        before = found.get(write.path)
        fields = {**(before.raw if before else {}), **write.raw}
        found[write.path] = Write(write.path, fields, write.version)
    return list(found.values())


def _flags(what: str) -> set[str]:
    """The flags of `recap`, or of `all`."""
    if what == _ALL:
        return set(FLAGS)
    if what not in FLAGS:
        raise ValueError(f"{what!r} is none of {', '.join(FLAGS)}, {_ALL}")
    return {what}


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
                found[_mailbox(cells[0])] |= _flags(cells[1].lower())
    except (OSError, ValueError) as error:
        raise OpsError(f"{path}: {error}") from error
    return found
