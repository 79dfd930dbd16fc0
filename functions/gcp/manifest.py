"""Decorators for manifest entries that firebase-functions 0.6.0 does not write."""

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def private(queue: _Function) -> _Function:
    """Let only the function's own service account call the function of `queue`.

    Tasks carry that account's token (see `cloud_tasks`). The SDK accepts the option `invoker` and
    drops it.
    """
    endpoint = _endpoint(queue)
    endpoint.taskQueueTrigger["invoker"] = [endpoint.serviceAccountEmail]
    return queue


def called_by(*accounts: str) -> Callable[[_Function], _Function]:
    """Let only the service `accounts`, which queue the tasks, call the function."""

    def invoked(queue: _Function) -> _Function:
        _endpoint(queue).taskQueueTrigger["invoker"] = list(accounts)
        return queue

    return invoked


def _endpoint(function: Any) -> Any:
    return function.__firebase_endpoint__
