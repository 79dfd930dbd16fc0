"""What firebase-functions 0.6.0 leaves out of a function, as decorators above its own."""

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def private(queue: _Function) -> _Function:
    """Let the service account that the function `queue` runs as call it, and nobody else.

    Tasks carry that account's token (see `cloud_tasks`). The SDK takes the option `invoker` and
    drops it.
    """
    endpoint = _endpoint(queue)
    endpoint.taskQueueTrigger["invoker"] = [endpoint.serviceAccountEmail]
    return queue


def called_by(*accounts: str) -> Callable[[_Function], _Function]:
    """Let the service `accounts`, which queue for a function, call it, and nobody else."""

    def invoked(queue: _Function) -> _Function:
        _endpoint(queue).taskQueueTrigger["invoker"] = list(accounts)
        return queue

    return invoked


def _endpoint(function: Any) -> Any:
    return function.__firebase_endpoint__
