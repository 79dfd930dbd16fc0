"""Redirects a script's requests to the fake. Python imports this module first from PYTHONPATH."""

import os
import urllib.request
from typing import Any

_urlopen = urllib.request.urlopen


def _to_stand_in(request: Any, *given: Any, **how: Any) -> Any:
    host = request.host if isinstance(request, urllib.request.Request) else ""
    if host.endswith((".googleapis.com", ".cloudfunctions.net")):
        request.full_url = os.environ["STAND_IN_FOR_GOOGLE"] + request.selector
        request.add_header("True-Host", host)
    return _urlopen(request, *given, **how)


if "STAND_IN_FOR_GOOGLE" in os.environ:
    urllib.request.urlopen = _to_stand_in  # type: ignore[assignment]
