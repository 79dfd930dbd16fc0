"""The brake: a document that stops guests from uploading and listing photos while it exists."""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from functions.firestore.model import Delete, Put
from functions.wall.public_wall import BRAKE_PATH
from ops.cloud import Cloud, OpsError, Outside, RefusedError, parser_of, run, say
from ops.parts import deployed_rules

OFF: Final = "return true; // the brake is off"
"""Line of firestore.rules that a project with a brake replaces."""
ON: Final = f"return !exists(/databases/$(database)/documents/{BRAKE_PATH});"


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/brake and return its exit status."""
    parser = parser_of("ops/brake", __doc__)
    parser.add_argument("what", choices=["close", "open"], help="uploads and lists of guests")
    return run(_brake, parser.parse_args(arguments), outside)


def _brake(options: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    if ON not in (outside.root / "firestore.rules").read_text():
        raise OpsError(
            f"firestore.rules has no brake. Replace `{OFF}` with `{ON}` there, and deploy it."
        )
    match options.what:
        case "close":
            outside.documents(cloud).commit(Put(BRAKE_PATH, {"by": "ops/brake"}))
            if not _is_read(cloud):
                raise OpsError(
                    "The deployed rules have no brake, so guests still have access. Deploy "
                    "firestore.rules, or in an app's project the app's rules."
                )
            say("Guests can no longer upload or list photos.")
        case "open":
            outside.documents(cloud).commit(Delete(BRAKE_PATH))
            say("Guests can upload and list photos.")


def _is_read(cloud: Cloud) -> bool:
    """Return whether the deployed rules read the brake, or True if Google does not show them."""
    rules = ""
    with suppress(RefusedError):
        rules = deployed_rules(cloud)
    return not rules or "".join(ON.split()) in "".join(rules.split())
