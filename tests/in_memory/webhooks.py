"""The ports of the webhooks in memory, with the contracts of the real adapters.

Each round trip of the real adapter is one `through`, so that a schedule can have others in between,
repeat a write whose answer was lost, or end the instance. `tests/suite/store/test_contracts.py`
puts the same cases to these and to the real ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from functions.documents.document import Version
from functions.documents.refusals import AlreadyRecordedError, ChangedMeanwhileError
from functions.wall.photo import Photo
from functions.webhooks.deliveries.delivery import (
    Cursor,
    Delivery,
    Ended,
    EndedWithin,
    Outcome,
    Place,
    SentTo,
)
from functions.webhooks.deliveries.ports import StoredDelivery
from functions.webhooks.messages.milestone import Milestone
from functions.webhooks.notices.ports import StoredWatch
from functions.webhooks.notices.watch import Watch
from functions.webhooks.recovery.ports import StoredOrder
from functions.webhooks.recovery.standing_order import StandingOrder
from functions.webhooks.settings.webhook_settings import DisabledUrl, WebhookSettings, key
from functions.webhooks.shared_logs.log_share import LogShare
from functions.webhooks.shared_logs.ports import StoredLogShare
from functions.webhooks.signing.ports import StoredSecret
from functions.webhooks.signing.remembered_secrets import RememberedSecrets
from functions.webhooks.signing.webhook_secret import WebhookSecret
from tests.in_memory.database import (
    AlreadyExistsError,
    ChangedError,
    Create,
    Database,
    Set,
    Stored,
    Update,
)
from tests.in_memory.through import Through, at_once


class InMemoryWall:
    """See `ports.Wall`; documents are the fields of the real ones."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """See `ports.Wall`."""
        return self._through("wall.event", lambda: self._fields(f"events/{event_id}"))

    def count_photos(
        self, event_id: str, at_most: int | None = None, until: datetime | None = None
    ) -> int:
        """See `ports.Wall`; a photo without `createdAt` is in no query by it."""

        def count() -> int:
            if until is None:
                photos = self._database.count(f"events/{event_id}/photos")
            else:
                found = self._database.collection(f"events/{event_id}/photos")
                photos = sum(
                    "createdAt" in one.value and one.value["createdAt"] <= until for _, one in found
                )
            return min(photos, at_most) if at_most else photos

        return self._through("wall.count_photos", count)

    def first_photo_by(self, event_id: str, photo: Photo) -> Photo | None:
        """See `ports.Wall`; a photo without `createdAt` is in no query that is ordered by it."""
        field, value = (
            ("uploaderEmail", photo.uploader_email)
            if photo.guest
            else ("uploaderUid", photo.uploader_uid)
        )

        def first() -> Photo | None:
            theirs = [
                (one.value["createdAt"], photo_id, one)
                for photo_id, one in self._database.collection(f"events/{event_id}/photos")
                if one.value.get(field) == value and "createdAt" in one.value
            ]
            if not theirs:
                return None
            _, photo_id, found = min(theirs, key=lambda one: one[:2])
            return Photo.read(photo_id, found.value, created=found.created, updated=found.version)

        return self._through("wall.first_photo_by", first)

    def milestones(self, event_id: str, numbers: Iterable[int]) -> Mapping[int, str | None]:
        """See `ports.Wall`."""
        wanted = list(numbers)

        def recorded() -> Mapping[int, str | None]:
            found = {one: self._database.get(_milestone(event_id, one)) for one in wanted}
            return {number: one.value["photoId"] for number, one in found.items() if one}

        return self._through("wall.milestones", recorded)

    def _fields(self, path: str) -> Mapping[str, Any] | None:
        found = self._database.get(path)
        return found.value if found else None


class InMemoryDeliveries:
    """See `ports.Deliveries`; documents are the deliveries themselves."""

    def __init__(
        self, database: Database, through: Through = at_once, *, sweep_page: int = 300
    ) -> None:
        """`sweep_page` is how many overdue deliveries one round trip reads."""
        self._database = database
        self._through = through
        self._sweep_page = sweep_page

    def create(
        self, event_id: str, deliveries: Iterable[Delivery], milestones: Iterable[Milestone] = ()
    ) -> None:
        """See `ports.Deliveries`."""
        writes = [Create(_path(event_id, delivery.id), delivery) for delivery in deliveries]
        writes += [
            Create(
                _milestone(event_id, milestone.number),
                {"photoId": milestone.photo_id, "reachedAt": milestone.reached_at},
            )
            for milestone in milestones
        ]

        def commit() -> None:
            self._database.commit(*writes)

        try:
            self._through("deliveries.create", commit)
        except AlreadyExistsError as exists:
            raise AlreadyRecordedError from exists

    def find(self, event_id: str, delivery_ids: Iterable[str]) -> Mapping[str, Delivery]:
        """See `ports.Deliveries`."""
        wanted = list(delivery_ids)

        def find() -> Mapping[str, Delivery]:
            found = {one: self._database.get(_path(event_id, one)) for one in wanted}
            return {delivery_id: one.value for delivery_id, one in found.items() if one}

        return self._through("deliveries.find", find)

    def load(self, event_id: str, delivery_id: str) -> StoredDelivery | None:
        """See `ports.Deliveries`."""

        def load() -> StoredDelivery | None:
            found = self._database.get(_path(event_id, delivery_id))
            return StoredDelivery(found.value, found.version) if found else None

        return self._through("deliveries.load", load)

    def save(self, delivery: Delivery, version: Version) -> None:
        """See `ports.Deliveries`."""
        self._update("deliveries.save", delivery, version, lambda found: _progress(found, delivery))

    def restart(self, delivery: Delivery, version: Version) -> None:
        """See `ports.Deliveries`."""
        self._update(
            "deliveries.restart",
            delivery,
            version,
            lambda found: replace(
                _progress(found, delivery),
                round=delivery.round,
                reason=None,
                begun=0,
                slow=False,
            ),
        )

    def ended(
        self, event_id: str, wanted: EndedWithin, after: Cursor | None, limit: int
    ) -> Sequence[StoredDelivery]:
        """See `ports.Deliveries`."""

        def page() -> Sequence[StoredDelivery]:
            place = (after.ended_at, after.delivery_id) if after else None
            return [
                StoredDelivery(one.value, one.version)
                for ended_at, delivery_id, one in self._ended_within(event_id, wanted)
                if place is None or (ended_at, delivery_id) > place
            ][:limit]

        return self._through("deliveries.ended", page)

    def count_ended(self, event_id: str, wanted: EndedWithin) -> int:
        """See `ports.Deliveries`."""
        return self._through(
            "deliveries.count_ended", lambda: len(self._ended_within(event_id, wanted))
        )

    def _ended_within(
        self, event_id: str, wanted: EndedWithin
    ) -> Sequence[tuple[datetime, str, Stored]]:
        found = (
            (stored.value.ended_at, stored.value.id, stored)
            for stored in self._of(event_id)
            if stored.value.outcome in wanted.outcomes
            and stored.value.ended_at
            and wanted.since <= stored.value.ended_at <= wanted.until
            and (stored.value.test or not wanted.tests_only)
            and wanted.url in (None, stored.value.url)
            and wanted.event_type in (None, stored.value.event_type)
        )
        return sorted(found, key=lambda one: one[:2])

    def newest(
        self, event_id: str, wanted: SentTo, after: Place | None, limit: int
    ) -> Iterator[Delivery]:
        """See `ports.Deliveries`."""

        def page() -> Sequence[Delivery]:
            place = (after.created_at, after.delivery_id) if after else None
            found = [
                stored.value
                for stored in self._of(event_id)
                if _indexed(stored.value.url) == _indexed(wanted.url)
                and wanted.outcome in (None, stored.value.outcome)
                and wanted.event_type in (None, stored.value.event_type)
                and (place is None or (stored.value.created_at, stored.value.id) < place)
            ]
            found.sort(key=lambda one: (one.created_at, one.id), reverse=True)
            return found[:limit]

        yield from self._through("deliveries.newest", page)

    def last_success(self, event_id: str, url: str) -> datetime | None:
        """See `ports.Deliveries`."""
        return self._through(
            "deliveries.last_success",
            lambda: max(self._ends(event_id, url, Outcome.SUCCESS), default=None),
        )

    def has_failed_within(self, event_id: str, url: str, after: datetime, until: datetime) -> bool:
        """See `ports.Deliveries`."""
        return self._through(
            "deliveries.has_failed_within",
            lambda: any(
                after < ended <= until for ended in self._ends(event_id, url, Outcome.FAILED)
            ),
        )

    def count_failed(self, event_id: str, url: str, after: datetime, at_most: int) -> int:
        """See `ports.Deliveries`."""

        def count() -> int:
            ends = self._ends(event_id, url, Outcome.FAILED)
            return min(sum(ended > after for ended in ends), at_most)

        return self._through("deliveries.count_failed", count)

    def last_ended(
        self, event_id: str, url: str, outcomes: Iterable[Outcome], limit: int
    ) -> Sequence[Ended]:
        """See `ports.Deliveries`."""
        wanted = set(outcomes)

        def last() -> Sequence[Ended]:
            found = [
                stored.value
                for stored in self._of(event_id)
                if stored.value.url == url
                and stored.value.outcome in wanted
                and stored.value.ended_at
            ]
            found.sort(key=lambda one: (one.ended_at, one.id), reverse=True)
            return [_end(one) for one in found[:limit]]

        return self._through("deliveries.last_ended", last)

    def first_failure(self, event_id: str, url: str, after: datetime | None) -> datetime | None:
        """See `ports.Deliveries`."""
        return self._through(
            "deliveries.first_failure",
            lambda: min(
                (
                    ended
                    for ended in self._ends(event_id, url, Outcome.FAILED)
                    if after is None or ended > after
                ),
                default=None,
            ),
        )

    def overdue(self, before: datetime) -> Iterator[Delivery]:
        """See `ports.Deliveries`."""
        last: tuple[datetime, str] | None = None

        def page() -> list[tuple[tuple[datetime, str], Delivery]]:
            due = [
                ((one.value.next_attempt_at, path), one.value)
                for path, one in self._database.group("deliveries")
                if one.value.next_attempt_at and one.value.next_attempt_at < before
            ]
            due.sort(key=lambda one: one[0])
            return [one for one in due if last is None or one[0] > last][: self._sweep_page]

        while found := self._through("deliveries.overdue", page):
            yield from (one for _, one in found)
            last = found[-1][0]

    def _update(
        self,
        what: str,
        delivery: Delivery,
        version: Version,
        change: Callable[[Delivery], Delivery],
    ) -> None:
        write = Update(_path(delivery.event_id, delivery.id), change, version)

        def commit() -> None:
            self._database.commit(write)

        try:
            self._through(what, commit)
        except ChangedError as changed:
            raise ChangedMeanwhileError from changed

    def _of(self, event_id: str) -> Iterator[Stored]:
        return (one for _, one in self._database.collection(f"events/{event_id}/deliveries"))

    def _ends(self, event_id: str, url: str, outcome: Outcome) -> Iterator[datetime]:
        return (
            stored.value.ended_at
            for stored in self._of(event_id)
            if stored.value.url == url and stored.value.outcome is outcome and stored.value.ended_at
        )


class InMemoryLogShares:
    """See `ports.LogShares`; documents are the shares themselves."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def create(self, share: LogShare) -> None:
        """See `ports.LogShares`."""

        def commit() -> None:
            self._database.commit(Create(_share(share.event_id, share.id), share))

        with suppress(AlreadyExistsError):
            self._through("shares.create", commit)

    def load(self, event_id: str, share_id: str) -> StoredLogShare | None:
        """See `ports.LogShares`."""

        def load() -> StoredLogShare | None:
            event = self._database.get(f"events/{event_id}")
            found = self._database.get(_share(event_id, share_id))
            if event is None or found is None:
                return None
            return StoredLogShare(found.value, found.version)

        return self._through("shares.load", load)

    def revoke(self, found: StoredLogShare, at: datetime) -> None:
        """See `ports.LogShares`."""
        share = found.share
        write = Update(
            _share(share.event_id, share.id),
            lambda found: replace(found, revoked_at=at, expire_at=at),
            found.version,
        )

        def commit() -> None:
            self._database.commit(write)

        try:
            self._through("shares.revoke", commit)
        except ChangedError as changed:
            raise ChangedMeanwhileError from changed

    def count_living(self, event_id: str, now: datetime, at_most: int) -> int:
        """See `ports.LogShares`."""

        def count() -> int:
            shares = self._database.collection(f"events/{event_id}/shares")
            living = [one for _, one in shares if one.value.expire_at > now]
            return min(len(living), at_most)

        return self._through("shares.count_living", count)


