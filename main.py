"""The deployed surface: every function of the service, and nothing else.

An instance runs one of them, so each imports what it calls when it is called.
"""

import gc

gc.disable()  # imports stay, and looking for garbage in them takes a fifth of a cold start

from typing import Any, Final

import flask
from firebase_functions import (
    firestore_fn,
    https_fn,
    options,
    scheduler_fn,
    tasks_fn,
)

from functions import log, parameters, service_accounts
from functions.call.caller import ADMINS, STAFF, SUPERADMINS
from functions.gcp.callables import Call, StaffCall, anonymous_callable, staff_callable
from functions.gcp.request import install_drain_hook, request_fields
from functions.gcp.triggers import restrict_invokers, trigger
from functions.ports import LOCATION
from functions.process import service
from functions.recap.ledger.batch import TIMEOUT as RECAP_TIMEOUT
from functions.webhooks.deliveries.fair_pace import SLOW_AT_ONCE
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SWEEP_PERIOD, TASK_TRIED_FOR

log.describe_requests_with(request_fields)
install_drain_hook()

# spec 6.3.3: deliveries come from this region's addresses. A whole CPU, because less of one also
# means one request at a time (the SDK's silent default is a sixth). gRPC and the SDK take 150 MB,
# each request little.
options.set_global_options(region=LOCATION, cpu=1, memory=options.MemoryOption.MB_512)

_GIVEN: Final = parameters.of_deploy()  # a deploy reads this file with its values

_WEBHOOKS: Final = parameters.account_address(service_accounts.WEBHOOKS)
_LOGS: Final = parameters.account_address(service_accounts.LOGS)
_RECAP: Final = parameters.account_address(service_accounts.RECAP)
_PREFERENCES: Final = parameters.account_address(service_accounts.PREFERENCES)
_MAIL_EVENTS: Final = parameters.account_address(service_accounts.MAIL_EVENTS)

_INSTANCES: Final = max(1, _GIVEN.delivery_instances)

_TRIGGER: Final[dict[str, Any]] = {
    "service_account": _WEBHOOKS,
    "concurrency": 80,  # a trigger waits for Firestore most of its time
    "timeout_sec": 120,  # three calls of 25 s in an outage, and the enqueuing
    "max_instances": _INSTANCES,  # 80 writes at a time each; as many as first attempts have
}

_PUBLIC: Final[dict[str, Any]] = {
    "service_account": _PREFERENCES,
    "concurrency": 80,  # a call waits for Firestore most of its time
    "timeout_sec": 60,  # two or three calls of 10 s in an outage, and a cold start
    "max_instances": 1,  # 80 calls at a time: some 200 a second
}


_TO_RECEIVERS: Final[dict[str, Any]] = (
    {
        "vpc_connector": _GIVEN.vpc_connector,
        # Private ranges only would give receivers no fixed address, which the connector is for.
        "vpc_connector_egress_settings": options.VpcEgressSetting.ALL_TRAFFIC,
    }
    if _GIVEN.vpc_connector
    else {}  # a deploy reads this too, and refuses an empty name
)


def _worker(*, instances: int, at_once: int, backoff_seconds: int) -> dict[str, Any]:
    """Options of a function that makes attempts, and of the queue of its name.

    An instance makes `at_once` attempts at a time, and the queue starts no more than that.
    """
    at_once = min(at_once, _GIVEN.threads)
    return _TO_RECEIVERS | {
        "service_account": _WEBHOOKS,
        "concurrency": at_once,  # an attempt waits for its receiver most of its time
        "timeout_sec": 60,  # 5 s for the receiver, the rest for an outage of Firestore
        "max_instances": instances,
        "retry_config": options.RetryConfig(
            # Only faults of ours are retried here (design 2): long enough for a bad deploy to be
            # rolled back, at the queue's own pace.
            max_attempts=100,
            max_retry_seconds=TASK_TRIED_FOR.seconds,
            min_backoff_seconds=backoff_seconds,
            max_backoff_seconds=backoff_seconds,  # so nothing is doubled: 0 doublings mean 16
        ),
        "rate_limits": options.RateLimits(
            max_concurrent_dispatches=at_once * instances,
            max_dispatches_per_second=500,  # the most that a queue can do
        ),
    }


