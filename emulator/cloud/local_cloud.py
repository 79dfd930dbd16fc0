"""The service as it is deployed, on this machine.

Firestore, Auth and Hosting are Firebase's emulators. The functions are what Google runs, and are
called by the stand-ins of Eventarc and Cloud Tasks, and by Google's front end.
"""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, Self

from emulator import certificates
from emulator.cloud import deployment, eventarc, http
from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.cloud_tasks import CloudTasks, Queued
from emulator.cloud.deployment import Function
from emulator.cloud.dispatcher import Dispatcher
from emulator.cloud.front_end import Front
from emulator.cloud.function_process import LOG_VARIABLE, PRINTED
from emulator.cloud.functions import Functions
from emulator.cloud.program import Program
from emulator.cloud.secret_manager import SecretManager
from emulator.firebase import (
    LOCAL_CONFIG,
    PROJECT,
    client_environment,
    local_config,
    read_addresses,
    server_environment,
)
from emulator.ports import check_ports
from tools import local_secrets
from tools.java import firestore_program
from tools.paths import NODE_MODULES, ROOT, STATE
from tools.steps import SetupError, log_tail, say

LOG: Final = STATE / "suite.log"

START_LIMIT: Final = 180.0
"""Seconds. A start takes about ten; the rest is for a slow machine."""

_JAVA: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.language=en")
"""It starts sooner, and leaves the CPU to others."""

_TRIGGER_SECONDS: Final = 120.0


class NotStartedError(SetupError):
    """An emulator did not start; the text says which, and how its output ends."""


