"""Alerts, metrics, dashboard and runbooks match the code and Google's APIs."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import promql_parser
import pytest
from google.cloud.logging_v2.types import LogMetric
from google.cloud.monitoring_dashboard_v1.types import Dashboard
from google.cloud.monitoring_v3.types import AlertPolicy
from google.protobuf import json_format

import main
from functions.recap.ledger.batch import BatchState, RecapState
from functions.webhooks.deliveries.delivery import Outcome
from ops import alerts as alerting
from ops import applying, dashboard, metrics

ROOT: Final = Path(__file__).parents[3]
FUNCTIONS: Final = {
    name: made.__firebase_endpoint__
    for name, made in vars(main).items()
    if hasattr(made, "__firebase_endpoint__")
}
METRICS: Final = metrics.metrics()
ALERTS: Final = alerting.alerts()
DASHBOARD: Final = dashboard.dashboard()
PAGES: Final = sorted((ROOT / "docs/runbooks").glob("[!R]*.md"))
_MESSAGE: Final = re.compile(r"[a-z]+(\.[a-z_-]+)")
_USER_METRIC: Final = re.compile(r"logging_googleapis_com:user_(\w+?)(_sum|_count|_bucket)?\{")
_LABEL_LIMIT: Final = 63
_DOCUMENTATION_LIMIT: Final = 8192


# --- log lines -------------------------------------------------------------------------------


def _logged() -> dict[str, set[str]]:
    """Return the names of the code's log lines, with all fields of each."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "functions").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=func, args=[ast.Constant(value=str(message)), *_]) if (
                    _MESSAGE.fullmatch(message) and _writes(ast.unparse(func))
                ):
                    fields = {str(keyword.arg) for keyword in node.keywords}
                    is_fault = ast.unparse(func) in ("log.fault", "retry_on_error", "_internal")
                    fields |= {"exception", "at"} if is_fault else set()
                    found.setdefault(message, set()).update(fields)
    return found


def _writes(function: str) -> bool:
    """Return whether a function logs: `log.warning` and others, and wrappers of them."""
    return function.startswith("log.") or function in ("write", "retry_on_error", "_internal")


LOGGED: Final = _logged()


def _chosen() -> Iterator[tuple[str, str, list[str]]]:
    """Yield each metric or alert with its filter and the fields that it extracts."""
    alerts = [(name, alert["conditions"][0]) for name, alert in ALERTS.items()]
    matched = [
        (name, condition["conditionMatchedLog"])
        for name, condition in alerts
        if "conditionMatchedLog" in condition
    ]
    for name, choice in [*METRICS.items(), *matched]:
        extractors = [*choice.get("labelExtractors", {}).values(), choice.get("valueExtractor", "")]
        yield name, choice["filter"], re.findall(r"EXTRACT\(jsonPayload\.(\w+)\)", str(extractors))


def _messages(text: str) -> set[str]:
    either = re.findall(r"jsonPayload\.message=(\([^)]*\)|\"[^\"]+\")", text)
    return set(re.findall(r'"([^"]+)"', " ".join(either)))


def _missing() -> list[tuple[str, str, str]]:
    """Return metric or alert, message and field of each name that the code does not log."""
    wanted: list[tuple[str, str, str]] = []
    for name, text, extracted in _chosen():
        messages = _messages(text)
        wanted += [(name, message, "") for message in messages]
        # A filter without a message selects faults of any name.
        fields = set(re.findall(r"jsonPayload\.(\w+)", text)) - {"message"}
        if len(messages) <= 1:
            of = next(iter(messages), "deliveries.not-swept")
            wanted += [(name, of, field) for field in fields]
        wanted += [(name, of, field) for of in messages for field in {*extracted} - {"message"}]
    return [item for item in wanted if not _has(item[1], item[2])]


def _has(message: str, field: str) -> bool:
    return message in LOGGED and (not field or field in LOGGED[message])


def test_every_log_line_and_field_of_a_filter_is_logged() -> None:
    """A renamed log event must not silence an alert."""
    assert _missing() == []


def test_filters_name_existing_outcomes_and_states() -> None:
    """Compare with the outcomes of deliveries and the states of recaps."""
    text = " ".join(text for _, text, _ in _chosen())
    assert set(re.findall(r'jsonPayload\.outcome="(\w+)"', text)) <= set(Outcome)
    assert set(re.findall(r'jsonPayload\.state="(\w+)"', text)) == {
        RecapState.SENT,
        RecapState.EMPTY,
        BatchState.UNKNOWN,
    }


