"""Links to the log of a URL: who gives them out, and how they end (spec 4.11, 4.12)."""

from datetime import timedelta
from typing import Any

import pytest

from functions.call_rules import Caller, Code, Role
from functions.links.token import Scope, TokenKeys
from functions.webhooks.calls.shared_log import LogShare, LogShareStore
from functions.webhooks.calls.webhook_arguments import RevokeArguments, ShareArguments
from functions.webhooks.webhook_settings import key
from tests.in_memory.adapters import InMemorySecrets
from tests.in_memory.documents import InMemoryDocuments
from tests.unit.webhooks.parts import EVENT, NOW, OTHER, URL, Parts, refused

ADMIN = Caller("u1", Role.ADMIN, "t1")


@pytest.fixture
def parts() -> Parts:
    """An event with one URL."""
    return Parts()


def share(parts: Parts, url: str = URL, **fields: Any) -> tuple[str, LogShare]:
    """Give a link out."""
    return parts.process().log_links.give_out(
        ADMIN, ShareArguments(event_id=EVENT, url=url, **fields)
    )


def revoke(parts: Parts, share_id: str) -> object:
    """End one."""
    return parts.process().log_links.revoke(
        ADMIN, RevokeArguments(event_id=EVENT, share_id=share_id)
    )


def record(parts: Parts, share_id: str) -> LogShare:
    """The share as it is recorded."""
    found = LogShareStore(InMemoryDocuments(parts.firestore)).load(EVENT, share_id)
    assert found is not None
    return found


def test_a_link_leads_to_its_share(parts: Parts) -> None:
    """The token in the fragment names event and share, and expires with it to the second."""
    parts.now = NOW + timedelta(microseconds=700_000)
    link, shared = share(parts, lasts=timedelta(days=2), can_resend=True)
    page, _, token = link.partition("#token=")
    assert page == "https://wall.example.com/deliveries"
    assert TokenKeys(InMemorySecrets().versions("LOG_LINKS_KEY")).verify(
        token, parts.now, Scope.WEBHOOK_LOG
    ) == (EVENT, shared.id)
    assert record(parts, shared.id) == LogShare(
        id=shared.id,
        event_id=EVENT,
        url=URL,
        endpoint=key(URL),
        can_resend=True,
        created_by="u1",
        created_at=parts.now,
        expire_at=NOW + timedelta(days=2),
    )


def test_a_link_lasts_a_week_and_only_shows(parts: Parts) -> None:
    """A link without further arguments lasts a week and cannot resend."""
    _, made = share(parts)
    assert (made.expire_at, made.can_resend) == (NOW + timedelta(days=7), False)


@pytest.mark.parametrize("url", [OTHER, "", f"{URL}/", "https://example.com"])
def test_only_a_url_of_the_event_is_shared(parts: Parts, url: str) -> None:
    """What one meant to share is mostly mistyped; and nobody shares another event's."""
    assert "must be one of" in refused(Code.INVALID_ARGUMENT, lambda: share(parts, url))


def test_a_url_that_is_given_up_can_be_shared(parts: Parts) -> None:
    """Its receiver's people want to know why."""
    parts.subscribe(URL, disabled={key(URL): {"url": URL, "reason": "dead"}})
    assert share(parts)[1].url == URL


def test_a_share_is_made_once(parts: Parts) -> None:
    """Its id is this call's own: where the answer to the write was lost, it is there."""
    parts.repeats("create shares")
    _, made = share(parts)
    assert record(parts, made.id) == made


def test_a_link_ends_at_once_and_stays_so(parts: Parts) -> None:
    """The second call tells when the first one was; the record may go from then on."""
    _, made = share(parts)
    parts.now = at = NOW + timedelta(hours=1)
    assert revoke(parts, made.id) == at
    parts.now += timedelta(hours=1)
    assert revoke(parts, made.id) == at
    ended = record(parts, made.id)
    assert (ended.revoked_at, ended.expire_at) == (at, at)
    assert not ended.is_living(at - timedelta(seconds=1))  # by a clock that is behind


def test_two_end_a_link_at_the_same_moment(parts: Parts) -> None:
    """One of them does, and both are told the same."""
    _, made = share(parts)
    ends: list[object] = []

    def another_ends_it() -> None:
        parts.now += timedelta(seconds=1)
        ends.append(revoke(parts, made.id))

    parts.at("update shares", another_ends_it)
    ends.append(revoke(parts, made.id))
    assert ends == [parts.now, parts.now]


def test_the_answer_to_the_end_is_lost(parts: Parts) -> None:
    """A link whose end was written, but not confirmed, has ended."""
    _, made = share(parts)
    parts.repeats("update shares")
    assert revoke(parts, made.id) == NOW


def test_no_such_share(parts: Parts) -> None:
    """The end of an unknown share is refused with `not-found`."""
    assert "shareId" in refused(Code.NOT_FOUND, lambda: revoke(parts, "none"))


def test_the_log_names_no_token_and_no_path(
    parts: Parts, capfd: pytest.CaptureFixture[str]
) -> None:
    """Who may look at what, for how long: enough to find a link that should not be."""
    link, shared = share(parts)
    revoke(parts, shared.id)
    said = "".join(capfd.readouterr())
    for word in ("webhook.log_shared", "webhook.log_revoked", shared.id, "u1", "example.com"):
        assert word in said
    assert link.partition("=")[2] not in said
    assert "/hook" not in said