class LocalCloud:
    """The running service; a context manager.

    Attributes:
        addresses: `host:port` of each emulator by its name in firebase.json.
        environment: What a program needs in its environment to be a client.
        ended: Set when an emulator has ended, by itself or not.
    """

    def __init__(
        self, *, warm: bool = False, on_print: Callable[[str], None] | None = None
    ) -> None:
        """Start nothing.

        Args:
            warm: Whether functions that events and queues call start at once, and have served once.
            on_print: Called with each line that a function prints, once everything is ready.

        Raises:
            SetupError: A tool is missing.
        """
        self.addresses = read_addresses()
        self.environment = client_environment(self.addresses)
        self.environment[LOG_VARIABLE] = str(LOG)
        self.ended = threading.Event()
        self._warm = warm
        self._on_print = on_print
        self._is_ready = False
        self._running = contextlib.ExitStack()
        self._loop = asyncio.new_event_loop()
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        """Start everything but functions that are not warm: those start when they are called.

        Raises:
            SetupError: A port is taken, or `main.py` cannot be loaded.
            NotStartedError: An emulator did not start.
        """
        check_ports(self.addresses)
        certificates.ensure()
        STATE.mkdir(exist_ok=True)
        LOG.write_bytes(b"")
        environment = server_environment()  # downloads Firestore's emulator once, and says so
        say("Starting the service …", end="")
        started = time.monotonic()
        try:
            self._start(environment)
        except BaseException:
            say(" failed")
            self._running.close()
            raise
        say(f" ready after {time.monotonic() - started:.1f} s")
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def _start(self, environment: Mapping[str, str]) -> None:
        thread = threading.Thread(target=self._turn, daemon=True)
        thread.start()
        self._running.callback(thread.join)
        self._running.callback(self._loop.call_soon_threadsafe, self._loop.stop)
        with ThreadPoolExecutor(1) as threads:
            reading = threads.submit(deployment.read)
            emulators = {
                "Firestore": self._start_firestore(environment),
                "Auth and Hosting": self._start_firebase(environment),
            }
            functions = reading.result()
        self._run(self._serve(functions))
        warming = self._begin(self._functions.warm()) if self._warm else None
        for name, emulator in emulators.items():
            if not emulator.is_ready_within(START_LIMIT):
                tail = "\n".join(f"  {line}" for line in log_tail(LOG))
                raise NotStartedError(
                    f"{name} did not start\n{LOG.relative_to(ROOT)} ends:\n{tail}"
                )
        for function in functions:
            if function.trigger:
                eventarc.register(self.addresses["firestore"], function.name, function.trigger)
        if warming:
            warming.result()
            self._run(self._try_queues(functions))
        self._is_ready = True

    def _start_firestore(self, environment: Mapping[str, str]) -> Program:
        host, _, port = self.addresses["firestore"].rpartition(":")
        websocket = self.addresses["firestore websocket"].rpartition(":")[2]
        emulator = Program(
            [
                *("java", *_JAVA, *firestore_program(environment)),
                *("--host", host, "--port", port, "--websocket_port", websocket),
                *("--rules", str(ROOT / "firestore.rules")),
                *("--functions_emulator", self.addresses["functions"]),
                *("--project_id", PROJECT),
            ],
            # In another locale, Java cannot open paths beyond ASCII.
            {**environment, "LC_ALL": "C.UTF-8"},
            "is now running",
            self._log,
            self.ended,
        )
        self._running.callback(emulator.end)
        return emulator

    def _start_firebase(self, environment: Mapping[str, str]) -> Program:
        LOCAL_CONFIG.write_text(json.dumps(local_config(self.addresses), indent=2))
        options = f"{environment.get('NODE_OPTIONS', '')} --require=./emulator/lazy_validators.cjs"
        emulators = Program(
            [
                str(NODE_MODULES / ".bin" / "firebase"),
                "emulators:start",
                *("--config", LOCAL_CONFIG.name, "--project", PROJECT, "--only", "auth,hosting"),
            ],
            {**environment, "NODE_OPTIONS": options.strip()},
            "All emulators ready",
            self._log,
            self.ended,
        )
        self._running.callback(emulators.end)
        return emulators

    async def _serve(self, functions: list[Function]) -> None:
        queues = {function.name: function.queue for function in functions if function.queue}
        dispatcher = Dispatcher(queues, self._dispatch)
        keys = SecretManager(PROJECT, local_secrets.read())
        apis = ApiServer(CloudTasks(PROJECT, queues, dispatcher.take), keys)
        self._running.callback(apis.close)
        self.environment[ADDRESS_VARIABLE] = apis.address
        self._calls = http.transport()
        by_name = {function.name: function for function in functions}
        self._functions = Functions(by_name, self.environment, self._print)
        self._running.callback(lambda: self._run(self._functions.close()))
        # Before that, so that nothing starts a function anew.
        self._running.callback(lambda: self._run(_cancel_others()))
        pages, *ports = (
            int(self.addresses[name].rpartition(":")[2])
            for name in ("pages", "functions", "hosting")
        )
        events = eventarc.Eventarc(self._bring, self._print)
        front = Front(self._functions, events, pages, self._log)
        self._running.callback(self._loop.call_soon_threadsafe, front.close)
        await front.listen(*ports)

    async def _try_queues(self, functions: list[Function]) -> None:
        """Call each queue's function once, for a delivery that does not exist.

        A first call imports and connects, which on a busy machine takes longer than a retry waits.
        """
        body = json.dumps({"data": {"eventId": "none", "deliveryId": "none", "attempt": 1}})
        headers = {"Content-Type": "application/json"}
        queues = [function.name for function in functions if function.queue]
        await asyncio.gather(
            *(self._post(name, headers, body.encode(), _TRIGGER_SECONDS) for name in queues)
        )

    async def _dispatch(self, task: Queued, calls: int) -> int:
        """Call a task's function as Cloud Tasks does."""
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Google-Cloud-Tasks",
            "X-CloudTasks-QueueName": task.queue,
            "X-CloudTasks-TaskName": task.name,
            "X-CloudTasks-TaskRetryCount": str(calls),
            "X-CloudTasks-TaskExecutionCount": str(calls),
            "X-CloudTasks-TaskETA": f"{task.due:.6f}",
        }
        return await self._post(task.queue, headers, task.body, task.deadline_seconds)

    async def _bring(self, write: eventarc.Announced) -> int:
        """Call a trigger as Eventarc does."""
        return await self._post(write.function, write.headers, write.body, _TRIGGER_SECONDS)

    async def _post(self, name: str, headers: Any, body: bytes, seconds: float) -> int:
        try:
            port = await self._functions.port(name)
        except TimeoutError:
            return http.NO_ANSWER
        return await http.post(self._calls, port, headers, body, seconds)

    def _turn(self) -> None:
        """Run the event loop, and at its end what functions began while they were ended."""
        self._loop.run_forever()
        self._loop.run_until_complete(_cancel_others())
        self._loop.close()

    def _run(self, what: Coroutine[Any, Any, None]) -> None:
        self._begin(what).result()

    def _begin(self, what: Coroutine[Any, Any, None]) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    def _print(self, line: str) -> None:
        self._log(f"{PRINTED}{line}")
        if self._on_print and self._is_ready:
            self._on_print(line)

    def _log(self, line: str) -> None:
        with self._writing, LOG.open("a") as log:
            log.write(line)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
