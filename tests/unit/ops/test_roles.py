"""Each account may do what the code of its functions calls, and nothing more (docs/security.md).

What a function can reach is read off its imports, also those that it makes when it is called.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import grimp

import main
from functions.secret_readers import SECRET_READERS
from ops.wanted import ROLES

ROOT: Final = Path(__file__).parents[3]
ROLE_OF: Final = {
    # adapter: the role that its calls need
    "functions.gcp.firestore_api": "datastore.user",
    "functions.gcp.cloud_tasks": "cloudtasks.enqueuer",
}
TRIGGER: Final = "eventarc.eventReceiver"
"""The roles of a function that gets events of documents; no code calls that API."""


@cache
def reached_by_account() -> Mapping[str, frozenset[str]]:
    """The modules that the functions of an account can reach, by the parameter that names it."""
    graph = grimp.build_graph("functions", cache_dir=None)  # leaves nothing behind
    reached: dict[str, set[str]] = defaultdict(set)
    for node in ast.parse((ROOT / "main.py").read_text()).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        address = getattr(main, node.name).__firebase_endpoint__.serviceAccountEmail
        [account] = re.findall(r"params\.(SERVICE_ACCOUNT_\w+)", str(address))
        for call in ast.walk(node):
            if isinstance(call, ast.ImportFrom):
                for name in call.names:
                    module = f"{call.module}.{name.name}"
                    reached[account] |= {module, *graph.find_upstream_modules(module)}
    return {account: frozenset(modules) for account, modules in reached.items()}


def secrets_of(modules: frozenset[str]) -> set[str]:
    """Names of the secrets that the modules ask for."""
    texts = [(ROOT / f"{module.replace('.', '/')}.py") for module in modules]
    sources = [text.read_text() for text in texts if text.exists()]
    return {name for text in sources for name in re.findall(r'\bversions\(\s*"(\w+)"', text)}


def test_roles_follow_from_what_is_called() -> None:
    """Each account has the roles of the adapters that its functions call, and no other."""
    needed = {
        account: {role for module, role in ROLE_OF.items() if module in modules}
        for account, modules in reached_by_account().items()
    }
    needed["SERVICE_ACCOUNT_WEBHOOKS"].add(TRIGGER)
    assert needed == {account: set(roles) for account, roles in ROLES.items()}


def test_secrets_follow_from_what_is_read() -> None:
    """An account whose functions ask for a secret's versions may read it, and no other account."""
    read: dict[str, set[str]] = defaultdict(set)
    for account, modules in reached_by_account().items():
        for name in secrets_of(modules):
            read[name].add(account)
    assert read == {name: set(accounts) for name, accounts in SECRET_READERS.items()}


def test_no_adapter_is_forgotten() -> None:
    """Every module that makes a client of Google's is in the table above, or reads secrets."""
    clients = {
        f"functions.gcp.{path.stem}"
        for path in (ROOT / "functions/gcp").glob("*.py")
        if re.search(r"\w+Client\(|google\.auth\.default\(", path.read_text())
    }
    assert clients <= {*ROLE_OF, "functions.gcp.project", "functions.gcp.secret_manager"}
