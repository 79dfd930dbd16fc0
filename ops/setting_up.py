"""A Google Cloud project made ready and deployed to: look, make the missing parts, look again.

After a run that stopped, a further run makes the parts that are missing then, and nothing else.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from ops.advice import Advice
from ops.app import App
from ops.cloud import Cloud, OpsError, Outside, parser_of, run, say
from ops.deployed import Deployed
from ops.foundations import Foundations
from ops.parts import Lack, Look
from ops.wanted import config_beside, config_name, read, set_own, settings_of

DEPLOY_WAITS: Final = (0, 60, 120, 180, 240)
"""Seconds before each deploy: Eventarc takes up to ten minutes in a new project."""
_SET_UP: Final = """\
Makes the missing parts of the service in a Google Cloud project with a billing account, and deploys
to it. In a project where everything is there, it changes nothing. Where an app lives in the
project, nothing of the app is changed.
"""
_DEPLOY: Final = """\
Deploys the checkout: functions, rules, indexes and pages, then looks at every part. Deletes no
index, and a function that main.py no longer has only with --delete. Beside an app, nothing of the
app is changed.
"""
_CHECK: Final = """\
Looks at everything that ops/setup and a deploy make, changes nothing, and lists the missing parts.
The status is 1 where the list is not empty.
"""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line of ops/setup and set up; the exit status."""
    return run(_set_up, _given("ops/setup", _SET_UP, arguments), outside)


