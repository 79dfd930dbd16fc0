"""What is installed, and how failures of it are told."""

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from emulator import environment
from emulator.environment import ROOT, SetupError


def test_the_lock_names_no_registry() -> None:
    """Any mirror serves, and nobody's private one is published."""
    lock = json.loads((ROOT / "emulator" / "package-lock.json").read_text())

    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def test_the_shim_names_the_sdks_jar_in_lines_of_72_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A longer line makes Java refuse the jar."""
    monkeypatch.setattr(environment, "STATE", tmp_path / "state")
    jar = tmp_path / ("a folder with a long name " * 8) / "emulator.jar"

    shim = environment._shim_jar(jar)  # noqa: SLF001 - the public function needs an SDK

    manifest = zipfile.ZipFile(shim).read("META-INF/MANIFEST.MF")
    assert max(len(line) for line in manifest.split(b"\r\n")) <= 72 - len("\r\n")
    unfolded = manifest.replace(b"\r\n ", b"").decode()
    assert f"Class-Path: {jar.as_uri()}\r\n" in unfolded
    assert unfolded.endswith("\r\n\r\n")


def test_local_secrets_are_readable_by_their_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And are kept once they are made."""
    monkeypatch.setattr(environment, "SECRETS", tmp_path / ".secret.local")

    environment._write_secrets()  # noqa: SLF001 - the public function installs everything
    first = environment.SECRETS.read_text()
    environment._write_secrets()  # noqa: SLF001 - likewise

    assert stat.S_IMODE(environment.SECRETS.stat().st_mode) == 0o600
    assert environment.SECRETS.read_text() == first
    assert [line.partition("=")[0] for line in first.splitlines()] == [
        "EMAIL_PREFS_KEY",
        "SENDGRID_API_KEY",
    ]


def test_a_missing_node_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With where to get it."""
    monkeypatch.setenv("PATH", os.devnull)

    with pytest.raises(SetupError, match=r"`node` is not on PATH.*\n.*nodejs\.org"):
        environment.prepare()


@pytest.mark.parametrize("said", ["v18.20.4", ""])
def test_an_old_or_broken_node_is_named(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the version that is needed and the one that is there."""
    for program in ("node", "npm"):
        (tmp_path / program).write_text(f"#!/bin/sh\necho {said}\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    with pytest.raises(SetupError, match=rf"Node\.js 20 or newer is needed.*{said or 'broken'}"):
        environment.prepare()


def test_a_failed_step_shows_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that nobody has to look for the log first."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "STATE", tmp_path / "state")

    with pytest.raises(SetupError, match=r"Trying failed; state/try\.log ends:\n  what went wrong"):
        environment._run_step(  # noqa: SLF001 - the public function installs everything
            "Trying", ["sh", "-c", "echo what went wrong; exit 1"], log="try.log", folder=tmp_path
        )
