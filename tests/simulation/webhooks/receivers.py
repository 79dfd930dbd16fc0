"""Receivers as one instance reaches them: they answer as their script says, or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from functions.webhooks.worker import HostLimitError, Response, SendError, Source
from tests.in_memory.through import ServiceError
from tests.simulation.faults import NEVER_RETRIED
from tests.simulation.simulation import MINUTE, SECOND, Instance, current
from tests.simulation.webhooks.seen import Post, Seen

_DEADLINE: Final = 5 * SECOND
_FLAKY: Final = (204, 500, None, 202, 503, 200)
_FAILS_FIRST: Final = 2
_DOWN_FOR: Final = 60 * SECOND
"""Longer than the four attempts of a first delivery take."""

_CROWDED_FOR: Final = 20 * MINUTE

_POSSIBLE: Final = NEVER_RETRIED
"""A POST is made once: nobody tries it again but the retry schedule."""


@dataclass(frozen=True, slots=True)
class Receivers:
    """See `ports.Sender`.

    Receivers answer as `behaviours` says; `crowded` is how often a host has no turn for a POST,
    until `_CROWDED_FOR`.
    """

    seen: Seen
    behaviours: Mapping[str, str]
    instance: Instance
    crowded: float

    def post(self, url: str, headers: Mapping[str, str], body: bytes, _: Source) -> Response:
        """See `ports.Sender`."""
        actor = current()
        choices = self.seen.simulation.choices
        if self.seen.simulation.time < _CROWDED_FOR and choices.happens(
            f"{actor.name} turn", self.crowded, "the host has no turn"
        ):
            raise HostLimitError
        self.seen.check_signature(headers, body)
        post = Post(
            delivery_id=headers["Wall-Delivery-Id"],
            round=actor.notes.get("round", 0),
            attempt=actor.notes.get("attempt", 1),
            began=self.seen.simulation.time,
            body=body,
            actor=actor,
        )

        def arrive() -> int | None:
            self.seen.posted(post)
            return self._status(url, post)

        try:
            status = self.instance.call("sender.post", arrive, retried=False, possible=_POSSIBLE)
        except ServiceError as error:
            raise SendError("the connection was lost") from error
        if status is None:
            actor.wait(_DEADLINE)
            raise SendError("no answer within 5 seconds")
        self.seen.simulation.note(actor.name, f"was answered {status}")
        post.status = status
        post.answered = self.seen.simulation.time
        return Response(status)

    def _status(self, url: str, post: Post) -> int | None:
        count = sum(seen.delivery_id == post.delivery_id for seen in self.seen.posts)
        match self.behaviours[url]:
            case "ok" | "500" | "silent" as always:
                return {"ok": 204, "500": 500, "silent": None}[always]
            case "down":
                return 503 if self.seen.simulation.time < _DOWN_FOR else 204
            case "recovers":
                return 200 if count > _FAILS_FIRST else 500
            case _:
                name = f"{post.delivery_id} POST {count}"
                return self.seen.simulation.choices.pick(name, _FLAKY)
