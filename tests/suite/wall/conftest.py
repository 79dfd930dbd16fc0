"""Environment of operators' scripts: a database of one test, and SendGrid's API."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from google.cloud import firestore

from emulator.server import HOST, HttpRequest, HttpResponse, StandIn
from tests.suite.operator_scripts import outside

KEY: Final = "SG.typed-in"


class SendGrid:
    """The API of SendGrid that operators use, on a real socket.

    Attributes:
        answers: The answers by method and path; any other request is refused.
        asked: Each request: method and path, and the body.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {"POST /v3/recipients/erasejob": {"job_id": "1"}}
        self.asked: list[tuple[str, Any]] = []


@pytest.fixture
def sendgrid(tmp_path: Path) -> Iterator[SendGrid]:
    """Where the settings of the checkout lead to."""
    found = SendGrid()

    def answer(asked: HttpRequest) -> HttpResponse:
        call = f"{asked.method} {asked.path}"
        found.asked.append((call, json.loads(asked.body or b"null")))
        is_known = asked.headers["Authorization"] == f"Bearer {KEY}" and call in found.answers
        return 200 if is_known else 403, {}, json.dumps(found.answers.get(call)).encode()

    with StandIn(answer) as server:
        (tmp_path / ".env").write_text(f"SENDGRID_HOST=http://{HOST}:{server.port}\n")
        yield found


@pytest.fixture
def operator(
    database: firestore.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a script's `main` on that database, and return its status, output and errors."""
    address = f"http://{os.environ['FIRESTORE_EMULATOR_HOST']}"
    reached = outside(address, type_in=lambda _: KEY, root=tmp_path)

    def run(main: Callable[..., int], *arguments: str) -> tuple[int, str, str]:
        status = main([database.project, *arguments], reached)
        return status, *capsys.readouterr()

    return run


def scan(database: firestore.Client) -> dict[str, dict[str, Any]]:
    """Return every document of the database by its path."""
    found: dict[str, dict[str, Any]] = {}
    waiting = list(database.collections())
    while waiting:
        for reference in waiting.pop().list_documents():
            snapshot = reference.get()
            if snapshot.exists:
                found[reference.path] = snapshot.to_dict() or {}
            waiting += reference.collections()
    return found
