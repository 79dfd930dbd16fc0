"""Spec 4.15: the task of a planned recap; its call: `test_callables.py`; crashes are simulated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from emulator.provider_models.sendgrid import Answer, refused
from functions.call.caller import Caller, Role
from functions.call.errors import CallError, Code
from functions.firestore.model import Create, Delete, Update
from functions.ports import NotDueError, Task
from functions.recap.ledger.batch import RecapKey, RecapState
from functions.recap.recap_arguments import TEXTS, ScheduleArguments
from functions.recap.schedule import task_of
from tests.in_memory.through import Crash, ServiceError, at_once
from tests.unit.recap.recap_fixture import (
    EVENT,
    NOON,
    ORGANIZER,
    TENANT,
    At,
    RecapFixture,
    RecapLimits,
    crash,
    fail,
    guest,
)

MORNING = NOON + timedelta(hours=22)
ADMIN = {"role": "admin", "tenantId": TENANT, "email": "ann@example.com", "email_verified": True}


@dataclass
class Planned:
    """A fixture with two guests, whose recap is planned for the morning."""

    fixture: RecapFixture = field(default_factory=lambda: RecapFixture(claims=ADMIN))

    def __post_init__(self) -> None:
        """Add two guests."""
        self.fixture.guests(2)

    def plan(self, at: str | None = MORNING.isoformat(), **arguments: Any) -> datetime | None:
        """Schedule the recap as the organizer."""
        data = {"eventId": EVENT, "at": at, **arguments}
        read = ScheduleArguments.read_at(self.fixture.now, data)
        return self.fixture.process().recap_schedule.schedule(ORGANIZER, read)

    def run(self, number: int = -1, **through: Any) -> None:
        """Run one of the tasks in the morning, or now if the morning has passed."""
        self.fixture.now = max(self.fixture.now, MORNING)
        task = self.fixture.tasks[number]
        self.fixture.process(**through).recap_schedule.send(*task_of(task.data))

    @property
    def record(self) -> Mapping[str, Any]:
        """The record of the event's schedule."""
        return self.fixture.collection(f"events/{EVENT}/schedules")["recap"]


@pytest.fixture
def planned() -> Planned:
    """Nothing is planned yet."""
    return Planned()


def test_a_scheduled_recap_is_sent_with_its_arguments(planned: Planned) -> None:
    """The email has the texts of the schedule. The records have them too, and the outcome."""
    texts: Any = {name: f"The {name}" for name in TEXTS}
    assert planned.plan(**texts, onlyNew=True, mode="all") == MORNING
    assert planned.record["by"] == {"uid": ORGANIZER.uid, "email": ORGANIZER.email}
    planned.run()
    planned.run()  # a task may come twice
    assert [mail.subject for _, mail in planned.fixture.mails] == ["The subject"] * 2
    assert all(text in mail.html for _, mail in planned.fixture.mails for text in texts.values())
    assert planned.record | texts | {"onlyNew": True, "mode": "all"} == planned.record
    assert planned.fixture.recap() | texts | {"mode": "all"} == planned.fixture.recap()
    assert (planned.record["state"], planned.record["outcome"]) == (
        "sent",
        {"sent": 2, "skipped": 0},
    )
    assert planned.fixture.recap()["startedBy"] == ORGANIZER.uid


def test_a_second_plan_replaces_the_first(planned: Planned) -> None:
    """Tasks of replaced and canceled schedules send no email."""
    planned.plan(subject="First")
    planned.plan(subject="Second")
    planned.run(0)
    assert not planned.fixture.mails
    planned.plan(None)
    assert planned.record["state"] == "cancelled"
    planned.run()
    assert not planned.fixture.mails


@pytest.mark.parametrize("claims", [None, ADMIN | {"role": None}, ADMIN | {"tenantId": "other"}])
def test_a_planner_who_has_lost_the_role_sends_nothing(
    planned: Planned, claims: dict[str, Any] | None
) -> None:
    """Check the role when the recap is due. A person without a role gets no email about it."""
    planned.plan()
    planned.fixture.claims = claims
    planned.run()
    assert planned.record["state"] == "failed"
    assert planned.record["outcome"]["code"] == "permission-denied"
    assert planned.fixture.addresses == []


def test_a_recap_beside_it_ends_it_as_failed(
    planned: Planned, capfd: pytest.CaptureFixture[str]
) -> None:
    """Another recap's cooldown is a failure. Record, log and email the reason."""
    planned.plan()
    planned.fixture.later(hours=1)
    planned.fixture.send()
    planned.fixture.mails.clear()
    planned.run()
    [(address, mail)] = planned.fixture.mails
    assert (address, mail.subject) == (
        "ann@example.com",
        "Your scheduled recap wasn't sent: Summer Party",
    )
    assert "sent within the last 24 hours" in mail.text
    assert planned.record["outcome"]["code"] == "resource-exhausted"
    assert '"severity": "ERROR", "message": "recap.schedule-failed"' in capfd.readouterr().out


