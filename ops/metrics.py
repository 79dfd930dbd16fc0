"""Log-based metrics of a project, in the form of Google's API: they count the functions' lines."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Resource: TypeAlias = dict[str, Any]
"""A resource as Google's API takes it."""
OF_FUNCTIONS: Final = 'resource.type="cloud_run_revision" AND '
"""Begins a filter of log lines."""
LOG_METRIC: Final = re.compile(r"\b(wall_\w+)\{")
"""A metric of this module in a query."""
_MILLISECONDS: Final = (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000, 300000)
_COUNTS: Final = (1, 10, 100, 1000, 10000, 100000)


def extractors(labels: Mapping[str, str]) -> dict[str, str]:
    """What takes the fields that `labels` names out of log lines."""
    return {key: f"EXTRACT(jsonPayload.{field})" for key, field in labels.items()}


def query(text: str) -> str:
    """A query in PromQL, where `wall_recaps{…}` is the metric of that name below."""
    full = r'logging_googleapis_com:user_\1{monitored_resource="cloud_run_revision",'
    return LOG_METRIC.sub(full, text).replace(",}", "}")


def _counted(says: str, lines: str, **labels: str) -> Resource:
    """A metric that counts the log lines that `lines` chooses; `labels`: by which fields."""
    return {
        "description": says,
        "filter": OF_FUNCTIONS + lines,
        "metricDescriptor": {
            "metricKind": "DELTA",
            "valueType": "INT64",
            "unit": "1",
            "labels": [{"key": key, "valueType": "STRING"} for key in labels],
        },
        "labelExtractors": extractors(labels),
    }


def _spread(says: str, lines: str, field: str, unit: str, bounds: Sequence[int]) -> Resource:
    """A metric of how the values of a field are spread."""
    return {
        "description": says,
        "filter": OF_FUNCTIONS + lines,
        "metricDescriptor": {"metricKind": "DELTA", "valueType": "DISTRIBUTION", "unit": unit},
        "valueExtractor": f"EXTRACT(jsonPayload.{field})",
        "bucketOptions": {"explicitBuckets": {"bounds": list(bounds)}},
    }


_METRICS: Final = {
    "wall_deliveries_ended": _counted(
        "Deliveries whose attempts are over, by event and outcome.",
        'jsonPayload.message="delivery.attempted"'
        ' AND (jsonPayload.outcome="success" OR jsonPayload.outcome="failed")',
        event_id="eventId",
        outcome="outcome",
    ),
    "wall_deliveries_overdue": _spread(
        "Deliveries that a sweep found overdue and queued again.",
        'jsonPayload.message="deliveries.overdue"',
        field="count",
        unit="1",
        bounds=_COUNTS,
    ),
    "wall_faults": _counted(
        "Faults of ours, by the name of their log line.",
        "severity>=ERROR AND jsonPayload.exception:* AND jsonPayload.at:*",
        message="message",
    ),
    "wall_first_attempt_lag": _spread(
        "Milliseconds by which first attempts began later than they were due.",
        'jsonPayload.message="delivery.attempted" AND jsonPayload.attempt=1',
        field="lagMs",
        unit="ms",
        bounds=_MILLISECONDS,
    ),
    "wall_mail_reports": _counted(
        "Signed requests about mails: those that verified, and those that did not.",
        '(jsonPayload.message="mail.told"'
        ' OR (jsonPayload.message="mail.not-verified" AND jsonPayload.signed=true))',
        message="message",
    ),
    "wall_recaps": _counted(
        "Recap calls that have ended, by the state that they left the recap in.",
        'jsonPayload.message="recap.done"',
        state="state",
    ),
}


def metrics() -> dict[str, Resource]:
    """The log-based metrics, by their names."""
    return {name: {"name": name, **metric} for name, metric in _METRICS.items()}
