"""Before functions are uploaded: whether `ops/setup` ever ran in the project.

`firebase deploy` runs this (`predeploy` in firebase.json). Without the accounts and the APIs of the
set-up a deploy fails by halves.
"""

import sys
from collections.abc import Sequence

from functions.service_accounts import WEBHOOKS
from ops.cloud import Cloud, OpsError, Outside


def main(arguments: Sequence[str] | None = None, outside: Outside | None = None) -> int:
    """Look for an account that `ops/setup` makes; 1 where it is missing.

    Where nobody can look, the deploy goes on.
    """
    [project] = sys.argv[1:] if arguments is None else arguments
    outside = outside or Outside()
    try:
        account = f"{WEBHOOKS}@{project}.iam.gserviceaccount.com"
        path = f"v1/projects/{project}/serviceAccounts/{account}"
        is_there = Cloud(project, outside).get("iam", path) is not None
    except OpsError as error:
        sys.stderr.write(f"Whether ops/setup ran in {project} is not known: {error}\n")
        return 0
    if not is_there:
        sys.stderr.write(f"The project {project} is not set up: run ops/setup {project} first.\n")
    return int(not is_there)
