"""Spec 1: results and errors as `httpsCallable` of the JavaScript SDK returns them."""

import json
import subprocess
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("sdk.mjs")


def call(function: str, parameters: object, *credentials: str) -> dict[str, Any]:
    """Call `function` with the SDK, in a Node.js process of its own.

    With an address and a password as `credentials`, as the person who signs in with them.
    """
    ran = subprocess.run(
        ["node", str(SCRIPT), function, json.dumps(parameters), *credentials],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def test_errors_of_the_sdk() -> None:
    """Spec 7.2: the SDK knows the codes, and shows the message."""
    missing = call("getEmailPreferences", None)
    assert missing["code"] == "functions/invalid-argument"
    assert "token" in missing["message"]
    assert call("getEmailPreferences", {"token": "x.y"})["code"] == "functions/permission-denied"
