"""Complete calls of `sendEventRecap` on adapters in memory (spec 3.3, 4.1, 7.1)."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from emulator.provider_models.sendgrid import Answer, accepted, refused
from functions.call.errors import CallError, Code
from functions.email_address import address_hash, record_id
from functions.firestore.model import Put
from functions.links.token import TokenKeys
from functions.mail.outcome import Cause
from functions.mail.sendgrid import KEY_NAME, REQUEST_SECONDS
from functions.parameters import Parameters
from functions.ports import ParallelMap
from functions.recap import dispatch
from functions.recap.dispatch import MAX_BAD_ADDRESS_ROUNDS
from functions.recap.ledger.batch import TIMEOUT, BatchState
from functions.recap.mail.composer import Composer
from functions.recap.recap_arguments import RecapArguments
from functions.recap.report import ADDRESSES_OF_A_MAILBOX, RecapResult
from tests.in_memory.adapters import KEYS
from tests.unit.recap.recap_fixture import (
    ERRORS,
    EVENT,
    NOON,
    ORGANIZER,
    At,
    RecapFixture,
    RecapLimits,
    fail,
    guest,
)

BAD = b'{"errors": [{"message": "no", "field": "personalizations.0.to.0.email"}]}'
"""The email provider rejects the first address of a request."""
_ONE_ADDRESS = [
    ("Ann@example.com", "ann@example.com"),
    ("ann+Party@example.com", "ANN+party@EXAMPLE.com"),
    ("ann@example.com\u200b", "\ufeffAnn@example.com\u202c"),
    ("\u202aAnn@example.com", "ann@example.com\u00ad"),
    ("ann@example.com", "\u2060ann@example.com\u200e"),
    (" ann@example.com ", "Ann@example.com"),
    ("ann@münchen.example.com", "ann@xn--mnchen-3ya.example.com"),
]


def _named_in_the_link(fixture: RecapFixture) -> tuple[str, ...]:
    """Return the IDs in the link of the only email."""
    [(_, message)] = fixture.mails
    [token] = re.findall(r"#token=(\S+)", message.render(message.copies[0])[0])
    return TokenKeys(KEYS["EMAIL_PREFS_KEY"]).verify(token, fixture.now)


@pytest.mark.parametrize("has_account", [True, False])
def test_a_link_names_the_record_of_the_address(
    fixture: RecapFixture, *, has_account: bool
) -> None:
    """Design 3.54: accounts with the address do not change the meaning of the link."""
    fixture.photo("Ann+x@example.com")
    if has_account:
        fixture.account("u1", "ann+x@example.com")
    fixture.send()
    account = ("u1",) if has_account else ()
    assert _named_in_the_link(fixture) == (record_id("ann+x@example.com"), *account)


@pytest.mark.parametrize(("first", "second"), _ONE_ADDRESS)
def test_an_opt_out_holds_for_the_address(fixture: RecapFixture, first: str, second: str) -> None:
    """Design 3.52: case, spaces and the form of the domain do not matter."""
    fixture.photo(first)
    fixture.send()
    [record] = _named_in_the_link(fixture)
    fixture.documents.commit(Put(f"users/{record}", {"emailPreferences": {"recap": False}}))
    fixture.later(hours=24)
    fixture.photo(second)
    assert fixture.send().sent == 0


@pytest.mark.parametrize(("stored", "typed"), _ONE_ADDRESS)
def test_an_accounts_opt_out_holds_for_its_address(
    fixture: RecapFixture, stored: str, typed: str
) -> None:
    """Spec 4.1, rule 3, design 3.54: the spelling of the account's address does not matter."""
    fixture.photo(typed)
    fixture.account("u1", stored, recap=False)
    assert fixture.send().sent == 0
    fixture.account("u1", stored, recap=True)
    assert fixture.send().sent == 1


@pytest.mark.parametrize(
    ("decoy", "address"),
    [
        ("mi\u212ae@example.com", "mike@example.com"),
        ("anna\u017fmith@example.com", "annasmith@example.com"),
        ("\ufb01ona@example.com", "fiona@example.com"),
        ("stra\u00dfe@example.com", "strasse@example.com"),
        ("\uff4dike@example.com", "mike@example.com"),
        ("ana@exam\u200bple.com", "ana@example.com"),
        ("ana@example.com\0", "ana@example.com"),
        ("ana@example.com.", "ana@example.com"),
    ],
)
def test_a_text_that_looks_like_an_address_removes_no_guest(
    fixture: RecapFixture, decoy: str, address: str
) -> None:
    """Anyone may upload a photo with any text as the address, before or after the guest."""
    fixture.photo(decoy)
    fixture.photo(address)
    fixture.photo(decoy)
    result = fixture.send()
    assert (result.sent, result.skipped, fixture.addresses) == (1, 1, [address])


