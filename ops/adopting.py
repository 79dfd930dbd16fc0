"""Records an app's state before the service came: milestones, spellings, opt-outs.

Records that are right already stay, so that a second run does nothing. A lack that the service
cannot mend is reported.
"""

import argparse
import contextlib
import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from functions.wall.address import address_hash, guest_uid, normalised
from functions.webhooks.messages.milestone import MILESTONES
from ops import sendgrid
from ops.cloud import Cloud, OpsError, Outside, say
from ops.documents import Document, Documents, Write, raw

FLAGS: Final = ("lifecycle", "recap", "marketing")
_ALL: Final = "all"
_SHOWN: Final = 3
_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_STATUSES: Final = ("pending", "approved", "rejected")
_DESCRIPTION: Final = """\
Records an app's state before the service: milestones that were passed, accounts whose address has
capitals, opt-outs of a file and of SendGrid. Reports events and photos that lack something.
A second run does nothing.
"""

OptOuts = Mapping[str, set[str]]
"""Flags that are off, by the normalised address."""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line and adopt; the exit status."""
    parser = argparse.ArgumentParser(prog="ops/adopt", description=_DESCRIPTION)
    parser.add_argument("project", help="the project's id")
    parser.add_argument("--tenant", help="only events of this tenant")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--optouts", type=Path, help=f"CSV of `address,what`; what: {', '.join(FLAGS)} or {_ALL}"
    )
    parser.add_argument(
        "--sendgrid", action="store_true", help="take SendGrid's global unsubscribes, and --group"
    )
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        type=_group,
        metavar="ID=WHAT",
        help="what somebody does not want who has left the unsubscribe group ID",
    )
    given = parser.parse_args(arguments)
    outside = outside or Outside()
    cloud = Cloud(given.project, outside)
    try:
        wanted: dict[str, set[str]] = defaultdict(set)
        if given.optouts:
            _take(wanted, _of_file(given.optouts))
        if given.sendgrid or given.group:
            key = cloud.type_in("    SendGrid key that may read suppressions: ")
            account = sendgrid.Account(outside.root, given.project, key)
            _take(wanted, _of_sendgrid(account, dict(given.group)))
        adoption = Adoption(Documents(cloud), dry_run=given.dry_run)
        adoption.events(given.tenant)
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
    """Brings the records of one project in line with its events and users.

    Attributes:
        changes: How many records were written, or would have been.
        overtaken: How many were not, as somebody else changed them at the same time.
    """

    def __init__(self, documents: Documents, *, dry_run: bool) -> None:
        self._documents = documents
        self._dry_run = dry_run
        self.changes = 0
        self.overtaken = 0

    def events(self, tenant: str | None) -> None:
        """Milestones that are behind; events without a tenant, photos that lack something.

        Raises:
            OpsError: Firestore refuses.
        """
        writes: list[Write] = []
        for event in self._documents.walk("events", select=["tenantId"]):
            own = event.fields.get("tenantId")
            if not isinstance(own, str) or not own:
                say(f"{event.path}: no tenantId, so nobody is its staff")
            if tenant in (None, own):
                writes += self._behind(event.path, self._look_at_photos(event.path))
        self._make("milestones behind, told to nobody", writes)

    def users(self, wanted: OptOuts) -> None:
        """Accounts in a spelling of their own, noted; opt-outs, in the records of addresses.

        Raises:
            OpsError: Firestore refuses.
        """
        records: dict[str, Document] = {}
        notes: dict[str, set[str]] = defaultdict(set)
        writes: list[Write] = []
        off = dict(wanted)
        for user in self._documents.walk("users"):
            uid, email = user.path.partition("/")[2], user.fields.get("email")
            if uid.startswith("guest-"):
                records[uid] = user
            elif isinstance(email, str) and "@" in email:
                address = canonical(email)
                if address != email:
                    notes[_record(address)].add(uid)
                writes += _turned_off(user, off.get(address, set()))
        spelled = {uid for accounts in notes.values() for uid in accounts}
        self._say_some("accounts whose address has capitals or blanks", spelled)
        for address, flags in off.items():
            uid = _record(address)
            record = records.get(uid) or Document(f"users/{uid}", {}, "")
            records[uid] = record
            writes += _turned_off(record, flags)
        noted = [
            write
            for uid, accounts in notes.items()
            for write in _noted(records.get(uid) or Document(f"users/{uid}", {}, ""), accounts)
        ]
        self._make("records of addresses and accounts", _joined(writes + noted))

    def _look_at_photos(self, event: str) -> int:
        """Report the photos that lack something; how many photos there are."""
        lacks: dict[str, list[str]] = defaultdict(list)
        count = 0
        looked_at = ("status", "url", "uploaderName", "uploaderEmail", "uploaderUid", "createdAt")
        for photo in self._documents.walk(f"{event}/photos", select=looked_at):
            count += 1
            for lack in _lacks(photo.fields):
                lacks[lack].append(photo.path.rpartition("/")[2])
        for lack, photos in lacks.items():
            self._say_some(f"{event}: photos with {lack}", photos)
        return count

    def _behind(self, event: str, count: int) -> Iterator[Write]:
        passed = [number for number in MILESTONES if number <= count]
        if not passed:
            return
        there = {
            found.path.rpartition("/")[2]
            for found in self._documents.walk(f"{event}/milestones", select=[])
        }
        for number in passed:
            if str(number) not in there:
                fields = {"photoId": raw(None), "reachedAt": raw(None)}
                yield Write(f"{event}/milestones/{number}", fields, "")

    def _make(self, what: str, writes: Sequence[Write]) -> None:
        if not writes:
            return
        say(f"{'would write' if self._dry_run else 'writing'} {what}: {len(writes)}")
        made = len(writes) if self._dry_run else self._documents.write(writes)
        self.changes += made
        self.overtaken += len(writes) - made

    def _say_some(self, what: str, names: Any) -> None:
        if names:
            some = sorted(names)[:_SHOWN]
            more = ", …" if len(names) > _SHOWN else ""
            say(f"{what}: {len(names)} ({', '.join(some)}{more})")


def canonical(email: str) -> str:
    """The form in which the service looks an address up: its domain in ASCII."""
    local, at, domain = normalised(email).rpartition("@")
    with contextlib.suppress(UnicodeError):
        domain = domain.encode("idna").decode()
    return f"{local}{at}{domain}"


def _record(address: str) -> str:
    return guest_uid(address_hash(address))


def _lacks(photo: Mapping[str, Any]) -> Iterator[str]:
    """What a photo lacks for the wall, the mails and the webhooks."""
    if photo.get("status") not in _STATUSES:
        yield "a status that is none of pending, approved, rejected: they count as pending"
    if not isinstance(photo.get("url"), str):
        yield "no url: they are in no mail"
    email = photo.get("uploaderEmail")
    if not isinstance(email, str) or not email.strip():
        yield "no uploaderEmail: their guests get no recap"
    elif not _ADDRESS.fullmatch(email.strip()):
        yield "an uploaderEmail that is no address: their guests are skipped"
    if not photo.get("uploaderName"):
        yield "no uploaderName: the mail greets nobody by name"
    if not photo.get("uploaderUid"):
        yield "no uploaderUid: their guests can neither list nor delete them"
    if not photo.get("createdAt"):
        yield "no createdAt: Firestore's own time of the document counts"


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


def _take(wanted: dict[str, set[str]], optouts: OptOuts) -> None:
    for address, flags in optouts.items():
        wanted[address] |= flags


def _flags(what: str) -> set[str]:
    """The flags of `recap`, or of `all`."""
    if what == _ALL:
        return set(FLAGS)
    if what not in FLAGS:
        raise ValueError(f"{what!r} is none of {', '.join(FLAGS)}, {_ALL}")
    return {what}


def _group(text: str) -> tuple[int, set[str]]:
    number, _, what = text.partition("=")
    try:
        return int(number), _flags(what)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: write 12345=marketing") from error


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
                found[canonical(cells[0])] |= _flags(cells[1].lower())
    except (OSError, ValueError) as error:
        raise OpsError(f"{path}: {error}") from error
    return found


def _of_sendgrid(account: sendgrid.Account, groups: Mapping[int, set[str]]) -> OptOuts:
    """Global unsubscribes turn everything off, groups what the operator says.

    Raises:
        OpsError: SendGrid refuses, or a group is not there.
    """
    found: dict[str, set[str]] = {canonical(email): set(FLAGS) for email in account.unsubscribed()}
    names = account.groups()
    if unknown := groups.keys() - names.keys():
        raise OpsError(f"SendGrid has no group {', '.join(map(str, sorted(unknown)))}.")
    for number, name in names.items():
        if number not in groups:
            say(f"not taken: the unsubscribe group {number}, {name} (--group {number}=marketing)")
            continue
        for email in account.unsubscribed_from(number):
            found.setdefault(canonical(email), set()).update(groups[number])
    return found
