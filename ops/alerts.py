"""Alert policies in the format of Google's API, each with its page of docs/runbooks.

`{services}`, `{private}` and `{queues}` in a PromQL query are placeholders for deployed names.
"""

import re
from typing import Final

from ops.metrics import LOG_METRIC, OF_FUNCTIONS, Resource, extractors, query

QUEUE_DEPTH: Final = (
    "max by (queue_id) (cloudtasks_googleapis_com:queue_depth"
    '{monitored_resource="cloud_tasks_queue",queue_id=~"{queues}"})'
)
SERVER_ERRORS: Final = (
    "run_googleapis_com:request_count"
    '{monitored_resource="cloud_run_revision",service_name=~"{services}",'
    'response_code_class="5xx"}'
)
REFUSED_PUSHES: Final = (
    "run_googleapis_com:request_count"
    '{monitored_resource="cloud_run_revision",service_name=~"{private}",response_code="403"}'
)
"""Triggers, tasks and the schedule without permission to call their function."""
_OF_SWEEPS: Final = "deliveries.not-swept|endpoints.not-swept|events.not-swept|recaps.not-swept"
"""Faults that a sweep logs once at most, which is twice in ten minutes."""
_WINDOW: Final = re.compile(r"\[(\d+)([mh])\]")
_LONG_MINUTES: Final = 15
_ERROR: Final = "ERROR"
_WARNING: Final = "WARNING"


def _watched(text: str, *, minutes: int = 0) -> Resource:
    """Return a condition that is met once the query has had results for `minutes`.

    Google charges for each data point that a query reads, so long windows are evaluated less often.
    """
    windows = [int(n) * (60 if unit == "h" else 1) for n, unit in _WINDOW.findall(text)]
    every = 300 if windows and min(windows) >= _LONG_MINUTES else 60
    own = {"disableMetricValidation": True} if LOG_METRIC.search(text) else {}  # too new for Google
    return {
        "conditionPrometheusQueryLanguage": {
            "query": query(text),
            "duration": f"{60 * minutes}s",
            "evaluationInterval": f"{every}s",
            **own,
        }
    }


def _logged(lines: str, **labels: str) -> Resource:
    """Return a condition on log lines. The email has the fields that `labels` names."""
    return {
        "conditionMatchedLog": {
            "filter": OF_FUNCTIONS + lines,
            "labelExtractors": extractors(labels),
        }
    }


def _alert(
    severity: str, page: str, says: str, condition: Resource, *, minutes_between_mails: int = 5
) -> Resource:
    strategy: Resource = {"autoClose": "1800s"}
    if "conditionMatchedLog" in condition:
        strategy["notificationRateLimit"] = {"period": f"{60 * minutes_between_mails}s"}
    return {
        "severity": severity,
        "combiner": "OR",
        "conditions": [{"displayName": says, **condition}],
        "alertStrategy": strategy,
        "documentation": {"content": f"docs/runbooks/{page}.md", "mimeType": "text/markdown"},
    }


