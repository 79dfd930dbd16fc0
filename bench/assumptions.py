"""Assumptions of docs/internals/scale.md: measured CPU seconds, sizes, and Google's limits."""

from typing import Final

# Maximum CPU seconds of a trigger for three URLs, and of an attempt, measured on 2 cores.
TRIGGER_CPU: Final = 0.006
ATTEMPT_CPU: Final = 0.006

ANSWER_SECONDS: Final = 0.3
"""Response time of the receiver."""
FIRESTORE_CALL_SECONDS: Final = 0.02
"""Assumed for a call within the region."""
TRIGGER_SECONDS: Final = 5 * FIRESTORE_CALL_SECONDS
"""Three calls of Firestore, one of Cloud Tasks, and the CPU."""
ATTEMPT_SECONDS: Final = ANSWER_SECONDS + 3 * FIRESTORE_CALL_SECONDS

# Instances: main.py, and https://cloud.google.com/run/docs/about-instance-autoscaling
CPU_TARGET: Final = 0.6
GIB: Final = 0.5

# Assumed sizes: a write's message from Firestore, a POST with its part of TLS, the log lines of a
# request, a delivery's record with its indexes.
EVENT_KIB: Final = 2
POST_KIB: Final = 2
LOG_KIB: Final = 1
RECORD_KIB: Final = 3

DISPATCHES_A_SECOND: Final = 500
"""Maximum rate of one queue: https://cloud.google.com/tasks/docs/quotas."""
