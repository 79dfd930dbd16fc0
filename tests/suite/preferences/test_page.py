"""The page that a mail's link leads to, as Firebase Hosting serves it."""

import json
import re
import urllib.error
import urllib.request
from email.message import Message
from typing import Final

import pytest
from google.cloud import firestore

from functions.preferences.links import one_click_link, page_link

SITE: Final = "http://127.0.0.1:5000"
HUB: Final = "http://127.0.0.1:4400/emulators"


@pytest.fixture(scope="module", autouse=True)
def hosting() -> None:
    """The hosting emulator; a suite started without it has no page to test."""
    with urllib.request.urlopen(HUB, timeout=10) as running:
        if "hosting" not in json.load(running):
            pytest.skip("this suite was started without the hosting emulator")


def fetch(url: str, body: bytes | None = None, **headers: str) -> tuple[int, str, Message]:
    """Status, text and headers."""
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - loopback
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode(), refused.headers


def test_link_leads_to_the_page(token: str) -> None:
    """The link in a mail opens the page; the token in its fragment stays in the browser."""
    status, text, _ = fetch(page_link(SITE, token))
    assert status == 200
    assert ">Email preferences</h1>" in text


def test_nothing_foreign() -> None:
    """The page runs only what stands in this site's own files, and tells no site where it was."""
    _, text, headers = fetch(f"{SITE}/preferences")
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    addresses = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert addresses
    for address in addresses:
        assert address.startswith("/")
        assert fetch(SITE + address)[0] == 200
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", text)


def test_same_origin_call(record: firestore.DocumentReference, token: str) -> None:
    """The page's calls go through the site itself."""
    record.set({"email": "guest@example.com"})
    body = json.dumps({"data": {"token": token}}).encode()
    json_type = {"Content-Type": "application/json"}
    status, text, headers = fetch(f"{SITE}/api/getEmailPreferences", body, **json_type)
    assert status == 200
    assert json.loads(text)["result"]["email"] == "guest@example.com"
    assert headers["Cache-Control"] == "no-store"


def test_one_click_link(record: firestore.DocumentReference, one_click_token: str) -> None:
    """RFC 8058: a POST to the link of the mail's header unsubscribes; opening it does not."""
    link = one_click_link(SITE, one_click_token)
    status, text, _ = fetch(link)  # follows the redirect to the page
    assert status == 200
    assert ">Email preferences</h1>" in text
    assert not record.get().exists
    assert fetch(link, b"List-Unsubscribe=One-Click")[0] == 200
    assert record.get().get("emailPreferences") == {"recap": False}
