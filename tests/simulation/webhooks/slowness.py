"""Where an instance has met silence, and where first attempts belong then (design 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from functions.webhooks.endpoints.endpoint_url import EndpointUrl
from tests.simulation.simulation import MINUTE, Actor, Instance, Simulation, current

_TWICE: Final = 2
_FIRST: Final = "deliverWebhook"


@dataclass(frozen=True, slots=True)
class _Answer:
    """How a POST of an instance came back, and when."""

    at: int
    silent: bool


class Slowness:
    """What each instance knows of each receiver, from its own POSTs."""

    def __init__(self, simulation: Simulation) -> None:
        """Nothing yet."""
        self._simulation = simulation
        self._met: dict[tuple[Instance, EndpointUrl], list[_Answer]] = {}

    def met(self, to: EndpointUrl, *, silent: bool) -> None:
        """A POST of whoever runs now has come back, or has not."""
        known = self._met.setdefault((current().instance, to), [])
        known.append(_Answer(self._simulation.time, silent))

    def posts(self, to: EndpointUrl) -> None:
        """Whoever runs now posts: from the ordinary queue, not where it knew of two silences."""
        actor, now = current(), self._simulation.time
        if actor.notes.get("queue") != _FIRST or not self._is_slow(actor, to, actor.began):
            return
        # What is remembered at this moment was when it was decided.
        since = [one for one in self._of(actor, to) if one.at >= actor.began]
        last = max(one.at for one in self._of(actor, to) if one.at <= actor.began)
        if now - last < MINUTE and not since:
            self._simulation.violation(f"{to.host} was slow, and has a place of the prompt ones")

    def sent_on(self, to: EndpointUrl) -> None:
        """Whoever runs now has sent a first attempt on to the slow queue."""
        actor = current()
        moments = [actor.began, *(one.at for one in self._of(actor, to) if one.at > actor.began)]
        if not any(self._is_slow(actor, to, moment) for moment in moments):
            self._simulation.violation(f"{to.host} was not slow, and waits with the slow ones")

    def _of(self, actor: Actor, to: EndpointUrl) -> Iterator[_Answer]:
        return iter(self._met.get((actor.instance, to), ()))

    def _is_slow(self, actor: Actor, to: EndpointUrl, moment: int) -> bool:
        """Whether the last two were silent, the last of them within a minute of that moment."""
        last = [one for one in self._of(actor, to) if one.at <= moment][-_TWICE:]
        return (
            len(last) == _TWICE
            and all(one.silent for one in last)
            and moment - last[-1].at <= MINUTE
            and last[-1].at - last[0].at < MINUTE
        )