_ALERTS: Final = {
    "attempt-given-up": _alert(
        _ERROR,
        "faults",
        "An attempt started three times but never finished",
        _logged('jsonPayload.message="delivery.given-up"', event_id="eventId", host="host"),
    ),
    "complaints": _alert(
        _ERROR,
        "complaints",
        "At least four mailboxes and 3 in 1,000 recap emails were marked as spam",
        _logged('jsonPayload.message="recap.complaints"', tenant_id="tenantId", event_id="eventId"),
        minutes_between_mails=60,
    ),
    "deliveries-failing": _alert(
        _WARNING,
        "deliveries-failing",
        "More than half of an event's deliveries, and at least ten, failed within an hour",
        _watched(
            'sum by (event_id) (increase(wall_deliveries_ended{outcome="failed"}[1h]))'
            " / sum by (event_id) (increase(wall_deliveries_ended{}[1h])) > 0.5 and"
            ' sum by (event_id) (increase(wall_deliveries_ended{outcome="failed"}[1h])) >= 10'
        ),
    ),
    "deliveries-overdue": _alert(
        _ERROR,
        "queues",
        "A hundred deliveries were overdue within 15 minutes, or some in three consecutive sweeps",
        _watched(
            "sum(increase(wall_deliveries_overdue_sum{}[15m])) > 100 or"
            " sum(increase(wall_deliveries_overdue_count{}[15m])) > 2.5"
        ),
    ),
    "document-reads": _alert(
        _WARNING,
        "spending",
        "More than 200,000 documents were read per minute for five minutes",
        _watched(
            "sum(rate(firestore_googleapis_com:document_read_ops_count"
            '{monitored_resource="firestore.googleapis.com/Database"}[5m])) * 60 > 200000',
            minutes=5,
        ),
    ),
    "faults": _alert(
        _ERROR,
        "faults",
        "The same internal fault was logged more than three times in ten minutes",
        _watched(
            "sum by (message) (increase("
            f'wall_faults{{message!~"{_OF_SWEEPS}|record.unreadable"}}[10m])) > 3'
        ),
    ),
    "first-attempt-late": _alert(
        _WARNING,
        "queues",
        "1% of at least a hundred first attempts started over ten seconds late within 30 minutes",
        _watched(
            "histogram_quantile(0.99,"
            " sum by (le) (increase(wall_first_attempt_lag_bucket{}[30m]))) > 10000 and"
            " sum(increase(wall_first_attempt_lag_count{}[30m])) >= 100",
            minutes=5,
        ),
    ),
    "mails-not-verified": _alert(
        _WARNING,
        "mails-not-verified",
        "A recap was sent, but every delivery report about emails was rejected",
        _watched(
            'sum(increase(wall_mail_reports{message="mail.not-verified"}[6h])) > 0 and'
            ' sum(increase(wall_recaps{state="sent"}[6h])) > 0 unless'
            ' sum(increase(wall_mail_reports{message="mail.events_recorded"}[6h])) > 0'
        ),
    ),
    "notice-unsent": _alert(
        _ERROR,
        "notice-unsent",
        "A notice of failing webhooks was rejected or abandoned",
        _logged('jsonPayload.message="notice.not-sent"', event_id="eventId"),
    ),
    "queue-depth": _alert(
        _WARNING,
        "queues",
        "A queue holds more than 5,000 tasks for five minutes",
        _watched(f"{QUEUE_DEPTH} > 5000", minutes=5),
    ),
    "recap-unfinished": _alert(
        _ERROR,
        "recap-unfinished",
        "A recap is incomplete, has unconfirmed emails, or its failure was not reported",
        _logged(
            '((jsonPayload.message="recap.done" AND NOT'
            ' (jsonPayload.state="sent" OR jsonPayload.state="empty"))'
            ' OR (jsonPayload.message="recap.batch" AND jsonPayload.state="unknown")'
            ' OR jsonPayload.message="recap.failed" OR jsonPayload.message="recap.held"'
            ' OR jsonPayload.message="recap.failure-not-mailed")',
            event_id="eventId",
        ),
    ),
    "record-unreadable": _alert(
        _ERROR,
        "record-unreadable",
        "A delivery or an endpoint cannot be read",
        _logged('jsonPayload.message="record.unreadable"', path="path"),
        minutes_between_mails=60,
    ),
    "requests-failing": _alert(
        _ERROR,
        "faults",
        "A function answered three requests in ten minutes with 5xx, or events and tasks with 403",
        _watched(
            f"sum by (service_name) (increase({SERVER_ERRORS}[10m])) > 3 or"
            f" sum by (service_name) (increase({REFUSED_PUSHES}[10m])) > 3"
        ),
    ),
    "sweep-failing": _alert(
        _ERROR,
        "sweep",
        "Two of the last four sweeps failed",
        _watched(f'sum by (message) (increase(wall_faults{{message=~"{_OF_SWEEPS}"}}[20m])) > 1.5'),
    ),
    "sweep-missing": _alert(
        _ERROR,
        "sweep",
        "No sweep has responded for 15 minutes",
        {
            "conditionAbsent": {
                "filter": OF_FUNCTIONS + 'resource.label.service_name="sweepdeliveries" AND'
                ' metric.type="run.googleapis.com/request_count" AND'
                ' metric.label.response_code_class="2xx"',
                "aggregations": [
                    {
                        "alignmentPeriod": "300s",
                        "perSeriesAligner": "ALIGN_DELTA",
                        "crossSeriesReducer": "REDUCE_SUM",
                    }
                ],
                "duration": "900s",
                "trigger": {"count": 1},
            }
        },
    ),
    "url-disabled": _alert(
        _WARNING,
        "url-disabled",
        "A webhook URL was disabled",
        _logged('jsonPayload.message="webhook.disabled"', event_id="eventId", host="host"),
    ),
}


def alerts() -> dict[str, Resource]:
    """Return the alert policies by name."""
    return {name: {"displayName": f"Photo wall: {name}", **row} for name, row in _ALERTS.items()}
