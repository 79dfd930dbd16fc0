"""Log lines of a function in gunicorn with the deployed environment."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tests.suite.process import FunctionProcess

AT_ONCE: Final = 80
CALLS: Final = 1600
PROJECT: Final = "demo-wall"
NOISE: Final = ("[INFO]", "[DEBUG]")  # gunicorn's own lines


def test_every_line_is_one_object_and_names_its_request() -> None:
    """Send 80 concurrent requests, with the `sys.stdout` that the framework replaces."""
    names = [(uuid.uuid4().hex[:12], uuid.uuid4().hex) for _ in range(CALLS)]
    with FunctionProcess(
        "mailEvents",
        LOG_EXECUTION_ID="true",
        PYTHONUNBUFFERED="1",
        THREADS=str(AT_ONCE),
        GOOGLE_CLOUD_PROJECT=PROJECT,
    ) as function:

        def call(execution_id: str, trace: str) -> int | None:
            headers = {
                "Function-Execution-Id": execution_id,
                "X-Cloud-Trace-Context": f"{trace}/123;o=1",
            }
            return function.post(b"[]", headers)

        with ThreadPoolExecutor(AT_ONCE) as clients:
            statuses = list(clients.map(call, *zip(*names, strict=True)))
        printed = function.stop_and_read_output().splitlines()
    assert statuses == [403] * CALLS
    lines = [json.loads(line) for line in printed if not any(noise in line for noise in NOISE)]
    assert {line["message"] for line in lines} == {"mail.not-verified"}
    assert sorted(names) == sorted(
        (
            line["logging.googleapis.com/labels"]["execution_id"],
            line["logging.googleapis.com/trace"].removeprefix(f"projects/{PROJECT}/traces/"),
        )
        for line in lines
    )
