"""`ops/apply` creates metrics, alerts and the dashboard. It is idempotent."""

import json
import re
from typing import Any, Final

import pytest

from ops import applying
from ops.alerts import alerts
from ops.metrics import exclusions, metrics
from tests.rehearsal.conftest import Operator
from tests.rehearsal.fake_google import API_SECONDS, PROJECT

EMAIL: Final = "--email=ops@example.com"
BUDGET: Final = "--budget=50"


def made(operator: Operator) -> dict[str, dict[str, Any]]:
    """Return the service's alerts by name."""
    return {
        resource["userLabels"]["photo_wall"]: resource
        for path, resource in operator.google.resources.items()
        if "/alertPolicies/" in path and "userLabels" in resource
    }


def test_an_empty_project_gets_everything_once(operator: Operator) -> None:
    """Create each alert with its runbook and a channel on new metrics. Change nothing again."""
    operator.done("apply", EMAIL, BUDGET)
    google = operator.google
    assert google.names("metrics") == metrics().keys()
    assert google.names("exclusions") == exclusions().keys()
    assert made(operator).keys() == alerts().keys()
    [channel] = google.names("notificationChannels")
    for name, alert in made(operator).items():
        assert name in alert["documentation"]["content"].splitlines()[0]
        assert "## What to do" in alert["documentation"]["content"]
        told = f"projects/{PROJECT}/notificationChannels/{channel}"
        assert alert["notificationChannels"] == [told]
    assert len(google.names("dashboards")) == 1
    [budget] = [found for path, found in google.resources.items() if "/budgets/" in path]
    assert budget["budgetFilter"] == {"projects": ["projects/acme"]}
    assert operator.slept <= 2 * API_SECONDS, "no alert waits for its metric"
    for arguments in ([EMAIL, BUDGET], []):  # without the arguments, the channels stay
        assert "Everything is up to date." in operator.done("apply", *arguments)
        assert operator.google.changes == []


def test_queries_name_the_services_and_queues_of_a_deploy(
    operator: Operator, rendered: str
) -> None:
    """Compare alerts and dashboard with the deployed services and queues."""
    operator.done("apply")
    endpoints = json.loads(rendered)["endpoints"]
    services = "|".join(sorted(name.lower() for name in endpoints))
    called = ("taskQueueTrigger", "eventTrigger", "scheduleTrigger")
    private = "|".join(
        sorted(name.lower() for name, made in endpoints.items() if made.keys() & {*called})
    )
    queues = "|".join(name for name in sorted(endpoints) if "taskQueueTrigger" in endpoints[name])
    queries = re.findall(r'(service_name|queue_id)=~"([^"]+)"', str(operator.google.resources))
    assert set(queries) == {
        *(("queue_id", queues), ("service_name", services), ("service_name", private))
    }


def test_a_dry_run_lists_the_changes_without_making_them(operator: Operator) -> None:
    """List every metric and alert."""
    said = operator.done("apply", EMAIL, BUDGET, "--dry-run")
    assert operator.google.changes == []
    kinds = {"metric": metrics(), "exclusion": exclusions(), "alert": alerts()}
    for kind, names in kinds.items():
        for name in names:
            assert f"would create the {kind} {name}\n" in said
    assert "would create the dashboard" in said
    assert "would send alerts to ops@example.com" in said
    assert "would set a monthly budget of 50" in said


