"""Design 1, 2 and 5: what `firebase deploy` reads off `main.py`, rendered by the SDK itself."""

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

ROOT: Final = Path(__file__).parents[2]
RETRY_SCHEDULE: Final = {
    # queue: its backoff in seconds, and the places at work that its function has
    "deliverWebhook": (1, 2 * 120),
    "deliverWebhookSlow": (1, 300),
    "retryWebhookAfter1s": (1, 120),
    "retryWebhookAfter5s": (5, 120),
    "retryWebhookAfter30s": (30, 120),
}
NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
NOTICES: Final = "sendWebhookNotice"
REGION_CPUS: Final = 20
"""Of a new project: `CpuAllocPerProjectRegion`."""
TRIGGERS: Final = {
    "onPhotoWritten": "events/{eventId}/photos/{photoId}",
    "onEventWritten": "events/{eventId}",
    "onUserWritten": "users/{uid}",
}


def account(capability: str) -> str:
    """Address of the service account of `capability`, as a deploy fills it in."""
    name = capability.lower().replace("_", "-")
    return f"wall-{name}@{{{{ params.GCLOUD_PROJECT }}}}.iam.gserviceaccount.com"


def rendered(**settings: str) -> dict[str, Any]:
    """The manifest, made in a process without a credential, as `firebase deploy` makes it."""
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
    """Rendered with the defaults."""
    return rendered()


@pytest.fixture(scope="module")
def endpoints(manifest: dict[str, Any]) -> dict[str, Any]:
    """The functions, by name."""
    found: dict[str, Any] = manifest["endpoints"]
    return found


def test_two_functions_are_plain_https(endpoints: dict[str, Any]) -> None:
    """RFC 8058 and SendGrid make their own requests; the other calls are callables (spec 4)."""
    plain = {name for name, endpoint in endpoints.items() if "httpsTrigger" in endpoint}
    assert plain == {"unsubscribe", "mailEvents"}


def test_no_version_of_a_secret_is_pinned(manifest: dict[str, Any]) -> None:
    """A declared secret is pinned by the deploy: rotation would stop every new instance."""
    for name, endpoint in manifest["endpoints"].items():
        assert not endpoint.get("secretEnvironmentVariables"), name
    assert not [param for param in manifest["params"] if param["type"] == "secret"]


def test_every_capability_runs_as_an_account_of_its_own(endpoints: dict[str, Any]) -> None:
    """The table of accounts in docs/security.md names every function."""
    table = (ROOT / "docs/security.md").read_text().partition("\n## Accounts\n")[2]
    expected = {
        function: account(capability.upper().replace("-", "_"))
        for capability, cell in re.findall(r"^\| `wall-([\w-]+)` \| (.*?) \|", table, re.MULTILINE)
        for function in re.findall(r"`(\w+)`", cell)
    }
    assert expected == {name: made.get("serviceAccountEmail") for name, made in endpoints.items()}


def test_only_the_account_that_sends_mail_gets_its_key() -> None:
    """`ops/setup` lets these accounts read a secret; what talks to receivers reads none."""
    assert {name: set(accounts) for name, accounts in SECRET_READERS.items()} == {
        "SENDGRID_API_KEY": {"wall-recap"},
        "SMTP_PASSWORD": {"wall-recap"},
        "EMAIL_PREFS_KEY": {"wall-recap", "wall-preferences"},
        "LOG_LINKS_KEY": {"wall-logs"},
    }


def test_every_function_says_where_and_how_large_it_runs(endpoints: dict[str, Any]) -> None:
    """Spec 6.3.3: us-central1; and a whole CPU, or concurrency is silently 1 (design 5)."""
    for name, endpoint in endpoints.items():
        assert endpoint["region"] == ["us-central1"], name
        assert endpoint["platform"] == "gcfv2", name
        assert endpoint["cpu"] == 1, name
        for option in ("availableMemoryMb", "timeoutSeconds", "maxInstances", "concurrency"):
            assert isinstance(endpoint[option], int), (name, option)


@pytest.mark.parametrize("name", ["getEmailPreferences", "getWebhookLog", "unsubscribe"])
def test_twelve_bodies_a_second_that_drip_leave_places(
    endpoints: dict[str, Any], name: str
) -> None:
    """Each body of a stranger holds a place of Cloud Run for six seconds."""
    endpoint = endpoints[name]
    assert endpoint["maxInstances"] * endpoint["concurrency"] > 12 * BODY_SECONDS


@pytest.mark.parametrize(
    "name",
    [
        "rotateWebhookSecret",
        "sendTestWebhook",
        "resendWebhook",
        "shareWebhookLog",
        "revokeWebhookLog",
        "scheduleEventRecap",
        "previewEventRecap",
        "sendEventRecap",
        "mailEvents",
    ],
)
def test_thirty_strangers_a_second_leave_places(endpoints: dict[str, Any], name: str) -> None:
    """A call that its headers refuse is read for a second at most."""
    endpoint = endpoints[name]
    assert endpoint["maxInstances"] * endpoint["concurrency"] > 30 * REST_SECONDS


