"""Operators' scripts on a machine without gcloud."""

import os
from collections.abc import Callable

import pytest

from ops import adopting, setting_up


@pytest.mark.parametrize(
    "script", [setting_up.main, setting_up.check, setting_up.deploy, adopting.main]
)
def test_a_missing_gcloud_is_named_before_any_question(
    script: Callable[[list[str]], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Print what to install before reading standard input, which pytest does not allow."""
    monkeypatch.setenv("PATH", os.devnull)

    status = script(["acme"])

    printed = capsys.readouterr()
    assert (status, printed.out) == (1, "")
    assert "https://cloud.google.com/sdk" in printed.err
