"""Sets up a Google Cloud project and deploys to it. A further run creates only missing parts."""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Final

from ops.advice import Advice
from ops.app import App
from ops.cloud import Cloud, OpsError, Outside, parser_of, run, say
from ops.deployed import Deployed
from ops.foundations import Foundations
from ops.parts import Issue, Look, Note
from ops.wanted import config_beside, config_name, read, set_own, settings_of

DEPLOY_WAITS: Final = (0, 60, 120, 180, 240)
"""Seconds before each deploy. Eventarc needs up to ten minutes in a new project."""
_BUILD_MINUTES: Final = 60
"""Longest wait for builds. A new project may build two at a time, and firebase gives up earlier."""
_SET_UP: Final = """\
Creates the missing parts of the service in a Google Cloud project with a billing account, and
deploys to it. Changes nothing in a complete project, and nothing of an existing app.
"""
_DEPLOY: Final = """\
Deploys functions, rules, indexes and pages of the checkout, then checks every part. Deletes no
index, and deletes functions only with --delete. Changes nothing of an existing app.
"""
_CHECK: Final = """\
Lists the missing parts of a project without a change. Exits with status 1 if a part is missing.
"""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/setup and return its exit status."""

    def set_up(options: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
        _ask_for_hosts(options.project, outside)
        SetUp(options, cloud, outside).all()

    return run(set_up, _options("ops/setup", _SET_UP, arguments), outside)


def deploy(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/deploy and return its exit status."""
    options = _options("ops/deploy", _DEPLOY, arguments)
    return run(lambda *of: SetUp(*of).deploy(), options, outside)