class InMemoryNotices:
    """See `ports.Notices`; documents are the watches themselves."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, event_id: str) -> StoredWatch | None:
        """See `ports.Notices`."""
        found = self._through("notices.load", lambda: self._database.get(_notices(event_id)))
        return StoredWatch(found.value, found.version) if found else None

    def create(self, event_id: str, watch: Watch) -> None:
        """See `ports.Notices`."""

        def commit() -> None:
            self._database.commit(Create(_notices(event_id), watch))

        try:
            self._through("notices.create", commit)
        except AlreadyExistsError as exists:
            raise AlreadyRecordedError from exists

    def save(self, event_id: str, watch: Watch, version: Version) -> None:
        """See `ports.Notices`."""

        def commit() -> None:
            self._database.commit(Update(_notices(event_id), lambda _: watch, version))

        try:
            self._through("notices.save", commit)
        except ChangedError as changed:
            raise ChangedMeanwhileError from changed

    def due(self, before: datetime, limit: int) -> Sequence[str]:
        """See `ports.Notices`."""

        def due() -> Sequence[str]:
            found = [
                (one.value.look_at, path.split("/")[1])
                for path, one in self._database.group("notices")
                if one.value.look_at and one.value.look_at < before
            ]
            return [event_id for _, event_id in sorted(found)][:limit]

        return self._through("notices.due", due)


class InMemoryOrders:
    """See `recovery.ports.StandingOrders`; documents are the orders themselves."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, event_id: str, url: str) -> StoredOrder | None:
        """See `StandingOrders`."""
        path = _order_path(event_id, url)
        found = self._through("orders.load", lambda: self._database.get(path))
        return StoredOrder(found.value, found.version) if found else None

    def create(self, order: StandingOrder) -> None:
        """See `StandingOrders`."""
        write = Create(_order_path(order.event_id, order.url), order)
        try:
            self._through("orders.create", lambda: self._database.commit(write))
        except AlreadyExistsError as exists:
            raise AlreadyRecordedError from exists

    def save(self, order: StandingOrder, version: Version) -> None:
        """See `StandingOrders`."""
        write = Update(_order_path(order.event_id, order.url), lambda _: order, version)
        try:
            self._through("orders.save", lambda: self._database.commit(write))
        except ChangedError as changed:
            raise ChangedMeanwhileError from changed

    def waiting(self, before: datetime, limit: int) -> Sequence[StoredOrder]:
        """See `StandingOrders`."""

        def waiting() -> Sequence[StoredOrder]:
            found = [
                (stored.value.look_at, path, stored)
                for path, stored in self._database.group("recoveries")
                if stored.value.look_at and stored.value.look_at <= before
            ]
            in_order = sorted(found, key=lambda entry: entry[:2])[:limit]
            return [StoredOrder(stored.value, stored.version) for _, _, stored in in_order]

        return self._through("orders.waiting", waiting)