@pytest.mark.parametrize(
    "written",
    [" Ann@Example.com", "ann@example.com\u200b", "Ann@EXAMPLE.com", "\ufeffann@example.com"],
)
def test_an_account_with_the_same_text_is_found_before_it_is_listed(
    fixture: RecapFixture, written: str
) -> None:
    """An app may store the address of an account and of a photo as one person typed it."""
    fixture.photo(written)
    record = {"email": written, "emailPreferences": {"lifecycle": False}}
    fixture.documents.commit(Put("users/u1", record))
    assert fixture.send().skipped == 1


def test_photos_go_to_the_domain_that_was_written(fixture: RecapFixture) -> None:
    """IDNA 2008: `straße` and `strasse` are two domains."""
    fixture.photo("ana@stra\u00dfe.example")
    fixture.photo("ana@strasse.example")
    assert fixture.send().sent == 2
    assert sorted(fixture.addresses) == ["ana@strasse.example", "ana@xn--strae-oqa.example"]


def test_a_tag_or_a_dot_is_another_address(fixture: RecapFixture) -> None:
    """Design 3.52: choices for one address do not affect the other."""
    fixture.opt_out("victim@example.com")
    on = {"emailPreferences": {"recap": True}}
    fixture.documents.commit(Put(f"users/{record_id('victim+x@example.com')}", on))
    fixture.account("u1", "victim+x@example.com", recap=True)
    fixture.account("u2", "ben+x@example.com", recap=False)
    for address in ("victim@example.com", "ben@example.com", "b.en@gmail.com", "ben@gmail.com"):
        fixture.photo(address)
    result = fixture.send()
    assert (result.sent, result.skipped) == (3, 1)


def test_a_mailbox_gets_a_hundred_emails_of_a_recap(fixture: RecapFixture) -> None:
    """Design 3.44: the other addresses of the mailbox are left, and first in line next time."""
    tagged = [f"victim+{number:03}@example.com" for number in range(ADDRESSES_OF_A_MAILBOX + 30)]
    for address in (*tagged, "ann@example.com", "v.i.ctim@gmail.com"):
        fixture.photo(address)
        fixture.later(seconds=1)
    preview = fixture.preview()
    assert (preview.recipients, preview.left) == (ADDRESSES_OF_A_MAILBOX + 2, 30)
    result = fixture.send()
    assert (result.sent, result.skipped_by) == (ADDRESSES_OF_A_MAILBOX + 2, {"left": 30})
    assert result.notes == preview.notes
    assert len(result.notes) == 2
    fixture.later(hours=24)
    fixture.mails.clear()
    result = fixture.send()
    assert (result.sent, result.skipped_by) == (ADDRESSES_OF_A_MAILBOX + 2, {"left": 30})
    assert set(tagged[ADDRESSES_OF_A_MAILBOX:]) <= set(fixture.addresses)
    fixture.later(hours=24)
    assert fixture.send(onlyNew=True).skipped_by == {}


def test_a_bounce_affects_only_its_address(fixture: RecapFixture) -> None:
    """A server can reject one tag and accept the others."""
    back = {"unreachableUntil": fixture.now + timedelta(days=1)}
    for bounced in ("ann@example.com", "bob+x@example.com"):
        fixture.documents.commit(Put(f"users/guest-{address_hash(bounced)}", back))
    for address in ("ann@example.com", "ann+x@example.com", "bob@example.com"):
        fixture.photo(address)
    result = fixture.send()
    assert (result.sent, result.skipped, result.skipped_by) == (2, 0, {"bounced": 1})
    assert result.notes[0].startswith("Not sent to 1 guest with an address that hard-bounced")
    assert sorted(fixture.addresses) == ["ann+x@example.com", "bob@example.com"]


def test_an_account_with_a_changed_address_opts_no_one_out(
    fixture: RecapFixture,
) -> None:
    """The accounts that an address's record names are checked for their present address."""
    fixture.photo("ann@example.com")
    fixture.account("u1", "Ann@example.com", recap=False)
    fixture.account("u1", "Ben@example.com", recap=False)
    assert fixture.send().sent == 1


