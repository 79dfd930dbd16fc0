"""What must hold of the notices, whatever has happened; said without the code that it checks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from functions.mail.message import EmailMessage
from functions.webhooks.deliveries.delivery import Delivery, Outcome
from functions.webhooks.notices.watch import Watch
from functions.webhooks.settings.webhook_settings import WebhookSettings
from tests.simulation.simulation import Actor, Returned, Simulation, current

_IN_A_ROW: Final = 5
_AN_HOUR: Final = timedelta(hours=1)
_APART: Final = timedelta(minutes=5)
_CLOCKS_DIFFER: Final = timedelta(seconds=1)


@dataclass(slots=True, eq=False)
class Mail:
    """A mail that was put on record: what it tells, by URL, and what became of it.

    It is `abandoned` where another look found it minutes later, and counts it as sent.
    """

    name: str
    at: datetime
    told: Mapping[str, str]
    actor: Actor
    requests: int = 0
    delivered: int = 0
    in_doubt: bool = False
    taken_back: bool = False
    abandoned: bool = False


class Seen:
    """Everything that was written of the event, and every mail.

    Attributes:
        mails: Those that were put on record, in order.
        given_up: Names of those that were given up.
    """

    def __init__(self, simulation: Simulation) -> None:
        """Nothing yet."""
        self.simulation = simulation
        self.mails: list[Mail] = []
        self._ends: list[tuple[int, Delivery]] = []
        self._settings: list[tuple[int, Mapping[str, Any] | None]] = []
        self._told: dict[str, tuple[str, datetime]] = {}
        self._sent_at: datetime | None = None

    # What was written.

    def ended(self, delivery: Delivery) -> None:
        """A delivery has ended."""
        self._ends.append((self.simulation.time, delivery))

    def saved(self, settings: Mapping[str, Any] | None) -> None:
        """The settings were written, or the event is gone."""
        self._settings.append((self.simulation.time, settings))

    def watched(self, before: Watch, after: Watch) -> None:
        """The watch was written: a mail put on record, taken back, or neither."""
        note = ", ".join(f"{one.url} {one.told}" for one in after.urls)
        self.simulation.note("watch", f"look at {after.look_at}, {after.sending}: {note}")
        was = {one.url: one for one in before.urls}
        if after.sending and after.sending != before.sending:
            told = {
                one.url: str(one.told)
                for one in after.urls
                if one.told_at == after.sent_at and one.told
            }
            assert after.sent_at is not None
            self._claimed(Mail(after.sending, after.sent_at, told, current()))
        elif before.sending and not after.sending:
            [mail] = [one for one in self.mails if one.name == before.sending]
            mail.abandoned = current() is not mail.actor
            kept = {one.url: str(one.told) for one in after.urls}
            mail.taken_back = any(kept.get(url) != told for url, told in mail.told.items()) and (
                after.tries > before.tries
            )
            if mail.taken_back:
                self._forget(mail)
        for one in after.urls:
            last = was[one.url].told if one.url in was else None
            if one.told == "recovered" and last not in ("failing", "disabled", "recovered"):
                self._wrong(f"{one.url} is told to have recovered from nothing")

    def _claimed(self, mail: Mail) -> None:
        actor = mail.actor
        actor.notes["mail"] = mail
        moments = self._moments(actor.began)
        if self._sent_at and mail.at - self._sent_at < _APART - _CLOCKS_DIFFER:
            self._wrong(f"a mail {mail.at - self._sent_at} after the one before")
        if not mail.told:
            self._wrong("a mail that tells nothing")
        for url, told in mail.told.items():
            last = self._told.get(url)
            if last and mail.at - last[1] < _AN_HOUR - _CLOCKS_DIFFER:
                self._wrong(f"{url} is told of twice in {mail.at - last[1]}")
            # Whoever is named after nobody was is told of what is so then.
            if last and last[0] == told and all(one and one["notify"] for _, one in self._settings):
                self._wrong(f"{url} is told to be {told}, as it was before")
            if not any(self._holds(url, told, moment) for moment in moments):
                self._wrong(f"{url} is told to be {told}, and is not")
            if not any(self._is_wanted(url, moment) for moment in moments):
                self._wrong(f"{url} is told of, and nobody wants to know")
        self.mails.append(mail)
        for url, told in mail.told.items():
            self._told[url] = (told, mail.at)
        self._sent_at = mail.at

    def _forget(self, mail: Mail) -> None:
        """It was certainly not taken: as if it had never been."""
        self._told, self._sent_at = {}, None
        for one in self.mails:
            if one is not mail and not one.taken_back:
                self._told |= {url: (told, one.at) for url, told in one.told.items()}
                self._sent_at = one.at

    # What left.

    def requested(self, message: EmailMessage) -> Mail | None:
        """A request has arrived at the mail service."""
        mail: Mail | None = current().notes.get("mail")
        if mail is None:
            self._wrong("a mail that is not on record")
            return None
        mail.requests += 1
        named = {
            one
            for moment in self._moments(mail.actor.began)
            for one in (self._at(moment) or {}).get("notify", ())
        }
        addresses = [copy.address for copy in message.copies]
        if not set(addresses) <= named:
            self._wrong(f"a mail to {addresses}, of whom only {sorted(named)} are named")
        return mail

    def delivered(self, mail: Mail) -> None:
        """The mail service has taken it, and may have said so."""
        mail.delivered += 1
        if mail.delivered > 1:
            self._wrong(f"{mail.name} has left twice")

    # At rest.

    def at_rest(self, watch: Watch, *, complete: bool) -> Iterator[str]:
        """What is wrong at the end; `complete` where no failure has got lost on the way."""
        for mail in self.mails:
            if mail.taken_back and mail.delivered:
                yield f"{mail.name} was taken back, and has left"
            survived = isinstance(mail.actor.end, Returned) and not mail.abandoned
            if survived and not (mail.requests or mail.taken_back or mail.in_doubt):
                yield f"{mail.name} has never left, and nothing kept it"
        told = {url.url: url.told for url in watch.urls}
        settings = self._at(self.simulation.time) or {}
        # Whoever is named again after nobody was is told with the next failure.
        if not complete or not all(fields and fields["notify"] for _, fields in self._settings):
            return
        failed = {
            one.url
            for time, one in self._ends
            if time and one.outcome is Outcome.FAILED and not one.test
        }
        for subscription in WebhookSettings.read(settings).subscriptions:
            if subscription.url in failed:  # since somebody wants to know
                yield from self._incomplete(subscription.url, told.get(subscription.url))

    def _incomplete(self, url: str, told: object) -> Iterator[str]:
        now = self.simulation.time
        if self._holds(url, "disabled", now):
            expected: tuple[object, ...] = ("disabled",)
        elif self._holds(url, "failing", now):
            expected = ("failing",)
        elif self._holds(url, "recovered", now):
            expected = (None, "recovered")
        else:
            return
        if told not in expected:
            yield f"at last {url} is {expected[-1]}, and its people were told {told}"

    # What was so at a moment.

    def _moments(self, since: int) -> Sequence[int]:
        """When something was written since then, and that moment itself."""
        later = [time for time, _ in (*self._ends, *self._settings) if time >= since]
        return [since, *later]

    def _at(self, moment: int) -> Mapping[str, Any] | None:
        return [fields for time, fields in self._settings if time <= moment][-1]

    def _is_wanted(self, url: str, moment: int) -> bool:
        settings = self._at(moment) or {}
        return url in settings.get("urls", ()) and bool(settings.get("notify"))

    def _holds(self, url: str, told: str, moment: int) -> bool:
        if told == "disabled":
            entries = (self._at(moment) or {}).get("disabled", {}).values()
            return url in [entry["url"] for entry in entries]
        counting = [
            one
            for time, one in self._ends
            if time <= moment and one.url == url and not one.test and one.ended_at
        ]
        counting.sort(key=lambda one: (one.ended_at, one.id))
        if told == "recovered":
            return [delivery.outcome for delivery in counting[-1:]] == [Outcome.SUCCESS]
        last = counting[-_IN_A_ROW:]
        return len(last) == _IN_A_ROW and {delivery.outcome for delivery in last} == {
            Outcome.FAILED
        }

    def _wrong(self, sentence: str) -> None:
        self.simulation.violation(sentence)
