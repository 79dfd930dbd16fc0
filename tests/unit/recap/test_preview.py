"""Previews of a recap, on adapters in memory (spec 4.9, 7.4)."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest

from emulator.provider_models.sendgrid import Answer, refused
from functions.call.errors import CallError, Code
from functions.email_address import address_hash
from functions.firestore.model import Put
from functions.mail.outcome import Cause
from functions.mail.sendgrid import KEY_NAME
from functions.recap.ledger.recap_store import LEASE
from functions.recap.preview import MARK, MIN_GUESTS_TO_COUNT_SKIPPED
from tests.unit.recap.recap_fixture import NOON, RecapFixture, RecapLimits, guest

ME = "organizer@example.com"
TOKEN = re.compile(r"token|unsubscribe\?", re.IGNORECASE)


def _written(fixture: RecapFixture) -> list[str]:
    """Return a list that records the documents that are written from now on."""
    written: list[str] = []
    fixture.firestore.watches.append(lambda path, *_: written.append(path))
    return written


def test_a_preview_shows_the_email_of_the_guest_with_most_photos(fixture: RecapFixture) -> None:
    """Spec 4.9: the whole mail is shown as that guest gets it, without the guest's own links."""
    fixture.guests(2)
    fixture.photo(guest(1), uploaderName="Bea")
    preview = fixture.preview(subject="Thanks", message="It was <good>.")
    fixture.send(subject="Thanks", message="It was <good>.")
    [(_, message)] = [mail for mail in fixture.mails if mail[0] == guest(1)]
    [copy] = [copy for copy in message.copies if copy.address == guest(1)]
    text, html = message.render(copy)
    links = re.compile(r"/preferences#token=[\w.-]+")
    assert preview.mail.subject == message.subject == "Thanks"
    # `MAIL_REPLY_TO` is empty, so answers go to the sender.
    assert (preview.mail.sender, preview.mail.reply_to) == (message.sender, None)
    assert preview.mail.text == links.sub("/preferences", text)
    assert preview.mail.html == links.sub("/preferences", html)
    assert "Hi Bea," in preview.mail.text
    assert preview.mail.html.startswith("<!DOCTYPE html>")
    assert preview.mail.html.endswith("</html>")
    assert "/0.jpg" in fixture.preview(guest=f" {guest(0).upper()} ").mail.text


@pytest.mark.parametrize("mode", ["personal", "all"])
def test_no_link_in_it_is_a_guests_own(fixture: RecapFixture, mode: str) -> None:
    """Staff must not be able to unsubscribe the guest or to see their choices."""
    fixture.guests(2)
    preview = fixture.preview(mode=mode, guest=guest(1), sendToMe=True, address=ME)
    [(address, message)] = fixture.mails
    [copy] = message.copies
    assert address == ME
    assert copy.headers == {}
    for part in (
        preview.mail.text,
        preview.mail.html,
        *message.render(copy),
        *copy.values.values(),
    ):
        assert not TOKEN.search(part)
    assert "https://example.com/preferences" in preview.mail.text


def test_recipients_are_shown_before_skipped_guests(fixture: RecapFixture) -> None:
    """A skipped guest is shown only if there is no recipient."""
    fixture.guests(2)
    fixture.photo(guest(1))
    fixture.opt_out(guest(1))
    assert "/0.jpg" in fixture.preview().mail.text
    fixture.opt_out(guest(0))
    preview = fixture.preview()
    assert "/1.jpg" in preview.mail.text
    assert (preview.recipients, preview.skipped) == (0, 2)


def _nothing(_: RecapFixture) -> None:
    pass


def _opt_outs(fixture: RecapFixture) -> None:
    fixture.opt_out(guest(0))
    fixture.opt_out(guest(3), "lifecycle")
    fixture.photo("no address")


def _too_many(fixture: RecapFixture) -> None:
    fixture.guests(9)


def _sent_before(fixture: RecapFixture) -> None:
    fixture.send(limits=LIMITS)
    fixture.guests(9)
    fixture.later(hours=24)


def _other_events(fixture: RecapFixture) -> None:
    for name in ("a", "b"):
        fixture.event(name)
        fixture.photo(guest(0), event_id=name)
        fixture.send(eventId=name)


def _mailed_enough(fixture: RecapFixture) -> None:
    fixture.event("a")
    for number in range(100, 117):
        fixture.photo(guest(number), event_id="a")
    fixture.send(eventId="a", limits=RecapLimits(per_call=17, per_tenant=20))


def _refused(fixture: RecapFixture) -> None:
    fixture.answers = [Answer(503, {}, b"")]
    fixture.refusal(limits=LIMITS)
    fixture.opt_out(guest(4))
    fixture.later(hours=1)


def _all_refused(fixture: RecapFixture) -> None:
    fixture.answers = [refused(401)] * 3
    fixture.refusal(limits=LIMITS)
    assert fixture.answers == []


def _crashed(fixture: RecapFixture) -> None:
    fixture.crash("update batches", before=True, limits=LIMITS)
    fixture.later(seconds=LEASE.total_seconds())


