"""The handlers of the preferences' functions: requests, in the words of this package.

Every call is checked in this order: the arguments, which cost nothing; the limit on calls, which
also limits guessing of tokens; the token. Only then is anything read or written.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import flask

from functions import log
from functions.call_rules import CallError, Code, refuse_unknown
from functions.gcp.callables import Call
from functions.gcp.request import bounded_body
from functions.gcp.triggers import DocumentWritten, run_again
from functions.links.link import IN_A_MAIL, admitted, confirmation_link, count_client, verified
from functions.links.token import InvalidTokenError, Scope
from functions.preferences.preferences import (
    CHOSEN_AT,
    Flag,
    account_address,
    address_record_id,
    flags,
    has_verified,
    on_wire,
    read_choices,
)

if TYPE_CHECKING:
    from functions.service import Service

_ONE_CLICK: Final = ("List-Unsubscribe", "One-Click")
_ONE_CLICK_MAX_BYTES: Final = 4096
"""The body has 26 characters, or is a form with that one field."""


def get_email_preferences(service: "Service", call: Call) -> dict[str, Any]:
    """Answer with the address and preferences of the token's user (spec 4.2).

    Raises:
        CallError: those of spec 7.2; `resource-exhausted` over the limit on calls.
    """
    token = IN_A_MAIL.token(call.data)
    ids = admitted(service, call, token, IN_A_MAIL)
    return _response(service, ids)


def update_email_preferences(service: "Service", call: Call) -> dict[str, Any]:
    """Change the flags in `data.preferences`, then answer as `get_email_preferences` does.

    Raises:
        CallError: those of spec 7.2, `invalid-argument` also for flags that cannot be changed;
            `resource-exhausted` over the limit on calls.
    """
    refuse_unknown(call.data, "token", "preferences")
    token = IN_A_MAIL.token(call.data)
    choices = read_choices(call.data.get("preferences"))
    ids = admitted(service, call, token, IN_A_MAIL)
    try:
        users = service.users
        users.choose(users.find(*ids), choices, service.clock.now())
    except Exception as error:  # noqa: BLE001 - spec 7.2 has one code for it
        log.fault("preferences.not-written", error)
        raise CallError(Code.INTERNAL, "The change could not be saved; try again.") from None
    return _response(service, ids)


def unsubscribe(service: "Service", request: flask.Request) -> flask.Response:
    """Answer a request to the link in the header `List-Unsubscribe` (RFC 8058).

    A POST by a mail program turns `recap` off. A GET changes nothing, because scanners open every
    link: it redirects to a page that asks. Mail providers send the POSTs of all their users from a
    few addresses, so only a POST with a bad token counts against the limit on calls.
    """
    body = bounded_body(request, _ONE_CLICK_MAX_BYTES)
    token = request.args.get("token", "")
    if request.method in ("GET", "HEAD"):
        page = confirmation_link(service.parameters.public_base_url, token)
        return _private(flask.redirect(page, HTTPStatus.FOUND))
    if request.method != "POST":
        answer = _text(HTTPStatus.METHOD_NOT_ALLOWED, "Use POST.")
        answer.headers["Allow"] = "GET, HEAD, POST"
        return answer
    name, value = _ONE_CLICK
    if body is None or request.form.get(name) != value:
        return _text(HTTPStatus.BAD_REQUEST, f"Send {name}={value} as a form in the body.")
    try:
        return _one_click(service, request, token)
    except Exception as error:  # noqa: BLE001 - the text may hold data: see `log.fault`
        log.fault("unsubscribe.failed", error)
        return _text(
            HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong on our side; try again."
        )


def _one_click(service: "Service", request: flask.Request, token: str) -> flask.Response:
    """Turn the recaps of the owner of `token` off.

    A mail program shows its own words for the answer, and so does the page.
    """
    try:
        ids = verified(service, token, IN_A_MAIL.key, Scope.UNSUBSCRIBE)
    except InvalidTokenError:
        try:
            count_client(service, "unsubscribe", request, IN_A_MAIL)
        except CallError as refused:
            return _text(HTTPStatus.TOO_MANY_REQUESTS, refused.message)
        return _text(HTTPStatus.FORBIDDEN, IN_A_MAIL.not_valid.message)
    users = service.users
    records = users.find(*ids).without_off(Flag.RECAP)
    users.choose(records, {Flag.RECAP: False}, service.clock.now())
    log.info("preferences.unsubscribed")
    return _text(
        HTTPStatus.OK,
        "Done: you get no more event recaps. The link at the end of the mail turns them on again.",
    )


def _response(service: "Service", ids: Sequence[str]) -> dict[str, Any]:
    try:
        records = service.users.find(*ids)
        choices = records.ask(service.adapters.accounts)
    except Exception as error:  # noqa: BLE001 - spec 7.2 has one code for it
        log.fault("preferences.not-read", error)
        message = "The preferences could not be looked up; try again."
        raise CallError(Code.INTERNAL, message) from None
    return {
        "email": records.email,
        "preferences": on_wire(choices),
    }


def _text(status: HTTPStatus, text: str) -> flask.Response:
    return _private(flask.Response(f"{text}\n", status, mimetype="text/plain"))


def _private(answer: Any) -> flask.Response:
    """`answer` with headers against caching: the token is in the request's URL."""
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answered: flask.Response = answer
    return answered


def user_written(service: "Service", event: DocumentWritten) -> None:
    """List an account in the record of its mailbox, and free a mailbox that its owner turns on.

    Raises:
        InternalServerError: Eventarc has to run this again.
    """
    box, uid = address_record_id(event.after.fields) if event.after else None, event.ids["uid"]
    if not event.after or not box:
        return
    with run_again("preferences.account-not-noted"):
        users, account = service.users, event.after.fields
        accounts = service.adapters.accounts
        users.list_account(box, uid, accounts)
        on = _turned_on(event)
        if on and has_verified(accounts.verified_addresses([uid]), uid, account):
            users.free(uid, account, on, event.at)


def _turned_on(event: DocumentWritten) -> list[Flag]:
    """The flags of recaps that the owner of an account turned on; none in a write of ours."""
    if not event.before or not event.after:
        return []
    before, after = event.before.fields, event.after.fields
    if before.get(CHOSEN_AT) != after.get(CHOSEN_AT):
        return []
    if account_address(before) != account_address(after):
        return []  # what was off was off for another address
    were, are = flags(before), flags(after)
    return [flag for flag in (Flag.RECAP, Flag.LIFECYCLE) if are[flag] and not were[flag]]
