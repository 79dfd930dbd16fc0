"""The sweep of recaps whose call has crashed (spec 3.3, design 3.40). The simulation has more."""

import json
from collections.abc import Mapping

import pytest

from functions.firestore.model import Create, Delete
from functions.handlers import recap_calls
from functions.recap.ledger.batch import BatchState, RecapKey
from functions.recap.ledger.recap_store import LEASE, RecapStore
from tests.unit.recap.recap_fixture import EVENT, NOON, At, RecapFixture, RecapLimits, fail, guest


def _sweep(fixture: RecapFixture, capfd: pytest.CaptureFixture[str]) -> list[Mapping[str, object]]:
    """Run the sweep, and return its log lines."""
    capfd.readouterr()
    recap_calls.sweep(fixture.process())
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def _facts(fixture: RecapFixture) -> tuple[object, ...]:
    recap = fixture.recap()
    return tuple(recap[name] for name in ("state", "sent", "unknown", "left", "startedBy"))


def test_a_crashed_recap_shows_unconfirmed_emails_and_alerts(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """No further call is needed for the alert. A later call sends the rest."""
    fixture.guests(3)
    fixture.crash("mailer.send")
    fixture.now += LEASE
    fixture.now -= NOON.resolution
    assert _sweep(fixture, capfd) == []
    fixture.now += NOON.resolution
    batch, done = _sweep(fixture, capfd)
    assert (batch["severity"], batch["message"], batch["state"]) == (
        "ERROR",
        "recap.batch",
        "unknown",
    )
    assert (done["severity"], done["message"], done["state"]) == (
        "ERROR",
        "recap.done",
        "interrupted",
    )
    assert (done["sent"], done["unknown"], done["open"]) == (2, 2, 1)
    assert _facts(fixture) == ("interrupted", 2, 2, 1, "organizer")
    assert _sweep(fixture, capfd) == []
    assert fixture.send().sent == 1
    assert sorted(fixture.addresses) == [guest(number) for number in range(3)]


@pytest.mark.parametrize(("call", "number"), [("update locks", 1), ("end locks", 1)])
def test_a_recap_that_crashed_before_its_first_email_is_ended(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str], call: str, number: int
) -> None:
    """No cooldown remains, and no email counts against the tenant's daily limit."""
    fixture.guests(2)
    fixture.crash(call, number=number)
    fixture.now += LEASE
    [line] = _sweep(fixture, capfd)
    assert (line["message"], line["state"]) == ("recap.done", "failed")
    assert _facts(fixture)[:3] == ("failed", 0, 0)
    assert fixture.send(limits=RecapLimits(per_tenant=2)).sent == 2


def test_a_recap_that_another_call_continues_is_not_changed(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The sweep has read the old lock. The call that took it since settles the batches."""
    fixture.guests(3)
    fixture.crash("mailer.send")
    fixture.now += LEASE
    capfd.readouterr()
    recap_calls.sweep(fixture.process(At("find locks", lambda: fixture.crash("update batches"))))
    assert fixture.recap()["state"] == "sending"
    assert "not-swept" not in capfd.readouterr().out


def test_a_recap_that_was_deleted_with_its_event_is_not_written_again(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The lock still exists while the documents under the event are deleted."""
    fixture.guests(1)
    fixture.crash("mailer.send")
    fixture.documents.commit(
        *(Delete(f"events/{EVENT}/recaps/{recap}") for recap in fixture.recaps())
    )
    fixture.now += LEASE
    assert _sweep(fixture, capfd) == []
    assert fixture.recaps() == {}


def test_a_fault_does_not_affect_other_recaps(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Log the fault and try again in the next sweep. An app's own locks are not changed."""
    fixture.documents.commit(Create("rooms/r1/locks/recap", {"leasedUntil": NOON}))
    fixture.event("e2")
    for event_id in (EVENT, "e2"):
        fixture.guests(1, event_id)
        fixture.crash("mailer.send", eventId=event_id)
        fixture.later(seconds=1)
    fixture.now += LEASE
    capfd.readouterr()
    recap_calls.sweep(fixture.process(At("get recaps", fail)))
    assert capfd.readouterr().out.count('"recaps.not-swept"') == 1
    assert fixture.recap()["state"] == "sending"
    assert [recap["state"] for recap in fixture.collection("events/e2/recaps").values()] == ["sent"]
    recap_calls.sweep(fixture.process(At("find locks", fail)))
    assert '"recaps.not-swept"' in capfd.readouterr().out
    recap_calls.sweep(fixture.process())
    assert fixture.recap()["state"] == "sent"


def test_a_sweep_that_was_paused_settles_no_batch_of_the_call_that_took_over(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Settling needs the lock: the batches of a running call are its own."""
    fixture.guests(3)
    fixture.crash("mailer.send")
    fixture.now += LEASE

    def take_over() -> None:
        fixture.now += LEASE
        fixture.crash("mailer.send", number=1)

    capfd.readouterr()
    recap_calls.sweep(fixture.process(At("find batches", take_over, before=True)))
    states = [batch.state for batch in fixture.batches()]
    assert states.count(BatchState.STARTED) == 1
    assert "recap.batch" not in [
        json.loads(line)["message"]
        for line in capfd.readouterr().out.splitlines()
        if json.loads(line)["severity"] == "ERROR" and json.loads(line).get("batch") != 0
    ]


@pytest.mark.parametrize(
    "foreign",
    [
        {f"locks/app-{number}": {"leasedUntil": NOON} for number in range(25)},
        {f"events/{EVENT}/locks/other-{number}": {"leasedUntil": NOON} for number in range(25)},
        {f"events/gone-{number}/locks/recap": {"leasedUntil": NOON} for number in range(25)},
        {
            f"events/gone-{number}/locks/recap": {
                "leasedUntil": NOON,
                "recapId": number,
                "holder": [],
            }
            for number in range(25)
        },
    ],
    ids=["an app's locks", "other locks of the event", "without recapId", "odd values"],
)
def test_no_lock_keeps_other_recaps_from_being_swept(
    fixture: RecapFixture, foreign: Mapping[str, Mapping[str, object]]
) -> None:
    """Skip foreign and unreadable locks."""
    fixture.guests(3)
    fixture.crash("mailer.send")
    fixture.documents.commit(*(Create(path, fields) for path, fields in foreign.items()))
    fixture.now += LEASE
    for _ in range(2):  # a sweep settles twenty
        recap_calls.sweep(fixture.process())
    assert _facts(fixture)[:2] == ("interrupted", 2)


def test_a_lock_whose_recap_is_gone_is_released(fixture: RecapFixture) -> None:
    """Twenty of them would keep all other recaps from being swept."""
    fixture.guests(1)
    fixture.crash("mailer.send")
    [recap_id] = fixture.recaps()
    fixture.documents.commit(Delete(f"events/{EVENT}/recaps/{recap_id}"))
    fixture.now += LEASE
    recap_calls.sweep(fixture.process())
    lock = fixture.documents.get(f"events/{EVENT}/locks/recap")
    assert lock is not None
    assert lock.fields["leasedUntil"] is None


def test_the_lock_of_a_later_recap_is_not_released(fixture: RecapFixture) -> None:
    """A sweep was paused since it found the older recap gone, and the later one crashed as well."""
    fixture.guests(1)
    fixture.crash("mailer.send")
    fixture.now += LEASE
    RecapStore(fixture.documents).release_without_recap(RecapKey(EVENT, "older"), fixture.now)
    lock = fixture.documents.get(f"events/{EVENT}/locks/recap")
    assert lock is not None
    assert lock.fields["leasedUntil"] == fixture.now
