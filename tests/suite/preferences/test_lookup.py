"""Spec 4.2 and 7.2: `getEmailPreferences`, end to end over HTTP."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from google.cloud import firestore

from functions.email_address import record_id
from tests.suite.call import call

PAGE: Final = (Path(__file__).parents[3] / "docs/calls.md").read_text()
LINK_MAKERS: Final = {
    # language: program, and the end that prints a link
    "python": ([sys.executable, "-c"], "import sys\nprint(preferences_link(*sys.argv[1:]))"),
    "javascript": (
        ["node", "--input-type=module", "-e"],
        "console.log(preferencesLink(...process.argv.slice(1)));",
    ),
}
ALL = {"lifecycle": True, "transactional": True, "recap": True, "marketing": True}


def look_up(token: object, headers: dict[str, str]) -> Any:
    """Call it as a page does."""
    return call("getEmailPreferences", {"token": token}, headers=headers)


@pytest.mark.parametrize("language", LINK_MAKERS)
def test_a_link_created_by_other_code_works(
    language: str, secret: str, record: firestore.DocumentReference, headers: dict[str, str]
) -> None:
    """Spec 1.2: lifecycle emails carry the token. docs/calls.md has the code that creates it."""
    record.set({"email": f"{record.id}@example.com", "emailPreferences": {"lifecycle": False}})
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [code] = [block for block in blocks if "email-prefs" in block]
    program, end = LINK_MAKERS[language]
    # A key may begin with a hyphen, which is an option to node without the two before it.
    options = ["--"] if language == "javascript" else []
    command = [*program, f"{code}\n{end}", *options, secret, "https://wall.example.com", record.id]
    link = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    page, _, token = link.partition("#token=")
    assert page == "https://wall.example.com/preferences"
    assert look_up(token, headers).result == {
        "email": f"{record.id}@example.com",
        "preferences": ALL | {"lifecycle": False},
    }


RECORD_MAKERS: Final = {
    "python": "import sys\nprint(*map(address_record, sys.argv[1:]))",
    "javascript": "console.log(process.argv.slice(1).map(addressRecord).join(' '));",
}


@pytest.mark.parametrize("language", RECORD_MAKERS)
def test_a_record_id_computed_by_other_code_matches(language: str) -> None:
    """The links of an app are about the address, so they do not follow an account."""
    emails = [" Ann@Example.com", "ana@stra\u00dfe.example", "A.b+c@B\u00dcCHER.example", "x@y.com"]
    emails += ["Mi\u212ae@example.com", "anna\u017fmith@example.com", "\u0130da@example.com"]
    emails += ["\ufeffann@example.com\u200b", "\u202aann@example.com\u00ad "]
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [code] = [block for block in blocks if "email-prefs" in block]
    program, _ = LINK_MAKERS[language]
    command = [*program, f"{code}\n{RECORD_MAKERS[language]}", *emails]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.split() == [record_id(email) for email in emails]
