"""Spec 5 and 6.2: the headers of Standard Webhooks, verified by its own libraries."""

import base64
import json
import secrets
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import stripe

from functions.process import SystemRandom
from functions.webhooks.signing import standard_headers
from tests.unit.webhooks.webhook_fixture import WebhookFixture

ROOT: Final = Path(__file__).parents[3]
BODY: Final = '{"name":"Zoë ✓"}'
ID: Final = "19d0d87c-7fdb-59c7-8910-1bba61792a8f"

NEW: Final = [SystemRandom().webhook_secret() for _ in range(20)]
OLD: Final = [f"whsec_{secrets.token_urlsafe(32)}" for _ in range(20)]
"""Secrets of earlier versions. Not every library accepts their base64."""
OTHERS: Final = ["whsec_", "made-up", "whsec_not base64"]

Judge = Callable[[Sequence[Mapping[str, Any]]], list[bool]]


def in_python(asked: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Return the results of the Python library."""
    library = pytest.importorskip("standardwebhooks.webhooks")

    def accepted(one: Mapping[str, Any]) -> bool:
        secret = one["secret"].encode() if one["raw"] else one["secret"]
        try:
            library.Webhook(secret).verify(one["body"], one["headers"])
        except library.WebhookVerificationError:
            return False
        return True

    return [accepted(mapping) for mapping in asked]


JAVASCRIPT: Final = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/emulator/`);
const { Webhook, WebhookVerificationError } = require("standardwebhooks");
const accepted = ({ secret, raw, body, headers }) => {
  try {
    new Webhook(secret, raw ? { format: "raw" } : {}).verify(body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync(0)).map(accepted)));
"""


def in_javascript(asked: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Return the results of the JavaScript library."""
    if not (ROOT / "emulator/node_modules/standardwebhooks").exists():
        pytest.skip("the Node packages are not installed: python3 -m emulator setup")
    command = ["node", "--input-type=module", "-e", JAVASCRIPT]
    ran = subprocess.run(
        command, check=True, capture_output=True, text=True, input=json.dumps(asked), cwd=ROOT
    )
    verdicts: list[bool] = json.loads(ran.stdout)
    return verdicts


def asked(secret: str, *, signed_with: str | None = None, raw: bool = False) -> dict[str, Any]:
    """Return a request signed now, for a receiver that has `secret`."""
    at = int(time.time())
    headers = standard_headers(signed_with or secret, ID, BODY.encode(), at=at)
    return {"secret": secret, "raw": raw, "body": BODY, "headers": dict(headers)}


@pytest.mark.parametrize("judge", [in_python, in_javascript])
def test_the_libraries_accept_signatures_of_every_kind_of_secret(judge: Judge) -> None:
    """A receiver passes a new secret unchanged, and the bytes of any other one."""
    genuine = [asked(name) for name in NEW] + [asked(name, raw=True) for name in OLD + OTHERS]
    assert all(judge(genuine))

    altered = {**asked(NEW[0]), "body": BODY.replace("Z", "z")}
    renamed = asked(NEW[0])
    renamed["headers"]["webhook-id"] = "another"
    assert not any(judge([altered, renamed, asked(NEW[0], signed_with=NEW[1])]))


def test_a_delivery_is_accepted_by_both_libraries(webhooks: WebhookFixture) -> None:
    """A receiver can verify either signature of a POST."""
    webhooks.now = datetime.now(UTC)
    webhooks.attempts(webhooks.delivery(), 204)
    [(headers, body)] = webhooks.posts
    library = pytest.importorskip("standardwebhooks.webhooks")
    assert library.Webhook("whsec_made").verify(body.decode(), dict(headers)) == json.loads(body)
    signature = headers["Wall-Signature"]
    assert stripe.WebhookSignature.verify_header(body.decode(), signature, "whsec_made", 300)


def test_a_new_secret_has_the_form_of_standard_webhooks() -> None:
    """The form is `whsec_` and 32 bytes in standard base64 with padding."""
    decoded = [base64.b64decode(name.removeprefix("whsec_"), validate=True) for name in NEW]
    assert {len(line) for line in decoded} == {32}
    assert all(name.startswith("whsec_") for name in NEW)
