"""Merged rules that let strangers in: the test sends each request of `ops.refusals`."""

from collections.abc import Iterator
from typing import Final

import pytest

from emulator.accounts import sign_in, sign_in_anonymously
from ops import merging
from ops.refusals import GUEST, OTHER, OTHER_ADMIN, TENANT, Refusal, refusals
from tests.suite.rules.client import ADMINISTRATOR, Client, load_rules
from tests.suite.rules.test_matrix import APP_RULES

SIGNED_IN: Final = "request.auth != null"
TAKES: Final = (
    "request.auth.token.role == 'admin'"
    " && request.resource.data.tenantId == request.auth.token.tenantId"
)
BAD: Final = {
    # an app's own block: a request that has to be found
    f"match /events/{{e}}/settings/{{d}} {{ allow write: if {SIGNED_IN}; }}": (
        GUEST,
        "create",
        "events/eventId/settings/webhooks",
    ),
    f"match /events/{{e}}/secrets/{{d}} {{ allow update: if {SIGNED_IN}; }}": (
        GUEST,
        "update",
        "events/eventId/secrets/webhooks",
    ),
    f"match /events/{{e}}/deliveries/{{d}} {{ allow list: if {SIGNED_IN}"
    " && request.query.limit <= 100; }": (GUEST, "list", "events/eventId/deliveries/deliveryId"),
    "match /events/{e}/photos/{p} { allow get: if resource.data.status == 'approved'; }": (
        GUEST,
        "get",
        "events/eventId/photos/photoId",
    ),
    f"match /events/{{e}} {{ allow update: if {TAKES}; }}": (
        OTHER_ADMIN,
        "update",
        "events/eventId",
    ),
    "match /recapMails/{t} { allow delete: if request.auth.token.role == 'admin'; }": (
        OTHER_ADMIN,
        "delete",
        "recapMails/tenant",
    ),
}


@pytest.fixture(scope="module")
def clients() -> dict[str, Client]:
    """Return the client of each caller that `ops.refusals` names."""
    return {
        GUEST: Client.of(sign_in_anonymously()),
        OTHER_ADMIN: Client.of(sign_in("admin", OTHER)),
    }


@pytest.fixture
def after(rules: str) -> Iterator[None]:
    """Our own rules again."""
    yield
    load_rules(rules)


def is_allowed(refusal: Refusal, clients: dict[str, Client]) -> bool:
    """Return whether the request succeeds, with the documents that it is about."""
    ADMINISTRATOR.replace("events/eventId", {"tenantId": TENANT, "status": "draft", "name": "x"})
    before, fields = dict(refusal.before), dict(refusal.after)
    return clients[refusal.who].ask(refusal.method, refusal.path, before, fields)


@pytest.mark.usefixtures("after")
def test_the_rules_deny_every_request_of_strangers(rules: str, clients: dict[str, Client]) -> None:
    """The project's rules refuse every request, also next to an app's rules."""
    load_rules(merging.merged(APP_RULES, rules))
    asked = list(refusals(rules))
    assert len(asked) > 100
    assert [refusal for refusal in asked if is_allowed(refusal, clients)] == []


@pytest.mark.parametrize("block", BAD)
@pytest.mark.usefixtures("after")
def test_a_block_that_exposes_documents_is_found(
    block: str, rules: str, clients: dict[str, Client]
) -> None:
    """A block of the app that opens our paths lets a request of `ops/check` through."""
    app = APP_RULES.replace("match /orders", f"{block}\n    match /orders")
    load_rules(merging.merged(app, rules))
    [refusal] = [
        asked for asked in refusals(rules) if (asked.who, asked.method, asked.path) == BAD[block]
    ]
    assert is_allowed(refusal, clients)
