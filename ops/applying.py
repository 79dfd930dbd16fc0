"""Alerts, metrics and the dashboard of a project: made, brought up to date, or left alone.

What is in the project already is known by a digest that it carries, so that a second run does
nothing. What somebody has changed by hand stays until its file changes, or until `--again`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ops.cloud import ROOT, Cloud, CommandError, Run, say

OPS: Final = ROOT / "ops"
NAME_LABEL: Final = "photo_wall"
"""Label of an alert of ours: its name."""
DIGEST_LABEL: Final = "photo_wall_digest"
BUDGET: Final = "Photo wall"
SHARES: Final = ("percent=0.5", "percent=0.9", "percent=1.0", "percent=1.0,basis=forecasted-spend")
"""Of the budget that is told of, by mail."""
APIS: Final = ("logging.googleapis.com", "monitoring.googleapis.com")
BUDGET_API: Final = "billingbudgets.googleapis.com"

_DESCRIPTION: Final = """\
Makes the log-based metrics, alerts and the dashboard of a project from the files in ops/, or brings
them up to date. A second run does nothing.
"""
_DIGEST_IN_TEXT: Final = re.compile(r" \[([0-9a-f]{16})\]$")


def main(arguments: Sequence[str] | None = None, run: Run = subprocess.run) -> int:
    """Read the command line and apply; the exit status."""
    parser = argparse.ArgumentParser(prog="ops/apply", description=_DESCRIPTION)
    parser.add_argument("project", help="the project's id")
    parser.add_argument("--email", help="who is told of alerts; without it nobody is added")
    parser.add_argument(
        "--budget",
        help="a month's spending that is worth a mail, in the billing account's currency: 50",
        type=_amount,
    )
    parser.add_argument("--again", action="store_true", help="write what is up to date as well")
    parser.add_argument("--dry-run", action="store_true", help="only print what would be done")
    given = parser.parse_args(arguments)
    cloud = Cloud(given.project, dry_run=given.dry_run, run=run)
    try:
        Apply(cloud, again=given.again).all(given.email, given.budget)
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    would = "would change" if given.dry_run else "changed"
    say(f"{would}: {cloud.changes}" if cloud.changes else "Everything is up to date.")
    return 0


def _amount(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError("a whole number, without a currency")
    return text


class Apply:
    """Brings one project in line with the files."""

    def __init__(self, cloud: Cloud, *, again: bool) -> None:
        """With `again`, also what is up to date is written."""
        self._cloud = cloud
        self._again = again

    def all(self, email: str | None, budget: str | None) -> None:
        """Everything, in the order in which one needs the other.

        Raises:
            CommandError: a command failed; what was done stays, and a further run goes on.
        """
        self.apis([*APIS, *([BUDGET_API] if budget else [])])
        channel = self.channel(email) if email else None
        self.metrics()
        self.alerts(channel)
        self.dashboard()
        if budget:
            self.budget(budget, channel)

    def apis(self, wanted: Sequence[str]) -> None:
        """Switch on what the rest needs."""
        there = {
            one["config"]["name"]
            for one in self._cloud.ask("gcloud", "services", "list", "--enabled") or []
        }
        if missing := [one for one in wanted if one not in there]:
            self._cloud.change("enable APIs", "gcloud", "services", "enable", *missing)

    def channel(self, email: str) -> str:
        """The name of the channel to `email`; a stand-in for it while nothing may be changed."""
        if found := self._channel(email):
            return found
        self._cloud.change(
            f"tell {email} of alerts",
            *("gcloud", "beta", "monitoring", "channels", "create"),
            *("--type=email", f"--display-name=Photo wall: {email}"),
            f"--channel-labels=email_address={email}",
        )
        return "(new)" if self._cloud.dry_run else self._channel(email) or ""

    def _channel(self, email: str) -> str | None:
        channels = self._cloud.ask("gcloud", "beta", "monitoring", "channels", "list") or []
        return next(
            (
                str(one["name"])
                for one in channels
                if one.get("type") == "email" and one["labels"].get("email_address") == email
            ),
            None,
        )

    def metrics(self) -> None:
        """Log-based metrics; the digest stands at the end of the description."""
        listed = self._cloud.ask("gcloud", "logging", "metrics", "list") or []
        there = {one["name"]: one.get("description", "") for one in listed}
        for name, metric in files("metrics"):
            digest = digest_of(metric)
            wanted = metric | {"description": f"{metric['description']} [{digest}]"}
            found = _DIGEST_IN_TEXT.search(there.get(name, ""))
            if found and found[1] == digest and not self._again:
                continue
            verb = "update" if name in there else "create"
            with _file(wanted) as path:
                self._cloud.change(
                    f"{verb} the metric {name}",
                    *("gcloud", "logging", "metrics", verb, name, f"--config-from-file={path}"),
                )

    def alerts(self, channel: str | None) -> None:
        """Alerts, each with its page of docs/runbooks in the mail that it sends.

        Without a channel those stay who are told already.
        """
        listed = self._cloud.ask("gcloud", "alpha", "monitoring", "policies", "list") or []
        there = {
            one["userLabels"][NAME_LABEL]: one
            for one in listed
            if NAME_LABEL in one.get("userLabels", {})
        }
        for name, policy in files("alerts"):
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
            verb = ["update", old["name"]] if old else ["create"]
            with _file(wanted) as path:
                self._cloud.change(
                    f"{verb[0]} the alert {name}",
                    *("gcloud", "alpha", "monitoring", "policies", *verb),
                    f"--policy-from-file={path}",
                )
        for name, old in there.items():
            say(f"The alert {name} has no file any more; delete it: {old['name']}")

    def dashboard(self) -> None:
        """The dashboard, known by its label."""
        dashboard = json.loads((OPS / "dashboard.json").read_text(encoding="utf-8"))
        listed = self._cloud.ask("gcloud", "monitoring", "dashboards", "list") or []
        old = next((one for one in listed if NAME_LABEL in one.get("labels", {})), None)
        digest = digest_of(dashboard)
        if old and old["labels"].get(DIGEST_LABEL) == digest and not self._again:
            return
        wanted = dashboard | {"labels": {NAME_LABEL: "dashboard", DIGEST_LABEL: digest}}
        verb = ["create"]
        if old:
            verb = ["update", old["name"].rpartition("/")[2]]
            wanted["etag"] = old["etag"]  # so that nobody's work of this moment is lost
        with _file(wanted) as path:
            self._cloud.change(
                f"{verb[0]} the dashboard",
                *("gcloud", "monitoring", "dashboards", *verb, f"--config-from-file={path}"),
            )

    def budget(self, amount: str, channel: str | None) -> None:
        """A budget of the project's billing account, that looks at this project alone."""
        project = self._cloud.project
        billed = self._cloud.ask("gcloud", "billing", "projects", "describe", project) or {}
        account = str(billed.get("billingAccountName", "")).rpartition("/")[2]
        if not account:
            raise CommandError(f"{project} has no billing account.")
        of_account = f"--billing-account={account}"
        name = f"{BUDGET}: {project}"
        listed = self._cloud.ask("gcloud", "billing", "budgets", "list", of_account) or []
        old = next((one for one in listed if one.get("displayName") == name), None)
        if old is None:
            self._cloud.change(
                f"tell of the spending, at parts of {amount} a month",
                *("gcloud", "billing", "budgets", "create", of_account),
                *(f"--display-name={name}", f"--budget-amount={amount}"),
                f"--filter-projects=projects/{project}",
                *(f"--threshold-rule={share}" for share in SHARES),
                *(
                    [f"--notifications-rule-monitoring-notification-channels={channel}"]
                    if channel
                    else []
                ),
            )
        elif old.get("amount", {}).get("specifiedAmount", {}).get("units") != amount:
            self._cloud.change(
                f"tell of the spending, at parts of {amount} a month",
                *("gcloud", "billing", "budgets", "update", old["name"].rpartition("/")[2]),
                *(of_account, f"--budget-amount={amount}"),
            )


def files(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and contents of the files in a folder of ops/."""
    for path in sorted((OPS / folder).glob("*.json")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def runbook(policy: Mapping[str, Any]) -> str:
    """The page that an alert names, whole: it is read in a mail, where no checkout is at hand."""
    return (ROOT / str(policy["documentation"]["content"])).read_text(encoding="utf-8")


def digest_of(content: Mapping[str, Any]) -> str:
    """A label's text, the same for the same content."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _file:  # noqa: N801 - reads as a function
    """A file with this content while the block lasts; its path."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._content = content

    def __enter__(self) -> Path:
        path = Path(self._folder.name, "config.json")
        path.write_text(json.dumps(self._content, ensure_ascii=False), encoding="utf-8")
        return path

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
