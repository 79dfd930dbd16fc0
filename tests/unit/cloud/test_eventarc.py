"""Design 2: the local Eventarc delivers a write at least once, and again after an error."""

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from google.events.cloud.firestore import DocumentEventData

from emulator.cloud import eventarc
from emulator.cloud.eventarc import AnnouncedWrite, Eventarc
from emulator.cloud.http import post
from emulator.provider_models.eventarc import EVENT_BYTES

NOW = datetime.now(UTC)
HEADERS = {"content-type": "application/protobuf", "ce-id": "w1", "host": "127.0.0.1"}


def announced(
    event_id: str, at: datetime = NOW, *, before: int = 0, after: int = 0
) -> AnnouncedWrite:
    """Return a write of Firestore's emulator, with texts of these sizes in bytes."""
    data = DocumentEventData(
        value={
            "name": "n",
            "update_time": at,
            "fields": {"text": {"string_value": "x" * after}} if after else {},
        },
        old_value={"fields": {"text": {"string_value": "x" * before}}} if before else {},
    )
    headers = HEADERS | {
        "ce-document": f"events/{event_id}/photos/p1",
        "ce-time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    body = base64.b64encode(DocumentEventData.serialize(data))
    return AnnouncedWrite.from_emulator("onPhotoWritten", headers, body)


def test_a_write_of_the_emulator_becomes_a_cloudevent_of_google() -> None:
    """Keep the bytes of the message and the exact time of the write."""
    write = announced("e1")
    assert DocumentEventData.deserialize(write.body).value.name == "n"
    assert set(write.headers) == {"content-type", "ce-id", "ce-document", "ce-time"}
    assert abs(write.at - NOW) < timedelta(milliseconds=1)


def test_a_trigger_that_fails_gets_the_write_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backoff grows each time."""
    monkeypatch.setattr(eventarc, "MIN_BACKOFF", 0.01)
    delivered: list[str] = []

    async def run() -> None:
        done = asyncio.Event()

        async def call(write: AnnouncedWrite) -> int:
            delivered.append(write.event_id)
            if len(delivered) < 3:
                return 500
            done.set()
            return 200

        Eventarc(call, print).announce(announced("e1"))
        await asyncio.wait_for(done.wait(), 60)

    asyncio.run(run())
    assert delivered == ["e1"] * 3


@pytest.mark.parametrize(
    ("before", "after", "called"),
    [
        (0, EVENT_BYTES - 1000, True),
        (EVENT_BYTES // 2 - 1000, EVENT_BYTES // 2, True),
        (0, EVENT_BYTES, False),
        (EVENT_BYTES, 0, False),
        (EVENT_BYTES // 2, EVENT_BYTES // 2, False),
        (10, 1_000_000, False),
    ],
)
def test_a_write_above_the_limit_calls_no_trigger(before: int, after: int, *, called: bool) -> None:
    """Both documents, before and after the write, count. A line reports the write."""
    delivered: list[str] = []
    lines: list[str] = []

    async def run() -> None:
        last = asyncio.Event()

        async def call(write: AnnouncedWrite) -> int:
            delivered.append(write.event_id)
            if write.event_id == "last":
                last.set()
            return 200

        source = Eventarc(call, lines.append)
        source.announce(announced("e1", before=before, after=after))
        source.announce(announced("last"))
        await asyncio.wait_for(last.wait(), 60)

    asyncio.run(run())
    assert delivered == (["e1", "last"] if called else ["last"])
    assert len(lines) == (not called)


def test_an_id_in_any_script_reaches_the_trigger() -> None:
    """Python decodes header values as Latin-1. Forward the original bytes."""
    sent: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.extend(value for name, value in request.headers.raw if name == b"ce-document")
        return httpx.Response(200)

    headers = announced("ü".encode().decode("latin-1")).headers
    calls: Any = httpx.MockTransport(answer)
    assert asyncio.run(post(calls, 80, headers, b"", 30)) == 200
    assert sent == ["events/ü/photos/p1".encode()]


def test_writes_to_a_silenced_event_call_no_trigger() -> None:
    """Its triggers run again after `resume`."""
    delivered: list[datetime] = []

    async def run() -> None:
        both = asyncio.Event()

        async def call(write: AnnouncedWrite) -> int:
            delivered.append(write.at)
            if write.event_id == "e2":  # the last one, and they come in their order
                both.set()
            return 200

        source = Eventarc(call, print)
        source.silence("e1")
        source.announce(announced("e1"))
        source.resume("e1")
        source.announce(announced("e1"))
        later = datetime.now(UTC) + timedelta(seconds=1)
        source.announce(announced("e1", later))
        source.announce(announced("e2"))
        await asyncio.wait_for(both.wait(), 60)
        assert len(delivered) == 2

    asyncio.run(run())