@pytest.mark.parametrize(("only_new", "sent"), [(False, 7), (True, 1)])
def test_a_second_recap_is_for_all_guests_or_only_for_new_ones(
    fixture: RecapFixture, *, only_new: bool, sent: int
) -> None:
    """Spec 4.1, rule 1: the preview has the number of guests with an earlier recap."""
    fixture.guests(6)
    assert fixture.send().sent == 6
    fixture.later(hours=24)
    fixture.guests(7)
    preview = fixture.preview(onlyNew=only_new)
    assert (preview.recipients, preview.had_recap) == (sent, sent - 1)
    assert fixture.send(onlyNew=only_new).sent == sent


def test_at_most_5000_recipients_a_call_and_the_rest_with_the_next(fixture: RecapFixture) -> None:
    """Spec 4.1, rule 2, here with 3. Design 3.38: all guests get one before any gets a second."""
    fixture.guests(5)
    limits = RecapLimits(per_call=3)
    first = fixture.send(limits=limits)
    assert first.sent == 3
    assert RecapLimits().per_call == Parameters().recipients_per_recap == 5000
    assert (first.message, first.skipped, first.skipped_by) == (None, 0, {"left": 2})
    (note,) = first.notes
    assert note == (
        "2 guests did not fit in this call. They are first in line for the next recap, in 24 hours."
    )
    before = list(fixture.addresses)
    fixture.later(hours=24)
    preview = fixture.preview(limits=limits)
    assert (preview.recipients, preview.had_recap, preview.left) == (3, 1, 2)
    assert fixture.send(limits=limits).sent == 3
    assert set(fixture.addresses) == {guest(number) for number in range(5)}
    fixture.later(hours=24)
    assert fixture.send(limits=limits).sent == 3
    assert set(before) - {fixture.addresses[5]} <= set(fixture.addresses[6:])


@pytest.mark.parametrize(("only_new", "left"), [(False, 3), (True, 2)])
def test_a_call_that_continues_a_recap_says_again_how_many_are_left(
    fixture: RecapFixture, *, only_new: bool, left: int
) -> None:
    """Spec 4.1, rule 2: the first answer may be lost. New guests are also left."""
    fixture.guests(2)
    fixture.send()
    fixture.later(hours=24)
    for number in range(2, 6):
        fixture.later(seconds=1)
        fixture.photo(guest(number))
    limits = RecapLimits(per_call=4)
    fixture.answers = [accepted("made-up"), refused(413)]
    fixture.refusal(limits=limits)
    fixture.opt_out(guest(0))
    fixture.photo("newcomer@example.com")
    fixture.photo("another@example.com")
    preview = fixture.preview(limits=limits, onlyNew=only_new)
    result = fixture.send(limits=limits, onlyNew=only_new)
    assert (result.sent, result.skipped_by) == (2, {"left": left})
    assert any(note.startswith(f"{left} guests did not fit") for note in result.notes)
    assert (preview.left, preview.notes) == (left, result.notes)


@pytest.mark.parametrize("crashed", [False, True])
def test_a_continued_only_new_recap_sends_no_second_recap(
    fixture: RecapFixture, *, crashed: bool
) -> None:
    """Spec 4.1, `onlyNew`: of an interrupted recap for everybody only newcomers get the rest."""
    fixture.guests(4)
    fixture.send()
    fixture.later(hours=24)
    for number in (7, 8, 9):
        fixture.photo(guest(number))
    if crashed:
        fixture.crash("update batches")
        fixture.later(minutes=10)
    else:
        fixture.answers = [accepted("made-up"), *[refused(401)] * 3]
        assert fixture.refusal().code is Code.INTERNAL
    before = len(fixture.mails)
    preview = fixture.preview(onlyNew=True)
    result = fixture.send(onlyNew=True)
    assert fixture.addresses[before:] == [guest(9)]
    assert (preview.recipients, preview.had_recap, result.sent) == (1, 0, 1)
    continued, newcomers = result.notes
    assert continued == "This continues an interrupted recap: 3 emails in total."
    assert newcomers == (
        "Not sent to 4 guests who already received a recap of this event (onlyNew)."
    )


def test_only_new_never_sends_a_second_recap(fixture: RecapFixture) -> None:
    """Spec 4.1, `onlyNew`: a rejected address counts as served, so it does not delay others."""
    fixture.guests(2)
    fixture.answers = [Answer(400, {}, BAD)]
    assert fixture.send(onlyNew=True).sent == 1
    fixture.later(hours=24)
    nobody = "Every guest has already received a recap. To send to everyone, omit onlyNew."
    assert fixture.preview(onlyNew=True).notes == [nobody]
    assert fixture.send(onlyNew=True) == RecapResult(0, 0, nobody)
    assert fixture.send(onlyNew=False).sent == 2


