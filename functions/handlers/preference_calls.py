"""Handlers of the functions for email preferences.

Every call is checked before it reads or writes. The arguments come first, because their check costs
nothing. The token and the rate limit follow. Lookups (spec 8) and calls with an invalid token count
by IP address, which also limits guesses of tokens. Changes by `updateEmailPreferences` count by
link. An unsubscribe request with a valid token is not counted (design 3.59).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import flask

from functions import log
from functions.call.arguments import refuse_unknown
from functions.call.errors import CallError, Code
from functions.email_address import is_guest_uid
from functions.gcp.callables import STATUS, Call
from functions.gcp.request import bounded_body, text_answer
from functions.gcp.triggers import DocumentWritten, retry_on_error
from functions.links.link import (
    PREFERENCES_LINK,
    UNSUBSCRIBE_LINK,
    confirmation_link,
    token_in_query,
)
from functions.preferences.preferences import (
    CHOSEN_AT,
    AddressRecords,
    Flag,
    address_record_id,
    read_choices,
    stored_choice,
    to_response,
)

if TYPE_CHECKING:
    from functions.service import Service

_FIELD: Final = ("List-Unsubscribe", "One-Click")
_MAX_BYTES: Final = 4096
"""Maximum size of the body, which has 26 characters or is a form with one field."""
_MULTIPART: Final = re.compile(
    rb'name="?List-Unsubscribe"?[^\n]*(?:\n[^\r\n]+\r?)*\n\r?\n\s*One-Click\s', re.IGNORECASE
)
"""Pattern of the field in a multipart body, after the header of its part."""


def get_email_preferences(service: "Service", call: Call) -> dict[str, Any]:
    """Return the address and preferences of the user whom the token names (spec 4.2).

    Raises:
        CallError: See spec 7.2. `resource-exhausted` over the rate limit.
    """
    token = PREFERENCES_LINK.token(call.data)
    ids = service.admission.admit(call, token, PREFERENCES_LINK)
    with _internal("preferences.not-read", "Your preferences couldn't be loaded. Try again."):
        return _answer(service, service.users.find(service.adapters.accounts, *ids))


def update_email_preferences(service: "Service", call: Call) -> dict[str, Any]:
    """Change the flags in `preferences`, and return the address and all preferences.

    Raises:
        CallError: See spec 7.2. `invalid-argument` also for flags that cannot be changed.
            `resource-exhausted` over the rate limit.
    """
    refuse_unknown(call.data, "token", "preferences")
    token = PREFERENCES_LINK.token(call.data)
    choices = read_choices(call.data.get("preferences"))
    ids = service.admission.verify(call, token, PREFERENCES_LINK)
    service.admission.count_change(call, PREFERENCES_LINK, ids)
    with _internal("preferences.not-written", "Your change couldn't be saved. Try again."):
        users = service.users
        records = users.find(service.adapters.accounts, *ids)
        records = users.choose(records, choices, service.clock.now())
    message = "Your change was saved, but your current preferences couldn't be loaded."
    with _internal("preferences.not-read", message):
        return _answer(service, records)


def unsubscribe(service: "Service", request: flask.Request) -> flask.Response:
    """Handle a request to the link in the header `List-Unsubscribe` (RFC 8058).

    A POST by an email client turns `recap` off. A GET redirects to a page that asks for
    confirmation, because scanners open every link.
    """
    body = bounded_body(request, _MAX_BYTES)
    token = token_in_query(request.query_string.decode("latin-1"))
    if request.method in ("GET", "HEAD"):
        page = confirmation_link(service.parameters.public_base_url, token)
        return text_answer(HTTPStatus.FOUND, page, Location=page)
    if request.method != "POST":
        return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, "Use POST.", Allow="GET, HEAD, POST")
    if body is None or not _is_one_click(body):
        name, value = _FIELD
        return text_answer(HTTPStatus.BAD_REQUEST, f"Send {name}={value} as a form in the body.")
    try:
        return _one_click(service, request, token)
    except Exception as error:  # noqa: BLE001 - the text may contain data: see `log.fault`
        log.fault("unsubscribe.failed", error)
        return text_answer(
            HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong on our side. Try again."
        )


def _is_one_click(body: bytes) -> bool:
    """Return whether a body is the form of RFC 8058, with any content type in the request."""
    name, value = _FIELD
    values = parse_qs(body.decode("latin-1").strip()).get(name, [])
    return value in map(str.strip, values) or bool(_MULTIPART.search(body))


def _one_click(service: "Service", request: flask.Request, token: str) -> flask.Response:
    """Opt the user whom the token names out of recaps.

    Email clients and the preferences page do not show the text of the response.
    """
    call = Call(function="unsubscribe", data=None, request=request)
    try:
        ids = service.admission.verify(call, token, UNSUBSCRIBE_LINK)
    except CallError as refused:
        return text_answer(STATUS[refused.code], refused.message)
    _opt_out_of_recaps(service, *ids)
    log.info("preferences.unsubscribed")
    return text_answer(
        HTTPStatus.OK,
        "You're unsubscribed from event recaps. To turn them back on, use the link at the bottom of"
        " the email.",
    )


def _opt_out_of_recaps(service: "Service", uid: str, *other: str) -> None:
    """Opt the address out of recaps. A repeated click costs one read (design 3.54)."""
    users = service.users
    if is_guest_uid(uid) and users.is_off(uid, Flag.RECAP):
        return
    records = users.find(service.adapters.accounts, uid, *other)
    if records.id and stored_choice(records.own, Flag.RECAP) is False:
        return
    records = records.excluding_opted_out(Flag.RECAP)
    users.choose(records, {Flag.RECAP: False}, service.clock.now())


def _answer(service: "Service", records: AddressRecords) -> dict[str, Any]:
    choices = records.look_up_flags(service.adapters.accounts)
    return {"email": records.email, "preferences": to_response(choices)}


@contextmanager
def _internal(fault: str, answer: str) -> Iterator[None]:
    """Log any error as `fault`, and raise `internal` with the message `answer` (spec 7.2)."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the text may contain data: see `log.fault`
        log.fault(fault, error)
        raise CallError(Code.INTERNAL, answer) from None


def user_written(service: "Service", event: DocumentWritten) -> None:
    """List an account in the record of its address, and opt the address in if its owner did.

    The owner of an account opts in by turning a flag on in the account's record.

    Raises:
        InternalServerError: An internal error. Eventarc retries the call.
    """
    if not event.after:
        return
    with retry_on_error("preferences.account-not-noted"):
        uid, account = event.ids["uid"], event.after.fields
        users, auth = service.users, service.adapters.accounts
        users.list_account(auth, uid, account)
        if on := _turned_on(event):
            users.restore_opt_ins(auth, uid, account, on, event.at)


def _turned_on(event: DocumentWritten) -> list[Flag]:
    """Return the flags that the account's owner turned on, unless the service wrote them.

    Only `recap` and `lifecycle` count, because both decide about recaps.
    """
    if not event.before or not event.after:
        return []
    before, after = event.before.fields, event.after.fields
    if before.get(CHOSEN_AT) != after.get(CHOSEN_AT):
        return []
    if address_record_id(before) != address_record_id(after):
        return []  # the flags were off for another address
    return [
        flag
        for flag in (Flag.RECAP, Flag.LIFECYCLE)
        if stored_choice(before, flag) is False and stored_choice(after, flag) is not False
    ]
