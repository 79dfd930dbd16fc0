"""Design 1, 2 and 5: the manifest that `firebase deploy` reads, rendered by the SDK."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from functions.gcp.request import BODY_SECONDS, REST_SECONDS
from functions.recap import schedule
from functions.recap.recap_arguments import SOONEST
from functions.recap.slots import SLOTS
from functions.service_accounts import SECRET_READERS
from functions.webhooks.deliveries.fair_queue import slow_attempts_a_second
from functions.webhooks.deliveries.receiver_speed import UNPROVEN_AT_ONCE
from functions.webhooks.sender.http_sender import TIMEOUT_SECONDS
from tests.unit.contract.calls import CALLS

ROOT: Final = Path(__file__).parents[2]
RETRY_SCHEDULE: Final = {
    # queue: its backoff in seconds, and the concurrent calls that its function allows
    "deliverWebhook": (1, 2 * 120),
    "deliverWebhookSlow": (1, 300),
    "retryWebhookAfter1s": (1, 120),
    "retryWebhookAfter5s": (5, 120),
    "retryWebhookAfter30s": (30, 120),
}
NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
NOTICES: Final = "sendWebhookNotice"
REGION_CPUS: Final = 20
"""The quota of a new project: `CpuAllocPerProjectRegion`."""
TRIGGERS: Final = {
    "onPhotoWritten": "events/{eventId}/photos/{photoId}",
    "onEventWritten": "events/{eventId}",
    "onUserWritten": "users/{uid}",
}
BY_ANYONE: Final = {name for name, call in CALLS.items() if not call.roles}
"""Callables for which a link suffices."""
OTHER_ACCOUNTS: Final = {
    # function: its capability, which does not follow from its name
    "unsubscribe": "PREFERENCES",
    "mailEvents": "MAIL_EVENTS",
    "sendWebhookNotice": "RECAP",  # reads the email provider's key
    "shareWebhookLog": "LOGS",
    "revokeWebhookLog": "LOGS",
    "getWebhookLog": "LOGS",
    "resendSharedWebhook": "LOGS",
}


def account(capability: str) -> str:
    """Return the address of the service account of `capability` in the manifest."""
    name = capability.lower().replace("_", "-")
    return f"wall-{name}@{{{{ params.GCLOUD_PROJECT }}}}.iam.gserviceaccount.com"


def rendered(**settings: str) -> dict[str, Any]:
    """Render the manifest in a process without credentials, like `firebase deploy`."""
    render = (
        "from firebase_functions.private import serving;"
        "print(serving.functions_as_yaml(serving.get_functions()))"
    )
    made = subprocess.run(
        [sys.executable, "-c", render],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "GOOGLE_APPLICATION_CREDENTIALS": "/nonexistent",
            **settings,
        },
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = yaml.safe_load(made.stdout)
    return found


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    """Return the manifest with the defaults."""
    return rendered()


@pytest.fixture(scope="module")
def endpoints(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the functions by name."""
    found: dict[str, Any] = manifest["endpoints"]
    return found


def test_two_functions_are_plain_https(endpoints: dict[str, Any]) -> None:
    """RFC 8058 and SendGrid define their own requests. Other calls are callables (spec 4)."""
    plain = {name for name, endpoint in endpoints.items() if "httpsTrigger" in endpoint}
    assert plain == {"unsubscribe", "mailEvents"}


def test_no_version_of_a_secret_is_pinned(manifest: dict[str, Any]) -> None:
    """A deployment pins declared secrets. After a rotation every new instance would fail."""
    for name, endpoint in manifest["endpoints"].items():
        assert not endpoint.get("secretEnvironmentVariables"), name
    assert not [param for param in manifest["params"] if param["type"] == "secret"]


def test_every_function_has_the_service_account_of_its_capability(
    endpoints: dict[str, Any],
) -> None:
    """A function of the webhooks must not read the keys of links and of the email provider."""
    found = {name: made.get("serviceAccountEmail") for name, made in endpoints.items()}
    assert found == {name: account(OTHER_ACCOUNTS.get(name) or by_name(name)) for name in endpoints}


def by_name(function: str) -> str:
    """Return the capability of a function by its name."""
    if "Recap" in function:
        return "RECAP"
    return "PREFERENCES" if "Preferences" in function else "WEBHOOKS"


