"""An empty Google Cloud project made ready, and deployed to for the first time.

Each step says what it is for, looks whether it is done, and does it where it is not. So whatever
stops this, a further run goes on from there, and one after the last does nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ops.cloud import ROOT, Cloud, CommandError, Run, say

REGION: Final = "us-central1"
APIS: Final = tuple(
    f"{name}.googleapis.com"
    for name in (
        *("cloudfunctions", "run", "cloudbuild", "artifactregistry", "eventarc", "pubsub"),
        *("cloudtasks", "cloudscheduler", "secretmanager", "firestore", "identitytoolkit"),
        *("firebaserules", "firebasehosting", "firebaseextensions", "iam"),
    )
)
ROLES: Final[Mapping[str, str]] = {
    "datastore.user": "reads and writes documents",
    "cloudtasks.enqueuer": "queues attempts",
    "eventarc.eventReceiver": "takes events of documents",
    "run.invoker": "lets the queues and the schedule call the functions",
    "secretmanager.viewer": "lists the versions of a secret",
    "cloudbuild.builds.builder": "builds, in new projects",
}
"""Of the account that the functions run as, and what for."""
PREFS_KEY: Final = "EMAIL_PREFS_KEY"
MAIL_KEY: Final = "SENDGRID_API_KEY"
MADE_UP: Final = re.compile(r"example\.com")
"""What the settings hold until somebody has filled them in."""

_DESCRIPTION: Final = """\
Prepares a Google Cloud project with a billing account and deploys to it. Steps that are done are
skipped, so that a further run goes on where one has stopped.
"""


def main(arguments: Sequence[str] | None = None, run: Run = subprocess.run) -> int:
    """Read the command line and set up; the exit status."""
    parser = argparse.ArgumentParser(prog="ops/setup", description=_DESCRIPTION)
    parser.add_argument("project", help="the project's id")
    parser.add_argument("--dry-run", action="store_true", help="only print what would be done")
    given = parser.parse_args(arguments)
    cloud = Cloud(given.project, dry_run=given.dry_run, run=run)
    try:
        Setup(cloud).all()
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    would = "would change" if given.dry_run else "changed"
    say(f"{would}: {cloud.changes}" if cloud.changes else "Everything is there.")
    return 0


class Setup:
    """The steps, for one project."""

    def __init__(self, cloud: Cloud) -> None:
        """Look at nothing yet."""
        self._cloud = cloud

    def all(self) -> None:
        """Every step.

        Raises:
            CommandError: a step failed, or needs something of whoever runs this; says what.
        """
        steps: list[tuple[str, Callable[[], None]]] = [
            ("Sign in to Google Cloud and Firebase", self.sign_in),
            ("The project is one of Firebase's", self.add_firebase),
            ("APIs that the functions, and their deploy, call", self.enable_apis),
            ("A Firestore database, before the first deploy: triggers need it", self.make_database),
            ("What the functions' account may do", self.grant_roles),
            ("Tasks carry the account's token, so it may act as itself", self.grant_itself),
            ("The key that signs links in mails", self.make_prefs_key),
            ("The key to send mails with, of SendGrid", self.ask_for_mail_key),
            ("The settings in .env are yours", self.check_settings),
            ("Functions, queues, triggers, rules, indexes and pages", self.deploy),
        ]
        for number, (title, step) in enumerate(steps, start=1):
            say(f"{number}/{len(steps)} {title}")
            before = self._cloud.changes
            step()
            if self._cloud.changes == before:
                say("  done already")

    def sign_in(self) -> None:
        """With whatever account the browser gives."""
        active = self._cloud.ask("gcloud", "auth", "list", "--filter=status:ACTIVE")
        if not active:
            self._cloud.change("sign in", "gcloud", "auth", "login")
        by_key = "GOOGLE_APPLICATION_CREDENTIALS" in os.environ
        if not by_key and not self._firebase("login:list"):
            self._cloud.change("sign in", "firebase", "login")

    def add_firebase(self) -> None:
        """Firebase's own list tells."""
        projects = self._firebase("projects:list") or []
        if self._cloud.project not in {one["projectId"] for one in projects}:
            self._cloud.change(
                "add Firebase", "firebase", "projects:addfirebase", self._cloud.project
            )

    def enable_apis(self) -> None:
        """In one go, those that are not."""
        enabled = self._look("gcloud", "services", "list", "--enabled") or []
        there = {one["config"]["name"] for one in enabled}
        if missing := [one for one in APIS if one not in there]:
            self._cloud.change("enable them", "gcloud", "services", "enable", *missing)

    def make_database(self) -> None:
        """In the functions' region."""
        if not self._look("gcloud", "firestore", "databases", "list"):
            self._cloud.change(
                "make it",
                *("gcloud", "firestore", "databases", "create", f"--location={REGION}"),
            )

    def grant_roles(self) -> None:
        """Those that the account lacks, one by one."""
        project = self._cloud.project
        policy = self._look("gcloud", "projects", "get-iam-policy", project)
        account = self._account()
        for role, what_for in ROLES.items():
            if not _grants(policy, f"roles/{role}", account):
                self._cloud.change(
                    f"let it have {role}: it {what_for}",
                    *("gcloud", "projects", "add-iam-policy-binding", project),
                    *(f"--member=serviceAccount:{account}", f"--role=roles/{role}"),
                    "--condition=None",
                )

    def grant_itself(self) -> None:
        """The one right that is on the account and not on the project."""
        account = self._account()
        role = "roles/iam.serviceAccountUser"
        policy = self._look("gcloud", "iam", "service-accounts", "get-iam-policy", account)
        if not _grants(policy, role, account):
            self._cloud.change(
                "let it",
                *("gcloud", "iam", "service-accounts", "add-iam-policy-binding", account),
                *(f"--member=serviceAccount:{account}", f"--role={role}"),
            )

    def make_prefs_key(self) -> None:
        """32 random bytes that nobody needs to see."""
        if not self._has_secret(PREFS_KEY):
            self._cloud.change(
                "make one of 32 random bytes",
                *("firebase", "functions:secrets:set", PREFS_KEY, "--data-file", "-"),
                given=secrets.token_hex(32) + "\n",
            )

    def ask_for_mail_key(self) -> None:
        """Typed in by whoever runs this: it is in no argument and no history."""
        if not self._has_secret(MAIL_KEY):
            self._cloud.change(
                "ask for it: an API key with the right to send mail",
                *("firebase", "functions:secrets:set", MAIL_KEY),
            )

    def check_settings(self) -> None:
        """Sender and site: nobody else can know them.

        Raises:
            CommandError: they are those of the example.
        """
        lines = (ROOT / ".env").read_text(encoding="utf-8").splitlines()
        values = dict(line.partition("=")[::2] for line in lines if not line.startswith("#"))
        wanted = [
            name
            for name in ("MAIL_FROM", "PUBLIC_BASE_URL")
            if MADE_UP.search(values.get(name) or "example.com")
        ]
        if wanted and self._cloud.dry_run:
            say(f"  to be filled in before the deploy: {' and '.join(wanted)}")
        elif wanted:
            raise CommandError(f"Fill in {' and '.join(wanted)} in .env, then run this again.")

    def deploy(self) -> None:
        """The first time; later on, `firebase deploy` deploys what has changed."""
        there = {one["id"] for one in self._firebase("functions:list") or []}
        if set(functions()) - there:
            self._cloud.change(
                f"deploy {len(functions())} functions, and what belongs to them",
                *("firebase", "deploy", "--non-interactive", "--force"),
            )

    def _has_secret(self, name: str) -> bool:
        found = self._look("gcloud", "secrets", "versions", "list", name, "--filter=state:ENABLED")
        return bool(found)

    def _account(self) -> str:
        found = self._look("gcloud", "projects", "describe", self._cloud.project)
        number = (found or {}).get("projectNumber", "PROJECT_NUMBER")
        return f"{number}-compute@developer.gserviceaccount.com"

    def _look(self, *command: str) -> Any:
        """What there is; None also where it cannot be looked at, as its API is not on yet."""
        try:
            return self._cloud.ask(*command)
        except CommandError:
            return None

    def _firebase(self, *command: str) -> Any:
        try:
            answer = self._cloud.ask("firebase", *command)
        except CommandError:
            return None
        return (answer or {}).get("result")


def functions() -> list[str]:
    """Names of the deployed functions: those of main.py that have a decorator."""
    tree = ast.parse((ROOT / "main.py").read_text(encoding="utf-8"))
    return [
        one.name for one in tree.body if isinstance(one, ast.FunctionDef) and one.decorator_list
    ]


def _grants(policy: Any, role: str, account: str) -> bool:
    return any(
        one["role"] == role and f"serviceAccount:{account}" in one["members"]
        for one in (policy or {}).get("bindings", [])
        if "condition" not in one
    )
