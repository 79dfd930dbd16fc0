"""The clocks of this machine."""

import time
from datetime import UTC, datetime
from typing import Final

from functions.clock import Clock

CLOCK: Final = Clock(lambda: datetime.now(UTC), time.monotonic, time.sleep)
