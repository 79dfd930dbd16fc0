"""2,000 uploads with a healthy, a slow and a dead receiver; 1,000 look-ups; a big event on paper.

Each receiver takes `photo.uploaded` and nothing else. The slow one answers 200 after 4 seconds, the
dead one 500 at once. At the end every delivery must have the outcome that the specification has for
it, with one record and one POST for each attempt on record; otherwise the exit status is 1.

The functions are real ones in processes of their own, several instances where Cloud Run would have
several; Eventarc is this process, Cloud Tasks is `queues.py`. Not the whole emulator suite: its
functions emulator starts a process for each request in flight and took in about one photo a second
(100 photos with these receivers), so 2,000 would be more than half an hour, and its 16 tasks at a
time would wait 500 seconds for the slow receiver alone.

No photo is written, as the trigger reads none: the event that comes with it is all it needs, and is
sent as Eventarc does. A latency counts from there to the arrival of the healthy receiver's POST.

Not held up: the same latency is measured with the healthy receiver alone, and beside two others
that are as healthy. One machine does the work of all, so three receivers are slower than one; what
the slow and the dead one add to that is the ratio to the second.
"""

import functools
import json
import os
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any, Final

from google.cloud import firestore

from bench import estimate, look_ups
from bench.figures import latencies, p50
from bench.queues import Instances, Report, WaitUntilIdle, dispatch
from bench.turns import peer, tree_cpu
from emulator import certificates
from emulator.cloud.api_server import ADDRESS_VARIABLE
from emulator.receiver import Receiver, always, slow
from functions.webhooks.deliveries.retry_schedule import RETRY_SCHEDULE, SLOW_QUEUE
from tests.suite.process import FunctionProcess, Written

PHOTOS: Final = 2000
REFERENCE_PHOTOS: Final = 500
WARM_UP_PHOTOS: Final = 40
IN_FLIGHT: Final = 40
"""Events that Eventarc has under way at a time."""

UPLOADS_A_SECOND: Final = 25
"""A party of 5,000 guests; more deliveries would be beyond the pace of one event."""

THREADS: Final = 240
INSTANCES: Final[Mapping[str, int]] = {
    **dict.fromkeys((SLOW_QUEUE, *(step.queue for step in RETRY_SCHEDULE)), 1),
    RETRY_SCHEDULE[0].queue: 2,  # as deployed
}

SLOW_SECONDS: Final = 4.0
HELD_UP: Final = 3.0
"""The median beside a slow and a dead receiver may be so many times that beside healthy ones."""

LATE: Final = 0.01
"""Of the deliveries to a receiver that answers 200, so many may have taken a second attempt: the
machine is as busy as can be, and 4 seconds become 5."""

_STARTING: Final = 4  # at a time: each is given a minute
_INTAKE_SECONDS: Final = 240.0
_END_SECONDS: Final = 180.0
_PATH: Final = "/hook"


@dataclass(frozen=True, slots=True)
class Expected:
    """How every delivery to a receiver ends: the outcome, after so many POSTs."""

    outcome: str
    posts: int


DELIVERED: Final = Expected("success", 1)
RECEIVERS: Final[Mapping[str, Expected]] = {
    "healthy": DELIVERED,
    "slow": DELIVERED,
    "dead": Expected("failed", len(RETRY_SCHEDULE)),
    "healthy 2": DELIVERED,
    "healthy 3": DELIVERED,
}
MIXED: Final = ("healthy", "slow", "dead")


def main() -> None:
    """Print the figures; exit with the problems, if there are any."""
    problems = [*_uploads(), *look_ups.measure()]
    estimate.show()
    if problems:
        sys.exit("\n".join(problems))


