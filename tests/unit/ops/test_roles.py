"""Each account has exactly the permissions that the code of its functions needs (docs/security.md).

The tests follow the code from each handler to the properties of the service and their adapters.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import main
from functions.links import link
from functions.mail import sendgrid, smtp
from functions.service_accounts import SECRET_READERS, WEBHOOKS
from ops.wanted import ROLES

ROOT: Final = Path(__file__).parents[3]
ROLE_OF: Final = {
    # adapter of the service: the role that its calls need
    "documents": "datastore.user",
    "task_queue": "cloudtasks.enqueuer",
    "accounts": "firebaseauth.viewer",
}
TRIGGER: Final = "eventarc.eventReceiver"
"""The role of a trigger's account. No code calls this API."""
SHARED: Final = ("functions.gcp.callables", "functions.links.link")
"""Modules that handlers call with the service."""


@cache
def defined(module: str) -> Mapping[str, ast.AST]:
    """Return the functions and methods of a module by name."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def reached(module: str, name: str, met: set[tuple[str, str]]) -> Iterator[ast.AST]:
    """Yield the definition, and those that it uses here, in `SHARED` and in the service."""
    if (module, name) in met or name not in defined(module):
        return
    met.add((module, name))
    node = defined(module)[name]
    yield node
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            for there in (module, *SHARED):
                yield from reached(there, part.id, met)
        elif isinstance(part, ast.Attribute) and ast.unparse(part.value) in ("service", "self"):
            yield from reached("functions.service", part.attr, met)


@cache
def code_of_accounts() -> Mapping[str, str]:
    """Return the source code that the functions of each account reach."""
    code: dict[str, str] = {}
    declared = [
        node
        for node in ast.parse((ROOT / "main.py").read_text()).body
        if isinstance(node, ast.FunctionDef)
    ]
    for node in declared:
        if node.name.startswith("_"):
            continue
        named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        whole = ast.Module([node, *(other for other in declared if other.name in named)], [])
        address = getattr(main, node.name).__firebase_endpoint__.serviceAccountEmail
        [account] = re.findall(r"^([\w-]+)@", str(address))
        rooms = {
            alias.asname or alias.name: f"{found.module}.{alias.name}"
            for found in ast.walk(whole)
            if isinstance(found, ast.ImportFrom)
            for alias in found.names
        }
        for call in ast.walk(whole):
            if isinstance(call, ast.Attribute) and (room := rooms.get(ast.unparse(call.value))):
                parts = reached(room, call.attr, set())
                code[account] = code.get(account, "") + "\n".join(map(ast.unparse, parts))
    return code


def secrets_in(code: str) -> set[str]:
    """Return the secrets that the code reads: by name, by the kind of a link, or by the mailer."""
    links = {
        of.key for name, of in vars(link).items() if isinstance(of, link.Link) and name in code
    }
    mails = {sendgrid.KEY_NAME, smtp.KEY_NAME} if "adapters.mailer" in code else set()
    return set(re.findall(r"\b(?:versions|keyed)\('(\w+)'", code)) | links | mails


def test_each_account_has_exactly_the_roles_of_its_adapters() -> None:
    """Compare `ops/wanted.py` with the adapters that the code calls."""
    needed = {
        account: {role for name, role in ROLE_OF.items() if f"adapters.{name}" in code}
        for account, code in code_of_accounts().items()
    }
    needed[WEBHOOKS].add(TRIGGER)
    assert needed == {account: set(roles) for account, roles in ROLES.items()}


def test_each_account_can_read_exactly_its_secrets() -> None:
    """Compare `SECRET_READERS` with the secrets that the code reads."""
    read = {
        name: {account for account, code in code_of_accounts().items() if name in secrets_in(code)}
        for name in SECRET_READERS
    }
    assert read == {name: set(accounts) for name, accounts in SECRET_READERS.items()}


def test_every_client_of_google_is_in_a_known_adapter() -> None:
    """Otherwise the tests above would miss its role."""
    clients = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in ("", "firestore", "gcp")
        for path in (ROOT / "functions" / folder).glob("*.py")
        if re.search(r"\w+Client\(|google\.auth\.default\(", path.read_text())
    }
    assert clients <= {
        "functions.firestore.client",
        "functions.gcp.cloud_tasks",
        "functions.gcp.secret_manager",
        "functions.environment",
    }
