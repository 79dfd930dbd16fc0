"""Each account may do what the code of its functions calls, and nothing more (docs/security.md).

What a function can reach is read off its handler: the parts of the service that it names, and the
parts and adapters that these are made of.
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
"""The roles of a function that gets events of documents; no code calls that API."""
SHARED: Final = ("functions.gcp.callables", "functions.links.link")
"""What handlers call with the service in their hands."""


@cache
def defined(module: str) -> Mapping[str, ast.AST]:
    """The functions and methods of a module, by name."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def reached(module: str, name: str, met: set[tuple[str, str]]) -> Iterator[ast.AST]:
    """The definition, and all that it names of its module, of `SHARED` and of the service."""
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
    """Source of the code that an account's functions reach, by the account."""
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
    """Names of the secrets that the code asks for: itself, by the kind of a link, or by a mail."""
    links = {
        of.key for name, of in vars(link).items() if isinstance(of, link.Link) and name in code
    }
    mails = {sendgrid.KEY_NAME, smtp.KEY_NAME} if "adapters.mailer" in code else set()
    return set(re.findall(r"\b(?:versions|keyed)\('(\w+)'", code)) | links | mails


def test_roles_follow_from_what_is_called() -> None:
    """Each account has the roles of the adapters that its functions call, and no other."""
    needed = {
        account: {role for name, role in ROLE_OF.items() if f"adapters.{name}" in code}
        for account, code in code_of_accounts().items()
    }
    needed[WEBHOOKS].add(TRIGGER)
    assert needed == {account: set(roles) for account, roles in ROLES.items()}


def test_secrets_follow_from_what_is_read() -> None:
    """An account whose functions ask for a secret's versions may read it, and no other account."""
    read = {
        name: {account for account, code in code_of_accounts().items() if name in secrets_in(code)}
        for name in SECRET_READERS
    }
    assert read == {name: set(accounts) for name, accounts in SECRET_READERS.items()}


def test_no_adapter_is_forgotten() -> None:
    """Every module that makes a client of Google's stands behind an adapter of the service."""
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
