"""The deployed functions of the service.

An instance runs only one function, so each function imports its modules when it is called.
"""

import gc

gc.disable()  # imports are never garbage, and collection during imports is a fifth of a cold start

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
from functions.webhooks.deliveries.fair_queue import SLOW_AT_ONCE
from functions.webhooks.deliveries.queues import RETRY_SCHEDULE, SWEEP_PERIOD, TASK_TRIED_FOR

log.describe_requests_with(request_fields)
install_drain_hook()

# Spec 6.3.3: deliveries come from this region's addresses. A whole CPU, because with less an
# instance serves only one request at a time (the SDK's default is a sixth). gRPC and the SDK need
# 150 MB, and each request needs little.
options.set_global_options(region=LOCATION, cpu=1, memory=options.MemoryOption.MB_512)

_PARAMETERS: Final = parameters.from_deploy()

_WEBHOOKS: Final = parameters.account_address(service_accounts.WEBHOOKS)
_LOGS: Final = parameters.account_address(service_accounts.LOGS)
_RECAP: Final = parameters.account_address(service_accounts.RECAP)
_PREFERENCES: Final = parameters.account_address(service_accounts.PREFERENCES)
_MAIL_EVENTS: Final = parameters.account_address(service_accounts.MAIL_EVENTS)

_INSTANCES: Final = max(1, _PARAMETERS.delivery_instances)

_TRIGGER: Final[dict[str, Any]] = {
    "service_account": _WEBHOOKS,
    "concurrency": 80,  # a trigger mostly waits for Firestore
    "timeout_sec": 120,  # three calls of 25 s during an outage, and the enqueueing
    "max_instances": _INSTANCES,  # as many as for first attempts, with 80 concurrent writes each
}

_PUBLIC: Final[dict[str, Any]] = {
    "service_account": _PREFERENCES,
    "concurrency": 80,  # a call mostly waits for Firestore
    "timeout_sec": 60,  # two or three calls of 10 s during an outage, and a cold start
    "max_instances": 1,  # 80 concurrent calls: about 200 per second
}


_TO_RECEIVERS: Final[dict[str, Any]] = (
    {
        "vpc_connector": _PARAMETERS.vpc_connector,
        # The connector provides a fixed IP address, but only if all traffic uses it.
        "vpc_connector_egress_settings": options.VpcEgressSetting.ALL_TRAFFIC,
    }
    if _PARAMETERS.vpc_connector
    else {}  # a deploy rejects an empty name
)


def _worker(*, instances: int, at_once: int, backoff_seconds: int) -> dict[str, Any]:
    """Return the options of a function that runs attempts, and of its queue.

    An instance runs `at_once` concurrent attempts, and the queue dispatches no more.
    """
    at_once = min(at_once, _PARAMETERS.threads)
    return _TO_RECEIVERS | {
        "service_account": _WEBHOOKS,
        "concurrency": at_once,  # an attempt mostly waits for its receiver
        "timeout_sec": 60,  # 5 s for the receiver, the rest for an outage of Firestore
        "max_instances": instances,
        "retry_config": options.RetryConfig(
            # Only internal errors are retried here (design 2), long enough to roll back a bad
            # deploy.
            max_attempts=100,
            max_retry_seconds=TASK_TRIED_FOR.seconds,
            min_backoff_seconds=backoff_seconds,
            max_backoff_seconds=backoff_seconds,  # prevents doubling: max_doublings=0 means 16
        ),
        "rate_limits": options.RateLimits(
            max_concurrent_dispatches=at_once * instances,
            max_dispatches_per_second=500,  # the maximum of a queue
        ),
    }


_RECAP_SIZE: Final[dict[str, Any]] = {
    # Five recaps of 100,000 photos fit (docs/internals/scale.md), and `recap/slots.py` permits no
    # more.
    "memory": options.MemoryOption.GB_1,
    "concurrency": 80,  # a slow body occupies one of them for six seconds
}