@pytest.mark.parametrize(
    ("minutes", "state"), [(5, "scheduled"), (59, "scheduled"), (60, "failed")]
)
def test_what_may_pass_is_tried_again_for_an_hour(
    planned: Planned, minutes: int, state: str
) -> None:
    """A recap that the email provider refuses is tried again until an hour after its time."""
    planned.plan()
    planned.fixture.now = MORNING + timedelta(minutes=minutes)
    planned.fixture.answers = [refused(401)] * 5
    if state == "scheduled":
        with pytest.raises(NotDueError):
            planned.run()
    else:
        planned.run()
    assert planned.record["state"] == state


def test_a_task_that_comes_too_early_comes_back(planned: Planned) -> None:
    """Design 2: a queue may bring it before its time, and the record may not be written yet."""
    planned.plan()
    task = task_of(planned.fixture.tasks[-1].data)
    with pytest.raises(NotDueError):
        planned.fixture.process().recap_schedule.send(*task)
    assert not planned.fixture.mails


def test_a_recap_that_gets_no_slot_is_tried_again(planned: Planned) -> None:
    """Spec 8: the tenant's other recaps and previews end before the hour is over."""
    planned.plan()
    slot = planned.fixture.slots.slot
    with slot(TENANT), slot(TENANT), pytest.raises(NotDueError):
        planned.run()
    planned.run()
    assert planned.record["state"] == "sent"


def test_a_task_waits_for_no_slot(planned: Planned) -> None:
    """A task that waited would hold a place that the recaps of other tenants need."""
    planned.plan()
    planned.fixture.slots.wait_seconds = 600
    slot = planned.fixture.slots.slot
    with slot(TENANT), slot(TENANT), pytest.raises(NotDueError):
        planned.run()


def test_a_replaced_task_ends_after_one_read(planned: Planned) -> None:
    """Canceled and replaced schedules cost the queue a read each."""
    planned.plan()
    planned.plan(None)
    calls: list[str] = []

    def count(what: str, effect: Callable[[], Any], **_: Any) -> Any:
        calls.append(what)
        return effect()

    planned.run(0, through=count)
    assert calls == ["get schedules"]


def test_a_call_that_comes_too_late_for_its_own_time_is_refused(planned: Planned) -> None:
    """Its task may have come, and found no record: the record would say `scheduled` forever."""
    data = {"eventId": EVENT, "at": MORNING.isoformat()}
    read = ScheduleArguments.read_at(planned.fixture.now, data)
    schedule = planned.fixture.process().recap_schedule
    with pytest.raises(CallError) as late:
        replace(schedule, task_queue=Pausing(planned)).schedule(ORGANIZER, read)
    assert late.value.code is Code.INVALID_ARGUMENT
    assert planned.fixture.collection(f"events/{EVENT}/schedules") == {}


@dataclass
class Pausing:
    """A task queue whose answer comes after the recap's time."""

    planned: Planned

    def enqueue(self, task: Task) -> None:
        """Enqueue the task, and let the time pass."""
        self.planned.fixture.enqueue(task)
        self.planned.fixture.now = MORNING


def sweep(planned: Planned, **after: float) -> int:
    """Run the sweep so long after the recap's time and return the number of queued tasks."""
    planned.fixture.now = MORNING + timedelta(**after)
    before = len(planned.fixture.tasks)
    planned.fixture.process().schedule_sweep.sweep()
    return len(planned.fixture.tasks) - before


@pytest.mark.parametrize("account", [ADMIN, ServiceError()])
def test_the_sweep_ends_a_recap_that_its_queue_gave_up(
    planned: Planned, capfd: pytest.CaptureFixture[str], account: Any
) -> None:
    """Auth was away, the call was paused, or the task was lost: it ends as `failed`."""
    planned.plan()
    assert sweep(planned, hours=2, minutes=29) == 0
    assert sweep(planned, hours=2, minutes=30) == 1
    planned.fixture.claims = account
    planned.run()
    assert planned.record["state"] == "failed"
    assert planned.record["outcome"]["code"] == "internal"
    assert '"severity": "ERROR", "message": "recap.schedule-failed"' in capfd.readouterr().out
    assert planned.fixture.addresses == ([ADMIN["email"]] if account is ADMIN else [])
    assert sweep(planned, hours=3) == 0
    planned.run(0)  # the lost task comes after all
    assert planned.record["state"] == "failed"
    assert guest(0) not in planned.fixture.addresses


