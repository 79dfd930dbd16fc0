"""The rules as the JavaScript client SDK meets them."""

import json
import shutil
import subprocess
import uuid
from pathlib import Path

from google.cloud import firestore

from emulator.people import sign_in
from tests.suite.rules.cast import TENANT
from tests.suite.rules.samples import event as published

SCRIPT = Path(__file__).with_name("guest_and_moderator.mjs")


def test_a_browser_uploads_as_a_guest_and_approves_as_a_moderator(
    event: firestore.DocumentReference,
) -> None:
    """Spec 3.1: the rules take `serverTimestamp()` and an anonymous sign-in."""
    event.set(published())
    password = uuid.uuid4().hex
    moderator = sign_in("moderator", TENANT, password=password)
    node = shutil.which("node")
    assert node

    ran = subprocess.run(
        [node, SCRIPT, event.id, moderator.email, password],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "refused": "permission-denied",
        "status": "approved",
        "approvedBy": moderator.email,
        "approvedAfterUpload": True,
    }