def test_a_line_of_a_filter_has_fields() -> None:
    """Cloud Logging turns a line with only a message into plain text."""
    assert {
        message for _, text, _ in _chosen() for message in _messages(text) if not LOGGED[message]
    } == set()


def test_the_reference_has_every_log_line() -> None:
    """Readers of the log look there."""
    page = (ROOT / "docs/reference.md").read_text()
    assert {message for message in LOGGED if f"`{message}`" not in page} == set()


def test_a_fault_of_a_sweep_is_in_the_alert_of_sweeps() -> None:
    """The alert of other faults needs four in ten minutes, and there are only two sweeps."""
    of_sweeps = {message for message in LOGGED if message.endswith("s.not-swept")}
    queries = dict(_queries())
    for name, sign in (("sweep-failing", "=~"), ("faults", "!~")):
        [messages] = re.findall(rf'message{sign}"([^"]+)"', queries[name])
        assert set(messages.split("|")) - {"record.unreadable"} == of_sweeps


def test_a_single_important_fault_has_its_own_alert() -> None:
    """The general alert needs four faults in ten minutes."""
    with_alert = {
        message for name, text, _ in _chosen() if name in ALERTS for message in _messages(text)
    }
    assert {"recap.failed", "recap.held", "recap.failure-not-mailed"} <= with_alert


def test_strangers_cannot_trigger_an_alert_of_a_line() -> None:
    """Such an alert is sent once a day, so a stranger could suppress it."""
    texts = [text for name, text, _ in _chosen() if name in ALERTS]
    assert "mail.not-verified" not in {message for text in texts for message in _messages(text)}


# --- queries ---------------------------------------------------------------------------------


def _queries() -> Iterator[tuple[str, str]]:
    for name, alert in ALERTS.items():
        for condition in alert["conditions"]:
            if "conditionPrometheusQueryLanguage" in condition:
                yield name, condition["conditionPrometheusQueryLanguage"]["query"]
    for tile in DASHBOARD["mosaicLayout"]["tiles"]:
        for data in tile["widget"]["xyChart"]["dataSets"]:
            yield tile["widget"]["title"], data["timeSeriesQuery"]["prometheusQuery"]


QUERIES: Final = list(_queries())


@pytest.mark.parametrize(("name", "query"), QUERIES)
def test_a_query_parses_and_names_existing_metrics_and_labels(name: str, query: str) -> None:
    """The metrics of the project are in ops/metrics.py."""
    promql_parser.parse(query)
    for metric, part in _USER_METRIC.findall(query):
        kind = METRICS[metric]["metricDescriptor"]["valueType"]
        assert bool(part) == (kind == "DISTRIBUTION"), name
    allowed = {
        "monitored_resource",
        "service_name",
        "response_code",
        "response_code_class",
        "queue_id",
        "le",
    }
    allowed |= {key for metric in METRICS.values() for key in metric.get("labelExtractors", {})}
    labels = set(re.findall(r"(\w+)[!=]=?~?\"", query))
    labels |= {
        label.strip() for by in re.findall(r"by \(([^)]*)\)", query) for label in by.split(",")
    }
    assert labels <= allowed
    for messages in re.findall(r'message[!=]=?~?"([^"]+)"', query):
        assert set(messages.split("|")) <= LOGGED.keys()


def test_the_alert_of_a_missing_sweep_names_its_service() -> None:
    """The service of a function has its name in lowercase."""
    absent = ALERTS["sweep-missing"]["conditions"][0]["conditionAbsent"]["filter"]
    [service] = re.findall(r'service_name="(\w+)"', absent)
    assert service in {name.lower() for name in FUNCTIONS}


def test_every_metric_is_used() -> None:
    """It is in an alert or on the dashboard."""
    assert {metric for _, query in QUERIES for metric, _ in _USER_METRIC.findall(query)} == set(
        METRICS
    )


# --- Google's API description ----------------------------------------------------------------


def _parsed(content: Mapping[str, Any], kind: Any) -> Any:
    """Parse `content` as a message. Raise an error for an unknown field or a wrong type."""
    return json_format.ParseDict(dict(content), kind.pb(kind()))


