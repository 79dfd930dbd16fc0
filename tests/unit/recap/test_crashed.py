"""The sweep over recaps whose call has crashed (spec 3.3, design 3.40); the simulation has more."""

import json
from collections.abc import Mapping

import pytest

from functions.firestore.model import Create, Delete
from functions.handlers import recap_calls
from functions.recap.ledger.batch import BatchState, RecapKey
from functions.recap.ledger.recap_store import LEASE, RecapStore
from tests.unit.recap.parts import EVENT, NOON, At, House, RecapLimits, fail, guest


def _sweep(house: House, capfd: pytest.CaptureFixture[str]) -> list[Mapping[str, object]]:
    """Run the sweep; its log lines."""
    capfd.readouterr()
    recap_calls.sweep(house.process())
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def _facts(house: House) -> tuple[object, ...]:
    recap = house.recap()
    return tuple(recap[name] for name in ("state", "sent", "unknown", "left", "startedBy"))


def test_a_recap_whose_call_crashed_shows_what_is_unconfirmed_and_alerts(
    house: House, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nobody has to call again to hear of it, and a call that comes then sends the rest."""
    house.guests(3)
    house.crash("mailer.send")
    house.now += LEASE
    house.now -= NOON.resolution
    assert _sweep(house, capfd) == []
    house.now += NOON.resolution
    batch, done = _sweep(house, capfd)
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
    assert _facts(house) == ("interrupted", 2, 2, 1, "organizer")
    assert _sweep(house, capfd) == []
    assert house.send().sent == 1
    assert sorted(house.addresses) == [guest(number) for number in range(3)]


@pytest.mark.parametrize(("call", "number"), [("update locks", 1), ("end locks", 1)])
def test_a_recap_that_crashed_before_its_first_mail_is_given_up(
    house: House, capfd: pytest.CaptureFixture[str], call: str, number: int
) -> None:
    """No cooldown is left, and nothing counts against the tenant's mails of the day."""
    house.guests(2)
    house.crash(call, number=number)
    house.now += LEASE
    [line] = _sweep(house, capfd)
    assert (line["message"], line["state"]) == ("recap.done", "failed")
    assert _facts(house)[:3] == ("failed", 0, 0)
    assert house.send(limits=RecapLimits(per_tenant=2)).sent == 2


def test_a_recap_with_which_another_call_goes_on_is_left_alone(
    house: House, capfd: pytest.CaptureFixture[str]
) -> None:
    """The sweep has read the old lock; the call that took it since settles what there is."""
    house.guests(3)
    house.crash("mailer.send")
    house.now += LEASE
    capfd.readouterr()
    recap_calls.sweep(house.process(At("find locks", lambda: house.crash("update batches"))))
    assert house.recap()["state"] == "sending"
    assert "not-swept" not in capfd.readouterr().out


def test_a_recap_that_was_deleted_with_its_event_is_not_written_again(
    house: House, capfd: pytest.CaptureFixture[str]
) -> None:
    """The lock is still there for a moment, while the documents under the event are deleted."""
    house.guests(1)
    house.crash("mailer.send")
    house.documents.commit(*(Delete(f"events/{EVENT}/recaps/{recap}") for recap in house.recaps()))
    house.now += LEASE
    assert _sweep(house, capfd) == []
    assert house.recaps() == {}


def test_a_fault_keeps_no_other_recap_waiting(
    house: House, capfd: pytest.CaptureFixture[str]
) -> None:
    """The fault is logged, and the next sweep tries again; an app's own locks are left alone."""
    house.documents.commit(Create("rooms/r1/locks/recap", {"leasedUntil": NOON}))
    house.event("e2")
    for event_id in (EVENT, "e2"):
        house.guests(1, event_id)
        house.crash("mailer.send", eventId=event_id)
        house.later(seconds=1)
    house.now += LEASE
    capfd.readouterr()
    recap_calls.sweep(house.process(At("get recaps", fail)))
    assert capfd.readouterr().out.count('"recaps.not-swept"') == 1
    assert house.recap()["state"] == "sending"
    assert [recap["state"] for recap in house.collection("events/e2/recaps").values()] == ["sent"]
    recap_calls.sweep(house.process(At("find locks", fail)))
    assert '"recaps.not-swept"' in capfd.readouterr().out
    recap_calls.sweep(house.process())
    assert house.recap()["state"] == "sent"


def test_a_sweep_that_was_paused_settles_no_batch_of_the_call_that_took_over(
    house: House, capfd: pytest.CaptureFixture[str]
) -> None:
    """Settling needs the lock: the batches of a running call are its own."""
    house.guests(3)
    house.crash("mailer.send")
    house.now += LEASE

    def take_over() -> None:
        house.now += LEASE
        house.crash("mailer.send", number=1)

    capfd.readouterr()
    recap_calls.sweep(house.process(At("find batches", take_over, before=True)))
    states = [batch.state for batch in house.batches()]
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
    house: House, foreign: Mapping[str, Mapping[str, object]]
) -> None:
    """Foreign and unreadable locks are passed over."""
    house.guests(3)
    house.crash("mailer.send")
    house.documents.commit(*(Create(path, fields) for path, fields in foreign.items()))
    house.now += LEASE
    for _ in range(2):  # a sweep settles twenty
        recap_calls.sweep(house.process())
    assert _facts(house)[:2] == ("interrupted", 2)


def test_a_lock_whose_recap_is_gone_is_released(house: House) -> None:
    """Twenty of them would keep all other recaps from being swept."""
    house.guests(1)
    house.crash("mailer.send")
    [recap_id] = house.recaps()
    house.documents.commit(Delete(f"events/{EVENT}/recaps/{recap_id}"))
    house.now += LEASE
    recap_calls.sweep(house.process())
    lock = house.documents.get(f"events/{EVENT}/locks/recap")
    assert lock is not None
    assert lock.fields["leasedUntil"] is None


def test_the_lock_of_a_later_recap_is_not_released(house: House) -> None:
    """A sweep was paused since it found the older recap gone, and the later one crashed as well."""
    house.guests(1)
    house.crash("mailer.send")
    house.now += LEASE
    RecapStore(house.documents).release_without_recap(RecapKey(EVENT, "older"), house.now)
    lock = house.documents.get(f"events/{EVENT}/locks/recap")
    assert lock is not None
    assert lock.fields["leasedUntil"] == house.now
