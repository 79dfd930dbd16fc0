"""The deployed functions: each a process, started when it is first called, as Cloud Run does."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from emulator.cloud.deployment import Function
from emulator.cloud.function_process import FunctionProcess

_STARTING: Final = 4
"""Processes that may start at a time: each has a minute for it."""


@dataclass(eq=False)
class Functions:
    """The functions by their names.

    `environment` leads to the stand-ins, `on_line` gets what functions print.
    """

    functions: Mapping[str, Function]
    environment: Mapping[str, str]
    on_line: Callable[[str], None]

    def __post_init__(self) -> None:
        """Start none."""
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
            # Firestore announces writes until it ends, which is later.
            raise TimeoutError(f"{name} is not started, because the service ends")
        started = self._processes.get(name)
        if started is None or (started.done() and not _is_running(started)):
            loop = asyncio.get_running_loop()
            self._processes[name] = loop.run_in_executor(self._starting, self._start, name)
        return (await asyncio.shield(self._processes[name])).port

    async def warm(self) -> None:
        """Start the functions that no client calls, and wait until they listen.

        Raises:
            TimeoutError: One does not start.
        """
        background = [name for name, one in self.functions.items() if one.trigger or one.queue]
        await asyncio.gather(*map(self.port, background))

    async def close(self) -> None:
        """End every process, and start no other one."""
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
            given=self.environment,
        )


def _is_running(started: asyncio.Future[FunctionProcess]) -> bool:
    return started.exception() is None and started.result().is_running