@dataclass(frozen=True, slots=True)
class Post:
    """A POST as a receiver saw it; `at` is on the monotonic clock, which all processes share."""

    receiver: str
    delivery_id: str
    event: str
    at: float
    problem: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """What Firestore has of a delivery."""

    id: str
    receiver: str
    photo_id: str
    event: str
    outcome: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds of CPU, user and system, of the trigger's instance and of all the workers'."""

    trigger: float
    workers: float


@dataclass(frozen=True, slots=True)
class Wave:
    """Uploads to one event, and all that came of them; seconds on the monotonic clock."""

    receivers: Sequence[str]
    sent: Mapping[str, float]
    statuses: Counter[int | None]
    taken_in: float
    ended: float
    records: Sequence[Record]
    posts: Sequence[Post]
    queues: Report
    cpu: Cpu

    @property
    def latencies(self) -> Sequence[float]:
        """Seconds from each upload to the first POST of it at the healthy receiver."""
        photos = {record.id: record.photo_id for record in self.records}
        first: dict[str, float] = {}
        for post in self._posts("healthy"):
            if post.delivery_id in photos:
                first.setdefault(photos[post.delivery_id], post.at)
        return [at - self.sent[photo_id] for photo_id, at in first.items()]

    @property
    def healthy_seconds(self) -> float:
        """From the first upload to the last POST at the healthy receiver."""
        last = max((post.at for post in self._posts("healthy")), default=self.ended)
        return last - min(self.sent.values())

    def verdict(self, receiver: str) -> "Verdict":
        """What came of the uploads at one receiver."""
        records = [record for record in self.records if record.receiver == receiver]
        per_photo = Counter(record.photo_id for record in records)
        per_delivery = Counter(post.delivery_id for post in self._posts(receiver))
        owed = Counter({record.id: record.attempts for record in records})
        return Verdict(
            outcomes=Counter((record.outcome, record.attempts) for record in records),
            posts=per_delivery.total(),
            lost=len(self.sent.keys() - per_photo.keys()) + (owed - per_delivery).total(),
            doubled=(per_photo - Counter(self.sent.keys())).total() + (per_delivery - owed).total(),
        )

    def problems(self) -> Iterator[str]:
        """Differences from the specification, in words."""
        if self.statuses != {200: len(self.sent)}:
            yield f"load: the trigger answered {dict(self.statuses)}"
        for receiver in self.receivers:
            found, expected = self.verdict(receiver), RECEIVERS[receiver]
            if not found.is_as(expected, len(self.sent)):
                yield f"load: outcomes at the {receiver} receiver are {found.told_outcomes}"
            if found.lost or found.doubled:
                yield f"load: {receiver}: {found.lost} lost, {found.doubled} doubled"
        events = {record.event for record in self.records} | {post.event for post in self.posts}
        others = events - {"photo.uploaded"}
        if others:
            yield f"load: nobody takes {sorted(others)}"
        if unsigned := Counter(post.problem for post in self.posts if post.problem != ""):
            yield f"load: signatures are refused: {dict(unsigned)}"
        if self.queues.given_up:
            yield f"load: {self.queues.given_up} tasks were given up"

    def _posts(self, receiver: str) -> Iterable[Post]:
        return (post for post in self.posts if post.receiver == receiver)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of the uploads at one receiver.

    `outcomes` counts the records by outcome and attempts. `lost` and `doubled` count records that
    are missing or too many for a photo, and POSTs that are for the attempts on record.
    """

    outcomes: Counter[tuple[str, int]]
    posts: int
    lost: int
    doubled: int

    def is_as(self, expected: Expected, photos: int) -> bool:
        """Whether each of so many ended as expected, but for a few that took another attempt."""
        ended = {attempts: n for (name, attempts), n in self.outcomes.items()}
        names = {name for name, _ in self.outcomes}
        late = photos - ended.get(expected.posts, 0)
        allowed = photos * LATE if expected is DELIVERED else 0
        return names == {expected.outcome} and sum(ended.values()) == photos and late <= allowed

    @property
    def told_outcomes(self) -> str:
        """The outcomes in words."""
        return ", ".join(f"{n} {name} after {m}" for (name, m), n in self.outcomes.items())


