"""Marks URLs to which deliveries have failed, so that the notifier looks at them (design 3.31).

The mark is recorded before its task is queued; the sweep finds a mark whose task was lost.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from functions.documents.refusals import ChangedMeanwhileError
from functions.gcp.task_queue import Enqueue
from functions.webhooks.notices.look_task import look_task
from functions.webhooks.notices.ports import Notices, StoredWatch
from functions.webhooks.notices.watch import Watch


class FailureMarks:
    """Marks URLs; one instance serves all threads of the process."""

    def __init__(self, *, notices: Notices, enqueue: Enqueue, now: Callable[[], datetime]) -> None:
        """`now` gives the time, aware and in UTC."""
        self._notices = notices
        self._enqueue = enqueue
        self._now = now

    def mark(self, event_id: str, urls: Sequence[str]) -> None:
        """Have the notifier look at these URLs of the event, which are in its settings.

        One round trip if people were told already; else two and a task.
        """
        while True:
            stored = self._notices.load(event_id)
            before, now = stored.watch if stored else Watch(), self._now()
            watch = before.marked(urls, now)
            if watch == before:
                return
            if self._write(event_id, watch, stored):
                break
        if watch.look_at and watch.is_due(now):
            self._enqueue(look_task(event_id, watch.look_at))

    def _write(self, event_id: str, watch: Watch, over: StoredWatch | None) -> bool:
        """Whether no other process has written meanwhile."""
        try:
            if over is None:
                self._notices.create(event_id, watch)
            else:
                self._notices.save(event_id, watch, over.version)
        except ChangedMeanwhileError:
            return False
        return True