def test_the_functions_fit_a_new_project(endpoints: dict[str, Any]) -> None:
    """docs/internals/scale.md: each function is in one row of its table, and every sum is right.

    With the background, the attempts and the anonymous functions at their most, organizers still
    have some vCPU. A deploy refuses a function that may take more than the region has.
    """
    most = {name: made["maxInstances"] * made["cpu"] for name, made in endpoints.items()}
    assert max(most.values()) <= REGION_CPUS / 2
    page = (ROOT / "docs/internals/scale.md").read_text()
    table = page.partition("| vCPU at most |")[2].partition("\n\n")[0]
    *groups, (_, total) = re.findall(r"^\| (.*) \| (\d+) \|$", table, re.MULTILINE)
    sums = [sum(most.pop(name) for name in re.findall(r"`(\w+)`", row)) for row, _ in groups]
    assert sums == [int(told) for _, told in groups]
    assert (most, sum(sums)) == ({}, int(total))
    background, attempts, anonymous, _ = sums
    assert REGION_CPUS - background - attempts - anonymous >= 2


@pytest.mark.parametrize(("name", "document"), TRIGGERS.items())
def test_a_trigger_is_retried(endpoints: dict[str, Any], name: str, document: str) -> None:
    """Design 2: triggers run at least once; the SDK alone would drop a failed event."""
    trigger = endpoints[name]["eventTrigger"]
    assert trigger["retry"] is True
    assert trigger["eventType"] == "google.cloud.firestore.document.v1.written"
    assert trigger["eventFilterPathPatterns"] == {"document": document}


@pytest.mark.parametrize(("name", "numbers"), RETRY_SCHEDULE.items())
def test_a_steps_queue(endpoints: dict[str, Any], name: str, numbers: tuple[int, int]) -> None:
    """Design 2: the step's backoff, never doubled; many attempts; a place for each task."""
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
    # A resend through a link begins with a first attempt, or waits where slow receivers do.
    also = [account("LOGS")] if name.startswith("deliver") else []
    assert queue["invoker"] == [account("WEBHOOKS"), *also]


@pytest.mark.parametrize(("instances", "threads"), [(1, 300), (2, 300), (3, 300), (4, 120)])
def test_all_workers_fill_the_slow_queue_and_no_more(instances: int, threads: int) -> None:
    """Each attempt at a receiver that is silent from some attempt on holds a place for 5 s.

    Ten a second of each of six workers overfilled 240 places: a slow receiver of another event
    waited 11 s at the median after three minutes, and ever longer.
    """
    settings = {"DELIVERY_INSTANCES": str(instances), "THREADS": str(threads)}
    endpoints = rendered(**settings)["endpoints"]
    workers = sum(endpoints[name]["maxInstances"] for name in RETRY_SCHEDULE)
    slow = endpoints["deliverWebhookSlow"]["taskQueueTrigger"]["rateLimits"]
    held = workers * slow_attempts_a_second(instances, threads) * TIMEOUT_SECONDS
    assert held == pytest.approx(slow["maxConcurrentDispatches"])


def test_half_the_places_of_an_instance_try_unknown_receivers(endpoints: dict[str, Any]) -> None:
    """Receivers that may be slow leave the other half of an instance's places to fast ones."""
    assert endpoints["deliverWebhook"]["concurrency"] == 2 * UNPROVEN_AT_ONCE


def test_the_queue_of_notices(endpoints: dict[str, Any]) -> None:
    """Only the account that queues notices calls the function, ten at a time and five times."""
    endpoint = endpoints[NOTICES]
    queue = endpoint["taskQueueTrigger"]
    assert queue["invoker"] == [account("WEBHOOKS")]
    assert queue["retryConfig"]["maxAttempts"] == 5
    assert queue["rateLimits"]["maxConcurrentDispatches"] == 10
    assert endpoint["maxInstances"] * endpoint["concurrency"] == 10, "each task finds a place"


def test_the_queue_of_planned_recaps(endpoints: dict[str, Any]) -> None:
    """Spec 4.15: a task waits for a whole recap, finds a place, and outlasts the retries."""
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
    # A call of less than a minute writes the record before the task is due.
    assert endpoints["scheduleEventRecap"]["timeoutSeconds"] <= SOONEST.total_seconds()


def test_the_sweeper_runs_every_five_minutes(endpoints: dict[str, Any]) -> None:
    """Design 2: the sweep is scheduled, one at a time."""
    sweeper = endpoints["sweepDeliveries"]
    assert sweeper["scheduleTrigger"]["schedule"] == "every 5 minutes"
    assert (sweeper["maxInstances"], sweeper["concurrency"]) == (1, 1)


def test_a_connector_is_absent_until_it_is_named(endpoints: dict[str, Any]) -> None:
    """A deploy refuses an empty one. What posts to receivers goes through it, and nothing else."""
    assert not [name for name, endpoint in endpoints.items() if "vpc" in endpoint]
    behind = {
        name: endpoint["vpc"]
        for name, endpoint in rendered(VPC_CONNECTOR="wall-webhooks")["endpoints"].items()
        if "vpc" in endpoint
    }
    vpc = {"connector": "wall-webhooks", "egressSettings": "ALL_TRAFFIC"}
    assert behind == dict.fromkeys([*RETRY_SCHEDULE, "sendTestWebhook"], vpc)


def test_every_parameter_has_a_value_in_env(manifest: dict[str, Any]) -> None:
    """Design 5: a parameter that is not in `.env` stops a deploy that may not ask."""
    lines = (ROOT / ".env").read_text().splitlines()
    given = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    asked = {param["name"] for param in manifest["params"]}
    assert asked <= given
    assert "THREADS" in given
