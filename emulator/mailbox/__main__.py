"""`python -m emulator.mailbox`: the mailbox alone, until Ctrl-C."""

import argparse
import signal
import threading

import emulator.mailbox
from emulator import certificates
from emulator.mailbox import PORT, EventWebhook, Mailbox


def main() -> None:
    """Run until Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m emulator.mailbox",
        description=emulator.mailbox.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--events", metavar="URL", help="where to tell what becomes of the mails")
    given = parser.parse_args()
    port = given.port
    events = EventWebhook(given.events, certificates.mailbox_key()) if given.events else None
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with Mailbox(
        port=port, on_mails=lambda n: print(f"{n} mails accepted", flush=True), events=events
    ) as box:
        print(f"Mailbox at {box.url}/", flush=True)
        ended.wait()


if __name__ == "__main__":
    main()
