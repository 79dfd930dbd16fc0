"""Exports or erases the data of one guest in Firestore.

Scans every document of the tenant's events and all user records to find all spellings of the
address. Keeps opt-outs in a record named by a hash of the address. Skips events during a recap.
"""

import argparse
import base64
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import requests

from functions.email_address import address_hash, guest_uid, identity, record_id, spellings
from functions.firestore.model import Create, Document, Documents, Query, Update, Write
from functions.preferences.preferences import CHOSEN_AT, CHOSEN_FOR_ADDRESS, Flag, stored_choice
from functions.recap import delivery_status
from ops.cloud import Cloud, OpsError, Outside, parser_of, run
from ops.firebase import write_each
from ops.wanted import settings_of

_DOCUMENTS_PER_READ: Final = 300
_ROUNDS: Final = 5
"""Maximum number of scans. Functions may write during a scan."""
_DESCRIPTION: Final = """\
Exports or erases the data of one guest: names and addresses in photos, deliveries and records.
Keeps an opt-out by a hash of the address. The export is JSON on the standard output.
"""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/guest and return its exit status."""
    parser = parser_of("ops/guest", _DESCRIPTION)
    parser.add_argument("what", choices=["export", "erase"])
    parser.add_argument("email", help="the guest's address, in any spelling")
    parser.add_argument("--tenant", help="limit to events of this tenant, without user records")
    parser.add_argument("--dry-run", action="store_true", help="only print the erasures")
    return run(_export_or_erase, parser.parse_args(arguments), outside)


def _export_or_erase(options: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    guest = GuestData(outside.documents(cloud), options.email, options.tenant, now=outside.now)
    if options.what == "erase":
        _erase(guest, cloud, outside.root, dry_run=options.dry_run)
        return
    json.dump(guest.export(), sys.stdout, indent=2, ensure_ascii=False, default=_plain)
    sys.stdout.write("\n")


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else repr(value)


def _erase(guest: "GuestData", cloud: Cloud, root: Path, *, dry_run: bool) -> None:
    for kind, count in sorted(guest.erase(dry_run=dry_run).items()):
        _say(f"{'would erase' if dry_run else 'erased'} in {kind}: {count}")
    for path in guest.mentions:
        _say(f"left for review: the address appears in {path}")
    if guest.sending:
        raise OpsError(
            f"A recap is being sent: {', '.join(sorted(guest.sending))}. It may email the guest. "
            "Run this again when the recap is done, in ten minutes at the latest."
        )
    if guest.tenant:
        _say("User records and SendGrid belong to no tenant. To erase them, omit --tenant.")
        return
    for uid in guest.accounts:
        _say(f"account {uid}: to delete it, use Firebase Authentication")
    if settings_of(root, cloud.project).get("MAIL_URL"):
        _say("left: logs and returned emails of the mail server in MAIL_URL")
    if dry_run:
        _say("would ask SendGrid to erase the address")
        return
    key = cloud.type_in("    SendGrid key that may erase recipients (optional): ")
    if key:
        host = settings_of(root, cloud.project).get("SENDGRID_HOST", "")
        _erase_at_sendgrid(guest.addresses, host=host, key=key)
        _say("SendGrid accepted the request to erase the address")
    else:
        _say("left: SendGrid's records, which need a key with recipients.erasejob.create")


def _erase_at_sendgrid(addresses: Sequence[str], *, host: str, key: str) -> None:
    # https://www.twilio.com/docs/sendgrid/api-reference
    url = f"{host.rstrip('/')}/v3/recipients/erasejob"
    body, headers = {"email_addresses": list(addresses)}, {"Authorization": f"Bearer {key}"}
    try:
        answer = requests.post(url, json=body, headers=headers, timeout=60)
    except requests.RequestException as error:
        raise OpsError(f"Cannot reach SendGrid: {error}") from error
    if not answer.ok:
        raise OpsError(f"SendGrid rejected the erasure: {answer.status_code} {answer.text[:300]}")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


@dataclass(frozen=True)
class Found:
    """A document with data of the guest, and the write that removes the data, or None to keep it.

    If `waits`, the document is written after a later scan.
    """

    kind: str
    document: Document
    write: Write | None
    waits: bool = False

    @property
    def event(self) -> str:
        """ID of the event that contains the document, or an empty string."""
        collection, event, *below = self.document.path.split("/")
        return event if collection == "events" and below else ""


class GuestData:
    """The data of the guest with the address `email`.

    Attributes:
        tenant: The tenant whose events are scanned, or None for all tenants.
        accounts: User IDs of the guest's accounts that were found in records.
        mentions: Paths of documents with the address in an unexpected place.
        sending: Events with records of the guest that were skipped because of a running recap.
    """

    def __init__(
        self, documents: Documents, email: str, tenant: str | None, *, now: Callable[[], datetime]
    ) -> None:
        self._documents = documents
        self._now = now
        self.tenant = tenant
        self.addresses = sorted(spellings(email))
        self._identity = identity(email)
        # Earlier releases also stored records under the Unicode form of a domain.
        self._hashes = {address_hash(spelling) for spelling in self.addresses}
        self._records = {guest_uid(digest) for digest in self._hashes}
        self._record = record_id(email)
        self._address = _whole(self.addresses)
        self._photos: dict[str, set[str]] = {}
        self.accounts: set[str] = set()
        self.mentions: set[str] = set()
        self.sending: set[str] = set()

    def export(self) -> dict[str, Any]:
        """Return the guest's data in a readable form."""
        written: dict[str, Any] = {"address": self.addresses[0]}
        for found in self._find():
            document, fields = found.document, dict(found.document.fields)
            if not document.version:
                continue
            if isinstance(body := fields.get("body"), str):
                fields["body"] = json.loads(body)
            if found.kind == "deliveries":
                fields = self._own_part(document.path, fields)
            if found.kind in _BY_HASH:  # contains data of other guests
                fields = {"knownBy": "a hash of your address"}
            written.setdefault(found.kind, []).append({"document": document.path, **fields})
        return written

    def erase(self, *, dry_run: bool) -> dict[str, int]:
        """Erase the data and return the number of documents by kind.

        Raises:
            OpsError: Concurrent changes overtook every attempt.
        """
        counts: dict[str, int] = {}
        events: set[str] = set()
        for _ in range(_ROUNDS):
            there = [found for found in self._find() if found.write]
            events |= {found.event for found in there if found.event}
            # Read the locks after each scan, which takes minutes, and after the last write: a recap
            # that started earlier still has the address.
            self.sending |= {event for event in events if self._is_sending(event)}
            free = [
                found
                for found in there
                if found.event not in self.sending and (dry_run or not found.waits)
            ]
            for found in free:
                counts[found.kind] = counts.get(found.kind, 0) + 1
            if dry_run or not free:
                return counts
            write_each(self._documents, [found.write for found in free if found.write])
        raise OpsError("Documents of the guest changed during the erasure. Run this again.")

    def _is_sending(self, event_id: str) -> bool:
        lock = self._documents.get(f"events/{event_id}/locks/recap")
        leased = lock.fields.get("leasedUntil") if lock else None
        return isinstance(leased, datetime) and self._now() < leased

    def _find(self) -> Iterator[Found]:
        self.mentions.clear()
        for event in self._walk("events", ["tenantId"]):
            if self.tenant in (None, event.fields.get("tenantId")):
                yield from self._of_event(event.path)
        if self.tenant is None:
            yield from self._of_users()

    def _walk(self, collection: str, select: Sequence[str] = ()) -> Iterator[Document]:
        """Return all documents of a collection, or below a document, in the order of paths."""
        query = Query(collection=collection, group=collection.endswith("/"), select=select)
        return self._documents.find_all(replace(query, limit=_DOCUMENTS_PER_READ))

    def _of_event(self, event: str) -> Iterator[Found]:
        photos = self._photos.setdefault(event, set())  # keep the IDs of earlier scans
        photos |= {
            photo.path.rpartition("/")[2]
            for photo in self._walk(f"{event}/photos", ["uploaderEmail"])
            if self._is_guest(photo.fields.get("uploaderEmail"))
        }
        for document in self._walk(f"{event}/"):
            _, _, collection, name, *deeper = document.path.split("/")
            match [collection, *deeper[::2]]:
                case ["photos" | "wall"] if name in photos:
                    yield from self._photo(collection, document)
                case ["deliveries"] if delivery := self._delivery(document, photos):
                    yield delivery
                case ["recaps", "batches"]:
                    yield from self._batch(document)
                case ["recaps", "outcomes"]:
                    yield from self._outcome(document)
                case _ if self._is_named(document.fields):
                    self.mentions.add(document.path)

    def _photo(self, kind: str, photo: Document) -> Iterator[Found]:
        gone = ["uploaderEmail"] if "uploaderEmail" in photo.fields else []
        if gone or photo.fields.get("uploaderName"):
            yield Found(kind, photo, _change(photo, {"uploaderName": ""}, gone))

    def _delivery(self, delivery: Document, photos: set[str]) -> Found | None:
        """Return a delivery about the guest's photo, or with the address anywhere."""
        try:
            body = json.loads(delivery.fields["body"])
            ids = _photo_ids(body["data"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        is_theirs = bool(ids & photos)
        if not is_theirs and not self._is_named(body) and not self._is_named(delivery.fields):
            return None
        scrubbed = self._scrubbed(body, is_theirs=is_theirs)
        text = json.dumps(scrubbed, ensure_ascii=False, separators=(",", ":"))
        log = delivery.fields.get("log") or []
        if text == delivery.fields["body"] and not any("answer" in attempt for attempt in log):
            return None
        # Receivers may echo the request.
        attempts = [
            {name: value for name, value in attempt.items() if name != "answer"} for attempt in log
        ]
        return Found("deliveries", delivery, _change(delivery, {"body": text, "log": attempts}))

    def _own_part(self, path: str, delivery: Mapping[str, Any]) -> dict[str, Any]:
        """Return the event type, the time and the guest's own data in a delivery.

        The URL has the organizer's credentials, and logged responses may name other guests.
        """
        body, photos = delivery["body"], self._photos["/".join(path.split("/")[:2])]
        data = body["data"]
        is_own = bool(_photo_ids(data) & photos) or self._is_guest(data.get("uploaderEmail"))
        shown = {name: body.get(name) for name in ("event", "eventId", "timestamp")}
        return shown | {"data": data if is_own else {}}

    def _scrubbed(self, value: Any, *, is_theirs: bool) -> Any:
        """Return a body without the guest. `is_theirs` if it is about the guest's photo."""
        match value:
            case dict():
                is_theirs = is_theirs or self._is_guest(value.get("uploaderEmail"))
                without = {"uploaderName": "", "uploaderEmail": None} if is_theirs else {}
                return {
                    name: without[name]
                    if name in without
                    else self._scrubbed(inner, is_theirs=is_theirs)
                    for name, inner in value.items()
                }
            case list():
                return [self._scrubbed(inner, is_theirs=is_theirs) for inner in value]
            case str() if self._address.search(value):
                return ""
        return value

    def _batch(self, batch: Document) -> Iterator[Found]:
        fields = {
            name: [guest for guest in batch.fields[name] if guest not in self._hashes]
            for name in ("recipients", "refused", "resent")
            if self._hashes & set(batch.fields.get(name) or ())
        }
        if fields:
            yield Found("batches of recaps", batch, _change(batch, fields))

    def _outcome(self, document: Document) -> Iterator[Found]:
        """Yield the delivery statuses of a recap if the guest has one of them."""
        before = document.fields.get("entries")
        fates = delivery_status.read_entries(before) if isinstance(before, bytes) else {}
        kept = {guest: fate for guest, fate in fates.items() if guest not in self._hashes}
        if len(kept) < len(fates):
            entries = delivery_status.entries_of(kept)
            yield Found("mails of recaps", document, _change(document, {"entries": entries}))

    def _of_users(self) -> Iterator[Found]:
        """Remove the address from accounts after their opt-outs are in its own record.

        A write may be overtaken, and later scans cannot find an account without the address.
        """
        off: dict[str, Any] = {}
        mine: list[Document] = []
        for user in self._walk("users"):
            uid = user.path.partition("/")[2]
            if uid not in self._records and not self._is_guest(user.fields.get("email")):
                if self._is_named(user.fields):
                    self.mentions.add(user.path)
                continue
            mine.append(user)
            off |= {flag: False for flag in Flag if stored_choice(user.fields, flag) is False}
        records = {user.path.partition("/")[2]: user for user in mine}
        own = records[self._record].fields if self._record in records else {}
        is_kept = all(stored_choice(own, Flag(flag)) is False for flag in off)
        for uid in sorted(records.keys() - self._records):
            self.accounts.add(uid)
            user = records[uid]
            yield Found("users", user, _change(user, {}, ["email"]), waits=not is_kept)
        kept = {"emailPreferences": off} if off else {}
        for uid in sorted(self._records):
            path, record = f"users/{uid}", records.get(uid)
            if record:
                fields = kept | self._of_others(record)
                gone = sorted(record.fields.keys() - fields.keys())
                write = _change(record, fields, gone)
                yield Found("users", record, None if record.fields == fields else write)
            elif kept and uid == self._record:
                yield Found("users", Document(path, {}, 0, self._now()), Create(path, kept))

    def _of_others(self, record: Document) -> dict[str, Any]:
        """Return the fields to keep in the record of the address: other accounts, preferences."""
        accounts = record.fields.get("accounts")
        others = set(accounts if isinstance(accounts, dict) else ()) - self.accounts
        fields: dict[str, Any] = {"accounts": dict.fromkeys(sorted(others), True)} if others else {}
        kept = (CHOSEN_AT, CHOSEN_FOR_ADDRESS)
        return fields | {name: record.fields[name] for name in kept if name in record.fields}

    def _is_guest(self, email: object) -> bool:
        return isinstance(email, str) and identity(email) == self._identity

    def _is_named(self, value: Any) -> bool:
        """Return whether a text anywhere in the value contains the address."""
        match value:
            case dict():
                return any(self._is_named(inner) for pair in value.items() for inner in pair)
            case list():
                return any(self._is_named(inner) for inner in value)
            case str():
                return bool(self._address.search(value))
        return False


def _photo_ids(data: Mapping[str, Any]) -> set[str | None]:
    ids = {data[part]["id"] for part in ("photo", "latestPhoto") if part in data}
    return ids | {data.get("firstPhotoId")}


def _change(read: Document, fields: Mapping[str, Any], gone: Sequence[str] = ()) -> Write:
    """Return an update that fails if the document has changed since it was read."""
    return Update(read.path, fields, delete=gone, version=read.version)


_BY_HASH: Final = ("batches of recaps", "mails of recaps")


def _whole(addresses: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern for the addresses that does not match within longer addresses.

    As in `identity`, only ASCII letters of the local part are case-insensitive.
    """
    parts = [address.rpartition("@") for address in addresses]
    some = "|".join(
        f"(?ai:{re.escape(local)}{at})(?i:{re.escape(domain)})" for local, at, domain in parts
    )
    return re.compile(rf"(?<![\w.+%~^!#$-])(?<!\w')(?:{some})(?![\w-])(?!\.\w)")
