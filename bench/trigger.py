"""CPU of a trigger, as a ratio to the same handler behind the SDK's own way to an event.

Both are whole `functions-framework` processes on one CPU, with the environment of a deploy and a
metadata server each, whose requests are counted. No delivery follows an edit, so that the figure is
the cost of any event. The two take turns, as the workers of `delivery` do.
"""

import http.client
import os
import statistics
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Final
from unittest.mock import patch

from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

from bench.delivery import on_one_cpu
from bench.figures import spread
from bench.turns import tree_cpu
from emulator.environment import ROOT
from emulator.firebase import PROJECT
from tests.suite.metadata_server import MetadataServer
from tests.suite.process import FunctionProcess, Written

IN_FLIGHT: Final = 16
ROUNDS: Final = 12
TURN: Final = 160
SDK: Final = "bench/sdk_trigger/main.py"


def main() -> None:
    """Print the figures."""
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ))
        os.environ.pop("FIRESTORE_EMULATOR_HOST", None)  # or nobody asks for credentials
        ours, sdk = Lane("main.py", stack), Lane(SDK, stack)
        own: list[float] = []
        ratios: list[float] = []
        for number in range(ROUNDS + 1):
            costs = ours.turn(), sdk.turn()
            if number == 0:
                ours.metadata.requests = sdk.metadata.requests = 0
                continue  # everybody warms up
            own.append(costs[0])
            ratios.append(costs[0] / costs[1])
        events = ROUNDS * TURN
        print(f"an event                {statistics.median(own) * 1000:5.2f} ms of CPU")
        print(f"  to the SDK's own way  {spread(ratios)} times")
        for lane, name in ((ours, "ours"), (sdk, "the SDK's")):
            print(f"requests to the metadata server, {name}: {lane.metadata.requests} in {events}")


class Lane:
    """A trigger, and the events that it is given."""

    def __init__(self, source: str, stack: ExitStack) -> None:
        self.metadata = stack.enter_context(MetadataServer())
        environment = self.metadata.environment | {
            "THREADS": str(IN_FLIGHT),
            "PYTHONPATH": str(ROOT),  # where the other source finds the handlers
        }
        with on_one_cpu():
            self._trigger = stack.enter_context(
                FunctionProcess("onPhotoWritten", event=True, source=source, **environment)
            )
        credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
        client = firestore.Client(project=PROJECT, credentials=credentials)
        photo = {"status": "pending", "url": "https://example.com/p1.jpg", "uploaderName": "Ann"}
        self._edit = Written(
            client, "events/e1/photos/p1", event_id="w1", before=photo, after=photo
        )

    def turn(self) -> float:
        """Tell of a turn of edits; seconds of CPU that each took the trigger."""
        before = tree_cpu(self._trigger.pid)
        with ThreadPoolExecutor(IN_FLIGHT) as threads:
            for done in [threads.submit(self._tell) for _ in range(IN_FLIGHT)]:
                done.result()
        return (tree_cpu(self._trigger.pid) - before) / TURN

    def _tell(self) -> None:
        """Tell of some one after the other."""
        connection = http.client.HTTPConnection("127.0.0.1", self._trigger.port, timeout=60)
        for _ in range(TURN // IN_FLIGHT):
            connection.request("POST", "/", self._edit.body, self._edit.headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == http.client.OK
        connection.close()
