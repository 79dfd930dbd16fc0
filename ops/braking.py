"""The brake: one document, and while it is there guests neither upload nor list photos.

A function of main.py can close it once the month's budget is spent.
"""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from functions.firestore.model import Delete, Put
from functions.parameters import BUDGET_TOPIC
from functions.wall.public_wall import BRAKE
from ops.applying import found_budget
from ops.cloud import Cloud, OpsError, Outside, RefusedError, parser_of, run, say
from ops.parts import deployed_rules
from ops.wanted import set_own

OFF: Final = "return true; // the brake is off"
"""The line of firestore.rules that a project with a brake replaces."""
ON: Final = f"return !exists(/databases/$(database)/documents/{BRAKE});"


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line, close, open or set up; the exit status."""
    parser = parser_of("ops/brake", __doc__)
    parser.add_argument(
        "what",
        choices=["close", "open", "on-budget"],
        help="uploads and lists of guests; on-budget: have a spent budget close the brake",
    )
    return run(_brake, parser.parse_args(arguments), outside)


def _brake(given: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    if ON not in (outside.root / "firestore.rules").read_text():
        raise OpsError(
            f"firestore.rules has no brake: replace `{OFF}` there with `{ON}`, and deploy it."
        )
    match given.what:
        case "close":
            outside.documents(cloud).commit(Put(BRAKE, {"by": "ops/brake"}))
            if not _is_read(cloud):
                raise OpsError(
                    "The deployed rules have no brake, so guests go on: deploy firestore.rules, "
                    "beside an app with the rules of the app. Then guests are kept out."
                )
            say("Guests can neither upload nor list photos.")
        case "open":
            outside.documents(cloud).commit(Delete(BRAKE))
            say("Guests can upload and list photos.")
        case "on-budget":
            _close_on_budget(cloud, outside.root)
            say(f"The brake closes once the budget is spent, after: ops/deploy {given.project}")


def _is_read(cloud: Cloud) -> bool:
    """Whether the deployed rules look at the document; True where Google does not show them."""
    rules = ""
    with suppress(RefusedError):
        rules = deployed_rules(cloud)
    return not rules or "".join(ON.split()) in "".join(rules.split())


def _close_on_budget(cloud: Cloud, root: Path) -> None:
    """Have the budget tell its topic, and main.py declare the function that listens.

    Raises:
        OpsError: `ops/apply --budget` has made no budget; Google refuses.
    """
    _, budget = found_budget(cloud)
    if budget is None:
        raise OpsError(f"There is no budget: ops/apply {cloud.project} --budget AMOUNT makes one.")
    topic = f"projects/{cloud.project}/topics/{BUDGET_TOPIC}"
    if cloud.get("pubsub", f"v1/{topic}") is None:
        cloud.make("pubsub", f"v1/{topic}", {}, "PUT")
    told = {"notificationsRule": {"pubsubTopic": topic, "schemaVersion": "1.0"}}
    mask = "updateMask=notificationsRule.pubsubTopic,notificationsRule.schemaVersion"
    cloud.make("billingbudgets", f"v1/{budget['name']}?{mask}", told, "PATCH")
    set_own(root, cloud.project, "BRAKE_ON_BUDGET", "true")