def test_a_day_after_a_crash_a_call_begins_a_new_recap(fixture: RecapFixture) -> None:
    """Spec 3.3: no call can continue the older recap, which stays interrupted."""
    fixture.guests(1)
    fixture.crash("update locks")
    fixture.later(hours=24)
    assert fixture.send().sent == 1
    assert sorted(recap["state"] for recap in fixture.recaps().values()) == ["interrupted", "sent"]


@pytest.mark.parametrize("call", ["find photos", "get users", "find users", "update locks"])
def test_a_failure_before_anything_is_sent_can_be_retried_at_once(
    fixture: RecapFixture, call: str
) -> None:
    """Spec 7.1 and design 3.39: the answer is `internal`, and no cooldown begins."""
    fixture.guests(3)
    refused = fixture.refusal(At(call, fail))
    assert (refused.code, fixture.mails) == (Code.INTERNAL, [])
    assert fixture.recap()["state"] == "failed"
    assert fixture.send() == RecapResult(sent=3, skipped=0)


def test_where_it_takes_some_a_retry_sends_the_rest_only(fixture: RecapFixture) -> None:
    """Design 3.39: the rest goes out with the next call, except to a guest who has opted out."""
    fixture.guests(5)
    fixture.answers = [accepted("made-up"), refused(403), refused(413)]
    assert fixture.refusal().message == (
        "2 emails were sent and 3 were not. Call again to send the rest. "
        + Cause.KEY.who_can_fix(KEY_NAME)
    )
    assert (fixture.recap()["state"], fixture.recap()["sent"], fixture.recap()["left"]) == (
        "interrupted",
        2,
        3,
    )
    fixture.opt_out(guest(4))
    fixture.later(hours=1)
    again = fixture.send()
    assert (again.sent, again.skipped) == (2, 1)
    assert again.notes == ["This continues an interrupted recap: 4 emails in total."]
    assert sorted(fixture.addresses) == [guest(number) for number in range(4)]
    assert (fixture.recap()["state"], fixture.recap()["sent"], fixture.recap()["left"]) == (
        "sent",
        4,
        0,
    )
    assert fixture.refusal().code is Code.RESOURCE_EXHAUSTED


_UNKNOWN_KEY = b'{"errors": [{"message": "SG.x is no key of ours", "field": null}]}'
_UNVERIFIED = b'{"errors": [{"message": "a@example.com is not verified", "field": "from"}]}'
_USED_UP = b'{"errors": [{"message": "Maximum credits exceeded", "field": null}]}'


@pytest.mark.parametrize(
    ("answers", "whose", "cause"),
    [
        ([Answer(401, {}, _UNKNOWN_KEY)], "SENDGRID_API_KEY", "key"),
        ([Answer(403, {}, _UNVERIFIED)], "MAIL_FROM", "sender"),
        ([Answer(401, {}, _USED_UP)], "limit", "credits"),
        ([refused(503)] * 6, "in a few minutes", "busy"),
    ],
)
def test_a_rejected_recap_has_a_cause_for_the_operator(
    fixture: RecapFixture,
    capfd: pytest.CaptureFixture[str],
    answers: list[Answer],
    whose: str,
    cause: str,
) -> None:
    """Spec 7.1, internal: the organizer gets a sentence, and the operator the cause."""
    fixture.guests(1)
    fixture.answers = answers
    refused = fixture.refusal()
    assert refused.code is Code.INTERNAL
    assert refused.message.startswith("Nothing was sent. ")
    assert whose in refused.message
    printed = capfd.readouterr().out
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [(line["severity"], line["message"], line["cause"]) for line in lines] == [
        ("WARNING", "recap.batch", cause),
        ("ERROR", "recap.done", cause),
    ]
    assert not any(word in refused.message + printed for word in ("SG.", "@", "is not", "Maximum"))
    assert fixture.send().sent == 1


