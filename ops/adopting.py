"""Records the accounts and opt-outs that an app had before the service was installed.

Also relists accounts that an earlier release listed by mailbox. A second run changes nothing.
"""

import argparse
import csv
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from functions.email_address import deliverable, is_guest_uid, record_id, trimmed
from functions.firestore.model import Document, Query, Write, write_as_read
from functions.preferences.preferences import (
    ACCOUNTS,
    MAX_ACCOUNTS,
    PREFERENCES,
    Flag,
    account_ids,
    accounts_to_list,
    address_record_id,
    stored_choice,
)
from ops.cloud import Cloud, OpsError, Outside, parser_of, run, say
from ops.firebase import verified_addresses, write_each

_ALL: Final = "all"
_DESCRIPTION: Final = """\
Records the accounts of each address, and the opt-outs in a file. Run it after each upgrade. Running
it again changes nothing.
"""

OptOuts: TypeAlias = Mapping[str, set[Flag]]
"""Disabled flags by the record of the address."""

Verified: TypeAlias = Callable[[Collection[str]], Mapping[str, str]]


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/adopt and return its exit status."""
    parser = parser_of("ops/adopt", _DESCRIPTION)
    parser.add_argument("--dry-run", action="store_true", help="only print the changes")
    parser.add_argument(
        "--optouts", type=Path, help=f"CSV of `address,flag`. Flags: {', '.join(Flag)} or {_ALL}"
    )
    return run(_adopt, parser.parse_args(arguments), outside)


def _adopt(options: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    wanted = _of_file(options.optouts) if options.optouts else {}
    documents = outside.documents(cloud)
    users = documents.find_all(Query(collection="users"))
    writes = _writes(users, wanted, lambda uids: verified_addresses(cloud, uids))
    made = len(writes) if options.dry_run else write_each(documents, writes)
    if made < len(writes):
        raise OpsError(f"{len(writes) - made} records changed during the run. Run this again.")
    would = "would be recorded" if options.dry_run else "recorded"
    say(f"{would}: {made}" if made else "Everything is recorded.")


def _writes(users: Iterable[Document], wanted: OptOuts, verified: Verified) -> Sequence[Write]:
    there: dict[str, Document] = {}
    accounts: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)  # by record, then by id
    off: dict[str, set[Flag]] = defaultdict(set, wanted)
    for user in users:
        uid = user.path.partition("/")[2]
        there[uid] = user
        if not is_guest_uid(uid) and (record := address_record_id(user.fields)):
            accounts[record][uid] = user.fields
            off[uid] |= wanted.get(record, set())
    found = []
    for uid in accounts.keys() | off.keys():
        stored = there[uid].fields if uid in there else {}
        fields = _listing(uid, stored, accounts.get(uid, {}), verified) | _opting_out(
            stored, off.get(uid, set())
        )
        if fields:
            version = there[uid].version if uid in there else None
            found.append(write_as_read(f"users/{uid}", fields, version))
    return found


def _listing(
    record: str,
    stored: Mapping[str, Any],
    accounts: Mapping[str, Mapping[str, Any]],
    verified: Verified,
) -> dict[str, Any]:
    listed = set(account_ids(stored))
    wanted = listed | accounts.keys()
    if len(wanted) > MAX_ACCOUNTS:
        wanted = set(accounts_to_list(record, accounts, verified(accounts.keys())))
    return {} if wanted == listed else {ACCOUNTS: dict.fromkeys(sorted(wanted), True)}


def _opting_out(stored: Mapping[str, Any], flags: set[Flag]) -> dict[str, Any]:
    on = [flag for flag in Flag if flag in flags and stored_choice(stored, flag) is not False]
    if not on:
        return {}
    return {PREFERENCES: {**(stored.get(PREFERENCES) or {}), **dict.fromkeys(on, False)}}


_WRAPPINGS: Final = (
    re.compile(r"mailto:([^?]*)(?:\?.*)?", re.IGNORECASE),
    re.compile(r"[^<>]*<([^<>]*)>"),
    re.compile(r"(.*[^;,\s])[;,\s]+"),
    re.compile(
        "[\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb](.*)[\"'\u201c\u201d\u2018\u2019\u00ab\u00bb]"
    ),
)
"""Exported forms of an address: a link, a name before it, a separator, quotes."""


def _address(text: str) -> str | None:
    text = trimmed(text)
    for _ in _WRAPPINGS:
        for wrapping in _WRAPPINGS:
            if found := wrapping.fullmatch(text):
                text = trimmed(found[1])
    return deliverable(text)


def _of_file(path: Path) -> OptOuts:
    """Return the opt-outs in a CSV file. Skip a first line without an address: it is the header."""
    found: dict[str, set[Flag]] = defaultdict(set)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file)
            for number, row in enumerate(rows):
                cells = [trimmed(cell) for cell in row]
                if not any(cells) or (number == 0 and not any("@" in cell for cell in cells)):
                    continue
                where = f"{path}, line {rows.line_num}"
                if len(cells) < 2 or not (address := _address(cells[0])):  # noqa: PLR2004 - a pair
                    raise OpsError(f"{where}: write `address,flag`.")
                if (what := cells[1].lower()) not in (*Flag, _ALL):
                    raise OpsError(f"{where}: {what!r} must be one of {', '.join(Flag)}, {_ALL}.")
                found[record_id(address)] |= set(Flag) if what == _ALL else {Flag(what)}
    except (OSError, ValueError, csv.Error) as error:
        raise OpsError(f"{path}: {error}") from error
    return found