class InMemorySettings:
    """See `ports.Settings`; documents are the fields of the real ones."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, event_id: str) -> WebhookSettings:
        """See `ports.Settings`."""

        def load() -> WebhookSettings:
            found = self._database.get(_settings(event_id))
            if found is None:
                return WebhookSettings()
            return WebhookSettings.read(
                found.value, written_at=found.version, version=found.version
            )

        return self._through("settings.load", load)

    def disable(
        self, event_id: str, given_up: Iterable[DisabledUrl], found: WebhookSettings
    ) -> None:
        """See `ports.Settings`."""
        entries = {key(entry.url): entry.fields for entry in given_up}

        def change(fields: Mapping[str, Any]) -> Mapping[str, Any]:
            disabled = fields.get("disabled")
            kept = disabled if isinstance(disabled, Mapping) else {}
            return {**fields, "disabled": {**kept, **entries}}

        def commit() -> None:
            self._database.commit(Update(_settings(event_id), change, found.version))

        try:
            self._through("settings.disable", commit)
        except ChangedError as changed:
            raise ChangedMeanwhileError from changed


class InMemorySecretRecords:
    """See `ports.SecretRecords`; documents are the secrets themselves."""

    def __init__(self, database: Database, through: Through = at_once) -> None:
        self._database = database
        self._through = through

    def load(self, event_id: str) -> StoredSecret | None:
        """See `ports.SecretRecords`."""
        found = self._through("secrets.get", lambda: self._database.get(_secret(event_id)))
        return StoredSecret(found.value, found.version) if found else None

    def replace(self, event_id: str, found: StoredSecret | None, secret: WebhookSecret) -> None:
        """See `ports.SecretRecords`."""
        path = _secret(event_id)
        write = Update(path, lambda _: secret, found.version) if found else Create(path, secret)

        def commit() -> None:
            self._database.commit(write)

        try:
            self._through("secrets.replace" if found else "secrets.create", commit)
        except (AlreadyExistsError, ChangedError) as changed:
            raise ChangedMeanwhileError from changed

    def put(self, event_id: str, secret: WebhookSecret) -> None:
        """See `ports.SecretRecords`."""
        write = Set(_secret(event_id), secret)

        def commit() -> None:
            self._database.commit(write)

        self._through("secrets.rotate", commit)


class InMemorySecrets(RememberedSecrets):
    """See `RememberedSecrets`, over records in memory."""

    def __init__(
        self,
        database: Database,
        new_secret: Callable[[], str],
        monotonic: Callable[[], float],
        through: Through = at_once,
        *,
        now: Callable[[], datetime],
    ) -> None:
        """`new_secret` gives one that was not there before; the clocks are the instance's."""
        records = InMemorySecretRecords(database, through)
        super().__init__(records, new_secret=new_secret, now=now, monotonic=monotonic)


