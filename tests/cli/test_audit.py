"""`.ci/run` audits the packages that reach browsers."""

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
_RUN: Final = "eval \"$(sed -n '/^audit_pages()/,/^}/p' .ci/run)\"; audit_pages"
_FOUND: Final = '{\n  "vulnerabilities": {\n    "preact": {}\n  }\n}'


def _status(code: int) -> str:
    return f'{{\n  "method": "POST",\n  "statusCode": {code},\n  "body": ""\n}}'


@pytest.mark.parametrize(
    ("npm_status", "report", "status"),
    [
        (0, '{\n  "vulnerabilities": {}\n}', 0),
        (1, _FOUND, 1),
        (1, _status(404), 0),
        (1, _status(405), 0),
        (1, _status(501), 0),
        (1, _status(400), 1),
        (1, _status(503), 1),
        (1, '{\n  "message": "connect ECONNREFUSED"\n}', 1),
        (127, "", 1),
    ],
)
def test_only_a_registry_without_audits_is_no_failure(
    npm_status: int, report: str, status: int, tmp_path: Path
) -> None:
    """Report npm's output. A vulnerability fails the run."""
    (tmp_path / "report").write_text(report)
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\ncat {tmp_path}/report\nexit {npm_status}\n")
    npm.chmod(0o755)

    done = subprocess.run(
        ["bash", "-c", _RUN],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == status, done.stderr
