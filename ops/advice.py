"""Notes of `ops/check` on settings that do not fit the data of the project."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from functions.email_address import is_guest_uid
from functions.preferences.preferences import ACCOUNTS, MAX_ACCOUNTS, address_record_id
from functions.recap.audience.photos import PhotoHosts
from ops.parts import Lack, Look, Parts

_SAMPLE: Final = 100
"""Photos to read."""
_USERS: Final = 20_000
"""User records to read, which costs about a cent."""
_PAGE: Final = 1_000


class Advice(Parts):
    """Checks with notes as findings: only the operator knows the intention."""

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """All checks."""
        return [
            ("App Check, if anyone may sign in", self.app_check),
            ("Hosts of the photos in recap emails", self.photo_hosts),
            ("Accounts in the records of their addresses", self.accounts),
        ]

    def photo_hosts(self) -> Iterator[Lack]:
        """Yield a note for each host of photos that recap emails leave out."""
        hosts = self._wanted.settings.get("PHOTO_HOSTS", "")
        shown = PhotoHosts.read(hosts, self._cloud.project)
        query = {"from": [{"collectionId": "photos", "allDescendants": True}], "limit": _SAMPLE}
        photos = [document.get("fields", {}) for document in self._asked(query)]
        urls = [fields.get("url", {}).get("stringValue") for fields in photos]
        others = {urlsplit(url).netloc for url in urls if url and not shown.allow(url)}
        for host in sorted(others):
            yield Lack(
                f"recap emails leave out photos at {host}",
                ask=f"If you trust it, set PHOTO_HOSTS={hosts},{host} in .env and deploy.",
                is_note=True,
            )

    def accounts(self) -> Iterator[Lack]:
        """Yield a note if records do not list accounts. Earlier releases listed some by mailbox."""
        owners: dict[str, str] = {}
        listed: dict[str, set[str]] = {}
        for document in self._users():
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
            yield Lack(
                f"accounts missing from the record of their address: {len(missing)}",
                ask=f"Run ops/adopt {self._cloud.project} so that links find their preferences.",
                is_note=True,
            )

    def _users(self) -> Iterator[Mapping[str, Any]]:
        query: dict[str, Any] = {
            "from": [{"collectionId": "users"}],
            "select": {"fields": [{"fieldPath": "email"}, {"fieldPath": ACCOUNTS}]},
            "orderBy": [{"field": {"fieldPath": "__name__"}}],
            "limit": _PAGE,
        }
        for _ in range(_USERS // _PAGE):
            found = self._asked(query)
            yield from found
            if len(found) < _PAGE:
                return
            last = {"referenceValue": found[-1]["name"]}
            query["startAt"] = {"values": [last], "before": False}

    def app_check(self) -> Iterator[Lack]:
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
            yield Lack(
                f"{why}, and App Check is not enforced for Firestore",
                ask="First let all clients send tokens: see App Check in docs/security.md.",
                is_note=True,
            )