@pytest.mark.parametrize(
    ("setting", "should_be"),
    [
        ("SENDGRID_API_KEY", "an API key of SendGrid"),
        ("MAIL_REPLY_TO", "an email address, or empty"),
    ],
)
def test_what_the_deployment_lacks_is_named(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str], setting: str, should_be: str
) -> None:
    """Spec 7.1 and 7.4, internal: the preview also names it. A call works after the correction."""
    fixture.guests(1)
    fixture.lacks = setting
    assert fixture.refusal().message == (
        "The recap could not be prepared, and nothing was sent. "
        f"Ask your administrator to correct a setting: {setting} should be {should_be}."
    )
    with pytest.raises(CallError, match=f"correct a setting: {setting}"):
        fixture.preview()
    assert capfd.readouterr().out.count(f'"setting": "{setting}"') == 2
    fixture.lacks = None
    assert fixture.send().sent == 1


def test_requests_with_few_mails_are_sent_apart_from_large_ones(
    fixture: RecapFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of the small requests leave at a time, as each takes less memory."""
    monkeypatch.setattr(dispatch, "SMALL_BATCH", 1)
    fixture.guests(5)
    sizes: dict[str, list[int]] = {}

    def pool(name: str) -> ParallelMap:
        def send(work: Callable[[Any], Any], items: Iterable[Any], /) -> list[Any]:
            batches = list(items)
            sizes[name] = [len(planned.recipients) for planned in batches]
            return [work(planned) for planned in batches]

        return send

    sender = replace(
        fixture.process().recap_sender, in_parallel=pool("large"), small_in_parallel=pool("small")
    )
    assert sender.send(ORGANIZER, RecapArguments(event_id=EVENT)).sent == 5
    assert sizes == {"large": [2, 2], "small": [1]}


# The email provider (design 3.46).


def test_a_busy_email_provider_is_retried(fixture: RecapFixture) -> None:
    """An answer in SendGrid's error format was not accepted: five more requests, growing pauses."""
    fixture.guests(1)
    fixture.answers = [refused(status) for status in (429, 500, 502, 503, 504)]
    assert fixture.send().sent == 1
    assert fixture.slept == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_retries_end_45_seconds_after_the_last_accepted_batch(
    fixture: RecapFixture,
) -> None:
    """A pause is at most 30 seconds. Afterwards no batch is tried, and none is unknown."""
    fixture.guests(5)
    wait = Answer(503, {"Retry-After": "20", "X-RateLimit-Reset": "0"}, ERRORS)
    fixture.answers = [wait, accepted("made-up"), wait, wait, wait, accepted("made-up")]
    refused = fixture.refusal()
    assert refused.message.startswith("2 emails were sent and 3 were not.")
    assert (refused.details, fixture.slept) == (None, [20.0] * 3)
    assert fixture.send().sent == 3
    fixture.later(hours=24)
    fixture.answers = [Answer(503, {"Retry-After": "3600"}, ERRORS)] * 2
    assert fixture.refusal().message.startswith("Nothing was sent.")
    assert fixture.slept[3:] == [30.0]
    fixture.answers = []
    assert fixture.send().sent == 5


def test_an_address_that_the_provider_rejects_is_skipped(fixture: RecapFixture) -> None:
    """All other guests of the batch get the mail."""
    fixture.guests(2)
    fixture.answers = [Answer(400, {}, BAD)]
    assert fixture.send() == RecapResult(sent=1, skipped=1)
    assert fixture.addresses == [guest(1)]
    (batch,) = fixture.batches()
    assert batch.rejected == (address_hash(guest(0)),)
    assert (fixture.recap()["sent"], fixture.recap()["skipped"], fixture.recap()["left"]) == (
        1,
        1,
        0,
    )


def test_a_slow_refusal_of_addresses_does_not_outlast_the_function(fixture: RecapFixture) -> None:
    """Cloud Functions stops a call after 540 seconds. Rejected emails can be sent later."""
    fixture.guests(1)
    bad = b'{"errors": [{"message": "no", "field": "personalizations.7.to.0.email"}]}'
    fixture.answers = [Answer(400, {}, bad)] * 50

    def slowly(what: str, effect: Callable[[], Any], *, retried: bool = True) -> Any:
        del retried
        if what == "mailer.send":
            fixture.later(seconds=REQUEST_SECONDS)
        return effect()

    fixture.refusal(slowly)
    assert fixture.monotonic() <= TIMEOUT.total_seconds()
    assert fixture.recap()["state"] == "failed"


def test_a_batch_is_sent_again_without_its_refused_addresses_so_often(
    fixture: RecapFixture,
) -> None:
    """A batch is not repeated without end if the email provider names no address of it."""
    fixture.guests(1)
    bad = b'{"errors": [{"message": "no", "field": "personalizations.7.to.0.email"}]}'
    fixture.answers = [Answer(400, {}, bad)] * (MAX_BAD_ADDRESS_ROUNDS + 1)
    assert fixture.refusal().code is Code.INTERNAL
    assert (fixture.answers, fixture.recap()["state"]) == ([], "failed")
    assert fixture.send().sent == 1


def test_an_email_that_could_not_be_composed_can_be_sent_later(
    fixture: RecapFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design 3.39: a fault of ours before the request has sent nothing, unlike a crash."""
    fixture.guests(1)
    with monkeypatch.context() as broken:
        broken.setattr(Composer, "message", fail)
        assert fixture.refusal().message.startswith("The email provider rejected every email.")
    assert fixture.send() == RecapResult(sent=1, skipped=0)


@pytest.mark.parametrize("status", [302, 500, 502, 503, 504])
def test_an_unknown_batch_counts_as_sent_and_no_further_batch_leaves(
    fixture: RecapFixture, status: int
) -> None:
    """No guest gets two emails, and a failing email provider gets no further batches."""
    fixture.guests(5)
    fixture.answers = [Answer(status, {}, b"<html>")]
    refused = fixture.refusal()
    assert refused.details == {"unconfirmed": 2}
    assert "didn't confirm 2 emails. They count as sent" in refused.message
    assert [batch.state for batch in fixture.batches()] == [
        BatchState.UNKNOWN,
        BatchState.PLANNED,
        BatchState.PLANNED,
    ]
    again = fixture.send()
    assert again.sent == 3
    assert again.message is None
    assert any("didn't confirm 2 emails" in note for note in again.notes)
    assert fixture.addresses == [guest(number) for number in (2, 3, 4)]


@pytest.mark.parametrize(
    ("answers", "others"),
    [
        ([accepted("m")], "2 other emails were sent."),
        ([Answer(400, {}, BAD), accepted("m")], "1 other email was sent."),
    ],
)
def test_the_error_of_an_unknown_batch_has_the_number_of_sent_emails(
    fixture: RecapFixture, answers: list[Answer], others: str
) -> None:
    """Spec 7.1, internal: the organizer reads how many guests have the mail for certain."""
    fixture.guests(3)
    fixture.answers = [*answers, Answer(502, {}, b"<html>")]
    assert fixture.refusal().message.endswith(f" {others}")


@pytest.mark.parametrize(("guests", "state"), [(0, "empty"), (1, "sent")])
def test_the_end_of_a_recap_is_no_error(
    fixture: RecapFixture, capfd: pytest.CaptureFixture[str], guests: int, state: str
) -> None:
    """An error in the log would alert the operator."""
    fixture.guests(guests)
    fixture.send()
    line = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert (line["severity"], line["message"], line["state"]) == ("INFO", "recap.done", state)


def test_the_record_names_no_address(fixture: RecapFixture) -> None:
    """Design 4: the ledger has guests by ID, and the organizer's arguments."""
    fixture.guests(1)
    caller = replace(ORGANIZER, email="organizer@example.org")
    fixture.send(caller=caller, mode="all", subject="Thank you", message="All of you.")
    recap = {**fixture.recap()}
    assert recap.pop("startedByEmail") == "organizer@example.org"
    assert (recap["subject"], recap["message"]) == ("Thank you", "All of you.")
    assert (recap["mode"], recap["startedBy"], recap["startedAt"]) == ("all", "organizer", NOON)
    assert fixture.batches()[0].recipients == (address_hash(guest(0)),)
    assert "@" not in repr([recap, fixture.batches()])


@pytest.mark.parametrize("count", [1, 12, 120])
def test_each_guest_sees_all_their_own_photos(fixture: RecapFixture, count: int) -> None:
    """Spec 1, `personal`: a guest with many photos can have a separate request."""
    fixture.guests(3)
    stored = "https://firebasestorage.example.com/v0/b/p1.appspot.com/o/" + "x" * 120
    own = [f"{stored}/{number}.jpg" for number in range(count)]
    for url in own:
        fixture.later(seconds=1)
        fixture.photo("ann@example.com", url=url)
    assert fixture.preview(guest="ann@example.com").mail.text.count(stored) == count
    assert fixture.send().sent == 4
    [(_, message)] = [mail for mail in fixture.mails if mail[0] == "ann@example.com"]
    assert len(message.copies) == (1 if count == 120 else 2)
    [copy] = [copy for copy in message.copies if copy.address == "ann@example.com"]
    text, html = message.render(copy)
    assert [line for line in text.splitlines() if line.startswith(stored)] == own
    assert all(html.count(f"href='{url}'") == 1 for url in own)
