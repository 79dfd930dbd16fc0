"""Which Python is used: any of 3.11 to 3.14 that really runs, and else a sentence that helps."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator import pythons
from emulator.environment import ROOT, SetupError, python
from emulator.pythons import Interpreter

Stand = Callable[[str, str], Path]


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    """Put a program that a shell line makes into a folder which is the whole of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(name: str, line: str) -> Path:
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
        return program

    return put


def test_every_supported_version_is_found_once(stand: Stand) -> None:
    """The deployed one first, then the newest; others do not count."""
    for minor in (10, 11, 12, 13, 14, 15):
        stand(f"python3.{minor}", f"echo 3 {minor}")

    assert [interpreter.name for interpreter in pythons.on_path()] == [
        "3.13",
        "3.14",
        "3.12",
        "3.11",
    ]


def test_what_fails_to_run_is_no_interpreter(stand: Stand) -> None:
    """As a version manager's stand-in without the version does, or with another one."""
    stand("python3.14", "echo no such version >&2; exit 127")
    stand("python3.13", "echo 3 12")
    path = stand("python3.12", "echo 3 12; exit 1")

    assert list(pythons.on_path()) == [Interpreter(path, (3, 12), makes_environments=False)]


def test_our_own_environment_does_not_count(stand: Stand) -> None:
    """Its folder is first on PATH where it is active."""
    path = stand("python3.13", "echo 3 13")

    assert list(pythons.on_path(but=path.parent)) == []


def test_the_running_python_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any on PATH."""
    monkeypatch.setattr(sys, "prefix", "/usr")

    assert python.base_python().path == Path(sys.executable)


def test_without_any_python_a_sentence_says_what_to_do(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which versions do, and where they come from."""
    stand("python3.13", "exit 127")
    monkeypatch.setattr(sys, "executable", "")

    with pytest.raises(SetupError, match=r"Python 3\.11 to 3\.14 is needed"):
        python.base_python()


def test_a_python_without_venv_is_named(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the package that brings it."""
    path = stand("python3.12", "echo 3 12; exit 1")
    monkeypatch.setattr(sys, "executable", "")

    with pytest.raises(SetupError, match=rf"{path} cannot.*\n.*apt install python3\.12-venv"):
        python.base_python()


_AS_ANOTHER_VERSION = """
import sys
sys.version_info = (3, {minor}, 0, "final", 0)
sys.argv = ["emulator", "demo"]
from emulator.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("minor", [9, 15])
def test_an_unsupported_python_alone_is_refused_with_that_sentence(minor: int) -> None:
    """Status 2 and no traceback, whether it is too old or too new."""
    done = subprocess.run(
        [sys.executable, "-c", _AS_ANOTHER_VERSION.format(minor=minor)],
        cwd=ROOT,
        env={"PATH": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert f"This is Python 3.{minor}. Python 3.11 to 3.14 is needed" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unsupported_python_hands_over_to_one_that_will_do(stand: Stand) -> None:
    """With the same arguments."""
    folder = stand("python3.12", '[ "$1" = -c ] && echo 3 12 || echo "goes on: $*"').parent

    done = subprocess.run(
        [sys.executable, "-c", _AS_ANOTHER_VERSION.format(minor=10)],
        cwd=ROOT,
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "goes on: -m emulator demo\n"
