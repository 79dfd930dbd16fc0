"""README.md: what a receiver is told to do really verifies what is sent."""

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any, Final

import pytest

from functions.webhooks.deliveries.signature import sign

README: Final = (Path(__file__).parents[2] / "README.md").read_text()
SECRET: Final = "whsec_test"
BODY: Final = '{"name":"Zoë ✓"}'.encode()


def block(language: str) -> str:
    """The README's code in `language` that defines `verify`."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    [found] = [one for one in blocks if "verify" in one]
    return str(found)


def in_python(header: str, body: bytes) -> bool:
    """The verdict of the Python code."""
    names: dict[str, Any] = {}
    exec(block("python"), names)  # noqa: S102 - the README's own code
    verdict: bool = names["verify"](SECRET, header, body)
    return verdict


def in_javascript(header: str, body: bytes) -> bool:
    """The verdict of the JavaScript code."""
    arguments = f"{json.dumps(SECRET)}, {json.dumps(header)}, Buffer.from('{body.hex()}', 'hex')"
    program = f"{block('javascript')}\nconsole.log(verify({arguments}));"
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", program],
        check=True,
        capture_output=True,
        text=True,
    )
    return {"true\n": True, "false\n": False}[ran.stdout]


@pytest.mark.parametrize("verify", [in_python, in_javascript])
def test_a_genuine_request_is_accepted_and_any_other_refused(verify: Any) -> None:
    """Spec 5, receiver side: missing parts, age, body and signature."""
    now = int(time.time())
    header = sign(SECRET, BODY, at=now)
    assert verify(header, BODY)
    assert verify(sign(SECRET, BODY, at=now - 290), BODY)
    assert not verify(header, BODY + b" ")
    assert not verify(sign("another", BODY, at=now), BODY)
    assert not verify(sign(SECRET, BODY, at=now - 310), BODY)
    assert not verify(sign(SECRET, BODY, at=now + 310), BODY)
    assert not verify(header.partition(",")[0], BODY)
    assert not verify(header.partition(",")[2], BODY)
    assert not verify("", BODY)
    assert not verify(header[:-2], BODY)
