"""The mailbox itself: an inbox that is served over HTTP."""

from emulator.mailbox.api import handler_of
from emulator.mailbox.events import EventWebhook
from emulator.mailbox.inbox import Inbox
from emulator.server import HOST, LocalServer, StandIn


class Mailbox(Inbox, StandIn):
    """A running mailbox; a context manager.

    Attributes:
        port: The port that it listens on.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        events: EventWebhook | None = None,
    ) -> None:
        """Start listening.

        Args:
            port: 0 takes any free one.
            events: Tells what becomes of the mails; closed with the mailbox.

        Raises:
            OSError: The port is taken.
        """
        Inbox.__init__(self, events)
        StandIn.__init__(self, LocalServer(port, handler_of(self)))

    def close(self) -> None:
        """Stop listening and let go of every request; what was received stays readable."""
        self.healed.set()
        super().close()
        if self._events:
            self._events.close()

    @property
    def url(self) -> str:
        """The address of the API, and of the page."""
        return f"http://{HOST}:{self.port}"
