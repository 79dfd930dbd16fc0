"""The deployed functions. As in Cloud Run, a function's process starts with its first call."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from emulator.cloud.deployment import Function
from emulator.cloud.function_process import FunctionProcess

_STARTING: Final = 4
"""Maximum number of processes that start at the same time. Each has a minute to start."""


@dataclass(eq=False)
class Functions:
    """The functions by name.

    `environment` has the addresses of the stand-ins. `on_line` is called with each printed line.
    """

    functions: Mapping[str, Function]
    environment: Mapping[str, str]
    on_line: Callable[[str], None]

    def __post_init__(self) -> None:
        """Start no process."""
        self._is_closed = False
        self._starting = ThreadPoolExecutor(_STARTING)
        self._processes: dict[str, asyncio.Future[FunctionProcess]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.functions

    async def port(self, name: str) -> int:
        """Wait until the function listens and return its port.

        A process that has ended is replaced.

        Raises:
            TimeoutError: The function does not start, or the functions are closed.
        """
        if self._is_closed:
            # Firestore ends after the functions, and announces writes until then.
            raise TimeoutError(f"{name} is not started, because the service ends")
        started = self._processes.get(name)
        if started is None or (started.done() and not _is_running(started)):
            loop = asyncio.get_running_loop()
            self._processes[name] = loop.run_in_executor(self._starting, self._start, name)
        return (await asyncio.shield(self._processes[name])).port

    async def warm(self) -> None:
        """Start the functions that events and queues call, and wait until they listen.

        Raises:
            TimeoutError: A function does not start.
        """
        background = [name for name, one in self.functions.items() if one.trigger or one.queue]
        await asyncio.gather(*map(self.port, background))

    async def close(self) -> None:
        """End every process, and reject further starts."""
        self._is_closed = True
        for process in await asyncio.gather(*self._processes.values(), return_exceptions=True):
            if isinstance(process, FunctionProcess):
                process.kill()
        self._starting.shutdown()

    def _start(self, name: str) -> FunctionProcess:
        return FunctionProcess(
            name,
            is_trigger=self.functions[name].trigger is not None,
            on_line=self.on_line,
            base=self.environment,
        )


def _is_running(started: asyncio.Future[FunctionProcess]) -> bool:
    return started.exception() is None and started.result().is_running
