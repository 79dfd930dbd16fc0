"""What firebase-functions 0.6.0 leaves out of the deployment manifest."""

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def retried(trigger: _Function) -> _Function:
    """Have Eventarc run a failed `trigger` again; the SDK writes `retry: false` without asking.

    https://firebase.google.com/docs/functions/retries
    """
    _endpoint(trigger).eventTrigger["retry"] = True
    return trigger


def private(queue: _Function) -> _Function:
    """Let the service account of Cloud Tasks call the function `queue`, and nobody else.

    The SDK takes the option `invoker` and drops it.
    """
    _endpoint(queue).taskQueueTrigger["invoker"] = ["private"]
    return queue


def _endpoint(function: Any) -> Any:
    return function.__firebase_endpoint__