def test_only_accounts_that_send_emails_can_read_the_keys() -> None:
    """`ops/setup` grants access to these accounts. Functions that call receivers read no secret."""
    assert {name: set(accounts) for name, accounts in SECRET_READERS.items()} == {
        "SENDGRID_API_KEY": {"wall-recap"},
        "SMTP_PASSWORD": {"wall-recap"},
        "EMAIL_PREFS_KEY": {"wall-recap", "wall-preferences"},
        "LOG_LINKS_KEY": {"wall-logs"},
    }


def test_every_function_has_a_region_and_a_size(endpoints: dict[str, Any]) -> None:
    """Spec 6.3.3: us-central1. Design 5: with less than one CPU, concurrency would be 1."""
    for name, endpoint in endpoints.items():
        assert endpoint["region"] == ["us-central1"], name
        assert endpoint["platform"] == "gcfv2", name
        assert endpoint["cpu"] == 1, name
        for option in ("availableMemoryMb", "timeoutSeconds", "maxInstances", "concurrency"):
            assert isinstance(endpoint[option], int), (name, option)


@pytest.mark.parametrize("name", sorted({*BY_ANYONE, "unsubscribe"}))
def test_twelve_slow_bodies_a_second_leave_free_slots(endpoints: dict[str, Any], name: str) -> None:
    """Each slow body occupies a slot of Cloud Run for six seconds."""
    endpoint = endpoints[name]
    assert endpoint["maxInstances"] * endpoint["concurrency"] > 12 * BODY_SECONDS


@pytest.mark.parametrize("name", sorted({*CALLS, "mailEvents"} - BY_ANYONE))
def test_thirty_rejected_calls_a_second_leave_free_slots(
    endpoints: dict[str, Any], name: str
) -> None:
    """The body of a call that is rejected by its headers is read for at most a second."""
    endpoint = endpoints[name]
    assert endpoint["maxInstances"] * endpoint["concurrency"] > 30 * REST_SECONDS


def test_the_functions_fit_a_new_project(endpoints: dict[str, Any]) -> None:
    """Check the table of docs/internals/scale.md: it has each function once, with correct sums.

    With all other functions at their maximum, organizers still have two vCPU. A deployment rejects
    a function that could use more than the region has.
    """
    most = {name: made["maxInstances"] * made["cpu"] for name, made in endpoints.items()}
    assert max(most.values()) <= REGION_CPUS / 2
    page = (ROOT / "docs/internals/scale.md").read_text()
    table = page.partition("| vCPU at most |")[2].partition("\n\n")[0]
    *groups, (_, total) = re.findall(r"^\| (.*) \| (\d+) \|$", table, re.MULTILINE)
    sums = [sum(most.pop(name) for name in re.findall(r"`(\w+)`", row)) for row, _ in groups]
    assert sums == [int(documented) for _, documented in groups]
    assert (most, sum(sums)) == ({}, int(total))
    background, attempts, anonymous, _ = sums
    assert REGION_CPUS - background - attempts - anonymous >= 2


@pytest.mark.parametrize(("name", "document"), TRIGGERS.items())
def test_a_trigger_is_retried(endpoints: dict[str, Any], name: str, document: str) -> None:
    """Design 2: triggers run at least once. By default the SDK drops a failed write."""
    trigger = endpoints[name]["eventTrigger"]
    assert trigger["retry"] is True
    assert trigger["eventType"] == "google.cloud.firestore.document.v1.written"
    assert trigger["eventFilterPathPatterns"] == {"document": document}


@pytest.mark.parametrize(("name", "numbers"), RETRY_SCHEDULE.items())
def test_a_queue_has_the_backoff_and_rate_of_its_step(
    endpoints: dict[str, Any], name: str, numbers: tuple[int, int]
) -> None:
    """Design 2: the backoff is constant, and the function has a slot for each task."""
    queue = endpoints[name]["taskQueueTrigger"]
    backoff, places = numbers
    assert queue["retryConfig"] == {
        "maxAttempts": 100,
        "maxRetrySeconds": 3600,
        "minBackoffSeconds": backoff,
        "maxBackoffSeconds": backoff,  # 0 doublings would mean "unspecified" to Cloud Tasks
    }
    assert queue["rateLimits"] == {
        "maxConcurrentDispatches": places,
        "maxDispatchesPerSecond": 500,
    }
    assert endpoints[name]["maxInstances"] * endpoints[name]["concurrency"] == places
    # A resend by a link starts with a first attempt, or waits on the slow queue.
    also = [account("LOGS")] if name.startswith("deliver") else []
    assert queue["invoker"] == [account("WEBHOOKS"), *also]


