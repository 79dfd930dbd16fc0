"""Alerts, metrics and the dashboard of a project: made, brought up to date, or left alone.

A digest stands in each of them, so that a second run changes nothing. What somebody has changed by
hand stays until its file changes, or until `--again`.
"""

import argparse
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ops.alerts import alerts
from ops.cloud import ROOT, Cloud, OpsError, Outside, parser_of, run, say
from ops.dashboard import dashboard
from ops.metrics import metrics
from ops.wanted import Function, read

NAME_LABEL: Final = "photo_wall"
"""Label of an alert of ours: its name."""
DIGEST_LABEL: Final = "photo_wall_digest"
BUDGET: Final = "Photo wall"
THRESHOLDS: Final = (
    {"thresholdPercent": 0.5},
    {"thresholdPercent": 0.9},
    {"thresholdPercent": 1.0},
    {"thresholdPercent": 1.0, "spendBasis": "FORECASTED_SPEND"},
)
"""Shares of the budget that a mail tells of."""
APIS: Final = ("logging.googleapis.com", "monitoring.googleapis.com")
BUDGET_APIS: Final = ("billingbudgets.googleapis.com", "cloudbilling.googleapis.com")

_DESCRIPTION: Final = """\
Makes the log-based metrics, alerts and the dashboard of a project from the tables in ops/, or
brings them up to date. A second run does nothing.
"""
_DIGEST_IN_TEXT: Final = re.compile(r" \[([0-9a-f]{16})\]$")


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line and apply; the exit status."""
    parser = parser_of("ops/apply", _DESCRIPTION)
    parser.add_argument("--email", help="the address that gets alerts; without it nobody is added")
    parser.add_argument(
        "--budget",
        help="a month's spending that is worth a mail, in the billing account's currency: 50",
        type=_amount,
    )
    parser.add_argument("--again", action="store_true", help="write what is up to date as well")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    return run(_apply, parser.parse_args(arguments), outside)


def _apply(given: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    functions = read(given.project, outside.root).functions
    apply = Apply(cloud, functions, again=given.again, dry_run=given.dry_run)
    apply.all(given.email, given.budget)
    would = "would change" if given.dry_run else "changed"
    say(f"{would}: {apply.changes}" if apply.changes else "Everything is up to date.")


def _amount(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError("a whole number, without a currency")
    return text


class Apply:
    """Brings one project in line with the tables.

    Attributes:
        changes: How many changes were made, or would have been.
    """

    def __init__(
        self, cloud: Cloud, functions: Sequence[Function], *, again: bool, dry_run: bool
    ) -> None:
        """Name `functions` in queries; `again` rewrites current parts, `dry_run` writes nothing."""
        self._cloud = cloud
        self._functions = functions
        self._again = again
        self._dry_run = dry_run
        self._project = f"projects/{cloud.project}"
        self.changes = 0

    def all(self, email: str | None, budget: str | None) -> None:
        """Everything, in the order in which one needs the other.

        Raises:
            OpsError: Google refuses; what was done stays, and a further run goes on.
        """
        self.apis([*APIS, *(BUDGET_APIS if budget else [])])
        channel = self.channel(email) if email else None
        self.metrics()
        self.alerts(channel)
        self.dashboard()
        if budget:
            self.budget(budget, channel)

    def apis(self, wanted: Sequence[str]) -> None:
        """Switch on what the rest needs."""
        if missing := self._cloud.switched_off(wanted):
            path = f"v1/{self._project}/services:batchEnable"
            self._change("enable APIs", "POST", "serviceusage", path, {"serviceIds": missing})

    def channel(self, email: str) -> str:
        """The name of the channel to `email`; a stand-in for it while nothing may be changed."""
        path = f"v3/{self._project}/notificationChannels"
        labels = {"email_address": email}
        for channel in self._cloud.every("monitoring", path, "notificationChannels"):
            if channel.get("type") == "email" and channel["labels"] == labels:
                return str(channel["name"])
        wanted = {"type": "email", "displayName": f"Photo wall: {email}", "labels": labels}
        made = self._change(f"tell {email} of alerts", "POST", "monitoring", path, wanted)
        return str(made.get("name", "(new)"))

    def metrics(self) -> None:
        """Log-based metrics; the digest stands at the end of the description."""
        path = f"v2/{self._project}/metrics"
        there = {
            metric["name"]: metric.get("description", "")
            for metric in self._cloud.every("logging", path, "metrics")
        }
        for name, metric in metrics().items():
            digest = digest_of(metric)
            wanted = metric | {"description": f"{metric['description']} [{digest}]"}
            found = _DIGEST_IN_TEXT.search(there.get(name, ""))
            if found and found[1] == digest and not self._again:
                continue
            if name in there:
                where = f"{path}/{name}"
                self._change(f"update the metric {name}", "PUT", "logging", where, wanted)
            else:
                self._change(f"create the metric {name}", "POST", "logging", path, wanted)

    def alerts(self, channel: str | None) -> None:
        """Alerts, each with its page of docs/runbooks in the mail that it sends.

        Without a channel, the people who are told already stay.
        """
        path = f"v3/{self._project}/alertPolicies"
        there = {
            policy["userLabels"][NAME_LABEL]: policy
            for policy in self._cloud.every("monitoring", path, "alertPolicies")
            if NAME_LABEL in policy.get("userLabels", {})
        }
        for name, alert in alerts().items():
            policy = self._named(alert)
            old = there.pop(name, None)
            told = set((old or {}).get("notificationChannels", []))
            wanted = policy | {
                "documentation": policy["documentation"] | {"content": runbook(policy)},
                "notificationChannels": sorted(told | ({channel} if channel else set())),
            }
            digest = digest_of(wanted)
            if old and old["userLabels"].get(DIGEST_LABEL) == digest and not self._again:
                continue
            wanted["userLabels"] = {NAME_LABEL: name, DIGEST_LABEL: digest}
            if old:
                where = f"v3/{old['name']}"
                self._change(f"update the alert {name}", "PATCH", "monitoring", where, wanted)
            else:
                self._change(f"create the alert {name}", "POST", "monitoring", path, wanted)
        for name, old in there.items():
            say(f"The alert {name} is none of ours any more; delete it: {old['name']}")

    def dashboard(self) -> None:
        """The dashboard, known by its label."""
        content = self._named(dashboard())
        path = f"v1/{self._project}/dashboards"
        listed = self._cloud.every("monitoring", path, "dashboards")
        old = next((board for board in listed if NAME_LABEL in board.get("labels", {})), None)
        digest = digest_of(content)
        if old and old["labels"].get(DIGEST_LABEL) == digest and not self._again:
            return
        wanted = content | {"labels": {NAME_LABEL: "dashboard", DIGEST_LABEL: digest}}
        if old:
            wanted["etag"] = old["etag"]  # so that nobody's work of this moment is lost
            self._change("update the dashboard", "PATCH", "monitoring", f"v1/{old['name']}", wanted)
        else:
            self._change("create the dashboard", "POST", "monitoring", path, wanted)

    def budget(self, amount: str, channel: str | None) -> None:
        """A budget of the project's billing account, that looks at this project alone."""
        path, old = found_budget(self._cloud)
        if not path and not self._dry_run:
            raise OpsError(f"{self._cloud.project} has no billing account.")
        money = {"specifiedAmount": {"units": amount}}
        why = f"tell of the spending, at parts of {amount} a month"
        if old is None:
            told = {"monitoringNotificationChannels": [channel]} if channel else {}
            wanted = {
                "displayName": f"{BUDGET}: {self._cloud.project}",
                "budgetFilter": {"projects": [self._project]},
                "amount": money,
                "thresholdRules": THRESHOLDS,
                "notificationsRule": told,
            }
            self._change(why, "POST", "billingbudgets", path, wanted)
        elif old.get("amount", {}).get("specifiedAmount", {}).get("units") != amount:
            where = f"v1/{old['name']}?updateMask=amount"
            self._change(why, "PATCH", "billingbudgets", where, {"amount": money})

    def _named(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """`content` with the deployed services and queues in its queries."""
        text = json.dumps(content)
        for mark, names in {
            "{services}": {made.service for made in self._functions},
            "{private}": {made.service for made in self._functions if not made.is_public},
            "{queues}": {made.name for made in self._functions if made.kind == "taskQueue"},
        }.items():
            text = text.replace(mark, "|".join(sorted(names)))
        named: dict[str, Any] = json.loads(text)
        return named

    def _change(
        self, why: str, method: str, api: str, path: str, body: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Say what is changed and change it; an empty answer where nothing may be changed."""
        self.changes += 1
        say(f"{'would ' if self._dry_run else ''}{why}")
        if self._dry_run:
            return {}
        made: Mapping[str, Any] = self._cloud.make(api, path, body, method)
        return made


def found_budget(cloud: Cloud) -> tuple[str, Mapping[str, Any] | None]:
    """Path of the budgets of the project's billing account, and ours, where it is among them.

    The path is empty in a project without such an account.
    """
    billed = cloud.get("cloudbilling", f"v1/projects/{cloud.project}/billingInfo") or {}
    if not (account := billed.get("billingAccountName")):
        return "", None
    path, name = f"v1/{account}/budgets", f"{BUDGET}: {cloud.project}"
    listed = cloud.every("billingbudgets", path, "budgets")
    return path, next((budget for budget in listed if budget.get("displayName") == name), None)


def runbook(policy: Mapping[str, Any]) -> str:
    """The page that an alert names, whole: it is read in a mail, where no checkout is at hand."""
    return (ROOT / str(policy["documentation"]["content"])).read_text(encoding="utf-8")


def digest_of(content: Mapping[str, Any]) -> str:
    """A label's text, the same for the same content."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
