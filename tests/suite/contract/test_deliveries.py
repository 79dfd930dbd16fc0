"""docs/openapi.yaml and real deliveries of all seven types: bodies, headers, generated types."""

import subprocess
import threading
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from google.cloud import firestore

from emulator import certificates
from emulator.receiver import Receiver, Request, always
from tests.suite.process import silenced
from tests.unit.contract.promise import DOCUMENT, FILE, ROOT, delivery_schema, problems, resolved

PHOTO: Final = {
    "url": "https://example.com/1.jpg",
    "uploaderName": "Ann",
    "uploaderEmail": "ann@example.com",
}
PRINTED: Final = {
    # The value that receiver.ts prints for each type.
    "photo.uploaded": "ann@example.com",
    "photo.approved": "moderator@example.com",
    "photo.rejected": "out of focus",
    "event.published": "Midsummer",
    "event.archived": "100",
    "milestone.reached": "100",
    "guest.joined": "first",
    "photo.deleted": "first",
}


@pytest.fixture(scope="module")
def delivered(db: firestore.Client) -> Iterator[Sequence[Request]]:
    """Deliver one request of each type, for an event with its hundredth and last photo."""
    event = db.collection("events").document(f"contract-{uuid.uuid4().hex[:12]}")
    photos = event.collection("photos")
    with silenced(event.id):
        before = db.batch()
        for number in range(99):
            before.set(
                photos.document(f"p{number}"),
                {"status": "approved", "createdAt": firestore.SERVER_TIMESTAMP},
            )
        before.commit()
    changed = threading.Condition()
    first_of: dict[str, Request] = {}

    def on_request(request: Request) -> None:
        with changed:
            first_of.setdefault(request.event_type, request)
            changed.notify_all()

    def wait_for(*types: str) -> None:
        with changed:
            assert changed.wait_for(lambda: set(types) <= first_of.keys(), 60), first_of.keys()

    certificates.ensure()
    with Receiver(
        certificates.SERVER, scripts={"/hook": always()}, on_request=on_request
    ) as receiver:
        entry = {"url": receiver.url("/hook"), "events": list(PRINTED)}
        event.collection("settings").document("webhooks").set({"urls": [entry]})
        event.set(
            {"tenantId": "t", "name": "Midsummer", "template": "garden", "status": "published"}
        )
        pending = PHOTO | {"status": "pending", "createdAt": firestore.SERVER_TIMESTAMP}
        photos.document("first").set(pending)
        wait_for("photo.uploaded", "milestone.reached", "guest.joined", "event.published")
        photos.document("first").update(
            {
                "status": "approved",
                "approvedAt": firestore.SERVER_TIMESTAMP,
                "approvedBy": "moderator@example.com",
            }
        )
        photos.document("second").set(pending)
        photos.document("second").update(
            {
                "status": "rejected",
                "rejectedAt": firestore.SERVER_TIMESTAMP,
                "rejectedBy": "moderator@example.com",
                "reason": "out of focus",
            }
        )
        wait_for("photo.approved")
        photos.document("first").delete()
        wait_for("photo.deleted")
        event.update({"status": "archived", "archivedAt": firestore.SERVER_TIMESTAMP})
        wait_for(*PRINTED)
        yield [first_of[event_type] for event_type in PRINTED]


def test_bodies_and_headers_match_the_openapi_file(delivered: Sequence[Request]) -> None:
    """Spec 4.3, 6.1 and 6.2: a delivery has exactly the documented fields."""
    for request in delivered:
        operation = DOCUMENT["webhooks"][request.event_type]["post"]
        assert problems(delivery_schema(request.event_type), request.json(), exactly=True) == []
        assert request.headers["Content-Type"] in operation["requestBody"]["content"]
        for parameter in map(resolved, operation["parameters"]):
            value = request.headers.get(parameter["name"])
            assert (value is not None) is parameter.get("required", False), parameter["name"]
            assert value is None or problems(parameter["schema"], value) == [], parameter["name"]


def test_generated_typescript_types_accept_every_delivery(
    delivered: Sequence[Request], tmp_path: Path
) -> None:
    """openapi-typescript's types, compiled strictly with a receiver that has a case for each."""
    tools = ROOT / "emulator" / "node_modules" / ".bin"
    _run(str(tools / "openapi-typescript"), str(FILE), "-o", str(tmp_path / "types.ts"))
    receiver = Path(__file__).with_name("receiver.ts").read_text()
    (tmp_path / "receiver.ts").write_text(receiver)
    # The only thing of Node's that the receiver uses; its types are a package of their own.
    (tmp_path / "node.d.ts").write_text(
        'declare module "node:fs" {\n'
        "  export function readFileSync(file: number, encoding: string): string;\n}\n"
        "declare const console: { log(line: string): void };\n"
    )
    files = [str(tmp_path / name) for name in ("receiver.ts", "node.d.ts")]
    options = ["--strict", "--target", "es2022", "--lib", "es2022", "--module", "commonjs"]
    # In a separate folder without the types of other packages.
    _run(str(tools / "tsc"), *options, *files, cwd=tmp_path)
    bodies = f"[{','.join(request.body.decode() for request in delivered)}]"
    lines = _run("node", str(tmp_path / "receiver.js"), given=bodies).splitlines()
    assert lines == [f"{event} {told}" for event, told in PRINTED.items()]


def _run(*command: str, given: str | None = None, cwd: Path | None = None) -> str:
    ran = subprocess.run(command, input=given, cwd=cwd, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
