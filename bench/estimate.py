"""Assumptions of docs/internals/scale.md: measured CPU seconds, sizes, and Google's limits."""

from typing import Final

# Seconds of CPU on a machine with 2 cores: the most that a trigger, of three URLs, and an attempt
# were seen to take.
TRIGGER_CPU: Final = 0.006
ATTEMPT_CPU: Final = 0.006

ANSWER_SECONDS: Final = 0.3
"""What the receiver takes to answer."""
FIRESTORE_CALL_SECONDS: Final = 0.02
"""Assumed: within the region."""
TRIGGER_SECONDS: Final = 5 * FIRESTORE_CALL_SECONDS
"""Three calls of Firestore, one of Cloud Tasks, and the CPU."""
ATTEMPT_SECONDS: Final = ANSWER_SECONDS + 3 * FIRESTORE_CALL_SECONDS

# Instances: main.py, and https://cloud.google.com/run/docs/about-instance-autoscaling
CPU_TARGET: Final = 0.6
GIB: Final = 0.5

# Sizes, assumed: an event on its way from Firestore, a POST with its share of TLS, the log lines of
# a request, a delivery's record with its indexes.
EVENT_KIB: Final = 2
POST_KIB: Final = 2
LOG_KIB: Final = 1
RECORD_KIB: Final = 3

DISPATCHES_A_SECOND: Final = 500
"""Of one queue: https://cloud.google.com/tasks/docs/quotas."""
