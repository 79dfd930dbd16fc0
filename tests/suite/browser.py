"""The browser of all tests: one process, and a fresh profile for every visitor."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

_NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM: Final = next(filter(None, map(shutil.which, _NAMES)), None)
"""Path of the browser, or None. Without windows, a journey needs a third of the CPU."""
_DRIVER: Final = Path(__file__).with_name("browser.mjs")


class Driver:
    """Makes one journey after the other in Chromium."""

    def __init__(self) -> None:
        """Start both."""
        assert CHROMIUM
        self._process = subprocess.Popen(
            ["node", str(_DRIVER), CHROMIUM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def make(self, journey: str, headers: dict[str, str], **given: Any) -> dict[str, Any]:
        """Play a journey and return its result with the problems that the pages reported.

        Args:
            journey: Name of its module in this folder.
            headers: Headers of every request.
            given: Data for the journey.
        """
        assert self._process.stdin
        assert self._process.stdout
        asked = json.dumps({"journey": journey, "headers": headers, **given})
        print(asked, file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert "failed" not in answer, answer["failed"]
        return answer

    def close(self) -> None:
        """End both."""
        self._process.communicate()
