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

from functions.gcp import secret_readers
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
WEBHOOKS: Final = "SERVICE_ACCOUNT_WEBHOOKS"
RECAP: Final = "SERVICE_ACCOUNT_RECAP"
PREFERENCES: Final = "SERVICE_ACCOUNT_PREFERENCES"
MAIL_EVENTS: Final = "SERVICE_ACCOUNT_MAIL_EVENTS"
_DOCUMENTS: Final = {"datastore.user": "reads and writes documents"}
ROLES: Final[Mapping[str, Mapping[str, str]]] = {
    WEBHOOKS: {
        **_DOCUMENTS,
        "cloudtasks.enqueuer": "queues attempts",
        "eventarc.eventReceiver": "takes events of documents",
    },
    RECAP: _DOCUMENTS,
    PREFERENCES: _DOCUMENTS,
    MAIL_EVENTS: _DOCUMENTS,
}
"""Of the accounts that the functions run as, by the parameters in .env that name them."""
BUILDER: Final = "cloudbuild.builds.builder"
"""All that the project's default account may do: no function runs as it."""
NEVER_OF_BUILDER: Final = ("editor",)
NEEDED_BY_NOBODY: Final = ("run.invoker", "eventarc.eventReceiver")
"""What a deploy gives the default account."""
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
            ("An account for each capability", self.make_accounts),
            ("What each of them may do", self.grant_roles),
            (
                "Tasks carry the webhooks' account's token, so it may act as itself",
                self.grant_itself,
            ),
            ("The project's default account builds, and does nothing else", self.bound_builder),
            ("The key that signs links in mails", self.make_prefs_key),
            ("The key to send mails with, of SendGrid", self.ask_for_mail_key),
            ("Each key is read by the accounts that use it", self.let_read_secrets),
            ("The settings in .env are yours", self.check_settings),
            ("Functions, queues, triggers, rules, indexes and pages", self.deploy),
            ("Events come with the webhooks' account", self.let_triggers_be_called),
            ("What the deploy gave the default account is needed by nothing", self.take_back),
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

    def make_accounts(self) -> None:
        """Under the names in `.env`."""
        listed = self._look("gcloud", "iam", "service-accounts", "list") or []
        there = {one["email"] for one in listed}
        for parameter in ROLES:
            if self._account(parameter) not in there:
                name = _settings()[parameter]
                self._cloud.change(
                    f"make {name}", "gcloud", "iam", "service-accounts", "create", name
                )

    def grant_roles(self) -> None:
        """Those that an account lacks, one by one."""
        policy = self._project_policy()
        for parameter, roles in ROLES.items():
            for role, what_for in roles.items():
                self._grant(policy, role, self._account(parameter), what_for)

    def grant_itself(self) -> None:
        """The one right that is on the account and not on the project."""
        account = self._account(WEBHOOKS)
        self._grant_on(
            ("gcloud", "iam", "service-accounts"), account, account, "iam.serviceAccountUser"
        )

    def bound_builder(self) -> None:
        """firebase-tools lets no function name another account to be built as."""
        policy = self._project_policy()
        self._grant(policy, BUILDER, self._builder(), "builds")
        self._take(policy, NEVER_OF_BUILDER)

    def let_read_secrets(self) -> None:
        """A deploy grants nothing on secrets, because no function declares one."""
        for name, parameters in secret_readers.SECRET_READERS.items():
            for parameter in parameters:
                account = self._account(parameter)
                for role in secret_readers.ROLES:
                    self._grant_on(("gcloud", "secrets"), name, account, role)

    def let_triggers_be_called(self) -> None:
        """Events that came before are brought again."""
        for service in functions("on_document_written"):
            self._grant_on(
                ("gcloud", "run", "services"),
                service.lower(),
                self._account(WEBHOOKS),
                "run.invoker",
                f"--region={REGION}",
            )

    def take_back(self) -> None:
        """By name, and what it lacks already is left alone."""
        self._take(self._project_policy(), NEEDED_BY_NOBODY)

    def _project_policy(self) -> Any:
        return self._look("gcloud", "projects", "get-iam-policy", self._cloud.project)

    def _grant(self, policy: Any, role: str, account: str, what_for: str) -> None:
        """A role in the project."""
        if not _grants(policy, role, account):
            self._cloud.change(
                f"let {account.partition('@')[0]} have {role}: it {what_for}",
                *("gcloud", "projects", "add-iam-policy-binding", self._cloud.project),
                *(f"--member=serviceAccount:{account}", f"--role=roles/{role}"),
                "--condition=None",
            )

    def _grant_on(
        self, kind: Sequence[str], name: str, account: str, role: str, *where: str
    ) -> None:
        """A role on one thing: an account, a secret, a service."""
        policy = self._look(*kind, "get-iam-policy", name, *where)
        if not _grants(policy, role, account):
            self._cloud.change(
                f"let {account.partition('@')[0]} have {role} on {name}",
                *(*kind, "add-iam-policy-binding", name, *where),
                *(f"--member=serviceAccount:{account}", f"--role=roles/{role}"),
            )

    def _take(self, policy: Any, roles: Sequence[str]) -> None:
        """From the default account, what it has of these."""
        for role in roles:
            if _grants(policy, role, self._builder()):
                self._cloud.change(
                    f"take {role} away from the default account",
                    *("gcloud", "projects", "remove-iam-policy-binding", self._cloud.project),
                    *(f"--member=serviceAccount:{self._builder()}", f"--role=roles/{role}"),
                    "--condition=None",
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
        values = _settings()
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

    def _account(self, parameter: str) -> str:
        return f"{_settings()[parameter]}@{self._cloud.project}.iam.gserviceaccount.com"

    def _builder(self) -> str:
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


def functions(decorator: str = "") -> list[str]:
    """Names of the deployed functions: those of main.py with a decorator, or with this one."""
    tree = ast.parse((ROOT / "main.py").read_text(encoding="utf-8"))
    return [
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
        and any(decorator in ast.unparse(mark) for mark in one.decorator_list)
    ]


def _settings() -> dict[str, str]:
    """What stands in `.env`."""
    lines = (ROOT / ".env").read_text(encoding="utf-8").splitlines()
    return dict(line.partition("=")[::2] for line in lines if line and not line.startswith("#"))


def _grants(policy: Any, role: str, account: str) -> bool:
    return any(
        one["role"] == f"roles/{role}" and f"serviceAccount:{account}" in one["members"]
        for one in (policy or {}).get("bindings", [])
        if "condition" not in one
    )
