"""A world with calls of `sendEventRecap`, an email provider, and guests who opt out."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from emulator.provider_models.sendgrid import NO_ANSWER, Answer, Problem, accepted, refused
from functions.cache import lazy_property
from functions.call.caller import Caller, Role
from functions.call.errors import CallError
from functions.email_address import address_hash
from functions.firestore.model import ChangedMeanwhileError, Document, Put, Query
from functions.handlers import recap_calls
from functions.mail.mail_status import DeliveryReport, DeliveryStatus, Tally
from functions.mail.message import EmailMessage
from functions.mail.outcome import SendOutcome
from functions.mail.smtp import combined
from functions.parameters import Parameters
from functions.ports import Clock, NotDueError, ParallelMap, Task
from functions.recap.daily_limit import counter, counters_path
from functions.recap.delivery_status import DeliveryReportRecorder
from functions.recap.ledger.batch import (
    Batch,
    BatchState,
    Counts,
    RecapKey,
    RecapState,
    recap_state,
    total,
)
from functions.recap.ledger.recap_store import COOLDOWN, Lock
from functions.recap.preview import Preview, RecapPreview
from functions.recap.recap_arguments import PreviewArguments, RecapArguments, ScheduleArguments
from functions.recap.report import RecapResult
from functions.recap.schedule import task_of
from functions.service import Service
from tests.in_memory.adapters import (
    InMemoryAccounts,
    InMemoryRandom,
    InMemoryService,
    InMemoryThreads,
    service_on,
)
from tests.in_memory.documents import Firestore, InMemoryDocuments
from tests.in_memory.mailer import InMemoryMailer
from tests.in_memory.ports import InMemoryTaskQueue, InMemoryTasks
from tests.in_memory.through import ServiceError, Through
from tests.simulation.dispatch import cloud_tasks
from tests.simulation.faults import Fault, FaultPlan
from tests.simulation.simulation import (
    HOUR,
    MINUTE,
    SECOND,
    START,
    End,
    Instance,
    Mutex,
    Pool,
    Returned,
    Simulation,
    current,
)

T = TypeVar("T")

EVENT: Final = "e1"
TENANT: Final = "t1"
PARAMETERS: Final = Parameters(photo_hosts="*", recipients_per_recap=6)
_SLACK: Final = timedelta(seconds=1)
"""Maximum difference between clocks."""

_CALLS_AT: Final = (
    0,
    10 * SECOND,
    MINUTE,
    10 * MINUTE + 5 * SECOND,
    10 * MINUTE + 30 * SECOND,
    11 * MINUTE,
    12 * MINUTE,
    15 * MINUTE,
    19 * MINUTE,
    22 * MINUTE,
    30 * MINUTE,
    70 * MINUTE,
    5 * HOUR,
    23 * HOUR,
    24 * HOUR,
    24 * HOUR + MINUTE,
    25 * HOUR,
)
_SECOND_EVENING_AT: Final = (28 * HOUR, 28 * HOUR + MINUTE, 28 * HOUR + 11 * MINUTE)
_PLANS: Final = (
    (0, 2 * MINUTE),
    (30 * SECOND, 11 * MINUTE),
    (5 * MINUTE, 30 * MINUTE),
    (HOUR, 5 * HOUR),
    (20 * HOUR, 25 * HOUR),
)
"""Time of the call that schedules a recap, and time of the recap."""
_LAST_CALL: Final = 55 * HOUR
_SWEEPS_AT: Final = (
    11 * MINUTE,
    12 * MINUTE,
    21 * MINUTE,
    152 * MINUTE + 5 * SECOND,
    161 * MINUTE,
    3 * HOUR,
    4 * HOUR,
    5 * HOUR,
    7 * HOUR + 30 * MINUTE,
    8 * HOUR,
    25 * HOUR,
    27 * HOUR + 31 * MINUTE,
    28 * HOUR,
)
_LAST_SWEEPS_AT: Final = (57 * HOUR, 59 * HOUR, 61 * HOUR)
_DELAYS: Final = (
    5 * MINUTE,
    61 * MINUTE,
    139 * MINUTE,
    149 * MINUTE,
    150 * MINUTE + 5 * SECOND,
    4 * HOUR,
)
"""Times around the task of a scheduled recap, its queue's end, and the sweep's end."""
_OPT_OUTS_AT: Final = (0, 3 * SECOND, 5 * MINUTE, 11 * MINUTE, 30 * MINUTE)

_ANSWERS: Final[tuple[tuple[Answer, bool], ...]] = (
    (accepted("made-up"), True),
    (refused(429), False),
    (refused(400, Problem("no", "personalizations.0.to.0.email")), False),
    (refused(401), False),
    (refused(503), False),
    (refused(500), False),
    (Answer(502), True),
    (Answer(502), False),
    (Answer(503), True),
    (Answer(429), False),
    (NO_ANSWER, True),
    (NO_ANSWER, False),
)
"""Responses, and whether the email provider has accepted the emails."""

_STORIES: Final[tuple[tuple[DeliveryStatus, ...], ...]] = (
    (DeliveryStatus.DELIVERED,),
    (DeliveryStatus.DELIVERED, DeliveryStatus.COMPLAINED | DeliveryStatus.UNWELCOME),
    (DeliveryStatus.BOUNCED | DeliveryStatus.UNREACHABLE,),
    (DeliveryStatus.DELIVERED, DeliveryStatus.BOUNCED),
    (DeliveryStatus.DROPPED,),
    (DeliveryStatus.DROPPED | DeliveryStatus.UNWELCOME,),
    (DeliveryStatus.DROPPED | DeliveryStatus.UNREACHABLE,),
    (DeliveryStatus.DELIVERED, DeliveryStatus.UNWELCOME),
)
"""Possible delivery reports about an email, in their order."""

_TOLD_OTHERWISE: Final = 0.4
_REPORT_DELAYS: Final = (SECOND, 3 * SECOND, 30 * SECOND, 5 * MINUTE, HOUR)
_OUTAGE_RESENDS_AT: Final = (12 * MINUTE, 32 * MINUTE)
_OUTAGE_REPORT_DELAYS: Final = (5 * MINUTE, 14 * MINUTE, 25 * MINUTE)
_TOLD_AGAIN_AFTER: Final = (0, SECOND, MINUTE, HOUR)

_TROUBLE: Final = (0.0, 0.0, 0.1, 0.4)
_HOLD_UPS: Final = (0.0, 0.0, 0.04, 0.12)


class _ServiceWithSmallPreviews(InMemoryService):
    """A service that counts skipped guests also in a recap to few guests."""

    @lazy_property
    def recap_preview(self) -> RecapPreview:
        return replace(super().recap_preview, min_guests=0)


@dataclass(frozen=True, slots=True)
class SentEmail:
    """An email to a guest: its time, call, recap, and the time of its record."""

    address: str
    at: datetime
    call: str
    recap_id: str
    started_at: datetime


class OneByOneMailer(InMemoryMailer):
    """A mailer with one outcome for each email, as with SMTP."""

    def send(self, message: EmailMessage) -> SendOutcome:
        """Send each copy as a separate email and combine the outcomes."""
        each = (replace(message, copies=[copy]) for copy in message.copies)
        return combined(map(super().send, each))


class RecapWorld:
    """One event with some guests, and repeated calls that send its recap."""

    def __init__(self, simulation: Simulation) -> None:
        """Create the photos and schedule the calls. The first call is immediate."""
        self._simulation = simulation
        self._choices = simulation.choices
        self._firestore = Firestore(lambda: simulation.now)
        self._mails: list[SentEmail] = []
        self._requests = 0
        self._words = 0
        self._recap_of: dict[str, str] = {}
        self._holder_of: dict[str, str] = {}
        self._holder = ""
        self._taken_at: dict[str, datetime] = {}
        self._began: dict[str, datetime] = {}
        self._only_new: set[str] = set()
        self._resending: set[str] = set()
        self._heard_at: dict[tuple[str, str], datetime] = {}
        self._doubtful: set[tuple[str, str]] = set()
        self._opted_out: dict[str, datetime] = {}
        self._waiting_reports: list[tuple[SentEmail, DeliveryReport]] = []
        self._reported: dict[tuple[str, str], DeliveryStatus] = {}
        self._posts = 0
        self._trouble = self._choices.pick("mail service", _TROUBLE)
        self._hold_ups = self._choices.pick("hold-ups", _HOLD_UPS)
        self._outage = self._choices.happens(
            "outage",
            0.2,
            "mails without a response, then refusals, while reports of the mails come",
        )
        self._one_by_one = self._choices.happens(
            "one by one", 0.2, "a mail server, which answers each mail and reports none later"
        )
        self._last_sent = -1
        self._last_wanted = 0
        self._shown: Preview | None = None
        self._firestore.watches.append(self._written)
        count = self._choices.between("guests", 2, 8)
        self._guests = [f"guest-{number}@example.com" for number in range(count)]
        self._firestore.commit(Put(f"events/{EVENT}", {"tenantId": TENANT, "name": "Party"}))
        for number, address in enumerate(self._guests):
            self._upload(f"photo-{number}", address)
        self._pool = Pool(
            simulation,
            "recap",
            self._process,
            expected=(CallError, NotDueError, ServiceError),
            at_most=3,
        )
        self._events_pool = Pool(
            simulation,
            "events",
            self._report_recorder,
            expected=(ServiceError, ChangedMeanwhileError),
        )
        self._cloud_tasks = cloud_tasks(simulation)
        self._tasks = InMemoryTasks(lambda: simulation.now, self._queued)
        self._due: dict[str, datetime] = {}
        self._replaced: dict[str, datetime] = {}
        self._dismissed: datetime | None = None
        self._schedule()

    def _schedule(self) -> None:
        later = self._simulation.after
        calls = self._choices.between("calls", 2, 7)
        for number in range(calls):
            at = 0
            if number:
                at = self._choices.one_of(f"call {number} at", _CALLS_AT)
            later(at, partial(self._call, f"call-{number}"))
        if self._choices.happens("second evening", 0.4, "calls on the second evening"):
            for number, at in enumerate(_SECOND_EVENING_AT, start=calls):
                later(at, partial(self._call, f"call-{number}"))
        for number, address in enumerate(self._guests):
            if self._choices.happens(f"opt-out {number}", 0.15, "opts out"):
                at = self._choices.one_of(f"opt-out {number} at", _OPT_OUTS_AT)
                later(at, partial(self._opt_out, address))
        for number in range(self._choices.between("plans", 0, 2)):
            asked, at = self._choices.pick(f"plan {number}", _PLANS)
            later(asked, partial(self._plan, f"plan-{number}", START + timedelta(microseconds=at)))
        if self._choices.happens("dismissed", 0.1, "the planner loses the role"):
            later(self._choices.pick("dismissed at", _OPT_OUTS_AT), self._dismiss)
        if self._choices.happens("newcomer", 0.2):
            later(11 * MINUTE, lambda: self._upload("photo-9", "newcomer@example.com"))
        self._schedule_resends()
        self._schedule_sweeps()
        later(_LAST_CALL, self._last_call)

    def _schedule_resends(self) -> None:
        for number, at in enumerate(_OUTAGE_RESENDS_AT if self._outage else ()):
            resend = partial(self._call, f"resend-{number}", resends=True)
            self._simulation.after(at, resend)

    def _schedule_sweeps(self) -> None:
        times = [
            self._choices.one_of(f"sweep {number} at", _SWEEPS_AT)
            for number in range(self._choices.between("sweeps", 0, 3))
        ]
        for number, at in enumerate([*times, *_LAST_SWEEPS_AT]):
            sweep = partial(self._pool.run, f"sweep-{number}", recap_calls.sweep)
            self._simulation.after(at, sweep)

    def _upload(self, photo_id: str, address: str) -> None:
        fields = {
            "status": "approved",
            "url": f"https://example.com/{photo_id}.jpg",
            "uploaderEmail": address,
            "uploaderName": "Guest",
        }
        self._firestore.commit(Put(f"events/{EVENT}/photos/{photo_id}", fields))

    def _opt_out(self, address: str) -> None:
        record = {"emailPreferences": {"recap": False}}
        self._firestore.commit(Put(f"users/guest-{address_hash(address)}", record))
        self._opted_out[address] = self._simulation.now
        self._simulation.note("guest", f"{address} opts out")

    def _process(self, instance: Instance) -> Service:
        def three_at_once(work: Callable[[Any], T], items: Iterable[Any], /) -> list[T]:
            return instance.in_parallel(work, items, at_once=3)

        return self._service(instance, self._held_up(instance), three_at_once)

    def _service(self, instance: Instance, through: Through, in_parallel: ParallelMap) -> Service:
        return service_on(
            InMemoryDocuments(self._firestore, through),
            kind=_ServiceWithSmallPreviews,
            clock=Clock(instance.now, instance.monotonic, instance.sleep),
            mailer=lambda: (OneByOneMailer if self._one_by_one else InMemoryMailer)(
                self._answer, through
            ),
            random=InMemoryRandom(self._word),
            task_queue=InMemoryTaskQueue(self._tasks, through),
            accounts=InMemoryAccounts(
                claims_of=lambda _: {} if self._dismissed else {"role": "admin", "tenantId": TENANT}
            ),
            threads=InMemoryThreads(in_parallel, Mutex),
            parameters=PARAMETERS,
        )

    def _held_up(self, instance: Instance) -> Through:
        """Return port calls, some of which take longer than a lease."""

        def through(what: str, effect: Callable[[], T], *, retried: bool = True) -> T:
            actor = current()
            name = f"{actor.name} held up at {actor.decisions}"
            share, minutes = self._hold_ups, self._choices.between(f"{name} for", 9, 30)
            if self._choices.happens(name, share, f"{what}: held up for {minutes} minutes"):
                self._simulation.faults.add(Fault.PAUSE_BEFORE)
                actor.wait(minutes * MINUTE)
            return instance.call(what, effect, retried=retried)

        return through

    def _word(self) -> str:
        self._words += 1
        return f"word{self._words}"

    # Calls and their responses.

    def _call(self, name: str, *, look: bool = False, resends: bool = False) -> None:
        self._began[name] = self._simulation.now
        caller = Caller(name, Role.ADMIN, TENANT)
        only_new = self._choices.happens(f"{name} newcomers", 0.3, "goes to newcomers alone")
        wanted = RecapArguments(event_id=EVENT, only_new=only_new)
        resends = resends or self._choices.happens(f"{name} again", 0.3, "sends unconfirmed again")
        if resends and not look:
            self._resending.add(name)
            wanted = RecapArguments(event_id=EVENT, resend_unconfirmed=True)
        elif only_new:
            self._only_new.add(name)

        def send(process: Service) -> RecapResult:
            if look:
                asked = PreviewArguments(event_id=EVENT, only_new=only_new)
                self._shown = process.recap_preview.show(caller, asked, None)
            return process.recap_sender.send(caller, wanted)

        self._pool.run(name, send, lambda end: self._ended(name, end))

    # Scheduled recaps. Cloud Tasks may start them early, late or twice.

    def _plan(self, name: str, at: datetime) -> None:
        back = self._choices.happens(f"{name} back", 0.2, "cancels the plan")
        arguments = ScheduleArguments(event_id=EVENT, at=None if back else at)
        self._due[name] = at
        caller = Caller(name, Role.ADMIN, TENANT)
        self._pool.run(name, lambda process: process.recap_schedule.schedule(caller, arguments))

    def _queued(self, task: Task) -> None:
        def bring(run: str, done: Callable[[End], None]) -> None:
            self._began[run] = self._simulation.now
            self._pool.run(
                run, lambda process: process.recap_schedule.send(*task_of(task.data)), done
            )

        self._cloud_tasks.call(
            current().name, bring, due=task.due, backoff=lambda _: 60.0, delays=_DELAYS
        )

    def _dismiss(self) -> None:
        self._dismissed = self._simulation.now

    def _check_planned(self, call: str, began: datetime) -> None:
        """Check an email of a scheduled recap, in a run that started at `began`."""
        if self._simulation.now < self._due[call] - _SLACK:
            self._simulation.violation("a mail before the time that was planned")
        if self._replaced.get(call, began) < began:
            self._simulation.violation("an email of a schedule that was replaced or canceled")
        if self._dismissed and self._dismissed < began:
            self._simulation.violation("an email of an organizer who has lost the role")

    def _check_schedule(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Check a write of the schedule's record."""
        version, states = after["version"], (before.get("state"), after["state"])
        if before and (version != before["version"] or after["state"] == "cancelled"):
            self._replaced[before["by"]["uid"]] = self._simulation.now
        if not any(task.data["version"] == version for task in self._tasks.accepted):
            self._simulation.violation("a scheduled recap without its task")
        if version == before.get("version") and states in (("sent", "failed"), ("failed", "sent")):
            self._simulation.violation(f"a scheduled recap is {states[1]} after it was {states[0]}")

    def _wrong_plan(self) -> Iterator[str]:
        found = self._firestore.get(f"events/{EVENT}/schedules/recap")
        if found is None:
            return
        state, outcome = found.fields["state"], found.fields["outcome"] or {}
        if state == "scheduled":
            yield "a scheduled recap has no outcome"
        version = found.fields["version"]
        sent = [r["sent"] for r in self._recaps().values() if r.get("schedule") == version]
        if state == "sent":
            sent_count, unconfirmed = (
                outcome["sent"],
                outcome.get("unconfirmed", 0),
            )  # may be resent
            if not any(sent_count - unconfirmed <= number <= sent_count for number in sent or [0]):
                yield f"a scheduled recap reports {outcome}, but the records have {sent}"

    def _ended(self, name: str, end: End) -> None:
        if not isinstance(end, Returned) or name not in self._recap_of:
            return
        result: RecapResult = end.value
        batches = self._batches(self._recap_of[name])
        self._check_shown(result, {guest for batch in batches for guest in batch.recipients})
        began = self._taken_at[self._holder_of[name]] - _SLACK
        sent = sum(
            len(batch.recipients)
            for batch in batches
            if batch.holder == self._holder_of[name]
            and batch.state is BatchState.ACCEPTED
            and (batch.started_at or began)
            > began  # otherwise, an earlier email was reported meanwhile
        )
        if result.sent != sent:
            self._simulation.violation(f"{name} answers {result.sent} sent, recorded are {sent}")
        if result.skipped < 0:
            self._simulation.violation(f"{name} answers {result.skipped} skipped")
        is_open = any(not batch.state.counts_as_sent and batch.recipients for batch in batches)
        if is_open and name not in self._resending:
            self._simulation.violation(f"{name} answers that all is sent, and a batch is open")
        if name == "last":
            self._last_sent = result.sent

    def _check_shown(self, result: RecapResult, recipients: set[str]) -> None:
        """Compare the preview with the result of the call."""
        shown = self._shown
        if shown is None:
            return
        if shown.blocked:
            self._simulation.violation(f"it was shown as refused: {shown.blocked['message']}")
        if shown.had_recap != len(recipients & self._had_a_turn(but=self._recap_of["last"])):
            self._simulation.violation(f"{shown.had_recap} were shown as having had a recap")
        if (shown.recipients, shown.skipped) != (result.sent, result.skipped):
            self._simulation.violation(
                f"shown were {shown.recipients} recipients and {shown.skipped} skipped, "
                f"then {result.sent} were sent and {result.skipped} skipped"
            )

    def _last_call(self) -> None:
        """Call two days later without faults: a recap is possible."""
        self._simulation.fault_plan = FaultPlan(0.0, self._simulation.fault_plan.kinds)
        self._trouble = self._hold_ups = 0.0
        self._wanted = {*self._guests, *self._newcomers()} - set(self._opted_out)
        new = {guest for guest in self._wanted if address_hash(guest) not in self._had_a_turn()}
        self._call("last", look=True)
        wanted = new if "last" in self._only_new else self._wanted
        self._last_wanted = min(len(wanted), PARAMETERS.recipients_per_recap)

    # The email provider.

    def _answer(self, message: EmailMessage) -> Answer:
        self._requests += 1
        name = f"request {self._requests}"
        answer, taken = _ANSWERS[0]
        if self._choices.fraction(name) < self._trouble:
            place = 1 + self._choices.number(f"{name} answer") % (len(_ANSWERS) - 1)
            if self._choices.deviates(name, f"{_ANSWERS[place]}"):
                answer, taken = _ANSWERS[place]
        if self._outage and self._simulation.now < START + timedelta(minutes=11):
            answer, taken = NO_ANSWER, True
        elif self._outage and self._simulation.now < START + timedelta(minutes=22):
            answer, taken = refused(401), False
        for copy in message.copies:
            if taken:
                self._take(current().name.partition(".")[0], copy.address, copy.labels)
            if answer.is_unknown:
                self._doubtful.add((copy.labels["wall_recap"], copy.labels["wall_guest"]))
        return answer

    def _take(self, run: str, address: str, labels: Mapping[str, str]) -> None:
        call = run.partition(" ")[0]
        recap_id = self._recap_of[call]
        batch = self._batch_of(recap_id, address)
        if batch is None or batch.started_at is None:
            self._simulation.violation(f"an unrecorded email of {call}")
            return
        mail = SentEmail(address, self._simulation.now, call, recap_id, batch.started_at)
        self._simulation.note("mail", f"{address}, {call}, {recap_id}")
        earlier = [mail for mail in self._mails if mail.address == address]
        before = [mail for mail in earlier if mail.recap_id == recap_id]
        guest = address_hash(address)
        asked = [batch for batch in self._batches(recap_id) if guest in batch.resent]
        if len(before) > len(asked):
            self._simulation.violation("a guest got two emails without a resend")
        for problem in self._wrong_hours():
            self._simulation.violation(problem)
        if earlier and not before:
            self._check_everybody_had_one(recap_id)
        if call in self._only_new and any(first.started_at < mail.started_at for first in earlier):
            self._simulation.violation("a second mail to a guest by a call for newcomers")
        began = self._began[run]
        heard_at = self._heard_at.get((recap_id, guest))
        if before and heard_at and heard_at < began:
            self._simulation.violation("a guest whose mail has an event gets it again")
        if call in self._due:
            self._check_planned(call, began)
        if address in self._opted_out and self._opted_out[address] < began:
            self._simulation.violation(f"an email of {call} to a guest who had opted out")
        self._mails.append(mail)
        self._report(mail, labels)

    def _wrong_hours(self) -> Iterator[str]:
        """Compare the tenant's hourly counters with the started batches."""
        emails: Counter[tuple[str, str]] = Counter()
        for recap_id in self._recaps():
            for batch in self._batches(recap_id):
                if batch.state is not BatchState.PLANNED and batch.started_at:
                    at = batch.started_at
                    emails[counters_path(TENANT, at), counter(at)] += len(batch.mailed)
        found = self._firestore.query(Query(collection="recapMails"))
        counters = {
            (day.path, name): emails
            for day in found
            for name, emails in day.fields.items()
            if name != "expireAt"
        }
        if +emails != +Counter(counters):
            yield f"the tenant's counters are {counters}, and its ledgers have {dict(emails)}"

    def _recap(self, recap_id: str) -> Mapping[str, Any]:
        found = self._firestore.get(RecapKey(EVENT, recap_id).path)
        return found.fields if found else {}

    def _check_everybody_had_one(self, recap_id: str) -> None:
        """Check that every guest who wants a recap has one before any guest gets a second one."""
        planned = {
            guest
            for batch in self._batches(recap_id)
            for guest in batch.recipients + batch.rejected  # including rejected addresses
        }
        there = {address_hash(guest) for guest in self._guests if guest not in self._opted_out}
        if there - planned - self._had_a_turn():
            self._simulation.violation("a second mail to a guest, while another has had none")

    def _had_a_turn(self, but: str = "") -> set[str]:
        return {
            guest
            for recap_id in self._recaps()
            if recap_id != but
            for batch in self._batches(recap_id)
            if batch.state is not BatchState.PLANNED
            for guest in batch.mailed + batch.rejected
        }

    # Delivery reports: late, in any order, repeated.

    def _report(self, mail: SentEmail, labels: Mapping[str, str]) -> None:
        name = f"mail {len(self._mails)}"
        lost = self._choices.happens(f"{name} lost", 0.05, "it is not reported")
        if lost or self._one_by_one:
            return
        told = _STORIES[0]
        if self._choices.fraction(name) < _TOLD_OTHERWISE:
            told = self._choices.pick(f"{name} story", _STORIES)
        for place, status in enumerate(told):
            self._simulation.after(
                self._choices.one_of(
                    f"{name} news {place}",
                    _OUTAGE_REPORT_DELAYS if self._outage else _REPORT_DELAYS,
                ),
                partial(self._collect_report, mail, DeliveryReport(status, labels, mail.address)),
            )

    def _collect_report(self, mail: SentEmail, report: DeliveryReport) -> None:
        """Collect a report for the next request."""
        self._waiting_reports.append((mail, report))
        if len(self._waiting_reports) == 1:
            self._posts += 1
            name = f"post {self._posts}"
            self._simulation.after(
                self._choices.between(f"{name} after", 0, 2 * SECOND), partial(self._post, name)
            )

    def _post(self, name: str) -> None:
        reports, self._waiting_reports = self._waiting_reports, []
        if self._choices.happens(f"{name} backwards", 0.5):
            reports.reverse()
        if self._choices.happens(f"{name} at once", 0.2, "reported twice at the same moment"):
            self._send_reports(f"{name} twin", reports)
        if self._choices.happens(f"{name} again", 0.2, "reported again later"):
            later = self._choices.one_of(f"{name} again after", _TOLD_AGAIN_AFTER)
            self._simulation.after(later, partial(self._send_reports, f"{name} again", reports))
        self._send_reports(name, reports)

    def _report_recorder(self, instance: Instance) -> DeliveryReportRecorder:
        return self._service(instance, instance.call, instance.in_parallel).delivery_report_recorder

    def _send_reports(
        self, name: str, reports: Sequence[tuple[SentEmail, DeliveryReport]], tries: int = 0
    ) -> None:
        """Send the reports until the call succeeds."""

        def ended(end: End) -> None:
            if isinstance(end, Returned):
                for mail, report in reports:
                    self._recorded(mail, report)
            else:
                self._simulation.after(
                    MINUTE, partial(self._send_reports, name, reports, tries + 1)
                )

        self._events_pool.run(
            f"{name} try {tries}", lambda events: events.record(one for _, one in reports), ended
        )

    def _recorded(self, mail: SentEmail, report: DeliveryReport) -> None:
        self._simulation.note("mail service", f"{mail.address}: {report.status!r} is recorded")
        mail_of = (mail.recap_id, mail.address)
        self._heard_at.setdefault((mail.recap_id, address_hash(mail.address)), self._simulation.now)
        self._reported[mail_of] = self._reported.get(mail_of, DeliveryStatus.NONE) | report.status
        if report.status & (DeliveryStatus.UNWELCOME | DeliveryStatus.UNREACHABLE):
            self._opted_out.setdefault(mail.address, self._simulation.now)

    # Invariants.

    def _written(self, path: str, before: Document | None, after: Document | None) -> None:
        match path.split("/"):
            case ["events", _, "locks", "recap"] if after:
                lock = Lock.read(after)
                self._check_lock(Lock.read(before) if before else None, lock)
                self._holder = lock.holder
                self._taken_at.setdefault(lock.holder, self._simulation.now)
            case ["events", _, "schedules", "recap"] if after:
                self._check_schedule(before.fields if before else {}, after.fields)
            case ["events", _, "recaps", recap_id, "batches", _] if before and after:
                self._check_resent(recap_id, Batch.read(before), Batch.read(after))
            case ["events", _, "recaps", recap_id] if after:
                # The call that acquires the lock writes its name to the recap in the same commit.
                call = after.fields["startedBy"]
                self._recap_of[call] = recap_id
                self._holder_of.setdefault(call, self._holder)
            case _:
                pass

    def _check_lock(self, before: Lock | None, lock: Lock) -> None:
        if before is None or before.holder == lock.holder:
            return
        if before.leased_until and self._simulation.now + _SLACK < before.leased_until:
            self._simulation.violation("a call lost the lock before the end of its lease")
        until = before.cooldown_until
        anew = lock.recap_id != before.recap_id
        if anew and until and self._simulation.now + _SLACK < until:
            self._simulation.violation("a recap began in the cooldown of the one before")

    def _check_resent(self, recap_id: str, before: Batch, after: Batch) -> None:
        """Check a resend: only unconfirmed emails without a delivery report."""
        resent = set(after.resent) - set(before.resent)
        if resent and before.state is not BatchState.UNKNOWN:
            self._simulation.violation(f"mails of a batch that is {before.state} are sent again")
        call = next((call for call, of in self._holder_of.items() if of == self._holder), "")
        for guest in resent:
            heard_at = self._heard_at.get((recap_id, guest))
            if heard_at and heard_at < self._began[call]:
                self._simulation.violation("an email with a delivery report is resent")

    def violations(self) -> Iterator[str]:
        """Yield the violations at the end."""
        yield from self._wrong_cooldowns()
        yield from self._wrong_plan()
        yield from self._wrong_hours()
        for recap_id, recap in self._recaps().items():
            for sentence in self._wrong(recap_id, recap):
                yield f"recap {recap_id}: {sentence}"
        if self._last_sent != self._last_wanted:
            yield f"two days later, {self._last_sent} of {self._last_wanted} guests get a recap"

    def _newcomers(self) -> set[str]:
        found = self._firestore.query(Query(collection=f"events/{EVENT}/photos"))
        return {photo.fields["uploaderEmail"] for photo in found} - set(self._guests)

    def _recaps(self) -> dict[str, Mapping[str, Any]]:
        found = self._firestore.query(Query(collection=f"events/{EVENT}/recaps"))
        return {recap.id: recap.fields for recap in found}

    def _wrong(self, recap_id: str, recap: Mapping[str, Any]) -> Iterator[str]:
        batches = self._batches(recap_id)
        yield from self._wrong_counts(recap, total(batches))
        yield from self._wrong_tally(recap_id, recap)
        yield from self._wrong_state(RecapState(recap["state"]), batches)
        mailed = {address_hash(mail.address) for mail in self._mails if mail.recap_id == recap_id}
        known = {guest for batch in batches for guest in batch.mailed + batch.rejected}
        resent = {guest for batch in batches for guest in batch.resent}
        had_a_turn = self._had_a_turn()
        for batch in batches:
            if batch.state is BatchState.ACCEPTED and not set(batch.recipients) <= mailed:
                yield "a guest of an accepted batch has no email"
            if batch.state is BatchState.PLANNED and set(batch.recipients) & mailed - resent:
                yield "a guest of an unsent batch has an email"
            mails = {(recap_id, guest) for guest in batch.recipients}
            doubtful = mails & self._doubtful or self._simulation.faults
            if batch.state is BatchState.UNKNOWN and batch.recipients and not doubtful:
                yield "a batch is unknown, and the mail service has answered every request"
        if not mailed <= known:
            yield "a guest with an email is in no batch"
        if (
            recap["state"] == RecapState.SENT
            and len(self._guests) < PARAMETERS.recipients_per_recap
        ):
            there = {address_hash(guest) for guest in self._guests if guest not in self._opted_out}
            if not there <= known | had_a_turn:
                yield "a guest is in no batch, has not opted out and is not left"

    def _wrong_counts(self, recap: Mapping[str, Any], counts: Counts) -> Iterator[str]:
        if (recap["sent"], recap["unknown"]) != (counts.sent, counts.unknown):
            yield f"it counts {recap['sent']} sent, its batches {counts.sent}"
        over = recap["left"] - counts.left
        if not 0 <= over <= max(0, len(self._guests) + 1 - PARAMETERS.recipients_per_recap):
            yield f"it counts {recap['left']} left, its batches {counts.left}"
        if recap["skipped"] < counts.skipped:
            yield f"it counts {recap['skipped']} skipped, its batches {counts.skipped}"

    def _wrong_tally(self, recap_id: str, recap: Mapping[str, Any]) -> Iterator[str]:
        truth = Tally.of([status for (of, _), status in self._reported.items() if of == recap_id])
        counted = {name: recap[name] for name in asdict(truth)}
        if counted != asdict(truth):
            yield f"it counts {counted}, but the reports were {asdict(truth)}"

    def _wrong_state(self, state: RecapState, batches: list[Batch]) -> Iterator[str]:
        follows = recap_state(batches)
        match state:
            case RecapState.SENT | RecapState.EMPTY if follows is not state:
                yield f"it is {state}, its batches say {follows}"
            case RecapState.FAILED if follows not in (RecapState.FAILED, RecapState.EMPTY):
                yield f"it is {state}, its batches say {follows}"
            case RecapState.SENDING:
                yield "it is being sent for ever"
            case _:
                pass

    def _wrong_cooldowns(self) -> Iterator[str]:
        by_recap: dict[str, list[SentEmail]] = {}
        for mail in self._mails:
            by_recap.setdefault(mail.recap_id, []).append(mail)
        in_order = sorted(by_recap.values(), key=lambda mails: mails[0].at)
        for before, after in itertools.pairwise(in_order):
            last = max(mail.started_at for mail in before)
            if after[0].at < last + COOLDOWN - _SLACK:
                yield f"the next recap was only {after[0].at - last} after the last email"

    def _batches(self, recap_id: str) -> list[Batch]:
        path = f"{RecapKey(EVENT, recap_id).path}/batches"
        return [Batch.read(found) for found in self._firestore.query(Query(collection=path))]

    def _batch_of(self, recap_id: str, address: str) -> Batch | None:
        guest = address_hash(address)
        # A request may be delayed until its guests are in a later batch.
        mailed = [batch for batch in self._batches(recap_id) if guest in batch.mailed]
        return max(
            (batch for batch in mailed if batch.started_at),
            key=lambda batch: batch.started_at or START,
            default=None,
        )