_RECAP_SIZE: Final[dict[str, Any]] = {
    # Of 100,000 photos a recap takes 154 MiB, of 12,000 it takes 37, an idle instance 78
    # (docs/benchmarks.md): five of the largest fit, and `recap/limits.py` lets in no more.
    "memory": options.MemoryOption.GB_1,
    "concurrency": 80,  # a body that drips holds one of them for six seconds
}


def _attempts(number: int) -> dict[str, Any]:
    """Options of the function that makes the attempt of that number at fast receivers."""
    return _worker(
        instances=_INSTANCES if number == 1 else max(1, _INSTANCES // 2),
        at_once=120,
        backoff_seconds=RETRY_SCHEDULE[number - 1].backoff_seconds,
    )


_ACTION: Final[dict[str, Any]] = {
    "service_account": _WEBHOOKS,
    "concurrency": 40,  # organizers are few, and wait for Firestore or a receiver
    "timeout_sec": 60,  # 5 s for a receiver, or a page of deliveries; the rest for an outage
    "max_instances": 1,
}


_LOG: Final[dict[str, Any]] = {
    "service_account": _LOGS,
    "memory": options.MemoryOption.GB_1,  # a page holds a megabyte of bodies, and its copies
    "concurrency": 80,  # a call waits for Firestore most of its time
    "timeout_sec": 60,  # three calls in an outage, and a cold start
    "max_instances": 1,
}


@trigger
@firestore_fn.on_document_written(document="events/{eventId}/photos/{photoId}", **_TRIGGER)
def onPhotoWritten(event: Any) -> None:
    """A photo was uploaded, moderated, edited or deleted."""
    from functions.handlers import wall_triggers as wall
    from functions.handlers import webhook_triggers as webhooks

    try:
        wall.photo_written(service(), event, is_public=_GIVEN.public_wall)
    finally:  # a fault of one keeps nothing from the other
        webhooks.photo_written(service(), event)


@trigger
@firestore_fn.on_document_written(document="events/{eventId}", **_TRIGGER | {"max_instances": 1})
def onEventWritten(event: Any) -> None:
    """An event was created, published, archived, edited or deleted."""
    from functions.handlers import wall_triggers as wall
    from functions.handlers import webhook_triggers as webhooks

    try:
        wall.event_written(service(), event)
    finally:  # a fault of one keeps nothing from the other
        webhooks.event_written(service(), event)


@trigger
@firestore_fn.on_document_written(document="users/{uid}", **_TRIGGER | {"max_instances": 1})
def onUserWritten(event: Any) -> None:
    """The record of a user was written, perhaps with an address in a spelling of its own."""
    from functions.handlers import preference_calls

    preference_calls.user_written(service(), event)


def _attempt(request: https_fn.CallableRequest[Any]) -> None:
    from functions.handlers import webhook_triggers

    webhook_triggers.attempt(service(), request)


@restrict_invokers(_WEBHOOKS, _LOGS)
@tasks_fn.on_task_dispatched(**_attempts(1))
def deliverWebhook(request: https_fn.CallableRequest[Any]) -> None:
    """First attempt of a delivery."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(**_attempts(2))
def retryWebhookAfter1s(request: https_fn.CallableRequest[Any]) -> None:
    """Second attempt."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(**_attempts(3))
def retryWebhookAfter5s(request: https_fn.CallableRequest[Any]) -> None:
    """Third attempt."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(**_attempts(4))
def retryWebhookAfter30s(request: https_fn.CallableRequest[Any]) -> None:
    """Fourth attempt, the last."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS, _LOGS)
@tasks_fn.on_task_dispatched(
    **_worker(
        instances=max(1, _INSTANCES // 2),
        at_once=SLOW_AT_ONCE,  # an attempt at a slow receiver takes seconds, and little else
        backoff_seconds=1,
    )
)
def deliverWebhookSlow(request: https_fn.CallableRequest[Any]) -> None:
    """Every attempt at a receiver that has just been slow, so that fast ones do not wait."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(
    service_account=_RECAP,  # which may read the mail key; those who talk to receivers may not
    timeout_sec=120,  # 60 s of the mail service's silence, the rest for an outage of Firestore
    concurrency=10,  # one mail for some endpoints that fail
    max_instances=1,
    # Faults of the service; after five, the sweep queues another one.
    retry_config=options.RetryConfig(
        max_attempts=5, min_backoff_seconds=10, max_backoff_seconds=160, max_doublings=4
    ),
    rate_limits=options.RateLimits(max_concurrent_dispatches=10, max_dispatches_per_second=50),
)
def sendWebhookNotice(request: https_fn.CallableRequest[Any]) -> None:
    """The mail with the news of an event's endpoints that fail."""
    from functions.handlers import webhook_triggers

    webhook_triggers.notify(service(), request)


@scheduler_fn.on_schedule(
    schedule=f"every {SWEEP_PERIOD.seconds // 60} minutes",
    service_account=_WEBHOOKS,
    timeout_sec=240,  # ends before the next one begins
    max_instances=1,  # two sweeps at a time would do the same work
    concurrency=1,
)
def sweepDeliveries(_: scheduler_fn.ScheduledEvent) -> None:
    """Queue lost deliveries, look at failing endpoints and crashed recaps, empty deleted events.

    At the same time: the lost deliveries of an outage may take the whole of several sweeps.
    """
    import concurrent.futures
    import contextvars

    from functions.handlers import recap_calls as recaps
    from functions.handlers import wall_triggers as wall
    from functions.handlers import webhook_triggers as webhooks

    sweeps = (webhooks.sweep_deliveries, webhooks.sweep_endpoints, wall.sweep, recaps.sweep)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        for sweep in sweeps:
            threads.submit(contextvars.copy_context().run, sweep, service())  # each logs what fails


@staff_callable(
    STAFF,
    service_account=_RECAP,
    **_RECAP_SIZE,
    timeout_sec=RECAP_TIMEOUT.seconds,  # 100,000 photos, a slow mail service, and its rate limit
    max_instances=2,  # ten recaps at a time; an event has one a day
)
def sendEventRecap(call: StaffCall) -> dict[str, Any]:
    """An organizer sends every guest of an event the recap mail."""
    from functions.handlers import recap_calls

    return recap_calls.send_event_recap(service(), call)


@staff_callable(
    STAFF,
    service_account=_RECAP,
    **_RECAP_SIZE,
    timeout_sec=120,  # 100,000 photos, an outage, a slow mail service
    max_instances=1,
)
def previewEventRecap(call: StaffCall) -> dict[str, Any]:
    """An organizer looks at the recap before it is sent."""
    from functions.handlers import recap_calls

    return recap_calls.preview_event_recap(service(), call)


@staff_callable(
    STAFF,
    service_account=_RECAP,
    concurrency=40,  # organizers are few, and wait for Firestore
    timeout_sec=60,  # before the earliest time that it takes: a task finds its record
    max_instances=1,
)
def scheduleEventRecap(call: StaffCall) -> dict[str, Any]:
    """An organizer plans the recap, in the place of the one that was planned."""
    from functions.handlers import recap_calls

    return recap_calls.schedule_event_recap(service(), call)


@restrict_invokers(_RECAP, _WEBHOOKS)  # the sweep has overdue schedules ended
@tasks_fn.on_task_dispatched(
    service_account=_RECAP,
    **_RECAP_SIZE,  # a task without a slot, or of a replaced schedule, ends after a read
    timeout_sec=RECAP_TIMEOUT.seconds,
    max_instances=1,
    # For two hours: a recap that waits fails an hour after its time. Half an hour after the queue's
    # last try the sweep has it ended (design 3).
    retry_config=options.RetryConfig(
        max_attempts=100,
        max_retry_seconds=7200,
        min_backoff_seconds=60,
        max_backoff_seconds=60,
    ),
    rate_limits=options.RateLimits(max_concurrent_dispatches=80, max_dispatches_per_second=50),
)
def sendScheduledRecap(request: https_fn.CallableRequest[Any]) -> None:
    """A planned recap is due."""
    from functions.handlers import recap_calls

    recap_calls.send_scheduled_recap(service(), request)


@anonymous_callable(**_PUBLIC)
def getEmailPreferences(call: Call) -> Any:
    """What mail the bearer of a link wants."""
    from functions.handlers import preference_calls

    return preference_calls.get_email_preferences(service(), call)


@anonymous_callable(**_PUBLIC)
def updateEmailPreferences(call: Call) -> Any:
    """The bearer of a link changes that."""
    from functions.handlers import preference_calls

    return preference_calls.update_email_preferences(service(), call)


@https_fn.on_request(**_PUBLIC)
def unsubscribe(request: flask.Request) -> flask.Response:
    """A mail program's unsubscribe button."""
    from functions.handlers import preference_calls

    return preference_calls.unsubscribe(service(), request)


@https_fn.on_request(
    service_account=_MAIL_EVENTS,
    concurrency=80,  # a body that drips holds one of them for seconds; few are parsed at a time
    timeout_sec=60,  # an outage of Firestore, or others' news of the same recap
    max_instances=1,  # the provider sends a report again that finds no place
)
def mailEvents(request: flask.Request) -> flask.Response:
    """The mail provider reports the delivery status of mails."""
    from functions.handlers import recap_calls

    return recap_calls.mail_events(service(), request)


@staff_callable(ADMINS, **_ACTION, **_TO_RECEIVERS)
def sendTestWebhook(call: StaffCall) -> dict[str, Any]:
    """An organizer tries a webhook URL of an event."""
    from functions.handlers import webhook_calls

    return webhook_calls.send_test(service(), call)


@staff_callable(ADMINS, **_ACTION)
def resendWebhook(call: StaffCall) -> dict[str, Any]:
    """An organizer has deliveries sent again."""
    from functions.handlers import webhook_calls

    return webhook_calls.resend(service(), call)


@staff_callable(SUPERADMINS, **_ACTION)
def rotateWebhookSecret(call: StaffCall) -> dict[str, Any]:
    """A superadmin replaces the webhook secret of an event."""
    from functions.handlers import webhook_calls

    return webhook_calls.rotate_secret(service(), call)


@staff_callable(ADMINS, **_ACTION | {"service_account": _LOGS})
def shareWebhookLog(call: StaffCall) -> dict[str, Any]:
    """An admin gives out a link to the deliveries to one URL."""
    from functions.handlers import webhook_calls

    return webhook_calls.share_log(service(), call)


@staff_callable(ADMINS, **_ACTION | {"service_account": _LOGS})
def revokeWebhookLog(call: StaffCall) -> dict[str, Any]:
    """An admin ends such a link."""
    from functions.handlers import webhook_calls

    return webhook_calls.revoke_log(service(), call)


@anonymous_callable(**_LOG)
def getWebhookLog(call: Call) -> Any:
    """The bearer of the link sees those deliveries."""
    from functions.handlers import webhook_calls

    return webhook_calls.get_log(service(), call)


@anonymous_callable(**_LOG)
def resendSharedWebhook(call: Call) -> Any:
    """The bearer of the link has one of them sent again, where it may."""
    from functions.handlers import webhook_calls

    return webhook_calls.resend_shared(service(), call)


gc.freeze()  # later collections skip the imports as well
gc.enable()
