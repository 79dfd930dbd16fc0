"""Invariants of failing endpoints, written without the code that they check."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from functions.firestore.model import Document
from functions.mail.message import EmailMessage
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.deliveries.endpoint_url import name_of
from tests.simulation.simulation import Simulation, current

_IN_A_ROW: Final = 5
_TO_GIVE_UP: Final = 100
_FIVE_DAYS: Final = timedelta(days=5)
_AN_HOUR: Final = timedelta(hours=1)
_A_DAY: Final = timedelta(days=1)
_CLOCKS_DIFFER: Final = timedelta(seconds=1)
_SWEEPS: Final = timedelta(minutes=15)


class History:
    """Every write of the event's documents, and every email."""

    def __init__(self, simulation: Simulation) -> None:
        """Start empty."""
        self.simulation = simulation
        self._ends: list[tuple[int, Delivery]] = []
        self._settings: list[tuple[int, Mapping[str, Any] | None]] = []
        self._noted: dict[str, int] = {}

    # Writes.

    def ended(self, delivery: Delivery) -> None:
        """Record the end of a delivery."""
        self._ends.append((self.simulation.time, delivery))

    def saved(self, settings: Mapping[str, Any] | None) -> None:
        """Check a write of the settings, or the event's deletion (spec 7.3)."""
        before = self._settings[-1][1] if self._settings else None
        self._settings.append((self.simulation.time, settings))
        for url in _disabled(settings) - _disabled(before):
            if not any(self._is_dead(url, at) for at in self._moments(current().began)):
                self._wrong(f"{url} was disabled, but must not be")

    def noted(self, before: Document | None, after: Document | None) -> None:
        """Check a write of an endpoint's record."""
        was, is_ = (document.fields if document else {} for document in (before, after))
        if not after or was.get("toldAt") == is_.get("toldAt"):
            return
        url, told = is_["url"], is_["told"] or "recovered"
        # Two runs that started before either was recorded send the same notice.
        knows = current().began > self._noted.get(url, -1)
        self._noted[url] = self.simulation.time
        since = is_["toldAt"] - was["toldAt"] if was.get("toldAt") and knows else _AN_HOUR
        if since < _AN_HOUR - _CLOCKS_DIFFER:
            self._wrong(f"{url} is notified of twice in {since}")
        if knows and told == was.get("told"):
            self._wrong(f"{url} is reported as {told}, as before")
        if knows and told == "recovered" and not was.get("told"):
            self._wrong(f"{url} is reported as recovered without a failure")
        if not any(self._holds(url, told, at) for at in self._moments(current().began)):
            self._wrong(f"{url} is reported as {told}, but is not")

    def begun_again(self, before: Delivery) -> None:
        """Check an automatic resend: only once, and after the receiver has answered."""
        now, ended_at = self.simulation.now, before.ended_at or self.simulation.now
        if (before.outcome, before.round, before.test) != (Outcome.FAILED, 0, False):
            self._wrong(f"{before.id} was sent again in vain")
        if now - ended_at > _A_DAY + _SWEEPS:
            self._wrong(f"{before.id} was sent again {now - ended_at} later")
        if not any(self._is_recovered(before.url, at) for at in self._moments(current().began)):
            self._wrong(f"{before.id} was resent without automatic recovery")
        answered = self._answered(before.url, self.simulation.time)
        if answered is None or answered < ended_at:
            self._wrong(f"{before.id} was sent again to a receiver that is silent")

    # Emails.

    def requested(self, message: EmailMessage) -> None:
        """Check an email at the email provider."""
        moments = self._moments(current().began)
        named = {address for at in moments for address in (self._at(at) or {}).get("notify", ())}
        addresses = [copy.address for copy in message.copies]
        if not set(addresses) <= named:
            self._wrong(f"a mail to {addresses}, of whom only {sorted(named)} are named")
        urls = {url for at in moments for url in (self._at(at) or {}).get("urls", ())}
        names = {name_of(url).replace(".", "[.]") for url in urls}
        if not any(name in message.text for name in names):
            self._wrong("a mail about nothing")

    # The end.

    def at_rest(
        self, records: Iterable[Document], deliveries: Iterable[Delivery], *, complete: bool
    ) -> Iterator[str]:
        """Yield the violations at the end. `complete` means that no failure was lost."""
        told = {record.fields["url"]: record.fields["told"] for record in records}
        now, settings = self.simulation.time, self._at(self.simulation.time) or {}
        if not complete:
            return
        for url in settings.get("recover", ()):
            answered = self._answered(url, now)
            if answered is None or not self._is_recovered(url, now):
                continue
            for delivery in deliveries:
                ended_at = delivery.ended_at or answered
                missed = delivery.outcome is Outcome.FAILED and not (
                    delivery.test or delivery.round
                )
                if delivery.url == url and missed and answered - _A_DAY < ended_at <= answered:
                    yield f"{delivery.id} failed, and was not sent again"
        # New addresses are notified of the next failure.
        if not all(fields and fields["notify"] for _, fields in self._settings):
            return
        for url in settings.get("urls", ()):
            yield from self._incomplete(url, told.get(url), now)

    def _incomplete(self, url: str, told: object, now: int) -> Iterator[str]:
        failed = [
            one for at, one in self._ends if at and one.url == url and one.outcome is Outcome.FAILED
        ]
        if not [delivery for delivery in failed if not delivery.test]:
            return
        was_disabled = any(self._holds(url, "disabled", at) for at, _ in self._settings)
        if was_disabled and not self._holds(url, "disabled", now):
            return  # the admin who enabled it is notified after the next delivery
        expected = {"disabled": "disabled", "failing": "failing", "recovered": None}
        for standing, known in expected.items():
            if self._holds(url, standing, now):
                if told != known:
                    yield f"at the end, {url} is {standing}, but the last notice was {told}"
                return

    # The state at a moment.

    def _moments(self, since: int) -> Sequence[int]:
        """Return that moment and the times of later writes."""
        later = [time for time, _ in (*self._ends, *self._settings) if time >= since]
        return [since, *later]

    def _at(self, moment: int) -> Mapping[str, Any] | None:
        return [fields for time, fields in self._settings if time <= moment][-1]

    def _is_recovered(self, url: str, moment: int) -> bool:
        settings = self._at(moment) or {}
        is_there = url in settings.get("urls", ()) and url in settings.get("recover", ())
        return is_there and not self._holds(url, "disabled", moment)

    def _ended_by(self, url: str, moment: int) -> Sequence[Delivery]:
        """Return the deliveries that had ended at that moment, in the order of their ends."""
        latest = {one.id: one for time, one in self._ends if time <= moment and one.url == url}
        ended = [delivery for delivery in latest.values() if delivery.ended_at]
        return sorted(ended, key=lambda one: (one.ended_at, one.id))

    def _answered(self, url: str, moment: int) -> datetime | None:
        ended = self._ended_by(url, moment)
        answered = [delivery for delivery in ended if delivery.outcome is Outcome.SUCCESS]
        return answered[-1].ended_at if answered else None

    def _holds(self, url: str, told: str, moment: int) -> bool:
        if told == "disabled":
            return url in _disabled(self._at(moment))
        counting = [
            delivery
            for delivery in self._ended_by(url, moment)
            if not delivery.test or delivery.outcome is Outcome.SUCCESS
        ]
        if told == "recovered":
            return [delivery.outcome for delivery in counting[-1:]] == [Outcome.SUCCESS]
        last = counting[-_IN_A_ROW:]
        return len(last) == _IN_A_ROW and {delivery.outcome for delivery in last} == {
            Outcome.FAILED
        }

    def _is_dead(self, url: str, moment: int) -> bool:
        """Return whether the last hundred deliveries failed, the first one five days earlier."""
        in_a_row: list[Delivery] = []
        for delivery in self._ended_by(url, moment):
            if delivery.outcome is Outcome.SUCCESS:
                in_a_row.clear()
            elif not delivery.test:
                in_a_row.append(delivery)
        since = in_a_row[0].ended_at if in_a_row else None
        is_old = since and self.simulation.now - since >= _FIVE_DAYS - _CLOCKS_DIFFER
        return len(in_a_row) >= _TO_GIVE_UP and bool(is_old)

    def _wrong(self, sentence: str) -> None:
        self.simulation.violation(sentence)


def _disabled(settings: Mapping[str, Any] | None) -> set[str]:
    return {entry["url"] for entry in (settings or {}).get("disabled", {}).values()}
