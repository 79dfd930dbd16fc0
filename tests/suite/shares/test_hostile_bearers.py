"""Hostile bearers of a valid link get a code of the specification, never `internal`."""

import random
from collections.abc import Iterator
from typing import Final

import pytest
from google.cloud import firestore

from tests.suite.actions.conftest import Record
from tests.suite.callables.test_hostile_calls import STATUS, Answer, Called
from tests.suite.shares.conftest import URL, Share
from tests.unit.contract.hostile_arguments import AFTER, VALUES

NAMES: Final = ("outcome", "event", "after", "deliveryId", "url", "eventId", "shareId")


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
    """Beside a good token: mixtures; `tests/unit/contract` has each argument by itself."""
    token = share(canResend=True)["token"]
    record(URL)
    chance = random.Random(20260501)  # noqa: S311 - the same mixtures every time
    values = (*VALUES, *AFTER)
    codes = set[str]()
    mixed = [
        {name: chance.choice(values) for name in NAMES if chance.random() < 0.4} for _ in range(50)
    ]
    for fields in [*({"after": place} for place in AFTER), *mixed]:
        answer: Answer = called.call(fields | {"token": token})
        if answer.status != 200:
            codes.add(answer.code)
    assert codes <= STATUS.keys()
    assert event.collection("deliveries").count().get()[0][0].value == 1
