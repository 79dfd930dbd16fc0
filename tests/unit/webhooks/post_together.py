"""In a process of its own: what 80 posts at once to one receiver add to its memory.

`python -m tests.unit.webhooks.post_together PORT SECONDS` prints the bytes, and what they came to.
The receiver's path `/ok` answers, so that what 80 threads and connections take is there before.
"""

import collections
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import psutil

from functions.webhooks.sender.http_sender import HttpSender
from functions.webhooks.sender.ports import SendError
from tests.unit.webhooks.tls_receivers import post, sending

AT_ONCE: Final = 80


def main(port: int, seconds: float) -> None:
    """Print the figures."""
    with sending(timeout=30) as patient, ThreadPoolExecutor(AT_ONCE) as threads:
        together = threading.Barrier(AT_ONCE)
        list(threads.map(lambda _: (together.wait(), post(patient, port, path="/ok")), range(80)))
        with sending(timeout=seconds) as sender:
            before, ended, most = _used(), threading.Event(), [0]

            def watch() -> None:
                while not ended.wait(0.005):
                    most.append(_used())

            watcher = threading.Thread(target=watch)
            watcher.start()
            outcomes = list(threads.map(lambda _: _outcome(sender, port), range(AT_ONCE)))
            ended.set()
            watcher.join()
    print(max(most) - before, collections.Counter(outcomes))


def _outcome(sender: HttpSender, port: int) -> str:
    try:
        return str(post(sender, port, path="/hostile"))
    except SendError as error:
        return str(error)


def _used() -> int:
    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
