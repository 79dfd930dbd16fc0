"""Notes of `ops/check` on settings that do not fit the data of the project."""

import json
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from functions.email_address import is_guest_uid
from functions.preferences.preferences import ACCOUNTS, MAX_ACCOUNTS, address_record_id
from functions.recap.audience.photos import PhotoHosts
from ops.parts import Look, Note, Parts

_USERS_READ: Final = 20_000
"""User records to read, which costs about a cent."""
_LARGE_KILOBYTES: Final = 200
_TRIGGERING: Final = ("events", "photos", "users")
"""Collections whose documents call triggers."""


class Advice(Parts):
    """Checks with notes as findings: only the operator knows the intention."""

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """All checks."""
        return [
            ("App Check, if anyone may sign in", self.app_check),
            ("Hosts of the photos in recap emails", self.photo_hosts),
            ("Accounts in the records of their addresses", self.accounts),
            ("Large documents", self.large),
        ]

    def photo_hosts(self) -> Iterator[Note]:
        """Yield a note for each host of photos that recap emails leave out."""
        hosts = self._wanted.settings.get("PHOTO_HOSTS", "")
        shown = PhotoHosts.read(hosts, self._cloud.project)
        photos = [document.get("fields", {}) for document in self._sampled("photos")]
        urls = [fields.get("url", {}).get("stringValue") for fields in photos]
        others = {urlsplit(url).netloc for url in urls if url and not shown.allow(url)}
        for host in sorted(others):
            yield Note(
                f"recap emails leave out photos at {host}",
                ask=f"If you trust it, set PHOTO_HOSTS={hosts},{host} in .env and deploy.",
            )

    def accounts(self) -> Iterator[Note]:
        """Yield a note if records do not list accounts. Earlier releases listed some by mailbox."""
        owners: dict[str, str] = {}
        listed: dict[str, set[str]] = {}
        fields_read = [{"fieldPath": "email"}, {"fieldPath": ACCOUNTS}]
        users = {"from": [{"collectionId": "users"}], "select": {"fields": fields_read}}
        for document in self._asked(users | {"limit": _USERS_READ}):
            uid, fields = document["name"].rpartition("/")[2], document.get("fields", {})
            owner = address_record_id({"email": fields.get("email", {}).get("stringValue")})
            if owner and not is_guest_uid(uid):
                owners[uid] = owner
            listed[uid] = set(fields.get(ACCOUNTS, {}).get("mapValue", {}).get("fields", {}))
        missing = [
            uid
            for uid, owner in owners.items()
            if uid not in (there := listed.get(owner, set())) and len(there) < MAX_ACCOUNTS
        ]
        if missing:
            yield Note(
                f"accounts missing from the record of their address: {len(missing)}",
                ask=f"Run ops/adopt {self._cloud.project} so that links find their preferences.",
            )

    def large(self) -> Iterator[Note]:
        """Yield a note for each sampled document that is nearly too large for triggers."""
        for document in (each for name in _TRIGGERING for each in self._sampled(name)):
            fields = json.dumps(document.get("fields", {}), ensure_ascii=False)
            if (kilobytes := len(fields.encode()) // 1024) >= _LARGE_KILOBYTES:
                yield Note(
                    f"{document['name'].partition('/documents/')[2]} has {kilobytes} KB",
                    ask="Keep documents below 256 KB: a write sends no webhooks if the document "
                    "before and after it has over 512 KB.",
                )

    def app_check(self) -> Iterator[Note]:
        """Yield a note if scripts can sign in as guests, and upload at the owner's cost."""
        config = self._readable("identitytoolkit", f"admin/v2/{self._project}/config") or {}
        is_anonymous = config.get("signIn", {}).get("anonymous", {}).get("enabled")
        is_public = self._wanted.settings.get("PUBLIC_WALL") == "true"
        if not is_anonymous and not is_public:
            return
        path = f"v1/{self._project}/services/firestore.googleapis.com"
        service = self._readable("firebaseappcheck", path) or {}
        if service.get("enforcementMode") != "ENFORCED":
            why = "guests sign in anonymously" if is_anonymous else "PUBLIC_WALL is on"
            yield Note(
                f"{why}, and App Check is not enforced for Firestore",
                ask="First let all clients send tokens: see App Check in docs/security.md.",
            )
