"""Creates and updates the alerts, metrics, log exclusions and the dashboard of a project.

Each has a digest of its definition, so a second run changes nothing. Manual changes are kept until
the definition changes, or until the changed object is deleted.
"""

import argparse
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ops.alerts import alerts
from ops.cloud import ROOT, Cloud, OpsError, Outside, parser_of, run, say
from ops.dashboard import dashboard
from ops.metrics import exclusions, metrics
from ops.wanted import Function, read

NAME_LABEL: Final = "photo_wall"
DIGEST_LABEL: Final = "photo_wall_digest"
BUDGET: Final = "Photo wall"
THRESHOLDS: Final = (
    {"thresholdPercent": 0.5},
    {"thresholdPercent": 0.9},
    {"thresholdPercent": 1.0},
    {"thresholdPercent": 1.0, "spendBasis": "FORECASTED_SPEND"},
)
APIS: Final = ("logging.googleapis.com", "monitoring.googleapis.com")
BUDGET_APIS: Final = ("billingbudgets.googleapis.com", "cloudbilling.googleapis.com")

_DESCRIPTION: Final = """\
Creates or updates the log-based metrics, alerts and the dashboard of a project, and excludes links
with tokens from its request logs. Running it again changes nothing.
"""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/apply and return its exit status."""
    parser = parser_of("ops/apply", _DESCRIPTION)
    parser.add_argument("--email", help="address to send alerts to (optional)")
    parser.add_argument(
        "--budget",
        help="monthly budget in the currency of the billing account, such as 50",
        type=_amount,
    )
    parser.add_argument("--dry-run", action="store_true", help="only print the changes")
    return run(_apply, parser.parse_args(arguments), outside)


def _apply(options: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    functions = read(options.project, outside.root).functions
    apply = Apply(cloud, functions, options.dry_run)
    apply.all(options.email, options.budget)
    would = "Would change" if options.dry_run else "Changed"
    say(f"{would}: {apply.changes}" if apply.changes else "Everything is up to date.")


def _amount(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError("must be a whole number without a currency")
    return text


@dataclass
class Apply:
    """Updates one project, and counts `changes`, including those skipped by a dry run."""

    cloud: Cloud
    functions: Sequence[Function]
    dry_run: bool
    changes: int = 0

    def __post_init__(self) -> None:
        """Name the project in paths."""
        self._project = f"projects/{self.cloud.project}"

    def all(self, email: str | None, budget: str | None) -> None:
        """Apply every part, dependencies first. A further run continues after an `OpsError`."""
        self.apis([*APIS, *(BUDGET_APIS if budget else [])])
        channel = self.channel(email) if email else None
        self.filters()
        self.alerts(channel)
        self.dashboard()
        if budget:
            self.budget(budget, channel)

    def apis(self, wanted: Sequence[str]) -> None:
        """Enable the APIs that are still disabled."""
        if missing := self.cloud.switched_off(wanted):
            path = f"v1/{self._project}/services:batchEnable"
            self._change("enable APIs", "POST", "serviceusage", path, {"serviceIds": missing})

    def channel(self, email: str) -> str:
        """Return the name of the channel to `email`, or a placeholder in a dry run."""
        path = f"v3/{self._project}/notificationChannels"
        labels = {"email_address": email}
        for channel in self.cloud.every("monitoring", path, "notificationChannels"):
            if channel.get("type") == "email" and channel["labels"] == labels:
                return str(channel["name"])
        wanted = {"type": "email", "displayName": f"Photo wall: {email}", "labels": labels}
        made = self._change(f"send alerts to {email}", "POST", "monitoring", path, wanted)
        return str(made.get("name", "(new)"))

    def filters(self) -> None:
        """Apply the log-based metrics and exclusions. Their descriptions end with the digest."""
        for kind, all_of_kind, mask in (
            ("metrics", metrics(), ""),
            ("exclusions", exclusions(), "?updateMask=description,filter"),
        ):
            path = f"v2/{self._project}/{kind}"
            there = {
                one["name"]: one.get("description", "")
                for one in self.cloud.every("logging", path, kind)
            }
            for name, one in all_of_kind.items():
                digest = f" [{digest_of(one)}]"
                if there.get(name, "").endswith(digest):
                    continue
                wanted = one | {"description": one["description"] + digest}
                where = f"{path}/{name}{mask}" if name in there else ""
                update = "PATCH" if mask else "PUT"
                what = f"the {kind.removesuffix('s')} {name}"
                self._write(what, "logging", path, wanted, where, update=update)

    def alerts(self, channel: str | None) -> None:
        """Apply the alerts, with their runbooks, and add the channel to the existing ones."""
        path = f"v3/{self._project}/alertPolicies"
        there = {
            policy["userLabels"][NAME_LABEL]: policy
            for policy in self.cloud.every("monitoring", path, "alertPolicies")
            if NAME_LABEL in policy.get("userLabels", {})
        }
        for name, alert in alerts().items():
            policy = self._named(alert)
            old = there.pop(name, None)
            channels = set((old or {}).get("notificationChannels", []))
            wanted = policy | {
                "documentation": policy["documentation"] | {"content": runbook(policy)},
                "notificationChannels": sorted(channels | ({channel} if channel else set())),
            }
            digest = digest_of(wanted)
            if old and old["userLabels"].get(DIGEST_LABEL) == digest:
                continue
            wanted["userLabels"] = {NAME_LABEL: name, DIGEST_LABEL: digest}
            where = f"v3/{old['name']}" if old else ""
            self._write(f"the alert {name}", "monitoring", path, wanted, where)
        for name, old in there.items():
            say(f"The alert {name} is obsolete. Delete it: {old['name']}")

    def dashboard(self) -> None:
        """Apply the dashboard, which is identified by its label."""
        content = self._named(dashboard())
        path = f"v1/{self._project}/dashboards"
        listed = self.cloud.every("monitoring", path, "dashboards")
        old = next((board for board in listed if NAME_LABEL in board.get("labels", {})), None)
        digest = digest_of(content)
        if old and old["labels"].get(DIGEST_LABEL) == digest:
            return
        wanted = content | {"labels": {NAME_LABEL: "dashboard", DIGEST_LABEL: digest}}
        if old:
            wanted["etag"] = old["etag"]  # so that no concurrent change is lost
        where = f"v1/{old['name']}" if old else ""
        self._write("the dashboard", "monitoring", path, wanted, where)

    def budget(self, amount: str, channel: str | None) -> None:
        """Apply a budget of the billing account that covers only this project."""
        path, old = found_budget(self.cloud)
        if not path and not self.dry_run:
            raise OpsError(f"{self.cloud.project} has no billing account. Link one first.")
        money = {"specifiedAmount": {"units": amount}}
        why = f"set a monthly budget of {amount}"
        if old is None:
            rule = {"monitoringNotificationChannels": [channel]} if channel else {}
            wanted = {
                "displayName": f"{BUDGET}: {self.cloud.project}",
                "budgetFilter": {"projects": [self._project]},
                "amount": money,
                "thresholdRules": THRESHOLDS,
                "notificationsRule": rule,
            }
            self._change(why, "POST", "billingbudgets", path, wanted)
        elif old.get("amount", {}).get("specifiedAmount", {}).get("units") != amount:
            where = f"v1/{old['name']}?updateMask=amount"
            self._change(why, "PATCH", "billingbudgets", where, {"amount": money})

    def _named(self, content: Mapping[str, Any]) -> dict[str, Any]:
        text = json.dumps(content)
        for mark, names in {
            "{services}": {made.service for made in self.functions},
            "{private}": {made.service for made in self.functions if not made.is_public},
            "{queues}": {made.name for made in self.functions if made.kind == "taskQueue"},
        }.items():
            text = text.replace(mark, "|".join(sorted(names)))
        named: dict[str, Any] = json.loads(text)
        return named

    def _write(
        self, what: str, api: str, path: str, body: Any, where: str, *, update: str = "PATCH"
    ) -> None:
        """Create a resource in the collection `path`, or update the one at `where`."""
        why, method = ("update", update) if where else ("create", "POST")
        self._change(f"{why} {what}", method, api, where or path, body)

    def _change(self, why: str, method: str, api: str, path: str, body: Mapping[str, Any]) -> Any:
        self.changes += 1
        say(f"{'would ' if self.dry_run else ''}{why}")
        return {} if self.dry_run else self.cloud.make(api, path, body, method)


def found_budget(cloud: Cloud) -> tuple[str, Mapping[str, Any] | None]:
    """Return the path of the billing account's budgets, or "", and ours, or None."""
    billed = cloud.get("cloudbilling", f"v1/projects/{cloud.project}/billingInfo") or {}
    if not (account := billed.get("billingAccountName")):
        return "", None
    path, name = f"v1/{account}/budgets", f"{BUDGET}: {cloud.project}"
    listed = cloud.every("billingbudgets", path, "budgets")
    return path, next((budget for budget in listed if budget.get("displayName") == name), None)


def runbook(policy: Mapping[str, Any]) -> str:
    """Return the text of the runbook, since readers of the email may have no checkout."""
    return (ROOT / str(policy["documentation"]["content"])).read_text(encoding="utf-8")


def digest_of(content: Mapping[str, Any]) -> str:
    """Return a digest of `content` that fits into a label."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