def deploy(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line of ops/deploy and deploy the checkout; the exit status."""
    return run(_deploy, _given("ops/deploy", _DEPLOY, arguments), outside)


def check(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line of ops/check and look; the exit status."""
    return run(_check, _given("ops/check", _CHECK, arguments), outside)


def _set_up(given: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    _ask_for_hosts(given.project, outside)
    SetUp(given, cloud, outside.root).all()


def _deploy(given: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    SetUp(given, cloud, outside.root).deploy()


def _check(given: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
    SetUp(given, cloud, outside.root).look()


class SetUp:
    """One project, from empty or beside an app, to everything there."""

    def __init__(self, given: argparse.Namespace, cloud: Cloud, root: Path) -> None:
        """Look at nothing yet; `root` is the checkout, `given` the command line."""
        self._given = given
        self._cloud = cloud
        self._root = root
        self._wanted = read(cloud.project, root)
        self._config = root / config_name(cloud.project)
        self._changes = 0

    def all(self) -> None:
        """Make everything.

        Raises:
            OpsError: a part cannot be made; the text says which, and how to go on.
        """
        self._begin()
        self._end()

    def deploy(self) -> None:
        """Deploy the checkout.

        Raises:
            OpsError: a deploy failed, or a part is missing afterwards.
        """
        self._begin()
        gone = self._deployed.gone()
        functions = ["functions"]  # unchanged ones are left alone only where none is named
        if gone and not self._given.delete:
            say(f"  main.py has no {', '.join(gone)} any more: --delete deletes it")
            codebase = f"functions:{self._wanted.codebase}"
            functions = [f"{codebase}:{function.name}" for function in self._wanted.functions]
        indexes = "firestore:indexes" if self._wanted.is_beside else "firestore"
        targets = [*functions, indexes, "hosting"]
        failed = self._deploy_targets(targets)
        self._end()
        # A new function that firebase could not make public is there, and public by now.
        if failed and (failed := self._deploy_targets(targets)):
            raise OpsError(f"A deploy failed, of {failed}: what firebase said stands above.")

    def _begin(self) -> None:
        """Everything before the deploy."""
        self._sign_in()
        self._look_around()
        if self._wanted.is_beside:
            self._stop_at(self._app.conditions)
            self._config.write_text(config_beside(self._root, self._wanted), encoding="utf-8")
        self._mend(self._foundations.looks)
        self._stop_at(self._foundations.conditions)

    def _end(self) -> None:
        """Deploy missing parts, and look once more."""
        under_way = self._deploy()
        say("Once more, after the deploy")
        left = self._mend(self._foundations.looks)  # a deploy gives roles that nothing needs
        if self._wanted.is_beside:
            left += _seen(self._app.to_merge)
            if text := self._app.merged_rules():
                path = self._root / f"firestore.{self._cloud.project}.rules"
                path.write_text(text, encoding="utf-8")
        self._stop_at(self._deployed.answering)
        if under_way:
            say(f"Google is still at work: ops/check {self._cloud.project} tells when it is done.")
        asked = [lack for lack in left if lack.ask]
        if self._changes or not asked:
            say(f"Changed: {self._changes}." if self._changes else "Everything is there.")
        if asked:
            raise OpsError(
                f"Yours to merge: {len(asked)}. ops/check {self._cloud.project} tells whether "
                "every part is there."
            )

    def look(self) -> None:
        """Change nothing.

        Raises:
            OpsError: a part is missing; it is printed, with the way to mend it.
        """
        self._look_around()
        foundations, deployed = self._foundations, self._deployed
        lacks = _seen(foundations.looks + foundations.conditions)
        lacks += _seen(deployed.looks + deployed.answering)
        _seen(Advice(self._cloud, self._wanted).looks)
        if self._wanted.is_beside:
            lacks += _seen([*self._app.conditions, *self._app.to_merge])
            path, text = self._config, config_beside(self._root, self._wanted)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                say(f"  {path.name} is missing or old: ops/setup writes it")
                lacks.append(Lack(path.name))
        if lacks and all(lack.is_under_way for lack in lacks):
            raise OpsError("Google is still at work: run this again in some minutes.")
        if lacks:
            raise OpsError(f"Missing: {len(lacks)}. ops/setup {self._cloud.project} makes it.")
        say("Everything is there.")

    def _look_around(self) -> None:
        """Find out whether an app lives in the project; its own developers said so, or it shows."""
        given, wanted = self._given, self._wanted
        site = given.site or wanted.hosting_site or f"{self._cloud.project}-photo-wall"
        app = replace(wanted, hosting_site=site)
        self._app = App(self._cloud, app, given.accept)
        if given.own and wanted.is_beside:
            raise OpsError(f"{self._config.name} says that an app lives there: delete it first.")
        say("An app in the project")
        found = self._app.found()
        for text in found or ["none"]:
            say(f"  {text}")
        is_said = given.beside or given.site or wanted.is_beside
        if not given.own and (is_said or found):
            say(f"  it stays as it is; our pages are for the site {site}")
            self._wanted = replace(wanted, hosting_site=site)
        self._foundations = Foundations(self._cloud, self._wanted, given.accept)
        self._deployed = Deployed(self._cloud, self._wanted)

    def _sign_in(self) -> None:
        """In the browser, or with the key that GOOGLE_APPLICATION_CREDENTIALS names."""
        if not self._cloud.hear("gcloud", "auth", "print-access-token"):
            self._cloud.start("gcloud", "auth", "login")
        by_key = "GOOGLE_APPLICATION_CREDENTIALS" in os.environ
        if not by_key and '"user"' not in self._cloud.hear("firebase", "login:list", "--json"):
            self._cloud.start("firebase", "login")

    def _deploy(self) -> list[Lack]:
        """Deploy missing parts until none is left; return the parts that Google is still making."""
        for seconds in (*DEPLOY_WAITS, None):
            left = self._mend(self._deployed.looks)
            targets = sorted({lack.deploy for lack in left if lack.deploy})
            if not targets:
                return left
            if seconds is None:
                break
            if seconds:
                say(f"  Again in {seconds} s: Eventarc takes minutes in a new project.")
                self._cloud.wait(seconds)
            self._deploy_targets(targets)
        raise OpsError("Not everything could be deployed; what firebase said stands above.")

    def _deploy_targets(self, targets: Sequence[str]) -> str:
        """Deploy by name, so that nothing of the project's own is deleted; what failed.

        Functions need `--force`, for a first failure policy and for the clean-up of old images.
        Where functions are named, it deletes none. Rules, indexes and pages are deployed without.
        Indexes come first, because they take long; pages come last, because they lead to functions
        that have to be there. What the deploy gives to the default account is taken back.
        """
        beside = self._wanted.is_beside
        config = [f"--config={self._config.name}"] if beside else []
        failed = []
        for kind in ("firestore", "functions", "hosting"):
            if named := [target for target in targets if target.partition(":")[0] == kind]:
                only = f"--only={','.join(named)}"
                force = ["--force"] if kind == "functions" else []
                take_back = self._app.remember(is_beside=beside) if force else None
                deploy = ("firebase", "deploy", "--non-interactive", *config, *force, only)
                if self._cloud.start(*deploy):
                    failed.append(kind)
                if take_back:
                    take_back()
                self._changes += 1
        return " and ".join(failed)

    def _mend(self, looks: Sequence[tuple[str, Look]]) -> list[Lack]:
        """Make the missing parts, look by look; return the parts that only a deploy can make."""
        left = []
        for lack in _told(looks):
            if lack.mend:
                lack.mend()
                self._changes += 1
            elif not lack.is_note:
                left.append(lack)
        return left

    def _stop_at(self, looks: Sequence[tuple[str, Look]]) -> None:
        """Stop where the operator has to act."""
        if any(lack.ask for lack in _seen(looks)):
            raise OpsError("Then run this again.")


def _seen(looks: Sequence[tuple[str, Look]]) -> list[Lack]:
    """The missing parts, printed with the way to mend them; notes are only printed."""
    return [lack for lack in _told(looks) if not lack.is_note]


def _told(looks: Sequence[tuple[str, Look]]) -> Iterator[Lack]:
    """Each missing part and note, once it is printed."""
    for title, look in looks:
        say(title)
        for lack in look():
            say(f"  {lack.text}" + (f"\n    {lack.ask}" if lack.ask else ""))
            yield lack


def _ask_for_hosts(project: str, outside: Outside) -> None:
    """Ask once where photos lie: of other hosts recap mails show no picture."""
    own = outside.root / f".env.{project}"
    is_said = own.exists() and "PHOTO_HOSTS" in own.read_text(encoding="utf-8")
    if is_said or settings_of(outside.root, project).get("PHOTO_HOSTS") != "project":
        return
    with suppress(EOFError):  # nobody is there
        said = outside.ask("Hosts of the photos, beside this project's buckets (none: Enter): ")
        hosts = [host.strip().removeprefix("https://") for host in said.split(",") if host.strip()]
        set_own(outside.root, project, "PHOTO_HOSTS", ",".join(["project", *hosts]))


def _given(program: str, description: str, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(program, description)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--beside", action="store_true", help="an app lives in the project")
    mode.add_argument("--own", action="store_true", help="all that is there belongs to the service")
    parser.add_argument("--site", help="the Hosting site of our pages; means --beside")
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="NAME",
        help="what the run stopped at: a name of the app's that a deploy may take over, enterprise",
    )
    if program == "ops/deploy":
        parser.add_argument(
            "--delete", action="store_true", help="delete functions that main.py no longer has"
        )
    given = parser.parse_args(arguments)
    if given.own and given.site:
        parser.error("--site is for the pages beside an app, --own says that there is none")
    return given
