"""Whatever the bearer of a good link sends: a code of the specification, never `internal`."""

import itertools
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
from google.cloud import firestore

from tests.suite.actions.conftest import Record
from tests.suite.callables.test_hostile_calls import STATUS, VALUES, Answer, Called
from tests.suite.shares.conftest import URL, Share

NAMES: Final = ("outcome", "event", "after", "deliveryId", "url", "eventId", "shareId")
AFTER: Final = (
    *("~", "~~", "~d", "2026-05-01T18:30:00Z~", "2026-05-01T18:30:00Z~d", "2026-05-01~d"),
    *("0001-01-01T00:00:00Z~d", "9999-12-31T23:59:59.999999Z~d", "0001-01-01T00:00:00+14:00~d"),
    *("2026-05-01T18:30:00Z~..", "2026-05-01T18:30:00Z~__x__", "2026-05-01T18:30:00Z~a/b"),
)


@pytest.fixture(params=["getWebhookLog", "resendSharedWebhook"])
def called(request: pytest.FixtureRequest) -> Iterator[Called]:
    """Each of the calls that a link opens, in a process of its own; its log in the end."""
    one = Called(request.param)
    yield one
    log = one.process.printed()
    assert "Traceback" not in log
    assert "callable.failed" not in log


def test_arguments_of_any_kind(
    event: firestore.DocumentReference, share: Share, record: Record, called: Called
) -> None:
    """Beside a good token: each value of each argument, then a hundred mixtures of them."""
    token = share(canResend=True)["token"]
    record(URL)
    chance = random.Random(20260501)  # noqa: S311 - the same mixtures every time
    values = (*VALUES, *AFTER)
    single: list[dict[str, Any]] = [
        {name: value} for name, value in itertools.product(NAMES[:4], values)
    ]
    mixed = [
        {name: chance.choice(values) for name in NAMES if chance.random() < 0.4} for _ in range(100)
    ]
    codes = set[str]()
    for fields in [*single, *mixed]:
        answer: Answer = called.call(fields | {"token": token})
        if answer.status != 200:
            codes.add(answer.code)
    assert codes <= STATUS.keys()
    assert event.collection("deliveries").count().get()[0][0].value == 1
