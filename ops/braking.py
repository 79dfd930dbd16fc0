"""The brake: one document, and while it is there guests neither upload nor list photos.

A function of its own can close it once the month's budget is spent.
"""

import argparse
import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ops.applying import BUDGET
from ops.cloud import Cloud, OpsError, Outside, say
from ops.wanted import MAIL_EVENTS, REGION, settings_of

OFF: Final = "return true; // the brake is off"
"""The line of firestore.rules that a project with a brake replaces."""
ON: Final = "return !exists(/databases/$(database)/documents/service/brake);"
FUNCTION: Final = "close-on-budget"
TOPIC: Final = "wall-budget"
_DOCUMENT: Final = "v1/projects/{project}/databases/(default)/documents/service/brake"
_SOURCES: Final = Path("ops/brake_on_budget")


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line, close, open or set up; the exit status."""
    parser = argparse.ArgumentParser(prog="ops/brake", description=__doc__)
    parser.add_argument("project", help="the project's id")
    parser.add_argument(
        "what",
        choices=["close", "open", "on-budget"],
        help="uploads and lists of guests; on-budget: have a spent budget close the brake",
    )
    given = parser.parse_args(arguments)
    outside = outside or Outside()
    if ON not in (outside.root / "firestore.rules").read_text():
        sys.stderr.write(
            f"firestore.rules has no brake: replace `{OFF}` there with `{ON}`, and deploy it.\n"
        )
        return 1
    cloud = Cloud(given.project, outside)
    path = _DOCUMENT.format(project=given.project)
    try:
        if given.what == "close":
            cloud.call("PATCH", "firestore", path, {"fields": {"by": {"stringValue": "ops/brake"}}})
            say("Guests can neither upload nor list photos.")
        elif given.what == "open":
            cloud.call("DELETE", "firestore", path)
            say("Guests can upload and list photos.")
        else:
            _close_on_budget(cloud, outside.root)
            say("The brake closes once the budget is spent.")
    except OpsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _close_on_budget(cloud: Cloud, root: Path) -> None:
    """Deploy the function, let its trigger call it, and have the budget tell its topic.

    Raises:
        OpsError: `ops/apply --budget` has made no budget; Google refuses.
    """
    project = f"projects/{cloud.project}"
    budget = _budget(cloud)
    account = (
        f"{settings_of(root, cloud.project)[MAIL_EVENTS]}@{cloud.project}.iam.gserviceaccount.com"
    )
    topic = f"{project}/topics/{TOPIC}"
    if cloud.get("pubsub", f"v1/{topic}") is None:
        cloud.make("pubsub", f"v1/{topic}", {}, "PUT")
    region = f"v2/{project}/locations/{REGION}"
    body = _function(cloud, f"{region}/functions", root, account, topic)
    name = f"{region}/functions/{FUNCTION}"
    if cloud.get("cloudfunctions", name) is None:
        cloud.make("cloudfunctions", f"{region}/functions?functionId={FUNCTION}", body)
    else:
        mask = "updateMask=buildConfig,serviceConfig"
        cloud.make("cloudfunctions", f"{name}?{mask}", body, "PATCH")
    # Pub/Sub calls the function as the trigger's account, which no deploy lets call anything.
    service = f"{region}/services/{FUNCTION}"
    cloud.bind("run", service, "roles/run.invoker", f"serviceAccount:{account}")
    told = {"notificationsRule": {"pubsubTopic": topic, "schemaVersion": "1.0"}}
    mask = "updateMask=notificationsRule.pubsubTopic,notificationsRule.schemaVersion"
    cloud.make("billingbudgets", f"v1/{budget}?{mask}", told, "PATCH")


def _budget(cloud: Cloud) -> str:
    """Name of the budget that `ops/apply` made."""
    billed = cloud.get("cloudbilling", f"v1/projects/{cloud.project}/billingInfo") or {}
    path = f"v1/{billed.get('billingAccountName')}/budgets"
    for budget in cloud.every("billingbudgets", path, "budgets"):
        if budget.get("displayName") == f"{BUDGET}: {cloud.project}":
            return str(budget["name"])
    raise OpsError(f"There is no budget: ops/apply {cloud.project} --budget AMOUNT makes one.")


def _function(cloud: Cloud, functions: str, root: Path, account: str, topic: str) -> dict[str, Any]:
    """The function, its source uploaded."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name in ("main.py", "requirements.txt"):
            file.write(root / _SOURCES / name, name)
    upload = cloud.call("POST", "cloudfunctions", f"{functions}:generateUploadUrl", {})
    cloud.upload(upload["uploadUrl"], archive.getvalue())
    return {
        "buildConfig": {
            "runtime": "python313",
            "entryPoint": "close_on_budget",
            "source": {"storageSource": upload["storageSource"]},
        },
        "serviceConfig": {
            "maxInstanceCount": 1,
            "availableCpu": "1",
            "availableMemory": "512Mi",
            "serviceAccountEmail": account,
        },
        "eventTrigger": {
            "eventType": "google.cloud.pubsub.topic.v1.messagePublished",
            "pubsubTopic": topic,
            "triggerRegion": REGION,
            "serviceAccountEmail": account,
            "retryPolicy": "RETRY_POLICY_RETRY",
        },
    }
