"""Firebase's emulators, started together and watched until every function is loaded."""

import contextlib
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from emulator import certificates
from emulator.cloud.api_server import ADDRESS_VARIABLE, ApiServer
from emulator.cloud.secret_manager import SecretManager
from emulator.environment import (
    NODE_MODULES,
    ROOT,
    STATE,
    SetupError,
    firestore_jar,
    local_secrets,
    log_tail,
    say,
    tool_environment,
)
from emulator.ports import check_ports

PROJECT = "demo-wall"
EMULATORS = ("auth", "functions", "firestore", "hosting", "tasks")
LOG = STATE / "suite.log"
# firebase.json as the emulators read it; beside it, because paths in it are relative to its folder.
LOCAL_CONFIG = ROOT / "firebase.json.local"

# Seconds. A cold start takes about ten; the rest is for a slow machine.
START_LIMIT = 180.0
# Seconds that Firebase gets to end its emulators by itself.
STOP_GRACE = 10.0
# Seconds that firebase-tools waits for main.py to be imported; its own 10 are few for a cold disk.
DISCOVERY_TIMEOUT = "60"

# The variables by which clients find an emulator.
ADDRESS_VARIABLES = {
    "auth": "FIREBASE_AUTH_EMULATOR_HOST",
    "firestore": "FIRESTORE_EMULATOR_HOST",
    "hub": "FIREBASE_EMULATOR_HUB",
    "tasks": "CLOUD_TASKS_EMULATOR_HOST",
}

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_READY = "All emulators ready"
_LOADED = re.compile(r"functions: Loaded functions definitions from source: (.*)\.$")
_INITIALIZED = re.compile(r"functions\[[a-z0-9-]+?-(\w+)\]: .*function initialized")
# Scheduled functions wait for Pub/Sub, which is not started: they are called by hand or not at all.
_SCHEDULED = re.compile(r"functions\[[a-z0-9-]+?-(\w+)\]: function ignored because the pubsub ")
_LOAD_FAILURE = re.compile(
    r"(Failed to load function definition from source|Failed to start functions in).*",
)


class SuiteError(Exception):
    """The emulators did not start, or not with every function; the text says why."""


class Startup:
    """What the emulators' output tells about their start.

    Firebase calls itself ready even when it could not load a function, so its word is not enough.
    """

    def __init__(self) -> None:
        self._ready = False
        self._failure = ""
        self._declared: set[str] = set()
        self._loaded: set[str] = set()

    def notice(self, line: str) -> bool:
        """Take in one line, without colours; return whether the start is over, well or not."""
        if found := _LOADED.search(line):
            self._declared = {name.strip() for name in found[1].split(",") if name.strip()}
        elif found := _INITIALIZED.search(line) or _SCHEDULED.search(line):
            self._loaded.add(found[1])
        elif found := _LOAD_FAILURE.search(line):
            self._failure = found[0]
            return True
        elif _READY in line:
            self._ready = True
            return True
        return False

    @property
    def functions(self) -> int:
        """Return how many functions are loaded."""
        return len(self._loaded)

    def failure(self) -> str:
        """Return why the start has failed; empty when everything is there."""
        if self._failure:
            return self._failure
        if not self._ready:
            return "the emulators ended by themselves"
        if not self._declared:
            return "main.py declares no function"
        missing = sorted(self._declared - self._loaded)
        return f"not loaded: {', '.join(missing)}" if missing else ""


