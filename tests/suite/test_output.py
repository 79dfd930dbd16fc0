"""Nothing leaks: the output of every function during the whole suite is searched at its end."""

import os
import re
import time
import uuid
from pathlib import Path
from typing import Final

import pytest

from emulator.cloud.function_process import LOG_VARIABLE, PRINTED, FunctionProcess
from tests.suite.call import call
from tools import local_secrets

LIMIT: Final = 60.0
"""Seconds."""

_SECRETS: Final = local_secrets.read().values()

LEAKS: Final = {
    "an email address": r"[\w.+-]+(@|%40)[\w-]+\.[\w.-]+",
    "a webhook secret": r"whsec_",
    "a key": "|".join(map(re.escape, _SECRETS)),
    # JSON in base64 and what follows the dot. A random id may begin with the same letters.
    "a token": r"eyJ[\w-]{8,}\.[\w.-]{8,}",
    "a stack trace": r"Traceback \(most recent call last\)",
}


def printed() -> list[str]:
    """Return the output of all functions, those of the suite and those that tests started."""
    log = Path(os.environ[LOG_VARIABLE]).read_text(errors="replace")
    return [line for line in log.splitlines() if line.startswith(PRINTED)]


@pytest.mark.parametrize("leak", LEAKS)
def test_no_function_prints_confidential_data(leak: str) -> None:
    """No line that a function has printed holds personal data, a key or a stack trace."""
    found = [line for line in printed() if re.search(LEAKS[leak], line)]
    assert not found, f"{len(found)} lines, for example {found[:3]}"


def test_the_output_of_functions_is_searched() -> None:
    """A function of the suite and a process of a test print a line, and both lines are found."""
    named = [uuid.uuid4().hex for _ in range(2)]
    tasks = [{"eventId": "none", "deliveryId": name, "attempt": 1} for name in named]
    call("deliverWebhook", tasks[0])
    with FunctionProcess("deliverWebhook") as process:
        process.dispatch(tasks[1])
    end = time.monotonic() + LIMIT
    while not all(any(name in line for line in printed()) for name in named):
        assert time.monotonic() < end, printed()[-5:]
        time.sleep(0.05)