def _indexed(url: str) -> bytes:
    """The part of a URL that a query of Firestore compares."""
    return url.encode("utf-8", "surrogatepass")[:1500]


def _path(event_id: str, delivery_id: str) -> str:
    return f"events/{event_id}/deliveries/{delivery_id}"


def _share(event_id: str, share_id: str) -> str:
    return f"events/{event_id}/shares/{share_id}"


def _milestone(event_id: str, number: int) -> str:
    return f"events/{event_id}/milestones/{number}"


def _secret(event_id: str) -> str:
    return f"events/{event_id}/secrets/webhooks"


def _notices(event_id: str) -> str:
    return f"events/{event_id}/notices/webhooks"


def _end(delivery: Delivery) -> Ended:
    last = delivery.log[-1] if delivery.log else None
    return Ended(
        outcome=delivery.outcome,
        at=delivery.ended_at or delivery.created_at,
        test=delivery.test,
        status=last.status if last else None,
        error=last.error if last else None,
    )


def _order_path(event_id: str, url: str) -> str:
    return f"events/{event_id}/recoveries/{key(url)}"


def _settings(event_id: str) -> str:
    return f"events/{event_id}/settings/webhooks"


def _progress(found: Delivery, delivery: Delivery) -> Delivery:
    """`found` with the fields that an attempt changes."""
    return replace(
        found,
        outcome=delivery.outcome,
        attempts=delivery.attempts,
        next_attempt_at=delivery.next_attempt_at,
        ended_at=delivery.ended_at,
        log=delivery.log,
        begun=delivery.begun,
        slow=delivery.slow,
    )