def test_the_sweep_records_a_recap_that_was_sent(planned: Planned) -> None:
    """The run that sent it crashed before it recorded the outcome, and its queue gave up."""
    planned.plan()
    with pytest.raises(Crash):
        planned.run(through=At("end schedules", crash, before=True))
    assert sweep(planned, hours=3) == 1
    planned.run()
    assert (planned.record["state"], planned.record["outcome"]) == (
        "sent",
        {"sent": 2, "skipped": 0},
    )


def test_outcome_is_read_once(planned: Planned) -> None:
    """A call that resends emails changes the recap's state between two reads."""
    planned.plan()
    with pytest.raises(Crash):
        planned.run(through=At("end schedules", crash, before=True))
    change = partial(put_state, planned, RecapState.SENDING)
    planned.run(through=At("find recaps", change, number=2, before=True))
    assert planned.record["outcome"] == {"sent": 2, "skipped": 0}


def test_recap_that_is_being_resent_is_recorded_later(planned: Planned) -> None:
    """Otherwise the record would say that the recap was sent to no one."""
    planned.plan()
    change = partial(put_state, planned, RecapState.SENDING)
    with pytest.raises(NotDueError):
        planned.run(through=At("find recaps", change, before=True))
    assert planned.record["state"] == "scheduled"
    put_state(planned, RecapState.SENT)
    planned.run()
    assert planned.record["outcome"] == {"sent": 2, "skipped": 0}


def put_state(planned: Planned, state: RecapState) -> None:
    """Write the state of the only recap."""
    [recap_id] = planned.fixture.recaps()
    recap = RecapKey(EVENT, recap_id).path
    planned.fixture.documents.commit(Update(recap, {"state": state}))


def test_the_end_waits_for_a_call_that_holds_the_lock(planned: Planned) -> None:
    """That call may be sending this very recap."""
    planned.plan()
    sweep(planned, hours=3)

    def end() -> None:
        with pytest.raises(NotDueError):
            planned.run()

    planned.fixture.send(At("mailer.send", end, before=True))
    assert planned.record["state"] == "scheduled"


def test_a_record_that_says_sent_stays(planned: Planned) -> None:
    """A second run was paused before it recorded its failure. It sends no email."""
    planned.plan()
    planned.fixture.answers = [refused(401)] * 5
    planned.fixture.now = MORNING + timedelta(hours=1)

    def first_run() -> None:
        planned.fixture.answers = []
        planned.run()

    with pytest.raises(NotDueError):
        planned.run(through=At("update schedules", first_run, before=True))
    planned.run()
    assert planned.record["state"] == "sent"
    assert planned.fixture.addresses == [guest(0), guest(1)]


@pytest.mark.parametrize(
    "path",
    [f"events/{EVENT}/schedules/app-{{}}", "schedules/app-{}", "events/gone-{}/schedules/recap"],
)
@pytest.mark.parametrize("more", [{}, {"version": "v1"}, {"version": "v1", "by": "ann"}])
def test_no_record_keeps_other_schedules_from_being_ended(
    planned: Planned, path: str, more: Mapping[str, str]
) -> None:
    """An app's own `schedules`, and unreadable records, are passed over."""
    planned.plan()
    foreign = {"state": "scheduled", "at": NOON, **more}
    writes = [Create(path.format(number), foreign) for number in range(30)]
    planned.fixture.documents.commit(*writes)
    assert sweep(planned, hours=3) == 1


def test_a_plan_that_replaces_another_while_that_is_sent_stays(planned: Planned) -> None:
    """The outcome of the first plan is not written over the second one."""
    planned.plan()
    planned.run(through=At("mailer.send", lambda: planned.plan(NOON.replace(day=9).isoformat())))
    assert (planned.record["state"], planned.record["outcome"]) == ("scheduled", None)
    assert len(planned.fixture.mails) == 2


@pytest.mark.parametrize("answer", [refused(401), None])
def test_a_failure_that_cannot_be_mailed_is_recorded_and_logged(
    planned: Planned, capfd: pytest.CaptureFixture[str], answer: Answer | None
) -> None:
    """The email provider refuses the mail about it, or a fault of ours keeps it back."""
    planned.plan()
    planned.fixture.send()
    planned.fixture.answers = [answer] if answer else []
    planned.run(through=at_once if answer else At("mailer.send", fail, before=True))
    assert planned.record["state"] == "failed"
    assert '"severity": "ERROR", "message": "recap.failure-not-mailed"' in capfd.readouterr().out


def test_a_run_after_a_crash_reports_all_emails(planned: Planned) -> None:
    """The recap was sent, and its outcome not recorded: the next run finds it by the version."""
    planned.plan()
    with pytest.raises(Crash):
        planned.run(through=At("update locks", crash, number=3))
    planned.fixture.later(minutes=11)
    planned.run()
    assert sorted(planned.fixture.addresses) == [guest(0), guest(1)]
    assert planned.record["outcome"] == {"sent": 2, "skipped": 0}


