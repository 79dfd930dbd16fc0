"""The installation of Python packages in ./venv."""

import json
import os
import re
import shutil
import sys

from tools.paths import ROOT, VENV, VENV_PYTHON
from tools.steps import SetupError, digest, output_of, read, run_step

DEPLOYED = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"
# Size of the download with an empty cache, and on disk.
SIZE = "115 MB, 410 MB on disk"

_INSTALLED = VENV / ".installed"
_UV = VENV / "bin" / "uv"
_PIP_INSTALL = ("install", "--disable-pip-version-check", "--no-input", "--require-hashes")


def is_current() -> bool:
    """Return whether ./venv has the required packages."""
    return VENV_PYTHON.exists() and read(_INSTALLED) == _stamp()


def install() -> None:
    """Create ./venv or update it.

    Raises:
        SetupError: An installation failed.
    """
    # A virtual environment breaks if it is moved or its Python is replaced.
    if not (VENV_PYTHON.exists() and read(_INSTALLED).startswith(_identity())):
        # Not the Python in ./venv, which is removed next.
        base = os.path.realpath(sys.executable)
        _clear()
        run_step(f"Creating ./venv with {base}", [base, "-m", "venv", str(VENV)], log="venv.log")
    _INSTALLED.write_text("")
    _link_runtime()
    _install_packages("Python packages", "-r", str(DEPLOYED))
    _install_packages("development tools", "-r", str(DEVELOPMENT))
    _INSTALLED.write_text(_stamp())


def uv() -> list[str]:
    """Return the command `uv pip`. The first call installs uv with pip.

    Raises:
        SetupError: The pip command cannot install uv.
    """
    if not _UV.exists():
        pinned = VENV / "uv.txt"
        pinned.write_text(re.findall(r"^uv==(?:.*\\\n)*.*\n", read(DEVELOPMENT), re.MULTILINE)[0])
        pip = [str(VENV_PYTHON), "-m", "pip", *_PIP_INSTALL]
        run_step("Installing uv", [*pip, "-r", str(pinned)], log="uv.log")
    return [str(_UV), "pip"]


def registry() -> list[str]:
    """Return uv's option for the registry of pip's configuration, or no option."""
    pip = [str(VENV_PYTHON), "-m", "pip"]
    status, text = output_of([*pip, "config", "get", "global.index-url"])
    return [] if status else ["--default-index", text.splitlines()[-1]]


def _install_packages(title: str, *requirements: str) -> None:
    """Install with uv, or with pip if uv fails."""
    log = f"{title.replace(' ', '-')}.log"
    try:
        install = [*uv(), "install", "--require-hashes", "--python", str(VENV_PYTHON), *registry()]
        run_step(f"Installing {title}", [*install, *requirements], log=log)
    except SetupError:
        pip = [str(VENV_PYTHON), "-m", "pip", *_PIP_INSTALL]
        run_step(f"Installing {title} with pip", [*pip, *requirements], log=log)


def _clear() -> None:
    """Empty ./venv, and mark it as created by this command.

    Raises:
        SetupError: The folder has no mark, so it belongs to the user.
    """
    is_free = not os.path.lexists(VENV) or (VENV.is_dir() and not any(VENV.iterdir()))
    if not (is_free or _INSTALLED.exists()):
        raise SetupError(
            f"{VENV} was not created by this command, but the packages need that folder.\n"
            "Move or delete it, and start again."
        )
    VENV.mkdir(exist_ok=True)
    for entry in VENV.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry != _INSTALLED:
            entry.unlink()
    _INSTALLED.write_text("")


def _link_runtime() -> None:
    """Link the environment's Python under the name that firebase-tools calls.

    firebase-tools calls the binary of the deployed runtime, even if another Python runs here.
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
