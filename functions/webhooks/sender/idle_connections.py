"""Connections that wait for the next delivery to the same host and port."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final, TypeAlias

from functions.webhooks.sender.connections import Connection

# As many to one receiver as an instance has threads, or each delivery beyond would shake hands
# anew; all together well under the instance's file descriptors.
_PER_RECEIVER: Final = 80
_IN_ALL: Final = 512
_IDLE_SECONDS: Final = 60.0

KEPT_SECONDS: Final = 300.0
"""The greatest age of a connection: a name that moves is followed, a certificate that has ended
is noticed."""

KEPT_ANSWERS: Final = 1000
"""How many deliveries one connection serves at most."""

_Receiver: TypeAlias = tuple[str, int]


class IdleConnections:
    """Keeps connections until they are old, closed or too many; serves all threads."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """`monotonic` gives seconds that only grow."""
        self._monotonic = monotonic
        self._lock = Lock()
        self._by_receiver: OrderedDict[_Receiver, list[tuple[float, Connection]]] = OrderedDict()
        self._count = 0

    def take(self, receiver: _Receiver) -> Connection | None:
        """The connection that was put back last, if one is still open."""
        while True:
            with self._lock:
                idle = self._by_receiver.get(receiver)
                if not idle:
                    return None
                put_back, connection = idle.pop()
                self._count -= 1
                if not idle:
                    del self._by_receiver[receiver]
            now = self._monotonic()
            is_fresh = now - put_back < _IDLE_SECONDS and now - connection.since < KEPT_SECONDS
            if is_fresh and not connection.is_readable():
                return connection
            connection.close()

    def put(self, receiver: _Receiver, connection: Connection) -> None:
        """Keep an open connection, unless it has something to read or has served enough."""
        connection.answers += 1
        if connection.answers >= KEPT_ANSWERS or connection.holds_more():
            connection.close()
            return
        surplus = None
        with self._lock:
            idle = self._by_receiver.setdefault(receiver, [])
            self._by_receiver.move_to_end(receiver)
            idle.append((self._monotonic(), connection))
            self._count += 1
            if len(idle) > _PER_RECEIVER:
                _, surplus = idle.pop(0)
            elif self._count > _IN_ALL:
                oldest, waiting = next(iter(self._by_receiver.items()))
                _, surplus = waiting.pop(0)
                if not waiting:
                    del self._by_receiver[oldest]
            if surplus:
                self._count -= 1
        if surplus:
            surplus.close()

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            waiting = [kept for idle in self._by_receiver.values() for kept in idle]
            self._by_receiver.clear()
            self._count = 0
        for _, connection in waiting:
            connection.close()
