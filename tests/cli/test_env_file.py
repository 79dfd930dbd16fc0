"""The parser of `.env` agrees with that of firebase-tools, which the tests also run."""

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tools import env_file
from tools.paths import ROOT

ENV: Final = ROOT / "emulator/node_modules/firebase-tools/lib/functions/env.js"
TEXTS: Final = (
    "A=1\nB=two words # a comment\n# C=3\n\n  D = 4  \n",
    "export A=1\nexportB=2\n",
    "A=\"https://wall.events\"\nB='single # no comment'\n",
    'A="line\\nbreak \\"quoted\\""\nB=\'no \\n escape\'\n',
    'A="two\nlines"\nB=after\n',
    "A=\nB=\n\nC=last",
    "A='open\nB=2\n",
    "A=1\r\nB=2\r\n",
    "A=Photo Wall <photos@wall.events>\nB=a=b\n",
    'A=half "quoted"\nB="x" # comment\n',
    "a.b/c=1\n",
)
DIFFERENT: Final = {
    *("MAIL_REPLY_TO", "MAIL_ADDRESS_LINE", "PUBLIC_BASE_URL", "SENDGRID_HOST"),
    "PUBLIC_WALL",
    *("WEBHOOK_CA_BUNDLE", "WEBHOOK_ALLOW_LOOPBACK", "MAILBOX_KEY"),
}
"""Settings with other values in the local service, such as addresses and PUBLIC_WALL."""
REFUSED: Final = ("A=1\nno setting here\n", "\n\nA:1\n", '=1\nA="x" y\n')


def _asked(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the settings that firebase-tools reads, and the lines that it rejects."""
    program = f"const {{envs, errors}} = require({json.dumps(str(ENV))}).parse({json.dumps(text)});"
    program += "console.log(JSON.stringify([envs, errors]))"
    ran = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    envs, errors = json.loads(ran.stdout)
    return envs, errors


@pytest.mark.parametrize("text", TEXTS)
def test_settings_are_those_of_firebase_tools(tmp_path: Path, text: str) -> None:
    """Parse quotes, comments, `export` and values with several lines."""
    (tmp_path / ".env").write_bytes(text.encode())
    envs, errors = _asked(text)
    assert errors == []
    assert env_file.read(tmp_path / ".env") == envs


@pytest.mark.parametrize("text", REFUSED)
def test_an_invalid_line_is_rejected_with_its_number(tmp_path: Path, text: str) -> None:
    """Reject the lines that firebase-tools rejects."""
    (tmp_path / ".env").write_text(text)
    assert _asked(text)[1]
    with pytest.raises(env_file.EnvFileError, match=r"^\.env, line [123]: "):
        env_file.read(tmp_path / ".env")


def test_a_missing_file_has_no_settings(tmp_path: Path) -> None:
    """Accept a project without an `.env.PROJECT`."""
    assert env_file.read(tmp_path / ".env.acme") == {}


def test_the_local_suite_has_the_settings_of_a_deploy() -> None:
    """Compare `.env.demo-wall` with `.env`, except the settings above."""
    deployed, local = (env_file.read(ROOT / name) for name in (".env", ".env.demo-wall"))
    assert deployed.keys() <= local.keys()
    assert {name for name, value in local.items() if deployed.get(name) != value} == DIFFERENT