class Service:
    """The running functions, queues and receivers."""

    def __init__(self, stack: ExitStack) -> None:
        self._db = firestore.Client(project=os.environ["GCLOUD_PROJECT"])
        self._receivers = stack.enter_context(peer(receive))
        self._queues = stack.enter_context(peer(dispatch))
        self._urls: Mapping[str, str] = self._receivers.ask("urls")
        where = {
            ADDRESS_VARIABLE: self._queues.ask("address"),
            "THREADS": str(THREADS),
            "DELIVERY_QUEUES": "1",
        }
        names = [name for name, count in INSTANCES.items() for _ in range(count)]
        with ThreadPoolExecutor(_STARTING) as threads:
            starting = [threads.submit(FunctionProcess, name, **where) for name in names]
            trigger = threads.submit(FunctionProcess, "onPhotoWritten", event=True, **where)
        # A process that has started is ended even if another process could not start.
        for process in (trigger, *starting):
            if process.exception() is None:
                stack.callback(process.result().kill)
        self._trigger = trigger.result()
        ports: dict[str, list[int]] = {name: [] for name in INSTANCES}
        for name, process in zip(names, starting, strict=True):
            ports[name].append(process.result().port)
        self._workers = [future.result() for future in starting]
        self._queues.ask(Instances(ports, THREADS))

    def upload(self, photos: int, receivers: Sequence[str]) -> Wave:
        """Have `photos` uploaded to a new event that has these receivers; wait for all to end."""
        event_id = f"load-{uuid.uuid4().hex[:8]}"
        event = self._db.collection("events").document(event_id)
        urls = [
            {"url": self._urls[receiver], "events": ["photo.uploaded"]} for receiver in receivers
        ]
        event.collection("settings").document("webhooks").set({"urls": urls}, timeout=60)
        uploads = {f"p{n}": self._written(event_id, f"p{n}") for n in range(photos)}
        sent: dict[str, float] = {}
        before = self._cpu()

        began = time.monotonic()

        def send(number: int, upload: tuple[str, Written]) -> int | None:
            photo_id, written = upload
            time.sleep(max(began + number / UPLOADS_A_SECOND - time.monotonic(), 0))
            sent[photo_id] = time.monotonic()
            return self._trigger.written(written)

        with ThreadPoolExecutor(IN_FLIGHT) as threads:
            try:
                answers = threads.map(send, range(photos), uploads.items(), timeout=_INTAKE_SECONDS)
                statuses = Counter(answers)
            except TimeoutError:
                threads.shutdown(wait=False, cancel_futures=True)
                sys.exit(f"load: {photos} photos are not taken in after {_INTAKE_SECONDS:.0f} s")
        taken_in = time.monotonic()
        if not self._queues.ask(WaitUntilIdle(_END_SECONDS)):
            sys.exit(f"load: deliveries have not ended {_END_SECONDS:.0f} s after the last upload")
        ended, after = time.monotonic(), self._cpu()
        return Wave(
            receivers=receivers,
            sent=sent,
            statuses=statuses,
            taken_in=taken_in,
            ended=ended,
            records=self._records(event),
            posts=self._receivers.ask("posts"),
            queues=self._queues.ask("report"),
            cpu=Cpu(after.trigger - before.trigger, after.workers - before.workers),
        )

    def _cpu(self) -> Cpu:
        return Cpu(
            tree_cpu(self._trigger.pid), sum(tree_cpu(worker.pid) for worker in self._workers)
        )

    def _written(self, event_id: str, photo_id: str) -> Written:
        fields = {
            "status": "pending",
            "url": f"https://example.com/{photo_id}.jpg",
            "uploaderName": "Ann",
            "uploaderEmail": "ann@example.com",
            "createdAt": datetime.now(UTC),
        }
        path = f"events/{event_id}/photos/{photo_id}"
        return Written(self._db, path, event_id=f"{event_id}-{photo_id}", after=fields)

    def _records(self, event: firestore.DocumentReference) -> Sequence[Record]:
        names = {url: name for name, url in self._urls.items()}
        found = event.collection("deliveries").stream(timeout=120)
        return [
            Record(
                id=delivery.id,
                receiver=names[delivery.get("url")],
                photo_id=json.loads(delivery.get("body"))["data"]["photo"]["id"],
                event=delivery.get("event"),
                outcome=delivery.get("outcome"),
                attempts=delivery.get("attempts"),
            )
            for delivery in found
        ]


