"""Design 2: functions of the local cloud start when they are called, except during shutdown."""

import asyncio

import pytest

from emulator.cloud.functions import Functions


def test_a_call_during_shutdown_starts_no_function() -> None:
    """Firestore's emulator stops after the functions and still announces writes."""

    async def run() -> None:
        functions = Functions({}, {}, lambda _: None)
        await functions.close()
        with pytest.raises(TimeoutError):
            await functions.port("onPhotoWritten")

    asyncio.run(run())
