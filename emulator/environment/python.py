"""The Python environments: ./venv for all work, and smaller ones for tests on other Pythons."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from emulator import pythons
from emulator.environment.places import ROOT, STATE, VENV, VENV_PYTHON
from emulator.environment.steps import SetupError, digest, read, run_step

# Apart: with hashes in one file, pip wants them for all that it installs in the same run.
DEPLOYED = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"
# What pip fetches into an empty cache, and what it takes on disk.
SIZE = "130 MB, 550 MB on disk"

# What tests/unit needs beside requirements.txt, in the versions of requirements-dev.txt.
UNIT_PACKAGES = (
    *("pytest", "hypothesis", "greenlet", "trustme"),
    # What imports lead to, for the roles of accounts.
    "import-linter",
    # Of the contract and of ops/: descriptions, and what is held against them.
    *("openapi-spec-validator", "jsonschema", "rfc3339-validator", "promql-parser"),
    *("google-cloud-monitoring", "google-cloud-monitoring-dashboards", "google-cloud-logging"),
)

_INSTALLED = VENV / ".installed"
_INSTALL = ("install", "--disable-pip-version-check", "--no-input")


def is_current() -> bool:
    """Tell whether ./venv holds what the requirements name."""
    return VENV_PYTHON.exists() and read(_INSTALLED) == _stamp()


def install() -> None:
    """Make ./venv, or bring it up to date.

    Raises:
        SetupError: There is no Python for it, or an installation failed.
    """
    finished = _INSTALLED.exists() and VENV_PYTHON.exists()
    # A virtual environment does not survive being moved, nor its Python being replaced.
    if not finished or not read(_INSTALLED).startswith(_identity()):
        base = base_python()
        _make_environment(VENV, base, "./venv")
    _INSTALLED.unlink(missing_ok=True)
    _link_runtime()
    run_step(
        "Installing Python packages",
        [str(VENV_PYTHON), "-m", "pip", *_INSTALL, "--require-hashes", "-r", str(DEPLOYED)],
        log="pip.log",
    )
    run_step(
        "Installing tools for work and tests",
        [str(VENV_PYTHON), "-m", "pip", *_INSTALL, "-r", str(DEVELOPMENT)],
        log="pip-dev.log",
    )
    _INSTALLED.write_text(_stamp())


def base_python() -> pythons.Interpreter:
    """Return a Python that can make virtual environments: the running one, or one on PATH.

    Raises:
        SetupError: There is none.
    """
    found = list(pythons.on_path(but=VENV / "bin"))
    # The one in ./venv is about to be replaced.
    if Path(sys.prefix).resolve() != VENV.resolve() and (running := _running()):
        found.insert(0, running)
    usable = [one for one in found if one.version in pythons.SUPPORTED]
    for one in usable:
        if one.makes_environments:
            return one
    if usable:
        raise SetupError(
            f"{usable[0].path} cannot make virtual environments: its venv module is missing.\n"
            f"On Debian and Ubuntu: apt install python{usable[0].name}-venv",
        )
    raise SetupError(pythons.how_to_get_one())


def others() -> list[pythons.Interpreter]:
    """Return the supported Pythons on PATH that ./venv is not made of, one of each version."""
    ours = pythons.probe(VENV_PYTHON)
    return [
        one
        for one in pythons.on_path(but=VENV / "bin")
        if one.makes_environments and (ours is None or one.version != ours.version)
    ]


def unit_python(base: pythons.Interpreter) -> Path:
    """Return the Python of an environment for tests/unit; made once for each version.

    Raises:
        SetupError: An installation failed.
    """
    folder = STATE / "pythons" / base.name
    binary = folder / "bin" / "python"
    stamp = digest(str(folder), str(base.path), *UNIT_PACKAGES, *map(read, (DEPLOYED, DEVELOPMENT)))
    if not binary.exists() or read(folder / ".installed") != stamp:
        # With the pip of ./venv, and compiled as far as it is imported: half the time.
        _make_environment(folder, base, str(folder.relative_to(ROOT)), "--without-pip")
        pip = [str(VENV_PYTHON), "-m", "pip", "--python", str(binary), *_INSTALL, "--no-compile"]
        run_step(
            f"Installing Python packages for {base.name}",
            [*pip, "--require-hashes", "-r", str(DEPLOYED)],
            log=f"pip-{base.name}.log",
        )
        run_step(
            f"Installing the test tools for {base.name}",
            [*pip, "-c", str(DEVELOPMENT), *UNIT_PACKAGES],
            log=f"pip-{base.name}-dev.log",
        )
        (folder / ".installed").write_text(stamp)
    return binary


def _running() -> pythons.Interpreter | None:
    return pythons.probe(Path(sys.executable)) if sys.executable else None


def _make_environment(folder: Path, base: pythons.Interpreter, shown: str, *options: str) -> None:
    run_step(
        f"Making {shown} with Python {base.name}",
        [str(base.path), "-m", "venv", "--clear", *options, str(folder)],
        log="venv.log",
    )


def _link_runtime() -> None:
    """Give the environment's Python the name by which firebase-tools asks for it.

    It wants the deployed runtime's binary, whichever Python runs here.
    """
    runtime = json.loads(read(ROOT / "firebase.json"))["functions"][0]["runtime"]
    digits = runtime.removeprefix("python")
    link = VENV / "bin" / f"python{digits[0]}.{digits[1:]}"
    if not link.exists():
        link.unlink(missing_ok=True)
        link.symlink_to(VENV_PYTHON.name)


def _identity() -> str:
    return digest(os.path.realpath(VENV), os.path.realpath(VENV_PYTHON)) + "\n"


def _stamp() -> str:
    files = (DEPLOYED, DEVELOPMENT, ROOT / "firebase.json")
    return _identity() + digest(*map(read, files))
