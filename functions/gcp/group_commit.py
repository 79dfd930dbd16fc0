"""Group commit: calls of many threads, made together, as databases commit their transactions.

While one call is under way, those that come wait for the next. A lone caller waits for nobody. With
many at once one call to a service does the work of all, which costs each a fraction of the CPU of a
call of its own (docs/benchmarks.md). A call that is stuck holds up its own group, and the next one
for `PATIENCE_SECONDS`.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

PATIENCE_SECONDS: Final = 0.2
"""How long a group waits for the one before it: several times as long as a healthy call takes."""

_SHORTEST: Final = 1.0


@dataclass(slots=True)
class _Group(Generic[Question, Answer]):
    questions: list[Question] = field(default_factory=list)
    answers: Sequence[Answer | Exception] = ()
    answered: threading.Event = field(default_factory=threading.Event)


class GroupCommit(Generic[Question, Answer]):
    """Puts questions of all threads to `ask`, one group at a time."""

    def __init__(
        self,
        ask: Callable[[Sequence[Question], float], Sequence[Answer | Exception]],
        *,
        at_most: int,
        seconds: float,
        patience: float = PATIENCE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make an empty group.

        Args:
            ask: answers each question of a group, or says what went wrong with it, within the
                seconds that it is given; it may raise what went wrong with all.
            at_most: questions in a group.
            seconds: that an answer may take, the wait for the group before included.
            patience: seconds that a group waits for the one before it.
            monotonic: seconds that only grow.
        """
        self._patience = patience
        self._monotonic = monotonic
        self._ask = ask
        self._at_most = at_most
        self._seconds = seconds
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._forming = _Group[Question, Answer]()

    def __call__(self, question: Question) -> Answer:
        """The answer to `question`.

        Raises:
            Exception: what went wrong with it, or with its group.
        """
        with self._lock:
            group = self._forming
            place = len(group.questions)
            group.questions.append(question)
            if place + 1 == self._at_most:
                self._forming = _Group()
        if place == 0:
            self._lead(group)
        else:
            group.answered.wait()
        answer = group.answers[place]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _lead(self, group: _Group[Question, Answer]) -> None:
        """Have the group answered, in whatever way: the others wait for it."""
        joined = self._monotonic()
        turn = self._take_turn()
        try:
            with self._lock:
                if self._forming is group:
                    self._forming = _Group()
            left = self._seconds - (self._monotonic() - joined)
            group.answers = self._ask(group.questions, max(left, _SHORTEST))
        except Exception as error:  # noqa: BLE001 - raised in every thread that asked
            group.answers = [error] * len(group.questions)
        finally:
            turn.release()
            group.answered.set()

    def _take_turn(self) -> threading.Lock:
        """Wait until the group before is answered, or stuck; what to release after this one."""
        while True:
            with self._lock:
                turn = self._turn
            if turn.acquire(timeout=self._patience):
                return turn
            with self._lock:
                if self._turn is turn:
                    self._turn = threading.Lock()  # the one before keeps its own
