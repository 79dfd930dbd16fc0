"""The dashboard of a project in the format of Google's API."""

from collections.abc import Mapping, Sequence
from typing import Final

from ops.alerts import QUEUE_DEPTH, SERVER_ERRORS
from ops.metrics import Resource, query

_TILE_WIDTH: Final = 24
_TILE_HEIGHT: Final = 16
_LAG: Final = "sum by (le) (increase(wall_first_attempt_lag_bucket{}[5m]))"
_CHARTS: Final[Mapping[str, Sequence[str]]] = {
    # title: a line for each query
    "Completed deliveries per minute, by outcome": (
        "sum by (outcome) (increase(wall_deliveries_ended{}[1m]))",
    ),
    "Delay of first attempts, median and 99th percentile": (
        f"histogram_quantile(0.5, {_LAG})",
        f"histogram_quantile(0.99, {_LAG})",
    ),
    "Tasks in each queue": (QUEUE_DEPTH,),
    "Overdue deliveries found by sweeps": ("sum(increase(wall_deliveries_overdue_sum{}[5m]))",),
    "Internal faults, by name": ("sum by (message) (increase(wall_faults{}[5m]))",),
    "Requests answered with 5xx, by function": (
        f"sum by (service_name) (increase({SERVER_ERRORS}[5m]))",
    ),
    "Events with the most failed deliveries": (
        'topk(5, sum by (event_id) (increase(wall_deliveries_ended{outcome="failed"}[1h])))',
    ),
    "Completed recap calls, by state": ("sum by (state) (increase(wall_recaps{}[1h]))",),
}


def dashboard() -> Resource:
    """Return the dashboard with two charts per row."""
    tiles = [
        {
            "xPos": _TILE_WIDTH * (number % 2),
            "yPos": _TILE_HEIGHT * (number // 2),
            "width": _TILE_WIDTH,
            "height": _TILE_HEIGHT,
            "widget": {"title": title, "xyChart": {"dataSets": [_line(text) for text in queries]}},
        }
        for number, (title, queries) in enumerate(_CHARTS.items())
    ]
    return {
        "displayName": "Photo wall",
        "mosaicLayout": {"columns": 2 * _TILE_WIDTH, "tiles": tiles},
    }


def _line(text: str) -> Resource:
    unit = {"unitOverride": "ms"} if _LAG in text else {}
    return {"plotType": "LINE", "timeSeriesQuery": {"prometheusQuery": query(text), **unit}}
