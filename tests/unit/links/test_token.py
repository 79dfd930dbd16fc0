"""Spec 2.4, 5 and design 3.57: the tokens in links."""

import hashlib
import itertools
import json
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itsdangerous import Signer, URLSafeSerializer
from itsdangerous.encoding import base64_decode, base64_encode

from functions.links.token import (
    MAX_LENGTH,
    InvalidTokenError,
    Scope,
    TokenKeys,
    WeakKeyError,
)

KEY = "a key of the tests, of 32 bytes or more"
NEWER = "a newer key, of 32 bytes or more"
NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
KEYS = TokenKeys([KEY])
TOKEN = KEYS.issue("user-1", NOW)
FIELDS: dict[str, Any] = {
    "uid": "user-1",
    "exp": int((NOW + timedelta(days=30)).timestamp()),
    "scope": "email-prefs",
}
LOG = KEYS.sign(("e1", "s1"), NOW + timedelta(days=1), Scope.WEBHOOK_LOG)
LOG_FIELDS: dict[str, Any] = {
    "event": "e1",
    "share": "s1",
    "exp": int((NOW + timedelta(days=1)).timestamp()),
    "scope": "webhook-log",
}


def signed(
    payload: bytes,
    *,
    key: str = KEY,
    salt: str = "email-prefs",
    derivation: str = "django-concat",
    digest: Any = hashlib.sha256,
) -> str:
    """Sign `payload` with the library."""
    signer = Signer(key, salt, key_derivation=derivation, digest_method=digest)
    return signer.sign(payload).decode()


def signed_fields(fields: object, **how: Any) -> str:
    """Sign `fields` as the payload of a token, by default like a genuine one."""
    return signed(base64_encode(json.dumps(fields)), **how)


def test_a_token_in_an_email_names_the_record_of_the_address() -> None:
    """Design 3.57: the payload is `{uid, account, exp, scope}` without encryption."""
    uid, account = f"guest-{'0' * 32}", "0" * 32
    token = KEYS.issue(uid, NOW, account=account)
    assert KEYS.verify(token, NOW) == (uid, account)
    payload, _ = token.split(".")
    names = {"uid": uid, "account": account, "exp": FIELDS["exp"], "scope": "email-prefs"}
    assert json.loads(base64_decode(payload)) == names


def test_itsdangerous_reads_and_writes_the_same_token() -> None:
    """Spec 2.4: use `itsdangerous.URLSafeSerializer` with the salt and SHA-256."""
    serializer = URLSafeSerializer(
        KEY, salt="email-prefs", signer_kwargs={"digest_method": hashlib.sha256}
    )
    assert serializer.loads(TOKEN) == FIELDS
    assert serializer.dumps(FIELDS) == TOKEN


@pytest.mark.parametrize(("scope", "days"), [(Scope.PREFERENCES, 30), (Scope.UNSUBSCRIBE, 365)])
def test_a_token_expires_after_30_days_and_a_one_click_link_after_a_year(
    scope: Scope, days: int
) -> None:
    """Spec 8 has 30 days. Emails with one-click links may be opened much later."""
    token = KEYS.issue("user-1", NOW, scope)
    assert KEYS.verify(token, NOW + timedelta(days=days, seconds=-1), scope) == ("user-1",)
    for late in (timedelta(days=days), timedelta(days=days + 1)):
        with pytest.raises(InvalidTokenError):
            KEYS.verify(token, NOW + late, scope)


def test_the_newest_key_signs_and_every_enabled_key_verifies() -> None:
    """Design 3.57: a removed key does not verify."""
    rotated = TokenKeys([NEWER, KEY])
    assert rotated.verify(TOKEN, NOW) == ("user-1",)
    fresh = rotated.issue("user-1", NOW)
    assert TokenKeys([NEWER]).verify(fresh, NOW) == ("user-1",)
    with pytest.raises(InvalidTokenError):
        KEYS.verify(fresh, NOW)
    with pytest.raises(InvalidTokenError):
        TokenKeys([NEWER]).verify(TOKEN, NOW)