def receive(pipe: Connection) -> None:
    """Serve HTTPS as each of `RECEIVERS` on a port of its own; answers `urls` and `posts`."""
    db = firestore.Client(project=os.environ["GCLOUD_PROJECT"])

    @functools.cache
    def secret_of(event_id: str) -> str:
        # The trigger makes the secret before the first POST.
        found = db.document(f"events/{event_id}/secrets/webhooks").get(timeout=60)
        return str(found.get("secret"))

    with ExitStack() as stack:
        started = {name: stack.enter_context(_receiver(name, secret_of)) for name in RECEIVERS}
        stack.enter_context(suppress(EOFError))
        while True:
            if pipe.recv() == "urls":
                pipe.send({name: receiver.url(_PATH) for name, receiver in started.items()})
                continue
            posts = [
                Post(name, seen.delivery_id, seen.event_type, seen.monotonic, seen.problem)
                for name, receiver in started.items()
                for seen in receiver.requests
            ]
            for receiver in started.values():
                receiver.forget()
            pipe.send(posts)


@contextmanager
def _receiver(name: str, secret_of: Any) -> Iterator[Receiver]:
    scripts = {"slow": slow(SLOW_SECONDS), "dead": always(500)}
    script = {_PATH: scripts.get(name, always())}
    with Receiver(certificates.SERVER, scripts=script, secret_of=secret_of) as receiver:
        yield receiver


def _uploads() -> Sequence[str]:
    certificates.ensure()
    with ExitStack() as stack:
        service = Service(stack)
        healthy = ("healthy", "healthy 2", "healthy 3")
        service.upload(WARM_UP_PHOTOS, healthy)
        alone = service.upload(REFERENCE_PHOTOS, ["healthy"])
        among = service.upload(REFERENCE_PHOTOS, healthy)
        mixed = service.upload(PHOTOS, MIXED)
    waves = {"healthy alone": alone, "healthy, two more": among, "healthy, slow, dead": mixed}
    _print_waves(waves)
    print()
    _print_verdicts(mixed)
    ratios = [p50(mixed.latencies) / p50(wave.latencies) for wave in (alone, among)]
    print(
        f"\nmedian latency beside a slow and a dead receiver: {ratios[1]:.2f} times that beside two"
        f" healthy ones,\n{ratios[0]:.2f} times that alone"
    )
    problems = [problem for wave in waves.values() for problem in wave.problems()]
    if ratios[1] > HELD_UP:
        problems.append(f"load: the healthy receiver is held up: {ratios[1]:.2f} times as long")
    return problems


def _print_waves(waves: Mapping[str, Wave]) -> None:
    print(
        "receivers             photos  taken in, /s  healthy has all, s  all ended, s"
        "  ms of CPU: trigger, attempt  healthy's latency"
    )
    for name, one in waves.items():
        began = min(one.sent.values())
        print(
            f"{name:<20}  {len(one.sent):6}  {len(one.sent) / (one.taken_in - began):12.1f}"
            f"  {one.healthy_seconds:18.1f}  {one.ended - began:12.1f}"
            f"  {one.cpu.trigger / len(one.sent) * 1000:18.1f}"
            f"  {one.cpu.workers / sum(one.queues.dispatches.values()) * 1000:7.1f}"
            f"  {latencies(one.latencies)}"
        )


def _print_verdicts(wave: Wave) -> None:
    print("receiver  deliveries                        POSTs  lost  doubled")
    for receiver in wave.receivers:
        one = wave.verdict(receiver)
        print(
            f"{receiver:<8}  {one.told_outcomes:<32}  {one.posts:5}  {one.lost:4}  {one.doubled:7}"
        )
    refused = wave.queues.refused
    dispatches = ", ".join(
        f"{queue} {number} ({refused.get(queue, 0)} sent back)"
        for queue, number in wave.queues.dispatches.items()
    )
    print(f"dispatches: {dispatches}")
