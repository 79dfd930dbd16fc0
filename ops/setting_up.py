"""A Google Cloud project made ready and deployed to: look, make the missing parts, look again.

After a run that stopped, a further run makes the parts that are missing then, and nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from ops.cloud import Cloud, OpsError, Outside, say
from ops.deployed import Deployed
from ops.foundations import Foundations
from ops.parts import Lack, Look
from ops.wanted import Wanted, read

DEPLOY_WAITS: Final = (0, 60, 120, 180, 240)
"""Seconds before each deploy: Eventarc takes up to ten minutes in a new project."""
_SET_UP: Final = """\
Makes the missing parts of the service in a Google Cloud project with a billing account, and deploys
to it. In a project where everything is there, it changes nothing.
"""
_CHECK: Final = """\
Looks at everything that ops/setup and a deploy make, changes nothing, and lists the missing parts.
The status is 1 where the list is not empty.
"""


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line of ops/setup and set up; the exit status."""
    return _run("ops/setup", _SET_UP, SetUp.all, arguments, outside or Outside())


def check(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Read the command line of ops/check and look; the exit status."""
    return _run("ops/check", _CHECK, SetUp.look, arguments, outside or Outside())


class SetUp:
    """One project, from empty to everything there."""

    def __init__(self, cloud: Cloud, wanted: Wanted) -> None:
        """Do nothing yet."""
        self._cloud = cloud
        self._foundations = Foundations(cloud, wanted)
        self._deployed = Deployed(cloud, wanted)
        self._changes = 0

    def all(self) -> None:
        """Make everything.

        Raises:
            OpsError: a part cannot be made; the text says which, and how to go on.
        """
        self._sign_in()
        self._mend(self._foundations.looks)
        self._stop_at(self._foundations.conditions)
        under_way = self._deploy()
        say("Once more, after the deploy")
        self._mend(self._foundations.looks)  # a deploy gives roles that nothing needs
        self._stop_at(self._deployed.answering)
        if under_way:
            say(f"Google is still at work: ops/check {self._cloud.project} tells when it is done.")
        say(f"Changed: {self._changes}." if self._changes else "Everything is there.")

    def look(self) -> None:
        """Change nothing.

        Raises:
            OpsError: a part is missing; it is printed, with the way to mend it.
        """
        foundations, deployed = self._foundations, self._deployed
        lacks = self._seen(foundations.looks + foundations.conditions)
        lacks += self._seen(deployed.looks + deployed.answering)
        if lacks:
            raise OpsError(f"Missing: {len(lacks)}. ops/setup {self._cloud.project} makes it.")
        say("Everything is there.")

    def _sign_in(self) -> None:
        """In the browser, or with the key that GOOGLE_APPLICATION_CREDENTIALS names."""
        if not self._cloud.hear("gcloud", "auth", "print-access-token"):
            self._cloud.start("gcloud", "auth", "login")
        by_key = "GOOGLE_APPLICATION_CREDENTIALS" in os.environ
        if not by_key and '"user"' not in self._cloud.hear("firebase", "login:list", "--json"):
            self._cloud.start("firebase", "login")

    def _deploy(self) -> list[Lack]:
        """Deploy missing parts until none is left; return the parts that Google is still making.

        Raises:
            OpsError: a part is missing after the last attempt.
        """
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

    def _deploy_targets(self, targets: Sequence[str]) -> None:
        """Deploy by name, so that nothing of the project's own is deleted.

        Functions need `--force`, for the first failure policy and for the clean-up of old images.
        Where functions are named, it deletes none. Rules, indexes and pages are deployed without.
        """
        functions = [target for target in targets if target.startswith("functions:")]
        others = [target for target in targets if target not in functions]
        for named, force in ((others, []), (functions, ["--force"])):
            if named:
                only = f"--only={','.join(named)}"
                self._cloud.start("firebase", "deploy", "--non-interactive", *force, only)
                self._changes += 1

    def _mend(self, looks: Sequence[tuple[str, Look]]) -> list[Lack]:
        """Make the missing parts, look by look; return the parts that only a deploy can make."""
        left = []
        for title, look in looks:
            say(title)
            for lack in look():
                say(f"  {lack.text}")
                if lack.mend:
                    lack.mend()
                    self._changes += 1
                else:
                    left.append(lack)
        return left

    def _stop_at(self, looks: Sequence[tuple[str, Look]]) -> None:
        """Stop where the operator has to act."""
        if any(lack.ask for lack in self._seen(looks)):
            raise OpsError("Then run this again.")

    def _seen(self, looks: Sequence[tuple[str, Look]]) -> list[Lack]:
        """The missing parts, printed with the way to mend them."""
        lacks = []
        for title, look in looks:
            say(title)
            for lack in look():
                say(f"  {lack.text}" + (f"\n    {lack.ask}" if lack.ask else ""))
                lacks.append(lack)
        return lacks


def _run(
    program: str,
    description: str,
    act: Callable[[SetUp], None],
    arguments: Sequence[str] | None,
    outside: Outside,
) -> int:
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("project", help="the project's id")
    given = parser.parse_args(arguments)
    try:
        wanted = read(given.project, outside.root)
        act(SetUp(Cloud(given.project, outside), wanted))
    except OpsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
