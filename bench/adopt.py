"""Adopting an app with 10,000 photos and 2,000 users: a look, the run, and a second run.

Half of the users' addresses have capitals, and half of the users have opted out in a file. The
reference is the walk through the same documents by the client library, which writes nothing.
"""

import contextlib
import io
import os
import subprocess
import time
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from google.cloud import firestore

from ops import adopting
from ops.cloud import Outside

EVENTS: Final = 10
PHOTOS: Final = 1_000
"""Of an event."""
USERS: Final = 2_000


def main() -> None:
    """Make the app, adopt it, and print how long each run took and what it wrote."""
    database = firestore.Client(project=f"demo-adopt-{uuid.uuid4().hex[:8]}")
    _make(database)
    began = time.monotonic()
    for collection in ("photos", "users"):
        for _ in database.collection_group(collection).stream():
            pass
    reference = time.monotonic() - began
    print(f"   reference, a walk by the client library: {reference:.1f} s")
    with TemporaryDirectory() as folder:
        optouts = Path(folder) / "opt-outs.csv"
        lines = [f"user-{number}@example.com,marketing" for number in range(USERS // 2)]
        optouts.write_text("\n".join(["address,what", *lines]))
        for run, flags in {"look": ["--dry-run"], "run": [], "again": []}.items():
            seconds, said = _adopt(database.project, f"--optouts={optouts}", *flags)
            print(f"   {run:5} {seconds:5.1f} s, {seconds / reference:.1f} of it   {said}")


def _adopt(*arguments: str) -> tuple[float, str]:
    """Seconds of a run, and the last line that it prints."""

    def gcloud(command: Any, **_: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 0, stdout="owner\n")

    address = f"http://{os.environ['FIRESTORE_EMULATOR_HOST']}"
    out, began = io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out):
        status = adopting.main(arguments, Outside(run=gcloud, address=address))
    if status:
        raise SystemExit(status)
    return time.monotonic() - began, out.getvalue().splitlines()[-1]


def _make(database: firestore.Client) -> None:
    writer: Any = database.bulk_writer()
    for event in range(EVENTS):
        writer.set(database.document(f"events/e{event}"), {"tenantId": "a", "name": "Party"})
        for number in range(PHOTOS):
            photo = {
                "status": "approved",
                "url": f"https://example.com/{number}.jpg",
                "uploaderName": "Guest",
                "uploaderEmail": f"guest-{number}@example.com",
                "uploaderUid": f"u{number}",
                "createdAt": firestore.SERVER_TIMESTAMP,
            }
            writer.set(database.document(f"events/e{event}/photos/p{number}"), photo)
    for number in range(USERS):
        name = "User" if number % 2 else "user"
        writer.set(database.document(f"users/u{number}"), {"email": f"{name}-{number}@example.com"})
    writer.close()
