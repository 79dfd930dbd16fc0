"""Decorators for manifest entries that firebase-functions 0.6.0 does not write."""

from collections.abc import Callable
from typing import Any


def called_by(*accounts: str) -> Callable[[Any], Any]:
    """Let only the service `accounts`, which queue the tasks, call the function.

    Tasks carry the token of the account that queues them (see `cloud_tasks`). The SDK accepts the
    option `invoker` and drops it.
    """

    def invoked(queue: Any) -> Any:
        queue.__firebase_endpoint__.taskQueueTrigger["invoker"] = list(accounts)
        return queue

    return invoked


def retried(declared: Any) -> Any:
    """Have an event come again after a failure; the SDK itself would declare `retry: false`."""
    declared.__firebase_endpoint__.eventTrigger["retry"] = True
    return declared
