"""Installing the packages, and the messages of failed installations."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest

from emulator.cloud import local_cloud
from functions.service_accounts import SECRET_READERS
from tools import local_secrets, pages, python, steps
from tools.installation import prepare
from tools.paths import ROOT, VENV, VENV_PYTHON
from tools.steps import SetupError

_CACHES: Final = shutil.ignore_patterns("__pycache__")
"""Files that other checks may be writing now."""


@pytest.mark.parametrize("folder", ["emulator", "console"])
def test_the_lock_names_no_registry(folder: str) -> None:
    """Work with any mirror, and publish no private mirror."""
    lock = json.loads((ROOT / folder / "package-lock.json").read_text())

    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def test_what_is_pinned_is_installed() -> None:
    """Check that the development tools, installed later, change no pinned package."""
    pins = re.findall(r"^([a-z0-9.-]+)==([\w.]+)", python.DEPLOYED.read_text(), re.MULTILINE)

    assert {name: metadata.version(name) for name, _ in pins} == dict(pins)


def test_the_deployed_runtime_is_linked_to_the_local_python() -> None:
    """Find the binary that firebase-tools calls."""
    runtime = json.loads((ROOT / "firebase.json").read_text())["functions"][0]["runtime"]
    name = f"python3.{runtime.removeprefix('python3')}"

    assert (VENV / "bin" / name).samefile(sys.executable)


def test_scripts_of_operators_require_the_current_packages(tmp_path: Path) -> None:
    """Stop after an upgrade without a setup: a deploy would use old packages."""
    for folder in ("ops", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=_CACHES)
    for name in ("functions", "firebase.json", "requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "emulator/node_modules").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", "node_modules/.installed"):
        shutil.copy(ROOT / "emulator" / name, tmp_path / "emulator" / name)
    (tmp_path / "venv").symlink_to(VENV)

    def status() -> int:
        return subprocess.run([tmp_path / "ops/check"], check=False, capture_output=True).returncode

    assert status() == 2, "no project is named"
    (tmp_path / "emulator/package-lock.json").write_text("of a later release")
    assert status() == 1


def test_local_secrets_are_readable_by_their_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep secrets private, and keep existing secrets."""
    monkeypatch.setattr(local_secrets, "FILE", tmp_path / ".secret.local")

    local_secrets.write()
    first = local_secrets.FILE.read_text()
    local_secrets.write()

    assert stat.S_IMODE(local_secrets.FILE.stat().st_mode) == 0o600
    assert local_secrets.FILE.read_text() == first
    names = [line.partition("=")[0] for line in first.splitlines()]
    assert names == list(SECRET_READERS)


def test_a_missing_node_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell the user how to install Node."""
    monkeypatch.setenv("PATH", os.devnull)

    with pytest.raises(SetupError, match=r"`node` is not on PATH.*\n.*nodejs\.org"):
        prepare()


@pytest.mark.parametrize("said", ["v18.20.4", ""])
def test_an_old_or_broken_node_is_named(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Name the installed and the required version."""
    for program in ("node", "npm"):
        (tmp_path / program).write_text(f"#!/bin/sh\necho {said}\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    with pytest.raises(SetupError, match=rf"Node\.js 20 or newer is needed.*{said or 'broken'}"):
        prepare()


def test_a_failed_step_shows_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Print the end of the log, so that the user doesn't have to search for it."""
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(steps, "STATE", tmp_path / "state")

    with pytest.raises(
        SetupError, match=r"Trying failed\. The end of state/try\.log:\n  what went wrong"
    ):
        steps.run_step(
            "Trying", ["sh", "-c", "echo what went wrong; exit 1"], log="try.log", folder=tmp_path
        )


def test_firestores_emulator_is_downloaded_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Report a failed download before the line about the start of the service."""

    def download() -> dict[str, str]:
        raise SetupError

    monkeypatch.setattr(local_cloud, "LOG", tmp_path / "suite.log")
    monkeypatch.setattr(local_cloud, "check_ports", lambda _: None)
    monkeypatch.setattr(local_cloud, "server_environment", download)

    with pytest.raises(SetupError):
        local_cloud.LocalCloud().__enter__()
    assert capsys.readouterr().err == ""


def test_pages_are_built_again_once_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare the text of the sources, not their times."""
    page = tmp_path / "pages" / "console.html"
    page.parent.mkdir()
    page.write_text("one")
    monkeypatch.setattr(pages, "CONSOLE", tmp_path)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "_TEXTS", page.parent)
    before = pages.sources()

    os.utime(page, (1, 1))
    assert pages.sources() == before
    page.write_text("another")
    assert pages.sources() != before


