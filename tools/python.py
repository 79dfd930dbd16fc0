"""The Python environment: ./venv for all work."""

import json
import os
import re
import shutil
import sys

from tools.paths import ROOT, VENV, VENV_PYTHON
from tools.steps import SetupError, digest, output_of, read, run_step

DEPLOYED = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"
# Download into an empty cache, and space on disk.
SIZE = "115 MB, 410 MB on disk"

_INSTALLED = VENV / ".installed"
_UV = VENV / "bin" / "uv"
_PIP_INSTALL = ("install", "--disable-pip-version-check", "--no-input", "--require-hashes")


def is_current() -> bool:
    """Tell whether ./venv holds what the requirements name."""
    return VENV_PYTHON.exists() and read(_INSTALLED) == _stamp()


def install() -> None:
    """Make ./venv, or bring it up to date.

    Raises:
        SetupError: An installation failed.
    """
    # A virtual environment does not survive being moved, nor its Python being replaced.
    if not (VENV_PYTHON.exists() and read(_INSTALLED).startswith(_identity())):
        # Not the Python in ./venv, which is about to be removed.
        base = os.path.realpath(sys.executable)
        _clear()
        run_step(f"Making ./venv with {base}", [base, "-m", "venv", str(VENV)], log="venv.log")
    _INSTALLED.write_text("")
    _link_runtime()
    _install_packages("Python packages", "-r", str(DEPLOYED))
    _install_packages("tools for work and tests", "-r", str(DEVELOPMENT))
    _INSTALLED.write_text(_stamp())


def uv() -> list[str]:
    """Return the command that begins with uv, which pip installs on first use.

    Raises:
        SetupError: pip cannot install it.
    """
    if not _UV.exists():
        pinned = VENV / "uv.txt"
        pinned.write_text(re.findall(r"^uv==(?:.*\\\n)*.*\n", read(DEVELOPMENT), re.MULTILINE)[0])
        pip = [str(VENV_PYTHON), "-m", "pip", *_PIP_INSTALL]
        run_step("Installing uv", [*pip, "-r", str(pinned)], log="uv.log")
    return [str(_UV), "pip"]


def registry() -> list[str]:
    """Return uv's option for the registry that pip is configured to use, if there is one."""
    pip = [str(VENV_PYTHON), "-m", "pip"]
    status, text = output_of([*pip, "config", "get", "global.index-url"])
    return [] if status else ["--default-index", text.splitlines()[-1]]


def _install_packages(what: str, *requirements: str) -> None:
    """Install with uv, or with pip where uv fails."""
    log = f"{what.replace(' ', '-')}.log"
    try:
        install = [*uv(), "install", "--require-hashes", "--python", str(VENV_PYTHON), *registry()]
        run_step(f"Installing {what}", [*install, *requirements], log=log)
    except SetupError:
        pip = [str(VENV_PYTHON), "-m", "pip", *_PIP_INSTALL]
        run_step(f"Installing {what} with pip", [*pip, *requirements], log=log)


def _clear() -> None:
    """Empty ./venv, and mark it as ours before anything is in it.

    Raises:
        SetupError: The folder has no mark, so it is the user's own.
    """
    is_free = not os.path.lexists(VENV) or (VENV.is_dir() and not any(VENV.iterdir()))
    if not (is_free or _INSTALLED.exists()):
        raise SetupError(
            f"{VENV} was not created by this command, and the packages need that folder.\n"
            "Move it away or delete it, and start again."
        )
    VENV.mkdir(exist_ok=True)
    for entry in VENV.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry != _INSTALLED:
            entry.unlink()
    _INSTALLED.write_text("")


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