def test_changed_definitions_are_applied(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Update a changed metric, runbook, dashboard or amount."""
    operator.done("apply", EMAIL, BUDGET)
    for path, resource in operator.google.resources.items():
        if "/metrics/" in path or "/exclusions/" in path:
            resource["description"] = "of before [0123456789abcdef]"
        elif "/dashboards/" in path:
            resource["labels"] = {"photo_wall": "dashboard", "photo_wall_digest": "before"}
    monkeypatch.setattr(applying, "runbook", lambda policy: f"# {policy['displayName']} anew")
    operator.done("apply", EMAIL, "--budget=80")
    for alert in made(operator).values():
        assert alert["documentation"]["content"].endswith("anew")
    assert all(change.partition(" ")[0] in ("PUT", "PATCH") for change in operator.google.changes)
    assert {"dashboards", "budgets", "metrics", "exclusions", "alertPolicies"} == {
        change.split("/")[-2] for change in operator.google.changes
    }
    assert "Everything is up to date." in operator.done("apply", EMAIL, "--budget=80")


def test_a_second_address_is_notified_as_well(operator: Operator) -> None:
    """Add the address to each alert and keep the first one."""
    operator.done("apply", EMAIL)
    operator.done("apply", "--email=two@example.com")
    for alert in made(operator).values():
        assert len(alert["notificationChannels"]) == 2
    assert "Everything is up to date." in operator.done("apply", "--email=two@example.com")


def test_an_obsolete_alert_is_reported_and_kept(operator: Operator) -> None:
    """Delete nothing, and ignore alerts of others."""
    policies = f"monitoring projects/{PROJECT}/alertPolicies"
    label = {"userLabels": {"photo_wall": "before"}, "name": "projects/acme/alertPolicies/x"}
    others = {"name": "projects/acme/alertPolicies/y", "displayName": "somebody else's"}
    operator.google.resources |= {f"{policies}/x": label, f"{policies}/y": others}
    said = operator.done("apply")
    assert "The alert before is obsolete" in said
    assert operator.google.resources[f"{policies}/x"] == label
    assert operator.google.resources[f"{policies}/y"] == others


def test_an_error_is_reported_and_another_run_continues(operator: Operator) -> None:
    """Print Google's error and exit with status 1."""
    operator.google.refuse = "POST monitoring projects/acme/alertPolicies"
    refused = "alertPolicies: 403 The caller does not have permission."
    assert refused in operator.stopped("apply")
    operator.google.refuse = ""
    said = operator.done("apply")
    assert "the metric" not in said
    assert "create the alert" in said


HOSTING: Final = 'resource.type="firebase_domain"'
BUTTON: Final = 'resource.labels.service_name="unsubscribe"'


@pytest.mark.parametrize(
    ("resource", "url", "excluded"),
    [
        (BUTTON, "https://us-central1-acme.cloudfunctions.net/unsubscribe?token=a.b", True),
        (BUTTON, "https://unsubscribe-abc-uc.a.run.app/?token=a.b", True),
        (BUTTON, "https://wall.events/unsubscribe?token%3Da.b", True),
        (BUTTON, "https://wall.events/unsubscribe", False),
        (HOSTING, "https://wall.events/unsubscribe?token=a.b", True),
        (HOSTING, "https://wall.events/preferences%23token=a.b", True),
        (HOSTING, "https://wall.events/preferences%2523Token%253da.b", True),
        (HOSTING, "https://wall.events/preferences?unsubscribe=a.b", True),
        (HOSTING, "https://wall.events/deliveries%23token%3Da.b", True),
        (HOSTING, "https://wall.events/preferences", False),
        (HOSTING, "https://app.example.com/login?token=a.b", False),
    ],
)
def test_request_logs_exclude_links_with_a_token(resource: str, url: str, excluded: bool) -> None:
    """Keep tokens out of the logs: readers could change a guest's preferences."""
    text = exclusions()["links-with-tokens"]["filter"]
    parts = re.findall(r"\(([^()]*?)httpRequest.requestUrl=~(.*?)(?:\)(?: OR |$))", text)
    assert len(parts) == 2
    [pattern] = [re.compile(json.loads(quoted)) for of, quoted in parts if resource in of]
    assert bool(pattern.search(url)) is excluded


@pytest.mark.parametrize("amount", ["0", "-1", "50.5", "much", "50USD"])
def test_an_invalid_amount_is_rejected(operator: Operator, amount: str) -> None:
    """Reject an amount that is not a positive integer before any change."""
    assert operator.run("apply", f"--budget={amount}")[0] == 2
    assert operator.google.changes == []