def _crashed_at_once(fixture: RecapFixture) -> None:
    fixture.crash("update locks", before=True, number=2, limits=LIMITS)
    fixture.later(seconds=LEASE.total_seconds())


LIMITS = RecapLimits(per_call=6, per_tenant=20)


@pytest.mark.parametrize("mode", ["personal", "all"])
@pytest.mark.parametrize(
    "before",
    [
        _nothing,
        _opt_outs,
        _too_many,
        _sent_before,
        _other_events,
        _mailed_enough,
        _refused,
        _all_refused,
        _crashed,
        _crashed_at_once,
    ],
)
def test_a_preview_has_the_numbers_and_notes_of_the_call(
    fixture: RecapFixture, before: Callable[[RecapFixture], None], mode: str
) -> None:
    """Spec 4.9: check after every kind of earlier recap. The preview writes no document."""
    fixture.guests(5)
    before(fixture)
    written = _written(fixture)
    preview = fixture.preview(mode=mode, limits=LIMITS)
    assert written == []
    assert fixture.collection("rateLimits") == {}
    mails, requests = len(fixture.mails), fixture.requests
    result = fixture.send(mode=mode, limits=LIMITS)
    assert preview.blocked is None
    assert len(fixture.mails) - mails == preview.recipients == result.sent
    assert fixture.requests > requests
    assert preview.skipped == result.skipped
    assert preview.notes == [*filter(None, [result.message]), *result.notes]
    assert preview.left == result.skipped_by.get("left", 0)


def _opted_out(fixture: RecapFixture, address: str) -> None:
    fixture.opt_out(address)


def _unreachable(fixture: RecapFixture, address: str) -> None:
    back = {"unreachableUntil": fixture.now + timedelta(days=1)}
    fixture.documents.commit(Put(f"users/guest-{address_hash(address)}", back))


@pytest.mark.parametrize("only_new", [False, True])
@pytest.mark.parametrize("others", [0, MIN_GUESTS_TO_COUNT_SKIPPED - 2])
@pytest.mark.parametrize("before", [_opted_out, _unreachable])
def test_a_preview_for_few_guests_does_not_reveal_a_choice(
    fixture: RecapFixture,
    others: int,
    before: Callable[[RecapFixture, str], None],
    *,
    only_new: bool,
) -> None:
    """Spec 4.9: the whole answer is the same as for a guest who wants the mail."""
    stranger = "stranger@example.com"
    fixture.guests(others)
    fixture.photo(stranger)
    fixture.photo(stranger)
    for had_recap in (0, others + 1):
        willing = fixture.preview(min_guests=MIN_GUESTS_TO_COUNT_SKIPPED, onlyNew=only_new)
        before(fixture, stranger)
        seen = fixture.preview(min_guests=MIN_GUESTS_TO_COUNT_SKIPPED, onlyNew=only_new)
        assert seen == willing
        expected = 0 if only_new and had_recap else others + 1
        assert (willing.recipients, willing.skipped) == (expected, None)
        assert willing.had_recap == (0 if only_new else had_recap)
        fixture.documents.commit(Put(f"users/guest-{address_hash(stranger)}", {}))
        fixture.send()
        fixture.later(hours=24)


def test_it_is_mailed_to_the_caller_alone_and_marked(fixture: RecapFixture) -> None:
    """Spec 4.9, `sendToMe`: the caller gets the mail that is shown, and no cooldown begins."""
    fixture.guests(3)
    written = _written(fixture)
    preview = fixture.preview(sendToMe=True, address=ME, subject="Thanks")
    [(address, message)] = fixture.mails
    assert (address, message.subject, preview.mail.subject) == (ME, f"{MARK} Thanks", "Thanks")
    assert message.render(message.copies[0]) == (preview.mail.text, preview.mail.html)
    [counted] = fixture.collection("rateLimits")
    assert (preview.mailed, written) == (True, [f"rateLimits/{counted}"])
    assert fixture.send().sent == 3


@pytest.mark.parametrize(
    ("answer", "code", "word"),
    [
        (refused(401), Code.INTERNAL, Cause.KEY.who_can_fix(KEY_NAME)),
        (refused(429), Code.INTERNAL, Cause.BUSY.who_can_fix(KEY_NAME)),
        (refused(413), Code.INTERNAL, "Try again."),
        (refused(500), Code.INTERNAL, Cause.BUSY.who_can_fix(KEY_NAME)),
        (Answer(500, {}, b"<html>"), Code.INTERNAL, "may still arrive"),
        (
            Answer(400, {}, b'{"errors": [{"message": "no", "field": "personalizations.0.to"}]}'),
            Code.FAILED_PRECONDITION,
            "rejected your address",
        ),
    ],
)
def test_a_rejected_preview_email_has_its_cause(
    fixture: RecapFixture, answer: Answer, code: Code, word: str
) -> None:
    """Spec 7.4: send only one request, as the recap would get the same answer."""
    fixture.guests(1)
    fixture.answers = [answer]
    with pytest.raises(CallError, match=re.escape(word)) as refused:
        fixture.preview(sendToMe=True, address=ME)
    assert (refused.value.code, fixture.requests, fixture.now) == (code, 1, NOON)