def test_metrics_alerts_and_dashboard_match_googles_apis() -> None:
    """Parse them with the types of the APIs."""
    for name, metric in METRICS.items():
        assert _parsed(metric, LogMetric).name == name
        assert metric["filter"].startswith('resource.type="cloud_run_revision" AND ')
    for alert in ALERTS.values():
        made = _parsed(alert, AlertPolicy)
        [condition] = made.conditions  # the API allows only one query or match of lines
        assert condition.WhichOneof("condition")
        is_match = condition.HasField("condition_matched_log")
        assert made.alert_strategy.HasField("notification_rate_limit") == is_match
    _parsed(DASHBOARD, Dashboard)
    with pytest.raises(json_format.ParseError):
        _parsed({"displayName": "x", "conditons": []}, AlertPolicy)


def test_an_alert_has_the_same_name_everywhere() -> None:
    """It is in the email, in the list of runbooks and in a label."""
    index = (ROOT / "docs/runbooks/README.md").read_text()
    for name, alert in ALERTS.items():
        assert len(name) <= _LABEL_LIMIT
        page = Path(alert["documentation"]["content"]).name
        assert re.search(rf"^\| `{name}` \| .* \| \[[\w-]+\]\({page}\) \|$", index, re.MULTILINE)
        assert name in applying.runbook(alert).splitlines()[0]


# --- commands ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page", [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"], ids=lambda page: page.name
)
def test_a_command_names_its_project(page: Path) -> None:
    """Sign-in needs no project."""
    code = re.findall(r"^```$(.*?)^```$|(`[^`\n]+`)", page.read_text(), re.MULTILINE | re.DOTALL)
    lines = re.sub(r"\\\n", "", "\n".join("".join(found) for found in code)).splitlines()
    for line in lines:
        starts = r"(?:^|[`|(]) *(?:gcloud|(?:\S*/)?firebase) (?!auth )[a-z]\S*[ :]"
        if re.search(starts, line) and line != "`firebase deploy`":
            assert "--project" in line, line
        assert "secrets:set" not in line, "it offers to destroy the previous version"


# --- runbooks --------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda one: one.stem)
def test_a_runbook_has_four_sections(page: Path) -> None:
    """It also fits into one email."""
    text = page.read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "What it means",
        "How to look",
        "What to do",
        "How to know it is over",
    ]
    assert len(text.encode()) <= _DOCUMENTATION_LIMIT
    assert "](" not in text, "links do not work in an email"


@pytest.mark.parametrize("page", PAGES, ids=lambda one: one.stem)
def test_a_runbook_names_existing_log_lines_and_functions(page: Path) -> None:
    """A renamed log event must not break a runbook."""
    text = page.read_text()
    for line in re.findall(r"jsonPayload\..*", text):
        for message in _messages(line):
            fields = set(re.findall(r"jsonPayload\.(\w+)[!=<>:]", line)) - {"message"}
            assert fields <= LOGGED[message]
    areas = {logged.partition(".")[0] for logged in LOGGED}
    for name in re.findall(r"`([a-z]+\.[a-z_-]+)`", text):
        assert name in LOGGED or name.partition(".")[0] not in areas, name
    for name in re.findall(r"`((?:send|resend|rotate|on|deliver|retry)[A-Z]\w+)`", text):
        assert name in FUNCTIONS


def test_every_page_belongs_to_an_alert() -> None:
    """The email of the alert contains it."""
    named = {Path(alert["documentation"]["content"]).name for alert in ALERTS.values()}
    assert named == {path.name for path in PAGES}


def test_every_fault_is_in_a_runbook() -> None:
    """The alert can name each of them."""
    runbooks = " ".join(page.read_text() for page in PAGES)
    faults = {message for message, fields in LOGGED.items() if {"exception", "at"} <= fields}
    assert len(faults) > 5
    assert {fault for fault in faults if fault not in runbooks} == set()


def test_a_long_window_is_evaluated_every_five_minutes() -> None:
    """Google charges for the points that a query reads."""
    conditions = [each for alert in alerting.alerts().values() for each in alert["conditions"]]
    watched = [
        each["conditionPrometheusQueryLanguage"]
        for each in conditions
        if "conditionPrometheusQueryLanguage" in each
    ]
    for each in watched:
        is_long = re.search(r"\[(15m|20m|30m|1h|6h)\]", each["query"]) is not None
        assert each["evaluationInterval"] == ("300s" if is_long else "60s"), each["query"]
    page = (ROOT / "docs/operations.md").read_text()
    assert f"{len(conditions)} conditions" in page