class Suite:
    """The running emulators; a context manager.

    Attributes:
        addresses: `host:port` of each emulator by its name in firebase.json.
        environment: What a program inside the suite needs in its environment, and PATH.
    """

    def __init__(self, *, on_line: Callable[[str], None] | None = None) -> None:
        """Prepare, start nothing.

        Args:
            on_line: Called from a thread with each line of the emulators once they are ready.

        Raises:
            SetupError: A tool is missing.
        """
        self.addresses = read_addresses()
        self.environment = client_environment(self.addresses)
        self.environment["WALL_SUITE_LOG"] = str(LOG)
        self._on_line = on_line
        # The keys come from it: nothing of theirs stands in an environment.
        self._apis = ApiServer(SecretManager(PROJECT, local_secrets.read()))
        self.environment[ADDRESS_VARIABLE] = self._apis.address
        self._startup = Startup()
        self._settled = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self.ended = threading.Event()
        """Set when the emulators have ended, by themselves or not."""

    def __enter__(self) -> Self:
        """Start the emulators and wait until every function is loaded.

        Raises:
            SetupError: A port is taken, or a tool is missing.
            SuiteError: The emulators did not start.
        """
        check_ports(self.addresses)
        certificates.ensure()
        environment = server_environment() | {ADDRESS_VARIABLE: self._apis.address}
        say("Starting the emulators …", end="")
        started = time.monotonic()
        try:
            self._start(environment)
            in_time = self._settled.wait(START_LIMIT)
            self._check_start(in_time=in_time)
        except BaseException:
            say(" failed")
            self._stop()
            raise
        say(f" {self._startup.functions} functions ready after {time.monotonic() - started:.1f} s")
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _start(self, environment: dict[str, str]) -> None:
        STATE.mkdir(exist_ok=True)
        LOG.write_bytes(b"")
        LOCAL_CONFIG.write_text(json.dumps(local_config(self.addresses), indent=2))
        self._process = subprocess.Popen(
            [
                str(NODE_MODULES / ".bin" / "firebase"),
                "emulators:start",
                *("--config", LOCAL_CONFIG.name),
                *("--project", PROJECT),
                *("--only", ",".join(EMULATORS)),
            ],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C in the terminal is for the command in the suite; the suite ends after it.
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        with LOG.open("ab", buffering=0) as log, process.stdout as output:
            for raw in output:
                log.write(raw)
                line = _COLOUR.sub("", raw.decode(errors="replace")).rstrip()
                if not self._settled.is_set():
                    if self._startup.notice(line):
                        self._settled.set()
                elif self._on_line:
                    self._on_line(line)
        self.ended.set()
        self._settled.set()

    def _check_start(self, *, in_time: bool) -> None:
        late = "" if in_time else f"the emulators are not ready after {START_LIMIT:.0f} s"
        if failure := late or self._startup.failure():
            tail = "\n".join(f"  {line}" for line in log_tail(LOG))
            raise SuiteError(f"{failure}\n{LOG.relative_to(ROOT)} ends:\n{tail}")

    def _stop(self) -> None:
        """Ask Firebase to end its emulators; the process tree ends processes that stay."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_GRACE)


def client_environment(addresses: Mapping[str, str]) -> dict[str, str]:
    """Return what a client of the emulators at these addresses needs in its environment."""
    environment = tool_environment(os.environ)
    for name, variable in ADDRESS_VARIABLES.items():
        environment[variable] = addresses[name]
    environment["GCLOUD_PROJECT"] = environment["GOOGLE_CLOUD_PROJECT"] = PROJECT
    return _without_credentials(environment)


def server_environment() -> dict[str, str]:
    """Return the environment for Firebase's emulators; write the settings that it leads to."""
    environment = _without_credentials(tool_environment(os.environ))
    for variable in ADDRESS_VARIABLES.values():
        # With one of these set, the functions would talk to somebody else's emulator.
        environment.pop(variable, None)
    environment |= {
        "CI": "1",
        "NO_COLOR": "1",
        "NO_UPDATE_NOTIFIER": "1",
        "FUNCTIONS_DISCOVERY_TIMEOUT": DISCOVERY_TIMEOUT,
        # Settings of its own: no login of the user is looked at, and no usage is reported.
        "XDG_CONFIG_HOME": str(STATE / "config"),
        # The lines of a worker appear when they are printed.
        "PYTHONUNBUFFERED": "1",
    }
    if jar := firestore_jar(environment):
        environment["FIRESTORE_EMULATOR_BINARY_PATH"] = str(jar)
    settings = STATE / "config" / "configstore" / "firebase-tools.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    # Asked about usage reports once and for all, and about news until the year 2100.
    settings.write_text(json.dumps({"usage": False, "motd": {"fetched": 4_102_444_800_000}}))
    return environment


def read_addresses() -> dict[str, str]:
    """Return `host:port` of each emulator, as firebase.json has it.

    Raises:
        SetupError: firebase.json is missing or lacks an emulator.
    """
    try:
        emulators: dict[str, Any] = json.loads((ROOT / "firebase.json").read_text())["emulators"]
        names = (*EMULATORS, "hub", "logging")
        addresses = {name: f"{emulators[name]['host']}:{emulators[name]['port']}" for name in names}
        firestore = emulators["firestore"]
        if "websocketPort" in firestore:
            addresses["firestore websocket"] = f"{firestore['host']}:{firestore['websocketPort']}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"firebase.json cannot be used: {error!r}") from error
    return addresses


def local_config(addresses: Mapping[str, str]) -> dict[str, Any]:
    """Return firebase.json, but that the pages may connect to the emulators at `addresses`.

    The deployed pages may connect to Google's hosts alone.
    """
    config: dict[str, Any] = json.loads((ROOT / "firebase.json").read_text())
    local = " ".join(f"http://{addresses[name]}" for name in ("auth", "firestore", "functions"))
    for rule in config["hosting"]["headers"]:
        for header in rule["headers"]:
            if header["key"] == "Content-Security-Policy":
                policy = header["value"].replace("connect-src", f"connect-src {local}")
                # The mailbox draws the pictures of made-up photos.
                header["value"] = policy.replace("img-src", "img-src http://127.0.0.1:9180")
    return config


def _without_credentials(environment: dict[str, str]) -> dict[str, str]:
    """Keep local work local: nothing finds a way to a real project, or looks long for one."""
    environment.pop("GOOGLE_APPLICATION_CREDENTIALS", None)
    environment["CLOUDSDK_CONFIG"] = str(STATE / "config" / "gcloud")
    environment["NO_GCE_CHECK"] = "true"
    return environment
