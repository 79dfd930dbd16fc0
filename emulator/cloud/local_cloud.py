"""The deployed service on this machine.

Firebase's emulators provide Firestore, Auth and Hosting. The functions run in the same runtime as
on Google Cloud. Stand-ins for Eventarc, Cloud Tasks and Google's front end call them.
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
from emulator.cloud.cloud_tasks import CloudTasks, QueuedTask
from emulator.cloud.deployment import Function
from emulator.cloud.dispatcher import Dispatcher
from emulator.cloud.front_end import FrontEnd
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

START_LIMIT_SECONDS: Final = 180.0
"""A start takes about ten seconds. The rest is for slow machines."""

_JAVA: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.language=en")
"""Options for a faster start and less use of the CPU."""

_TRIGGER_SECONDS: Final = 120.0


class NotStartedError(SetupError):
    """An emulator did not start. The text has its name and the end of its output."""


class LocalCloud:
    """The service, which runs while this context manager is entered.

    Attributes:
        addresses: `host:port` of each emulator, by its name in firebase.json.
        environment: Environment variables for a client.
        ended: Set when an emulator has ended for any reason.
    """

    def __init__(
        self, *, warm: bool = False, on_print: Callable[[str], None] | None = None
    ) -> None:
        """Prepare the service without starting it.

        Args:
            warm: Whether to start and call the functions of events and queues before anything else.
            on_print: Called with each line that a function prints after the start.

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
        """Start the service. Functions that are not warm start with their first call.

        Raises:
            SetupError: A port is in use, or `main.py` cannot be loaded.
            NotStartedError: An emulator did not start.
        """
        check_ports(self.addresses)
        certificates.ensure()
        STATE.mkdir(exist_ok=True)
        LOG.write_bytes(b"")
        environment = server_environment()  # may download the Firestore emulator
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
            if not emulator.is_ready_within(START_LIMIT_SECONDS):
                tail = "\n".join(f"  {line}" for line in log_tail(LOG))
                raise NotStartedError(
                    f"{name} did not start. The end of {LOG.relative_to(ROOT)}:\n{tail}"
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
        apis = ApiServer(CloudTasks(PROJECT, queues, dispatcher.enqueue), keys)
        self._running.callback(apis.close)
        self.environment[ADDRESS_VARIABLE] = apis.address
        self._calls = http.transport()
        by_name = {function.name: function for function in functions}
        self._functions = Functions(by_name, self.environment, self._print)
        self._running.callback(lambda: self._run(self._functions.close()))
        # Callbacks run in reverse order: first cancel all calls, so that none starts a function.
        self._running.callback(lambda: self._run(_cancel_others()))
        pages, *ports = (
            int(self.addresses[name].rpartition(":")[2])
            for name in ("pages", "functions", "hosting")
        )
        events = eventarc.Eventarc(self._call_trigger, self._print)
        front_end = FrontEnd(self._functions, events, pages, self._log)
        self._running.callback(self._loop.call_soon_threadsafe, front_end.close)
        await front_end.listen(*ports)

    async def _try_queues(self, functions: list[Function]) -> None:
        """Call each queue's function once with a delivery that does not exist.

        On a busy machine, the imports and connections of a first call take longer than a retry's
        delay.
        """
        body = json.dumps({"data": {"eventId": "none", "deliveryId": "none", "attempt": 1}})
        headers = {"Content-Type": "application/json"}
        queues = [function.name for function in functions if function.queue]
        await asyncio.gather(
            *(self._post(name, headers, body.encode(), _TRIGGER_SECONDS) for name in queues)
        )

    async def _dispatch(self, task: QueuedTask, calls: int) -> int:
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

    async def _call_trigger(self, write: eventarc.AnnouncedWrite) -> int:
        """Call a trigger as Eventarc does."""
        return await self._post(write.function, write.headers, write.body, _TRIGGER_SECONDS)

    async def _post(self, name: str, headers: Any, body: bytes, seconds: float) -> int:
        try:
            port = await self._functions.port(name)
        except TimeoutError:
            return http.NO_RESPONSE
        return await http.post(self._calls, port, headers, body, seconds)

    def _turn(self) -> None:
        """Run the event loop until it is stopped, then cancel the remaining tasks."""
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
