"""Tables of the deployed functions, generated from the declarations of `main.py`."""

import ast
from dataclasses import dataclass
from typing import Any, Final

from functions.recap.schedule import QUEUE as SCHEDULED_RECAPS
from functions.service_accounts import LOGS, MAIL_EVENTS, PREFERENCES, RECAP, WEBHOOKS
from tools.paths import ROOT
from tools.steps import read

_BACKGROUND: Final = "in the background"
_ATTEMPTS: Final = "attempts"
_ANONYMOUS: Final = "anonymous"
_SIGNED_IN: Final = "of signed-in people, and their scheduled recaps"


@dataclass(frozen=True, slots=True)
class DeployedFunction:
    """A function of `main.py`: its service account, and the vCPU of all its instances."""

    name: str
    account: str
    group: str
    cpus: int


def deployed() -> list[DeployedFunction]:
    """Return the functions in the order of `main.py`."""
    import main  # noqa: PLC0415 - slow to import

    by_staff = _called_by_staff()
    found = []
    for name, declared in vars(main).items():
        if endpoint := getattr(declared, "__firebase_endpoint__", None):
            account = endpoint.serviceAccountEmail.partition("@")[0]
            cpus = endpoint.maxInstances * endpoint.cpu
            group = _SIGNED_IN if name in by_staff else _group(name, account, endpoint)
            found.append(DeployedFunction(name, account, group, cpus))
    return found


def _called_by_staff() -> set[str]:
    """Return the names of the functions with the decorator `staff_callable`."""
    return {
        node.name
        for node in ast.parse(read(ROOT / "main.py")).body
        if isinstance(node, ast.FunctionDef)
        and any("staff_callable" in ast.unparse(each) for each in node.decorator_list)
    }


def _group(name: str, account: str, endpoint: Any) -> str:
    """Return the group of a function that no signed-in person calls."""
    if name == SCHEDULED_RECAPS:
        return _SIGNED_IN
    if endpoint.taskQueueTrigger and account == WEBHOOKS:
        return _ATTEMPTS
    is_called = endpoint.callableTrigger is not None or endpoint.httpsTrigger is not None
    return _ANONYMOUS if is_called else _BACKGROUND


def accounts() -> str:
    """Return the table of the functions that run as each service account."""
    rows = ["| account | runs |", "|---|---|"]
    functions = deployed()
    for account in (LOGS, WEBHOOKS, RECAP, PREFERENCES, MAIL_EVENTS):
        names = [f"`{each.name}`" for each in functions if each.account == account]
        rows.append(f"| `{account}` | {', '.join(names)} |")
    return "\n".join(rows) + "\n"


def cpus() -> str:
    """Return the table of the vCPU of each group of functions."""
    rows = ["| functions | vCPU at most |", "|---|---|"]
    functions = deployed()
    for group in (_BACKGROUND, _ATTEMPTS, _ANONYMOUS, _SIGNED_IN):
        members = [each for each in functions if each.group == group]
        names = [
            f"`{each.name}`" + (f" ({each.cpus})" if each.cpus > 1 else "") for each in members
        ]
        rows.append(f"| {group}: {', '.join(names)} | {sum(each.cpus for each in members)} |")
    rows.append(f"| in all | {sum(each.cpus for each in functions)} |")
    return "\n".join(rows) + "\n"
