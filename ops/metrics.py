"""Log-based metrics and exclusions in the format of Google's API."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Resource: TypeAlias = dict[str, Any]
OF_FUNCTIONS: Final = 'resource.type="cloud_run_revision" AND '
LOG_METRIC: Final = re.compile(r"\b(wall_\w+)\{")
"""A metric of this module in a PromQL query."""
_MILLISECONDS: Final = (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 60000, 300000)
_COUNTS: Final = (1, 10, 100, 1000, 10000, 100000)


def extractors(labels: Mapping[str, str]) -> dict[str, str]:
    """Return extractors for the log fields that `labels` names."""
    return {key: f"EXTRACT(jsonPayload.{field})" for key, field in labels.items()}


def query(text: str) -> str:
    """Expand metrics of this module, such as `wall_recaps{…}`, in a PromQL query."""
    full = r'logging_googleapis_com:user_\1{monitored_resource="cloud_run_revision",'
    return LOG_METRIC.sub(full, text).replace(",}", "}")


def _counted(says: str, lines: str, **labels: str) -> Resource:
    """Return a counter of the log lines that match `lines`, grouped by `labels`."""
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
    """Return a distribution of the values of a field."""
    return {
        "description": says,
        "filter": OF_FUNCTIONS + lines,
        "metricDescriptor": {"metricKind": "DELTA", "valueType": "DISTRIBUTION", "unit": unit},
        "valueExtractor": f"EXTRACT(jsonPayload.{field})",
        "bucketOptions": {"explicitBuckets": {"bounds": list(bounds)}},
    }


_METRICS: Final = {
    "wall_deliveries_ended": _counted(
        "Completed deliveries by event and outcome.",
        'jsonPayload.message="delivery.attempted"'
        ' AND (jsonPayload.outcome="success" OR jsonPayload.outcome="failed")',
        event_id="eventId",
        outcome="outcome",
    ),
    "wall_deliveries_overdue": _spread(
        "Overdue deliveries that a sweep requeued.",
        'jsonPayload.message="deliveries.overdue"',
        field="count",
        unit="1",
        bounds=_COUNTS,
    ),
    "wall_faults": _counted(
        "Internal faults by log event.",
        "severity>=ERROR AND jsonPayload.exception:* AND jsonPayload.at:*",
        message="message",
    ),
    "wall_first_attempt_lag": _spread(
        "Delay of first attempts in milliseconds.",
        'jsonPayload.message="delivery.attempted" AND jsonPayload.attempt=1',
        field="lagMs",
        unit="ms",
        bounds=_MILLISECONDS,
    ),
    "wall_mail_reports": _counted(
        "Signed delivery reports, verified or rejected.",
        '(jsonPayload.message="mail.events_recorded"'
        ' OR (jsonPayload.message="mail.not-verified" AND jsonPayload.signed=true))',
        message="message",
    ),
    "wall_recaps": _counted(
        "Completed recap calls by the state of the recap.",
        'jsonPayload.message="recap.done"',
        state="state",
    ),
}


def metrics() -> dict[str, Resource]:
    """Return the log-based metrics by name."""
    return {name: {"name": name, **metric} for name, metric in _METRICS.items()}


_LINKS: Final = "/(preferences|deliveries|unsubscribe).*(token|unsubscribe)(=|%(25)*3d)"
"""A link with a token, also as gateways of email rewrite links."""
_EXCLUSIONS: Final = {
    "links-with-tokens": {
        "description": "Requests of links with a token.",
        "filter": '(resource.type="cloud_run_revision" AND resource.labels.service_name='
        '"unsubscribe" AND httpRequest.requestUrl=~"(?i)token(=|%(25)*3d)")'
        f' OR (resource.type="firebase_domain" AND httpRequest.requestUrl=~"(?i){_LINKS}")',
    }
}


def exclusions() -> dict[str, Resource]:
    """Return the exclusions of the sink `_Default` by name."""
    return {name: {"name": name, **exclusion} for name, exclusion in _EXCLUSIONS.items()}
