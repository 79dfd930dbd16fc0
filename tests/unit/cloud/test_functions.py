"""Design 2: the local cloud's functions start when they are called, and not while it ends."""

import asyncio

import pytest

from emulator.cloud.functions import Functions


def test_a_call_while_the_service_ends_starts_no_function() -> None:
    """Firestore's emulator ends later than the functions, and still announces writes."""

    async def run() -> None:
        functions = Functions({}, {}, lambda _: None)
        await functions.close()
        with pytest.raises(TimeoutError):
            await functions.port("onPhotoWritten")

    asyncio.run(run())
