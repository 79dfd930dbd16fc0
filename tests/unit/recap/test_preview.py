"""A recap before it is sent, on ports in memory (spec 4.9, 7.4)."""

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
from tests.unit.recap.parts import NOON, House, RecapLimits, guest

ME = "organizer@example.com"
TOKEN = re.compile(r"token|unsubscribe\?", re.IGNORECASE)


def _written(house: House) -> list[str]:
    """Watch the database, and name the documents that are written from now on."""
    written: list[str] = []
    house.firestore.watches.append(lambda path, *_: written.append(path))
    return written


def test_the_mail_of_a_guest_with_most_photos_is_shown(house: House) -> None:
    """Spec 4.9: the whole mail is shown as that guest gets it, without the guest's own links."""
    house.guests(2)
    house.photo(guest(1), uploaderName="Bea")
    preview = house.preview(subject="Thanks", message="It was <good>.")
    house.send(subject="Thanks", message="It was <good>.")
    [(_, message)] = [mail for mail in house.mails if mail[0] == guest(1)]
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
    assert "/0.jpg" in house.preview(guest=f" {guest(0).upper()} ").mail.text


@pytest.mark.parametrize("mode", ["personal", "all"])
def test_no_link_in_it_is_a_guests_own(house: House, mode: str) -> None:
    """Security: staff who look at a mail cannot unsubscribe its guest, nor see their choices."""
    house.guests(2)
    preview = house.preview(mode=mode, guest=guest(1), sendToMe=True, address=ME)
    [(address, message)] = house.mails
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


def test_who_gets_the_mail_is_shown_before_who_does_not(house: House) -> None:
    """A skipped guest is shown only where nobody gets the mail."""
    house.guests(2)
    house.photo(guest(1))
    house.opt_out(guest(1))
    assert "/0.jpg" in house.preview().mail.text
    house.opt_out(guest(0))
    preview = house.preview()
    assert "/1.jpg" in preview.mail.text
    assert (preview.recipients, preview.skipped) == (0, 2)


def _nothing(_: House) -> None:
    pass


def _opt_outs(house: House) -> None:
    house.opt_out(guest(0))
    house.opt_out(guest(3), "lifecycle")
    house.photo("no address")


def _too_many(house: House) -> None:
    house.guests(9)


def _sent_before(house: House) -> None:
    house.send(limits=LIMITS)
    house.guests(9)
    house.later(hours=24)


def _other_events(house: House) -> None:
    for name in ("a", "b"):
        house.event(name)
        house.photo(guest(0), event_id=name)
        house.send(eventId=name)


def _mailed_enough(house: House) -> None:
    house.event("a")
    for number in range(100, 117):
        house.photo(guest(number), event_id="a")
    house.send(eventId="a", limits=RecapLimits(per_call=17, per_tenant=20))


def _refused(house: House) -> None:
    house.answers = [Answer(503, {}, b"")]
    house.refusal(limits=LIMITS)
    house.opt_out(guest(4))
    house.later(hours=1)


def _all_refused(house: House) -> None:
    house.answers = [refused(401)] * 3
    house.refusal(limits=LIMITS)
    assert house.answers == []


def _crashed(house: House) -> None:
    house.crash("update batches", before=True, limits=LIMITS)
    house.later(seconds=LEASE.total_seconds())


def _crashed_at_once(house: House) -> None:
    house.crash("update locks", before=True, number=2, limits=LIMITS)
    house.later(seconds=LEASE.total_seconds())


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
def test_what_is_shown_is_what_a_call_would_do(
    house: House, before: Callable[[House], None], mode: str
) -> None:
    """Spec 4.9: the same numbers and words after any earlier recap; and nothing is written."""
    house.guests(5)
    before(house)
    written = _written(house)
    preview = house.preview(mode=mode, limits=LIMITS)
    assert written == []
    assert house.collection("rateLimits") == {}
    mails, requests = len(house.mails), house.requests
    result = house.send(mode=mode, limits=LIMITS)
    assert preview.blocked is None
    assert len(house.mails) - mails == preview.recipients == result.sent
    assert house.requests > requests
    assert preview.skipped == result.skipped
    assert preview.notes == [*filter(None, [result.message]), *result.notes]
    assert preview.left == result.skipped_by.get("left", 0)


def _opted_out(house: House, address: str) -> None:
    house.opt_out(address)


def _unreachable(house: House, address: str) -> None:
    back = {"unreachableUntil": house.now + timedelta(days=1)}
    house.documents.commit(Put(f"users/guest-{address_hash(address)}", back))


@pytest.mark.parametrize("only_new", [False, True])
@pytest.mark.parametrize("others", [0, MIN_GUESTS_TO_COUNT_SKIPPED - 2])
@pytest.mark.parametrize("before", [_opted_out, _unreachable])
def test_of_few_guests_nobody_learns_what_one_has_chosen(
    house: House, others: int, before: Callable[[House, str], None], *, only_new: bool
) -> None:
    """Spec 4.9: the whole answer is the same as for a guest who wants the mail."""
    stranger = "stranger@example.com"
    house.guests(others)
    house.photo(stranger)
    house.photo(stranger)
    for had_recap in (0, others + 1):
        willing = house.preview(min_guests=MIN_GUESTS_TO_COUNT_SKIPPED, onlyNew=only_new)
        before(house, stranger)
        seen = house.preview(min_guests=MIN_GUESTS_TO_COUNT_SKIPPED, onlyNew=only_new)
        assert seen == willing
        expected = 0 if only_new and had_recap else others + 1
        assert (willing.recipients, willing.skipped) == (expected, None)
        assert willing.had_recap == (0 if only_new else had_recap)
        house.documents.commit(Put(f"users/guest-{address_hash(stranger)}", {}))
        house.send()
        house.later(hours=24)


def test_it_is_mailed_to_the_caller_alone_and_marked(house: House) -> None:
    """Spec 4.9, `sendToMe`: the caller gets the mail that is shown, and no cooldown begins."""
    house.guests(3)
    written = _written(house)
    preview = house.preview(sendToMe=True, address=ME, subject="Thanks")
    [(address, message)] = house.mails
    assert (address, message.subject, preview.mail.subject) == (ME, f"{MARK} Thanks", "Thanks")
    assert message.render(message.copies[0]) == (preview.mail.text, preview.mail.html)
    [counted] = house.collection("rateLimits")
    assert (preview.mailed, written) == (True, [f"rateLimits/{counted}"])
    assert house.send().sent == 3


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
def test_a_mail_service_that_does_not_take_it_says_who_can_fix_it(
    house: House, answer: Answer, code: Code, word: str
) -> None:
    """Spec 7.4: one request, never a second one; the recap would have met the same."""
    house.guests(1)
    house.answers = [answer]
    with pytest.raises(CallError, match=re.escape(word)) as refused:
        house.preview(sendToMe=True, address=ME)
    assert (refused.value.code, house.requests, house.now) == (code, 1, NOON)