def check(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Run ops/check and return its exit status."""
    options = _options("ops/check", _CHECK, arguments)
    return run(lambda *of: SetUp(*of).look(), options, outside)


class SetUp:
    """Setup and deploy of one project, which may contain an app."""

    def __init__(self, options: argparse.Namespace, cloud: Cloud, outside: Outside) -> None:
        self._options = options
        self._cloud = cloud
        self._root = outside.root
        self._wanted = read(cloud.project, self._root)
        self._config = self._root / config_name(cloud.project)
        self._changes = 0

    def all(self) -> None:
        """Create and deploy all missing parts. An `OpsError` says how to continue."""
        self._begin()
        self._end()

    def deploy(self) -> None:
        """Deploy the checkout. Raise `OpsError` if that fails or a part is missing."""
        self._begin()
        gone = self._deployed.gone()
        functions = ["functions"]  # skips unchanged functions, unlike a list of names
        if gone and not self._options.delete:
            say(f"  main.py no longer has {', '.join(gone)}. Pass --delete to delete.")
            codebase = f"functions:{self._wanted.codebase}"
            functions = [f"{codebase}:{function.name}" for function in self._wanted.functions]
        indexes = "firestore:indexes" if self._wanted.is_beside else "firestore"
        targets = [*functions, indexes, "hosting"]
        failed = self._deploy_targets(targets)
        self._end()
        # A new function that firebase could not make public is public by now.
        if failed and (failed := self._deploy_targets(targets)):
            raise OpsError(f"The deploy of {failed} failed. See the output of firebase above.")

    def _begin(self) -> None:
        self._sign_in()
        self._look_around()
        if self._wanted.is_beside:
            self._stop_at(self._app.conditions)
            self._config.write_text(config_beside(self._root, self._wanted), encoding="utf-8")
        self._fix(self._foundations.looks)
        self._stop_at(self._foundations.conditions)

    def _end(self) -> None:
        under_way = self._deploy()
        say("Checks after the deploy")
        left = self._fix(self._foundations.looks)  # a deploy grants unused roles
        if self._wanted.is_beside:
            left += _seen(self._app.to_merge)
            if text := self._app.merged_rules():
                path = self._root / f"firestore.{self._cloud.project}.rules"
                path.write_text(text, encoding="utf-8")
        self._stop_at(self._deployed.answering)
        if under_way:
            say(f"Google is still working. Run ops/check {self._cloud.project} in some minutes.")
        asked = [issue for issue in left if issue.ask]
        if self._changes or not asked:
            say(f"Changes: {self._changes}." if self._changes else "Everything is in place.")
        if asked:
            raise OpsError(
                f"Yours to merge: {len(asked)}. Then run ops/check {self._cloud.project}."
            )

    def look(self) -> None:
        """Print missing parts with their remedies. Raise `OpsError` if there are any."""
        self._look_around()
        foundations, deployed = self._foundations, self._deployed
        issues = _seen(foundations.looks + foundations.conditions)
        issues += _seen([("Sign-in to the mail server", foundations.mail_server)])
        issues += _seen(deployed.looks + deployed.answering)
        _seen(Advice(self._cloud, self._wanted).looks)
        if self._wanted.is_beside:
            issues += _seen([*self._app.conditions, *self._app.to_merge])
            path, text = self._config, config_beside(self._root, self._wanted)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                say(f"  {path.name} is missing or outdated. ops/setup writes it.")
                issues.append(Issue(path.name))
        if issues and all(issue.is_under_way for issue in issues):
            raise OpsError("Google is still working. Run this again in some minutes.")
        if issues:
            raise OpsError(f"Missing parts: {len(issues)}. Run ops/setup {self._cloud.project}.")
        say("Everything is in place.")

    def _look_around(self) -> None:
        """Detect whether the project contains an app, by the options or by its parts."""
        options, wanted = self._options, self._wanted
        site = options.site or wanted.hosting_site or f"{self._cloud.project}-photo-wall"
        app = replace(wanted, hosting_site=site)
        self._app = App(self._cloud, app, options.accept)
        if options.own and wanted.is_beside:
            raise OpsError(f"{self._config.name} is for a project with an app. Delete it first.")
        say("An app in the project")
        found = self._app.found()
        for text in found or ["none"]:
            say(f"  {text}")
        is_said = options.beside or options.site or wanted.is_beside
        if not options.own and (is_said or found):
            say(f"  The app stays unchanged. Pages of the service go to the site {site}.")
            self._wanted = replace(wanted, hosting_site=site)
        self._foundations = Foundations(self._cloud, self._wanted, options.accept)
        self._deployed = Deployed(self._cloud, self._wanted)

    def _sign_in(self) -> None:
        if not self._cloud.hear("gcloud", "auth", "print-access-token"):
            self._cloud.start("gcloud", "auth", "login")
        by_key = "GOOGLE_APPLICATION_CREDENTIALS" in os.environ
        if not by_key and '"user"' not in self._cloud.hear("firebase", "login:list", "--json"):
            self._cloud.start("firebase", "login")

    def _deploy(self) -> list[Issue]:
        """Deploy missing parts until none is left. Return the parts that Google is creating."""
        for seconds in (*DEPLOY_WAITS, None):
            for _ in range(_BUILD_MINUTES):
                if not any(issue.is_under_way for issue in self._deployed.functions()):
                    break
                say("  Google is building functions. Looking again in a minute.")
                self._cloud.outside.sleep(60)
            left = self._fix(self._deployed.looks)
            targets = sorted({issue.deploy for issue in left if issue.deploy})
            if not targets:
                return left
            if seconds is None:
                break
            if seconds:
                say(f"  Retrying in {seconds} s, because Eventarc needs minutes in a new project.")
                self._cloud.outside.sleep(seconds)
            self._deploy_targets(targets)
        raise OpsError("Some parts were not deployed. See the output of firebase above.")

    def _deploy_targets(self, targets: Sequence[str]) -> str:
        """Deploy targets by name, so that no part of the app is deleted. Return the failed kinds.

        Functions require `--force` for a new failure policy and for the clean-up of images. Indexes
        come first because they take long, and pages last because they refer to functions.
        """
        beside = self._wanted.is_beside
        config = [f"--config={self._config.name}"] if beside else []
        failed = []
        for kind in ("firestore", "functions", "hosting"):
            if named := [target for target in targets if target.partition(":")[0] == kind]:
                only = f"--only={','.join(named)}"
                force = ["--force"] if kind == "functions" else []
                deploy = ("firebase", "deploy", "--non-interactive", *config, *force, only)
                with self._app.kept(is_beside=beside) if force else nullcontext():
                    if self._cloud.start(*deploy):
                        failed.append(kind)
                self._changes += 1
        return " and ".join(failed)

    def _fix(self, looks: Sequence[tuple[str, Look]]) -> list[Issue]:
        """Create missing parts, and return the parts that require a deploy."""
        left = []
        for issue in _printed(looks):
            if issue.fix:
                issue.fix()
                self._changes += 1
            elif not isinstance(issue, Note):
                left.append(issue)
        return left

    def _stop_at(self, looks: Sequence[tuple[str, Look]]) -> None:
        if any(issue.ask for issue in _seen(looks)):
            raise OpsError("Follow the instructions above, then run this again.")


def _seen(looks: Sequence[tuple[str, Look]]) -> list[Issue]:
    """Print missing parts and notes. Return the missing parts."""
    return [issue for issue in _printed(looks) if not isinstance(issue, Note)]


def _printed(looks: Sequence[tuple[str, Look]]) -> Iterator[Issue]:
    for title, look in looks:
        say(title)
        for issue in look():
            say(f"  {issue.text}" + (f"\n    {issue.ask}" if issue.ask else ""))
            yield issue


def _ask_for_hosts(project: str, outside: Outside) -> None:
    """Ask once for the hosts of photos. Recap emails hide pictures from other hosts."""
    own = outside.root / f".env.{project}"
    is_said = own.exists() and "PHOTO_HOSTS" in own.read_text(encoding="utf-8")
    if is_said or settings_of(outside.root, project).get("PHOTO_HOSTS") != "project":
        return
    with suppress(EOFError):  # no terminal
        said = outside.ask("Hosts of photos besides this project's buckets (optional): ")
        hosts = [host.strip().removeprefix("https://") for host in said.split(",") if host.strip()]
        set_own(outside.root, project, "PHOTO_HOSTS", ",".join(["project", *hosts]))


def _options(program: str, description: str, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(program, description)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--beside", action="store_true", help="the project contains an app")
    mode.add_argument("--own", action="store_true", help="the whole project belongs to the service")
    parser.add_argument("--site", help="Hosting site of the pages. Implies --beside.")
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="NAME",
        help="a name of the app that a deploy may replace, or `enterprise`",
    )
    if program == "ops/deploy":
        parser.add_argument(
            "--delete", action="store_true", help="delete functions that were removed from main.py"
        )
    options = parser.parse_args(arguments)
    if options.own and options.site:
        parser.error("--site and --own exclude each other")
    return options
