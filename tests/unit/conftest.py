"""Settings of the unit tests."""

import os

from hypothesis import HealthCheck, settings

from tools.command_list import ALL_VARIABLE

# A busy machine is not a fault of the code. Only `--all` tries new examples in every run.
settings.register_profile(
    "untimed",
    deadline=None,
    derandomize=ALL_VARIABLE not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("untimed")