@pytest.mark.parametrize(
    "token",
    [
        None,
        1,
        b"bytes",
        [TOKEN],
        "",
        ".",
        "..",
        TOKEN.partition(".")[0],
        TOKEN.partition(".")[2],
        TOKEN + ".",
        "." + TOKEN,
        TOKEN + " ",
        " " + TOKEN,
        TOKEN + "=",
        TOKEN + "\n",
        TOKEN.replace(".", ".."),
        f"{TOKEN}.{TOKEN.partition('.')[2]}",
        TOKEN.replace(".", "\uff0e"),
        "\ud800" + TOKEN,
        "\u0663" + TOKEN,
        TOKEN + "A" * MAX_LENGTH,
    ],
    ids=lambda value: repr(value)[:30],
)
def test_any_other_text_is_rejected(token: object) -> None:
    """Only the exact bytes of the signer verify."""
    with pytest.raises(InvalidTokenError):
        KEYS.verify(token, NOW)


def test_a_token_longer_than_4096_characters_is_rejected() -> None:
    """Spec 8: this includes tokens with a valid signature."""
    padding = MAX_LENGTH - len(signed_fields(FIELDS | {"pad": ""}))
    sizes = {}
    for pad in range(padding * 3 // 4 - 4, padding * 3 // 4 + 4):
        token = signed_fields(FIELDS | {"pad": "x" * pad})
        sizes[len(token)] = token
    assert KEYS.verify(sizes[max(n for n in sizes if n <= MAX_LENGTH)], NOW) == ("user-1",)
    with pytest.raises(InvalidTokenError):
        KEYS.verify(sizes[min(n for n in sizes if n > MAX_LENGTH)], NOW)


@pytest.mark.parametrize(
    "token",
    [
        pytest.param(signed_fields(FIELDS, digest=hashlib.sha1), id="sha-1"),
        pytest.param(signed_fields(FIELDS, digest=hashlib.sha512), id="sha-512"),
        pytest.param(signed_fields(FIELDS, derivation="none"), id="key not derived"),
        pytest.param(signed_fields(FIELDS, salt="another"), id="other salt"),
        pytest.param(signed_fields(FIELDS, key="another key"), id="other key"),
        pytest.param(
            signed(b"." + base64_encode(zlib.compress(json.dumps(FIELDS).encode()))),
            id="compressed",
        ),
        pytest.param(signed(b""), id="empty"),
        pytest.param(signed(b"!"), id="no base64"),
        pytest.param(signed(base64_encode(b"\xff")), id="no text"),
        pytest.param(signed(base64_encode(b"[" * 2900)), id="nested"),
    ],
)
def test_any_other_kind_of_signature_is_rejected(token: str) -> None:
    """Accept only HMAC-SHA256 with the right salt and key, over an uncompressed payload."""
    with pytest.raises(InvalidTokenError):
        KEYS.verify(token, NOW)


@pytest.mark.parametrize(
    "fields",
    [
        FIELDS | {"scope": "another"},
        FIELDS | {"scope": None},
        FIELDS | {"exp": str(FIELDS["exp"])},
        FIELDS | {"exp": float(FIELDS["exp"])},
        FIELDS | {"exp": True},
        FIELDS | {"exp": None},
        FIELDS | {"exp": float("nan")},
        FIELDS | {"exp": float("inf")},
        FIELDS | {"uid": 1},
        FIELDS | {"uid": None},
        FIELDS | {"uid": ["user-1"]},
        FIELDS | {"uid": ""},
        FIELDS | {"uid": "a/b/c"},
        FIELDS | {"uid": ".."},
        FIELDS | {"uid": "__x__"},
        FIELDS | {"uid": "\ud800"},
        FIELDS | {"uid": "x" * 1501},
        {},
        [],
        None,
        "email-prefs",
        *({k: v for k, v in FIELDS.items() if k != name} for name in FIELDS),
        *(FIELDS | {"box": bad} for bad in (None, 1, "", "a/b")),
        FIELDS | {"scope": "webhook-log"},
        LOG_FIELDS | {"scope": "email-prefs"},
        *({k: v for k, v in LOG_FIELDS.items() if k != name} for name in LOG_FIELDS),
        *(LOG_FIELDS | {name: bad} for name in ("event", "share") for bad in (None, 1, "", "a/b")),
    ],
    ids=lambda value: repr(value)[:90],
)
def test_a_signed_payload_with_other_fields_is_rejected(fields: object) -> None:
    """The payload must have the fields of its scope with their types."""
    for scope in (Scope.PREFERENCES, Scope.WEBHOOK_LOG):
        with pytest.raises(InvalidTokenError):
            KEYS.verify(signed_fields(fields, salt=scope), NOW, scope)


def test_all_invalid_tokens_get_the_same_error() -> None:
    """Spec 5: a wrong signature, an expired token and a wrong scope look the same."""
    refusals = []
    for token, now in (
        (TOKEN + "x", NOW),
        (TOKEN, NOW + timedelta(days=31)),
        (signed_fields(FIELDS | {"scope": "another"}), NOW),
    ):
        with pytest.raises(InvalidTokenError) as refused:
            KEYS.verify(token, now)
        refusals.append((str(refused.value), refused.value.args, refused.value.__cause__))
    assert refusals == [refusals[0]] * 3


def test_a_change_of_any_character_is_rejected() -> None:
    """Include the last character, whose base64 has unused bits."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ "
    for position, other in itertools.product(range(len(TOKEN)), alphabet):
        if TOKEN[position] == other:
            continue
        with pytest.raises(InvalidTokenError):
            KEYS.verify(TOKEN[:position] + other + TOKEN[position + 1 :], NOW)


@given(st.text(min_size=1, max_size=128))
def test_any_valid_document_id_survives_a_token(uid: str) -> None:
    """An ID that Firestore does not accept gets no token."""
    try:
        token = KEYS.issue(uid, NOW)
    except ValueError:
        assert "/" in uid or uid in (".", "..") or (uid[:2], uid[-2:]) == ("__", "__")
        return
    assert KEYS.verify(token, NOW) == (uid,)


def test_the_scope_must_match_in_signature_and_payload() -> None:
    """See spec 5."""
    for salt, claimed in (("unsubscribe", "email-prefs"), ("email-prefs", "unsubscribe")):
        token = signed_fields(FIELDS | {"scope": claimed}, salt=salt)
        for scope in Scope:
            with pytest.raises(InvalidTokenError):
                KEYS.verify(token, NOW, scope)


def test_a_link_to_a_log_names_an_event_and_a_share() -> None:
    """Spec 4.11: it expires with the share."""
    last = NOW + timedelta(days=1, seconds=-1)
    assert KEYS.verify(LOG, last, Scope.WEBHOOK_LOG) == ("e1", "s1")
    with pytest.raises(InvalidTokenError):
        KEYS.verify(LOG, NOW + timedelta(days=1), Scope.WEBHOOK_LOG)
    payload = base64_encode(json.dumps(LOG_FIELDS, separators=(",", ":")))
    assert signed(payload, salt="webhook-log") == LOG


@pytest.mark.parametrize(
    ("about", "scope"),
    [
        ((), Scope.PREFERENCES),
        (("u1", "guest-1", "x"), Scope.PREFERENCES),
        (("e1",), Scope.WEBHOOK_LOG),
        (("e1", "s1", "x"), Scope.WEBHOOK_LOG),
        (("e1", "a/b"), Scope.WEBHOOK_LOG),
        (("ü" * 750, "ü" * 750), Scope.PREFERENCES),
    ],
)
def test_only_the_ids_of_a_scope_can_be_signed(about: tuple[str, ...], scope: Scope) -> None:
    """The token must also fit into the length of spec 8."""
    with pytest.raises(ValueError, match=r"a token of|too long"):
        KEYS.sign(about, NOW + timedelta(days=1), scope)


@pytest.mark.parametrize("keys", [[], [""], ["short"], ["k" * 31], ["k" * 32, "k" * 31]])
def test_a_key_needs_32_bytes(keys: list[str]) -> None:
    """A short key can be guessed."""
    with pytest.raises(WeakKeyError, match="must have 32 bytes"):
        TokenKeys(keys)
