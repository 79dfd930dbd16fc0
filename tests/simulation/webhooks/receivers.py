"""Receivers with scripted responses, as one instance reaches them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from functions.webhooks.worker import HostLimitError, Response, SendError, Source
from tests.in_memory.through import ServiceError
from tests.simulation.faults import NEVER_RETRIED
from tests.simulation.simulation import MINUTE, SECOND, Instance, current
from tests.simulation.webhooks.history import History, Post

_DEADLINE: Final = 5 * SECOND
_FLAKY: Final = (204, 500, None, 202, 503, 200)
_FAILS_FIRST: Final = 2
_DOWN_FOR: Final = 60 * SECOND
"""Longer than the four attempts of a first delivery."""

_CROWDED_FOR: Final = 20 * MINUTE

_POSSIBLE: Final = NEVER_RETRIED
"""A POST is sent once. Only the retry schedule repeats it."""


@dataclass(frozen=True, slots=True)
class Receivers:
    """A `ports.Sender`.

    Receivers answer according to `behaviours`. `crowded` is the probability that a host has no free
    slot for a POST, until `_CROWDED_FOR`.
    """

    history: History
    behaviours: Mapping[str, str]
    instance: Instance
    crowded: float

    def post(self, url: str, headers: Mapping[str, str], body: bytes, _: Source) -> Response:
        """Send a POST as `ports.Sender` does."""
        actor = current()
        choices = self.history.simulation.choices
        if self.history.simulation.time < _CROWDED_FOR and choices.happens(
            f"{actor.name} turn", self.crowded, "the host has no turn"
        ):
            raise HostLimitError
        self.history.check_signature(headers, body)
        post = Post(
            delivery_id=headers["Wall-Delivery-Id"],
            round=actor.notes.get("round", 0),
            attempt=actor.notes.get("attempt", 1),
            began=self.history.simulation.time,
            body=body,
            actor=actor,
        )

        def arrive() -> int | None:
            self.history.posted(post)
            return self._status(url, post)

        try:
            status = self.instance.call("sender.post", arrive, retried=False, possible=_POSSIBLE)
        except ServiceError as error:
            raise SendError("the connection was lost") from error
        if status is None:
            actor.wait(_DEADLINE)
            raise SendError("no answer within 5 seconds")
        self.history.simulation.note(actor.name, f"was answered {status}")
        post.status = status
        post.answered = self.history.simulation.time
        return Response(status)

    def _status(self, url: str, post: Post) -> int | None:
        count = sum(seen.delivery_id == post.delivery_id for seen in self.history.posts)
        match self.behaviours[url]:
            case "ok" | "500" | "silent" as always:
                return {"ok": 204, "500": 500, "silent": None}[always]
            case "down":
                return 503 if self.history.simulation.time < _DOWN_FOR else 204
            case "recovers":
                return 200 if count > _FAILS_FIRST else 500
            case _:
                name = f"{post.delivery_id} POST {count}"
                return self.history.simulation.choices.pick(name, _FLAKY)