def _attempts(number: int) -> dict[str, Any]:
    """Return the options of the function for attempt `number` at fast receivers."""
    return _worker(
        instances=_INSTANCES if number == 1 else max(1, _INSTANCES // 2),
        at_once=120,
        backoff_seconds=RETRY_SCHEDULE[number - 1].backoff_seconds,
    )


_ACTION: Final[dict[str, Any]] = {
    "service_account": _WEBHOOKS,
    "concurrency": 40,  # few organizers, and calls mostly wait for Firestore or a receiver
    "timeout_sec": 60,  # 5 s for a receiver or a page of deliveries, the rest for an outage
    "max_instances": 1,
}


_SHARED_LOG: Final[dict[str, Any]] = {
    "service_account": _LOGS,
    "memory": options.MemoryOption.GB_1,  # a page has a megabyte of bodies, copied several times
    "concurrency": 80,  # a call mostly waits for Firestore
    "timeout_sec": 60,  # three calls during an outage, and a cold start
    "max_instances": 1,
}


@trigger
@firestore_fn.on_document_written(document="events/{eventId}/photos/{photoId}", **_TRIGGER)
def onPhotoWritten(event: Any) -> None:
    """Handle the upload, moderation, edit or deletion of a photo."""
    from functions.handlers import wall_triggers as wall
    from functions.handlers import webhook_triggers as webhooks

    try:
        wall.photo_written(service(), event, is_public=_PARAMETERS.public_wall)
    finally:  # run both handlers even if one fails
        webhooks.photo_written(service(), event)


@trigger
@firestore_fn.on_document_written(document="events/{eventId}", **_TRIGGER | {"max_instances": 1})
def onEventWritten(event: Any) -> None:
    """Handle the creation, publication, archiving, edit or deletion of an event."""
    from functions.handlers import wall_triggers as wall
    from functions.handlers import webhook_triggers as webhooks

    try:
        wall.event_written(service(), event)
    finally:  # run both handlers even if one fails
        webhooks.event_written(service(), event)


@trigger
@firestore_fn.on_document_written(document="users/{uid}", **_TRIGGER | {"max_instances": 1})
def onUserWritten(event: Any) -> None:
    """List an account in the record of its address, and opt the address in if its owner did."""
    from functions.handlers import preference_calls

    preference_calls.user_written(service(), event)


def _attempt(request: https_fn.CallableRequest[Any]) -> None:
    from functions.handlers import webhook_triggers

    webhook_triggers.attempt(service(), request)


@restrict_invokers(_WEBHOOKS, _LOGS)
@tasks_fn.on_task_dispatched(**_attempts(1))
def deliverWebhook(request: https_fn.CallableRequest[Any]) -> None:
    """Run the first attempt of a delivery."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(**_attempts(2))
def retryWebhookAfter1s(request: https_fn.CallableRequest[Any]) -> None:
    """Run the second attempt."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(**_attempts(3))
def retryWebhookAfter5s(request: https_fn.CallableRequest[Any]) -> None:
    """Run the third attempt."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(**_attempts(4))
def retryWebhookAfter30s(request: https_fn.CallableRequest[Any]) -> None:
    """Run the fourth and last attempt."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS, _LOGS)
@tasks_fn.on_task_dispatched(
    **_worker(
        instances=max(1, _INSTANCES // 2),
        at_once=SLOW_AT_ONCE,  # an attempt at a slow receiver mostly waits
        backoff_seconds=1,
    )
)
def deliverWebhookSlow(request: https_fn.CallableRequest[Any]) -> None:
    """Run an attempt at a receiver that was slow recently, so that fast receivers do not wait."""
    _attempt(request)


@restrict_invokers(_WEBHOOKS)
@tasks_fn.on_task_dispatched(
    service_account=_RECAP,  # may read SendGrid's key, unlike the accounts that call receivers
    timeout_sec=120,  # 60 s until SendGrid times out, the rest for an outage of Firestore
    concurrency=10,  # one email for all failing endpoints of an event
    max_instances=1,
    # After five internal errors, the sweep enqueues another task.
    retry_config=options.RetryConfig(
        max_attempts=5, min_backoff_seconds=10, max_backoff_seconds=160, max_doublings=4
    ),
    rate_limits=options.RateLimits(max_concurrent_dispatches=10, max_dispatches_per_second=50),
)
def sendWebhookNotice(request: https_fn.CallableRequest[Any]) -> None:
    """Send the notices about an event's failing endpoints."""
    from functions.handlers import webhook_triggers

    webhook_triggers.notify(service(), request)


@scheduler_fn.on_schedule(
    schedule=f"every {SWEEP_PERIOD.seconds // 60} minutes",
    service_account=_WEBHOOKS,
    timeout_sec=240,  # ends before the next sweep starts
    max_instances=1,  # concurrent sweeps would do the same work
    concurrency=1,
)
def sweepDeliveries(_: scheduler_fn.ScheduledEvent) -> None:
    """Run the sweeps of deliveries, endpoints, retention and recaps.

    They run concurrently, because overdue deliveries of an outage may need several whole sweeps.
    """
    import concurrent.futures
    import contextvars

    from functions.handlers import recap_calls as recaps
    from functions.handlers import wall_triggers as wall
    from functions.handlers import webhook_triggers as webhooks

    sweeps = (webhooks.sweep_deliveries, webhooks.sweep_endpoints, wall.sweep, recaps.sweep)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        for sweep in sweeps:
            threads.submit(contextvars.copy_context().run, sweep, service())  # each logs its errors


@staff_callable(
    STAFF,
    service_account=_RECAP,
    **_RECAP_SIZE,
    timeout_sec=RECAP_TIMEOUT.seconds,  # 100,000 photos, and a slow or rate-limited SendGrid
    max_instances=2,  # ten concurrent recaps, and an event has one per day
)
def sendEventRecap(call: StaffCall) -> dict[str, Any]:
    """Send the recap email to every guest of an event, for an organizer."""
    from functions.handlers import recap_calls

    return recap_calls.send_event_recap(service(), call)


@staff_callable(
    STAFF,
    service_account=_RECAP,
    **_RECAP_SIZE,
    timeout_sec=120,  # 100,000 photos, an outage, and a slow SendGrid
    max_instances=1,
)
def previewEventRecap(call: StaffCall) -> dict[str, Any]:
    """Preview the recap of an event, for an organizer."""
    from functions.handlers import recap_calls

    return recap_calls.preview_event_recap(service(), call)


@staff_callable(
    STAFF,
    service_account=_RECAP,
    concurrency=40,  # few organizers, and calls mostly wait for Firestore
    timeout_sec=60,  # ends before the earliest permitted time, so that the task finds its record
    max_instances=1,
)
def scheduleEventRecap(call: StaffCall) -> dict[str, Any]:
    """Schedule the recap of an event, for an organizer, or replace or cancel the schedule."""
    from functions.handlers import recap_calls

    return recap_calls.schedule_event_recap(service(), call)


@restrict_invokers(_RECAP, _WEBHOOKS)  # the sweep enqueues tasks for overdue schedules
@tasks_fn.on_task_dispatched(
    service_account=_RECAP,
    **_RECAP_SIZE,  # a task without a slot, or of a replaced schedule, ends after one read
    timeout_sec=RECAP_TIMEOUT.seconds,
    max_instances=1,
    # Retried for two hours, because a waiting recap fails an hour after its time. Half an hour
    # after the last retry the sweep ends the schedule (design 3).
    retry_config=options.RetryConfig(
        max_attempts=100,
        max_retry_seconds=7200,
        min_backoff_seconds=60,
        max_backoff_seconds=60,
    ),
    rate_limits=options.RateLimits(max_concurrent_dispatches=80, max_dispatches_per_second=50),
)
def sendScheduledRecap(request: https_fn.CallableRequest[Any]) -> None:
    """Send a scheduled recap that is due."""
    from functions.handlers import recap_calls

    recap_calls.send_scheduled_recap(service(), request)


@anonymous_callable(**_PUBLIC)
def getEmailPreferences(call: Call) -> Any:
    """Return the email preferences of the link's user."""
    from functions.handlers import preference_calls

    return preference_calls.get_email_preferences(service(), call)


@anonymous_callable(**_PUBLIC)
def updateEmailPreferences(call: Call) -> Any:
    """Change the email preferences of the link's user."""
    from functions.handlers import preference_calls

    return preference_calls.update_email_preferences(service(), call)


@https_fn.on_request(**_PUBLIC)
def unsubscribe(request: flask.Request) -> flask.Response:
    """Handle the unsubscribe button of an email client."""
    from functions.handlers import preference_calls

    return preference_calls.unsubscribe(service(), request)


@https_fn.on_request(
    service_account=_MAIL_EVENTS,
    concurrency=80,  # a slow body occupies one of them for seconds, and few are parsed at a time
    timeout_sec=60,  # an outage of Firestore, or concurrent reports about the same recap
    max_instances=1,  # SendGrid retries reports that get a 429
)
def mailEvents(request: flask.Request) -> flask.Response:
    """Record SendGrid's reports about the delivery status of emails."""
    from functions.handlers import recap_calls

    return recap_calls.mail_events(service(), request)


@staff_callable(ADMINS, **_ACTION, **_TO_RECEIVERS)
def sendTestWebhook(call: StaffCall) -> dict[str, Any]:
    """Send a test to a webhook URL of an event, for an admin."""
    from functions.handlers import webhook_calls

    return webhook_calls.send_test(service(), call)


@staff_callable(ADMINS, **_ACTION)
def resendWebhook(call: StaffCall) -> dict[str, Any]:
    """Resend deliveries of an event, for an admin."""
    from functions.handlers import webhook_calls

    return webhook_calls.resend(service(), call)


@staff_callable(SUPERADMINS, **_ACTION)
def rotateWebhookSecret(call: StaffCall) -> dict[str, Any]:
    """Rotate the webhook secret of an event, for a superadmin."""
    from functions.handlers import webhook_calls

    return webhook_calls.rotate_secret(service(), call)


@staff_callable(ADMINS, **_ACTION | {"service_account": _LOGS})
def shareWebhookLog(call: StaffCall) -> dict[str, Any]:
    """Create a link to the deliveries to one URL, for an admin."""
    from functions.handlers import webhook_calls

    return webhook_calls.share_log(service(), call)


@staff_callable(ADMINS, **_ACTION | {"service_account": _LOGS})
def revokeWebhookLog(call: StaffCall) -> dict[str, Any]:
    """Revoke a link to deliveries, for an admin."""
    from functions.handlers import webhook_calls

    return webhook_calls.revoke_log(service(), call)


@anonymous_callable(**_SHARED_LOG)
def getWebhookLog(call: Call) -> Any:
    """Return the deliveries to the URL of a link, for its bearer."""
    from functions.handlers import webhook_calls

    return webhook_calls.get_log(service(), call)


@anonymous_callable(**_SHARED_LOG)
def resendSharedWebhook(call: Call) -> Any:
    """Resend one delivery to the URL of a link, if the link permits it."""
    from functions.handlers import webhook_calls

    return webhook_calls.resend_shared(service(), call)


gc.freeze()  # later collections skip the imports as well
gc.enable()
