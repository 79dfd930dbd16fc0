"""Checks before a deploy that `ops/setup` has run in the project.

`firebase deploy` runs this (`predeploy` in firebase.json), because a deploy without the accounts
and APIs of the setup fails halfway.
"""

import sys
from collections.abc import Sequence

from functions.service_accounts import WEBHOOKS
from ops.cloud import Cloud, OpsError, Outside


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Return 1 if an account of `ops/setup` is missing. Return 0 if the check is impossible."""
    [project] = sys.argv[1:] if arguments is None else arguments
    outside = outside or Outside()
    try:
        account = f"{WEBHOOKS}@{project}.iam.gserviceaccount.com"
        path = f"v1/projects/{project}/serviceAccounts/{account}"
        is_there = Cloud(project, outside).get("iam", path) is not None
    except OpsError as error:
        sys.stderr.write(f"Cannot check whether ops/setup ran in {project}: {error}\n")
        return 0
    if not is_there:
        sys.stderr.write(f"The project {project} is not set up. Run ops/setup {project} first.\n")
    return int(not is_there)
