"""The service as it is deployed, on this machine: what tests and measurements run against.

Firestore, Auth and Hosting are Firebase's emulators. The functions are what Google runs, and are
called by the stand-ins of Eventarc and Cloud Tasks, and by Google's front end.
"""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Self

from emulator import certificates
from emulator.cloud import deployment, eventarc, http
from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.cloud_tasks import CloudTasks, Queued
from emulator.cloud.deployment import Function
from emulator.cloud.dispatcher import Dispatcher
from emulator.cloud.front import Front
from emulator.cloud.function_process import LOG_VARIABLE, PRINTED
from emulator.cloud.functions import Functions
from emulator.cloud.program import Program
from emulator.cloud.secret_manager import SecretManager
from emulator.environment import (
    NODE_MODULES,
    ROOT,
    STATE,
    cached_firestore_jar,
    firestore_jar,
    local_secrets,
    log_tail,
    say,
)
from emulator.ports import check_ports
from emulator.server import HOST
from emulator.suite import (
    LOCAL_CONFIG,
    PROJECT,
    START_LIMIT,
    SuiteError,
    client_environment,
    local_config,
    read_addresses,
    server_environment,
)

LOG: Final = STATE / "cloud.log"

_JAVA: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.language=en")
"""It starts sooner, and leaves the CPU to others."""

_TRIGGER_SECONDS: Final = 120.0


class LocalCloud:
    """The running service; a context manager.

    Attributes:
        environment: What a program needs in its environment to be a client.
    """

    def __init__(self) -> None:
        """Start nothing.

        Raises:
            SetupError: A tool is missing.
        """
        self.addresses = read_addresses()
        self.environment = client_environment(self.addresses)
        self.environment[LOG_VARIABLE] = str(LOG)
        del self.environment["CLOUD_TASKS_EMULATOR_HOST"]
        self._running = contextlib.ExitStack()
        self._loop = asyncio.new_event_loop()
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        """Start everything but the functions, which start when they are called.

        Raises:
            SetupError: A port is taken, or `main.py` cannot be loaded.
            SuiteError: An emulator did not start.
        """
        check_ports(self.addresses)
        certificates.ensure()
        STATE.mkdir(exist_ok=True)
        LOG.write_bytes(b"")
        say("Starting the local cloud …", end="")
        started = time.monotonic()
        try:
            self._start()
        except BaseException:
            say(" failed")
            self._running.close()
            raise
        say(f" ready after {time.monotonic() - started:.1f} s")
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def _start(self) -> None:
        pages = _free_port()
        with ThreadPoolExecutor(1) as threads:
            reading = threads.submit(deployment.read)
            emulators = {
                "Firestore": self._start_firestore(),
                "Auth and Hosting": self._start_firebase(pages),
            }
            functions = reading.result()
        for name, emulator in emulators.items():
            if not emulator.is_ready_within(START_LIMIT):
                tail = "\n".join(f"  {line}" for line in log_tail(LOG))
                raise SuiteError(f"{name} did not start\n{LOG.relative_to(ROOT)} ends:\n{tail}")
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        self._running.callback(self._loop.call_soon_threadsafe, self._loop.stop)
        self._running.callback(lambda: self._run(_cancel_others()))
        self._run(self._serve(functions, pages))
        for function in functions:
            if function.trigger:
                eventarc.register(self.addresses["firestore"], function.name, function.trigger)

    def _start_firestore(self) -> Program:
        environment = server_environment()
        jar = firestore_jar(environment) or cached_firestore_jar()
        host, _, port = self.addresses["firestore"].rpartition(":")
        websocket = self.addresses["firestore websocket"].rpartition(":")[2]
        emulator = Program(
            [
                *("java", *_JAVA, "-jar", str(jar)),
                *("--host", host, "--port", port, "--websocket_port", websocket),
                *("--rules", str(ROOT / "firestore.rules")),
                *("--functions_emulator", self.addresses["functions"]),
                *("--project_id", PROJECT),
            ],
            environment,
            "is now running",
            self._log,
        )
        self._running.callback(emulator.end)
        return emulator

    def _start_firebase(self, pages: int) -> Program:
        config = local_config(self.addresses)
        config["emulators"]["hosting"]["port"] = pages
        LOCAL_CONFIG.write_text(json.dumps(config, indent=2))
        emulators = Program(
            [
                str(NODE_MODULES / ".bin" / "firebase"),
                "emulators:start",
                *("--config", LOCAL_CONFIG.name, "--project", PROJECT, "--only", "auth,hosting"),
            ],
            server_environment(),
            "All emulators ready",
            self._log,
        )
        self._running.callback(emulators.end)
        return emulators

    async def _serve(self, functions: list[Function], pages: int) -> None:
        queues = {function.name: function.queue for function in functions if function.queue}
        dispatcher = Dispatcher(queues, self._dispatch)
        keys = SecretManager(PROJECT, local_secrets.read())
        apis = ApiServer(CloudTasks(PROJECT, queues, dispatcher.take), keys)
        self._running.callback(apis.close)
        self.environment[ADDRESS_VARIABLE] = apis.address
        self._functions = Functions(
            functions, self.environment, lambda line: self._log(f"{PRINTED}{line}")
        )
        self._running.callback(lambda: self._run(self._functions.close()))
        front = Front(self._functions, eventarc.Eventarc(self._bring), pages, self._log)
        self._running.callback(self._loop.call_soon_threadsafe, front.close)
        ports = [int(self.addresses[name].rpartition(":")[2]) for name in ("functions", "hosting")]
        await front.listen(*ports)

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
        return await http.post(port, headers, body, seconds)

    def _run(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result()

    def _log(self, line: str) -> None:
        with self._writing, LOG.open("a") as log:
            log.write(line)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as free:
        port: int = free.getsockname()[1]
    return port