@pytest.mark.parametrize(("instances", "threads"), [(1, 300), (2, 300), (3, 300), (4, 120)])
def test_all_workers_fill_the_slow_queue_and_no_more(instances: int, threads: int) -> None:
    """Each attempt at a receiver that stops answering occupies a slot for 5 s.

    Ten a second of each of six workers exceeded 240 slots. A slow receiver of another event then
    waited 11 s at the median after three minutes, with a growing delay.
    """
    settings = {"DELIVERY_INSTANCES": str(instances), "THREADS": str(threads)}
    endpoints = rendered(**settings)["endpoints"]
    workers = sum(endpoints[name]["maxInstances"] for name in RETRY_SCHEDULE)
    slow = endpoints["deliverWebhookSlow"]["taskQueueTrigger"]["rateLimits"]
    held = workers * slow_attempts_a_second(instances, threads) * TIMEOUT_SECONDS
    assert held == pytest.approx(slow["maxConcurrentDispatches"])


def test_unknown_receivers_use_half_of_the_slots_of_an_instance(endpoints: dict[str, Any]) -> None:
    """The other half is for receivers that are known to be fast."""
    assert endpoints["deliverWebhook"]["concurrency"] == 2 * UNPROVEN_AT_ONCE


def test_the_queue_of_notices(endpoints: dict[str, Any]) -> None:
    """Only the account that queues notices may call it, ten at a time, with five attempts."""
    endpoint = endpoints[NOTICES]
    queue = endpoint["taskQueueTrigger"]
    assert queue["invoker"] == [account("WEBHOOKS")]
    assert queue["retryConfig"]["maxAttempts"] == 5
    assert queue["rateLimits"]["maxConcurrentDispatches"] == 10
    assert endpoint["maxInstances"] * endpoint["concurrency"] == 10, "each task has a slot"


def test_the_queue_of_scheduled_recaps(endpoints: dict[str, Any]) -> None:
    """Spec 4.15: a task can run for a whole recap, has a slot, and ends after the retries."""
    endpoint = endpoints[schedule.QUEUE]
    queue = endpoint["taskQueueTrigger"]
    assert queue["invoker"] == [account("RECAP"), account("WEBHOOKS")]
    tried_for = queue["retryConfig"]["maxRetrySeconds"]
    assert schedule.TRIED_FOR.total_seconds() < tried_for
    assert tried_for + 1800 <= schedule.GIVEN_UP_AFTER.total_seconds()
    at_once = queue["rateLimits"]["maxConcurrentDispatches"]
    assert endpoint["maxInstances"] * endpoint["concurrency"] == at_once > SLOTS
    task = schedule.scheduled_task("e1", "v1", NOON)
    assert (task.queue, task.seconds) == (schedule.QUEUE, endpoint["timeoutSeconds"])
    # A call takes less than a minute, so it writes the record before the task is due.
    assert endpoints["scheduleEventRecap"]["timeoutSeconds"] <= SOONEST.total_seconds()


def test_the_sweeper_runs_every_five_minutes(endpoints: dict[str, Any]) -> None:
    """Design 2: only one sweep runs at a time."""
    sweeper = endpoints["sweepDeliveries"]
    assert sweeper["scheduleTrigger"]["schedule"] == "every 5 minutes"
    assert (sweeper["maxInstances"], sweeper["concurrency"]) == (1, 1)


def test_a_connector_is_absent_until_it_is_named(endpoints: dict[str, Any]) -> None:
    """A deployment rejects an empty one. Only functions that call receivers use it."""
    assert not [name for name, endpoint in endpoints.items() if "vpc" in endpoint]
    behind = {
        name: endpoint["vpc"]
        for name, endpoint in rendered(VPC_CONNECTOR="wall-webhooks")["endpoints"].items()
        if "vpc" in endpoint
    }
    vpc = {"connector": "wall-webhooks", "egressSettings": "ALL_TRAFFIC"}
    assert behind == dict.fromkeys([*RETRY_SCHEDULE, "sendTestWebhook"], vpc)
