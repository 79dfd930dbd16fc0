"""The page that a mail's link leads to, and the catalog of event types, as they are served."""

import json
import re
from typing import Final

import pytest
from google.cloud import firestore

from functions.links.link import one_click_link
from tests.suite.call import ONE_CLICK, fetch
from tests.unit.contract.promise import DOCUMENT

SITE: Final = "http://127.0.0.1:5000"


@pytest.mark.parametrize("page", ["preferences", "events"])
def test_a_page_runs_and_loads_only_files_of_this_site(page: str) -> None:
    """The site has each file, and sends no referrer to other sites."""
    _, text, headers = fetch(f"{SITE}/{page}")
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    addresses = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert addresses
    for address in addresses:
        assert address.startswith("/")
        assert fetch(SITE + address)[0] == 200
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", text)


def test_the_openapi_file_is_served() -> None:
    """The served contract is docs/openapi.yaml with its version."""
    assert json.loads(fetch(f"{SITE}/openapi.json")[1]) == DOCUMENT


def test_calls_and_one_click_use_the_site(
    record: firestore.DocumentReference, token: str, one_click_token: str
) -> None:
    """Calls of the page and clicks of mail programs reach their functions (RFC 8058)."""
    record.set({"email": "guest@example.com"})
    body = json.dumps({"data": {"token": token}}).encode()
    json_type = {"Content-Type": "application/json"}
    status, text, headers = fetch(f"{SITE}/api/getEmailPreferences", body, json_type)
    assert (status, headers["Cache-Control"]) == (200, "no-store")
    assert json.loads(text)["result"]["email"] == "guest@example.com"
    link = one_click_link(SITE, one_click_token)
    status, text, _ = fetch(link)  # follows the redirect to the page
    assert status == 200
    assert ">Email preferences</h1>" in text
    assert "emailPreferences" not in (record.get().to_dict() or {})
    assert fetch(link, ONE_CLICK)[0] == 200
    assert record.get().get("emailPreferences") == {"recap": False}
