"""The smallest possible callable: it answers, and does nothing else."""

from typing import Any

import flask


def smallest(_: flask.Request) -> dict[str, Any]:
    """Answer as a callable does."""
    return {"result": {}}
