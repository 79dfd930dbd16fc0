"""What firebase-functions 0.6.0 leaves out of a function, as decorators above its own."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import firebase_admin

_Function = TypeVar("_Function", bound=Callable[..., Any])


def retried(trigger: _Function) -> _Function:
    """Have Eventarc run a failed Firestore `trigger` again.

    The SDK writes `retry: false` without asking. And it makes the default app with the first
    event, without a lock, so that of two first events one fails: here it is made before.

    https://firebase.google.com/docs/functions/retries
    """
    _default_app()
    _endpoint(trigger).eventTrigger["retry"] = True
    return trigger


def private(queue: _Function) -> _Function:
    """Let the service account that the function `queue` runs as call it, and nobody else.

    Tasks carry that account's token (see `cloud_tasks`). The SDK takes the option `invoker` and
    drops it.
    """
    endpoint = _endpoint(queue)
    endpoint.taskQueueTrigger["invoker"] = [endpoint.serviceAccountEmail]
    return queue


def called_by(account: str) -> Callable[[_Function], _Function]:
    """Let the service account `account`, which queues for a function, call it, and nobody else."""

    def invoked(queue: _Function) -> _Function:
        _endpoint(queue).taskQueueTrigger["invoker"] = [account]
        return queue

    return invoked


@functools.cache
def _default_app() -> firebase_admin.App:
    return firebase_admin.initialize_app()  # looks for no credentials yet


def _endpoint(function: Any) -> Any:
    return function.__firebase_endpoint__