def test_a_build_removes_pages_without_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Serve no page of an earlier checkout."""
    (tmp_path / "old.html").touch()
    monkeypatch.setattr(pages, "PAGES", tmp_path)
    monkeypatch.setattr(pages, "_BUILT", tmp_path.with_suffix(".built"))
    monkeypatch.setattr(pages, "run_step", lambda *_, **__: None)

    pages.install()

    assert not tmp_path.exists()


def test_pip_installs_if_uv_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fall back to pip if uv has no build or cannot read the registry."""
    programs: list[list[str]] = []

    def run_step(_: str, command: list[str], **__: object) -> None:
        programs.append(command)
        if Path(command[0]).name == "uv":
            raise SetupError("no such registry")

    monkeypatch.setattr(python, "run_step", run_step)
    python._install_packages("packages", "-r", "some.txt")  # noqa: SLF001 - only this step

    assert programs[-1][:3] == [str(VENV_PYTHON), "-m", "pip"]
    assert programs[-1][-2:] == ["-r", "some.txt"]


def test_an_interrupt_at_the_end_of_a_step_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ignore that the process has already ended."""
    monkeypatch.setattr(steps, "STATE", tmp_path)

    class Interrupted(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            status = super().wait(timeout)
            monkeypatch.undo()
            raise KeyboardInterrupt(status)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)

    with pytest.raises(KeyboardInterrupt):
        steps.run_step("Trying", ["true"], log="try.log", folder=tmp_path)


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder for ./venv."""

    def run_step(_: str, command: list[str], **__: object) -> None:
        (Path(command[-1]) / "bin").mkdir()
        (Path(command[-1]) / "bin/python").symlink_to(sys.executable)

    folder = tmp_path / "venv"
    monkeypatch.setattr(python, "VENV", folder)
    monkeypatch.setattr(python, "VENV_PYTHON", folder / "bin/python")
    monkeypatch.setattr(python, "_INSTALLED", folder / ".installed")
    monkeypatch.setattr(python, "run_step", run_step)
    monkeypatch.setattr(python, "_install_packages", lambda *_: None)
    return folder


def _theirs(venv: Path) -> None:
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").symlink_to(sys.executable)


def _a_file(venv: Path) -> None:
    venv.write_text("notes")


def _elsewhere(venv: Path) -> None:
    venv.with_name("elsewhere").mkdir()
    (venv.with_name("elsewhere") / "notes").touch()
    venv.symlink_to("elsewhere")


@pytest.mark.parametrize("make", [_theirs, _a_file, _elsewhere])
def test_a_venv_of_the_user_is_not_changed(venv: Path, make: Callable[[Path], None]) -> None:
    """Stop with a sentence and keep the files."""
    make(venv)
    before = sorted(venv.parent.rglob("*"))

    with pytest.raises(SetupError, match="was not created by this command"):
        python.install()
    assert sorted(venv.parent.rglob("*")) == before


def test_our_own_venv_is_recreated(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognize the mark after an interrupted installation or a change of Python."""
    venv.mkdir()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patches:
        patches.setattr(python, "_install_packages", interrupted)
        with pytest.raises(KeyboardInterrupt):
            python.install()
    assert not python.is_current()
    (venv / "left").mkdir()
    python.install()

    assert python.is_current()
    assert not (venv / "left").exists()
