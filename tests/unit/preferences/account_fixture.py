"""User records and the links in emails, on documents in memory."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import flask
from werkzeug.test import EnvironBuilder

from functions.firestore.model import Delete, Document, Merge, Put, Write
from functions.gcp.callables import Call
from functions.gcp.triggers import DocumentWritten
from functions.handlers import preference_calls
from functions.links.token import Scope, TokenKeys
from functions.parameters import Parameters
from functions.ports import Clock
from functions.recap.audience.guest_store import GuestStore, skip_reasons_and_accounts
from functions.recap.audience.guests import Guest
from functions.service import Service
from tests.in_memory.adapters import InMemoryAccounts, InMemorySecrets, one_by_one, service_on
from tests.in_memory.documents import Firestore, InMemoryDocuments

NOW: Final = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
KEY: Final = "k" * 32
ALL: Final = {"lifecycle": True, "transactional": True, "recap": True, "marketing": True}

Ids = tuple[str, ...]
"""The IDs in a link: the record of an address, and an account that had the address. Earlier links
have an account or the record of an address, and the record of the mailbox."""


@dataclass
class AccountFixture:
    """User records with their trigger, and the functions that links call.

    Attributes:
        verified: The verified addresses in Firebase Authentication by user ID.
        waiting: Writes that the trigger has not handled.
        is_late: Whether the trigger runs only when the test calls `run_trigger`.
        kept_keys: The keys of links that the process read before a rotation.
    """

    now: datetime = NOW
    verified: dict[str, str] = field(default_factory=dict)
    waiting: list[DocumentWritten] = field(default_factory=list)
    is_late: bool = False
    kept_keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    documents: InMemoryDocuments = field(init=False)
    service: Service = field(init=False)
    _calls: int = 0

    def __post_init__(self) -> None:
        """Create a database without users."""
        firestore = Firestore(now=lambda: self.now, watches=[self._written])
        self.documents = InMemoryDocuments(firestore)
        self.service = service_on(
            self.documents,
            clock=Clock(lambda: self.now, lambda: 0.0, lambda _: None),
            secrets=InMemorySecrets({"EMAIL_PREFS_KEY": (KEY,)}, self.kept_keys),
            parameters=Parameters(public_base_url="https://wall.events"),
            accounts=InMemoryAccounts(self.addresses),
        )

    def addresses(self, uids: Collection[str]) -> Mapping[str, str]:
        """Return the verified addresses of users."""
        return {uid: self.verified[uid] for uid in uids if uid in self.verified}

    def record(self, uid: str) -> Any:
        """Return the fields of a user's record, or None without one."""
        found = self.documents.get(f"users/{uid}")
        return found and found.fields

    def account(self, uid: str, email: str, **flags: bool) -> None:
        """Write the whole record of an account, like an app."""
        self.write(Put(f"users/{uid}", {"email": email, "emailPreferences": flags}))

    def turn(self, uid: str, **flags: bool) -> None:
        """Change flags, like a user in the app."""
        changes = {("emailPreferences", name): value for name, value in flags.items()}
        self.write(Merge(f"users/{uid}", changes))

    def delete(self, uid: str) -> None:
        """Delete the record of an account, like an app."""
        self.write(Delete(f"users/{uid}"))

    def write(self, write: Write) -> None:
        """Write a record and run the trigger."""
        with self._with_trigger():
            self.documents.commit(write)

    def run_trigger(self) -> None:
        """Run the trigger for all waiting writes, the last ones first."""
        while self.waiting:
            preference_calls.user_written(self.service, self.waiting.pop())

    @contextmanager
    def _with_trigger(self) -> Iterator[None]:
        self.now += timedelta(seconds=1)
        yield
        if not self.is_late:
            self.run_trigger()

    def _written(self, path: str, before: Document | None, after: Document | None) -> None:
        collection, _, uid = path.partition("/")
        if collection == "users" and before != after:
            written = DocumentWritten(
                id=f"{uid}-{self.now}", at=self.now, ids={"uid": uid}, before=before, after=after
            )
            self.waiting.append(written)

    def mailed(self, address: str) -> tuple[Ids, bool]:
        """Return the IDs in the links of a recap to the address, and whether it would be sent."""
        guest = Guest(address)
        store = GuestStore(self.documents, one_by_one)
        reasons, accounts = skip_reasons_and_accounts(
            store, [guest], self.now, self.service.adapters.accounts
        )
        return (guest.uid, *accounts.values()), not reasons

    def look_up(self, ids: Ids) -> dict[str, Any]:
        """Call `getEmailPreferences` with a link, and return its answer."""
        return preference_calls.get_email_preferences(
            self.service, self._call("getEmailPreferences", ids)
        )

    def change(self, ids: Ids, **flags: bool) -> dict[str, Any]:
        """Call `updateEmailPreferences` with a link, and return its answer."""
        with self._with_trigger():
            return preference_calls.update_email_preferences(
                self.service, self._call("updateEmailPreferences", ids, preferences=flags)
            )

    def click(self, ids: Ids) -> int:
        """Click a one-click link, and return the status."""
        token = self._token(ids, Scope.UNSUBSCRIBE)
        query, form = {"token": token}, {"List-Unsubscribe": "One-Click"}
        builder = EnvironBuilder(method="POST", query_string=query, data=form)
        with self._with_trigger():
            return preference_calls.unsubscribe(
                self.service, flask.Request(builder.get_environ())
            ).status_code

    def _call(self, function: str, ids: Ids, **data: object) -> Call:
        self._calls += 1  # each from a new address
        client = f"10.{self._calls >> 16}.{self._calls >> 8 & 255}.{self._calls & 255}"
        raw = flask.Request({"REMOTE_ADDR": client})
        token = self._token(ids, Scope.PREFERENCES)
        return Call(function=function, data={"token": token, **data}, request=raw)

    def _token(self, ids: Ids, scope: Scope) -> str:
        return TokenKeys([KEY]).sign(ids, self.now + timedelta(days=1), scope)


def answer(email: str = "", **flags: bool) -> dict[str, Any]:
    """Return an answer to a link with all other flags on."""
    return {"email": email, "preferences": ALL | flags}