def test_a_superadmin_plans_for_the_tenant_that_was_named(planned: Planned) -> None:
    """The tenant of the call is the one that counts when the recap is due."""
    superadmin = Caller("super", Role.SUPERADMIN, "other")
    data = {"eventId": EVENT, "at": MORNING.isoformat(), "tenantId": TENANT}
    read = ScheduleArguments.read_at(planned.fixture.now, data)
    planned.fixture.process().recap_schedule.schedule(superadmin, read)
    planned.fixture.claims = {"role": "superadmin", "tenantId": "other"}
    planned.run()
    assert planned.record["state"] == "sent"


@pytest.mark.parametrize(
    ("mails_a_day", "word"), [(0, "RECAP_MAILS_PER_DAY"), (9, "No guests can be reached")]
)
def test_a_recap_without_recipients_is_reported_by_email(
    planned: Planned, mails_a_day: int, word: str
) -> None:
    """Spec 4.15: no person sees the answer of a scheduled recap, so its message is emailed."""
    planned.plan()
    if mails_a_day:
        for number in range(2):
            planned.fixture.opt_out(guest(number))
    planned.run(limits=RecapLimits(per_tenant=mails_a_day))
    [(address, mail)] = planned.fixture.mails
    assert (address, mail.subject) == (
        ADMIN["email"],
        "Your scheduled recap had no recipients: Summer Party",
    )
    assert planned.record["state"] == "sent"
    assert planned.record["outcome"]["sent"] == 0
    assert word in planned.record["outcome"]["message"]
    assert planned.record["outcome"]["message"] in mail.text


@pytest.mark.parametrize("crashed", [False, True])
def test_a_recap_with_unconfirmed_emails_is_sent_and_reported(
    planned: Planned, *, crashed: bool
) -> None:
    """The recap is over: no further run confirms its mails, so the news does not wait an hour."""
    planned.plan()
    if crashed:
        with pytest.raises(Crash):
            planned.run(through=At("mailer.send", crash))
        planned.fixture.later(minutes=11)
        planned.fixture.mails.clear()
    else:
        planned.fixture.answers = [Answer(502, {}, b"<html>")]
    planned.run()
    outcome = planned.record["outcome"]
    assert planned.record["state"] == "sent"
    assert (outcome["sent"], outcome["unconfirmed"]) == (2, 2)
    [(address, mail)] = planned.fixture.mails
    assert (address, mail.subject) == (
        ADMIN["email"],
        "Your scheduled recap was sent, but some emails aren't confirmed: Summer Party",
    )
    assert outcome["message"] in mail.text
    assert "didn't confirm 2 emails" in outcome["message"]
    planned.run()
    assert len(planned.fixture.mails) == 1


def test_a_schedule_without_its_task_is_not_recorded(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record without its task would promise emails that are never sent."""
    monkeypatch.setattr(RecapFixture, "enqueue", lambda *_: fail())
    with pytest.raises(ServiceError):
        planned.plan()
    assert "recap" not in planned.fixture.collection(f"events/{EVENT}/schedules")


@pytest.mark.parametrize("minutes", [59, 61, 119, 151])
def test_no_failure_is_reported_while_another_run_sends_the_recap(
    planned: Planned, minutes: int
) -> None:
    """The second run finds the lock of the first one."""
    planned.plan()
    planned.fixture.now = MORNING + timedelta(minutes=minutes, seconds=-30)
    if minutes > 150:
        planned.fixture.later(minutes=-5)

    def second_run() -> None:
        planned.fixture.now = MORNING + timedelta(minutes=minutes)
        with pytest.raises(NotDueError):
            planned.run()

    planned.run(through=At("mailer.send", second_run, before=True))
    assert planned.record["state"] == "sent"
    assert planned.fixture.addresses == [guest(0), guest(1)]


@pytest.mark.parametrize("change", ["cancel", "replace", "fail", "delete"])
def test_a_run_that_was_paused_sends_nothing_by_a_schedule_that_is_gone(
    planned: Planned, change: str
) -> None:
    """The run read the record, and acquires the lock after the schedule was ended or replaced."""
    planned.plan()
    path = f"events/{EVENT}/schedules/recap"

    def end() -> None:
        match change:
            case "cancel":
                planned.plan(None)
            case "replace":
                planned.plan(NOON.replace(day=9).isoformat())
            case "fail":
                planned.fixture.documents.commit(Update(path, {"state": "failed"}))
            case _:
                planned.fixture.documents.commit(Delete(path))

    with pytest.raises(NotDueError):
        planned.run(through=At("begin locks", end, before=True))
    planned.run(0)
    assert not planned.fixture.mails
