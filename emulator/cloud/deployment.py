"""Reads the functions of `main.py` with their triggers and queues, as a deploy does."""

import re
import subprocess
from dataclasses import dataclass
from typing import Any, Final

import yaml

from emulator.cloud.environment import function_environment, parameters
from emulator.firebase import PROJECT
from emulator.provider_models.cloud_tasks import Queue, RetryPolicy
from tools.paths import ROOT, VENV_PYTHON
from tools.steps import SetupError

RENDER: Final = (
    "from firebase_functions.private import serving;"
    "print(serving.functions_as_yaml(serving.get_functions()))"
)
_PARAMETER: Final = re.compile(r"\{\{ params\.(\w+) \}\}")


@dataclass(frozen=True, slots=True)
class Function:
    """One deployed function.

    Attributes:
        name: The function's name.
        trigger: The `eventTrigger` of the deploy's manifest, or None.
        queue: The queue whose tasks the function runs, or None.
    """

    name: str
    trigger: dict[str, Any] | None
    queue: Queue | None


def read() -> list[Function]:
    """Read the functions as firebase-tools does, with the values of parameters.

    Raises:
        SetupError: `main.py` cannot be loaded.
    """
    done = subprocess.run(
        [str(VENV_PYTHON), "-c", RENDER],
        cwd=ROOT,
        env=function_environment("none", "http"),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SetupError(f"main.py cannot be loaded:\n{done.stderr}")
    endpoints: dict[str, dict[str, Any]] = yaml.safe_load(done.stdout)["endpoints"]
    values = parameters() | {"GCLOUD_PROJECT": PROJECT}
    return [_function(name, _filled(endpoint, values)) for name, endpoint in endpoints.items()]


def _function(name: str, endpoint: dict[str, Any]) -> Function:
    queue = endpoint.get("taskQueueTrigger")
    return Function(name, endpoint.get("eventTrigger"), _queue(queue) if queue else None)


def _queue(trigger: dict[str, Any]) -> Queue:
    retries, limits = trigger["retryConfig"], trigger["rateLimits"]
    return Queue(
        max_concurrent=int(limits["maxConcurrentDispatches"]),
        per_second=float(limits["maxDispatchesPerSecond"]),
        retry_policy=RetryPolicy(
            attempts=int(retries["maxAttempts"]),
            seconds=float(retries.get("maxRetrySeconds") or 0),
            min_backoff=float(retries["minBackoffSeconds"]),
            max_backoff=float(retries["maxBackoffSeconds"]),
            doublings=int(retries.get("maxDoublings") or 0),
        ),
    )


def _filled(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(item, values) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    if isinstance(value, str):
        return _PARAMETER.sub(lambda found: values[found[1]], value)
    return value
