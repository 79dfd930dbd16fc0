"""Email addresses: one identity for the spellings of an address, and for no other (design 3.52)."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.email_address import deliverable, identity, mailbox, spellings, trimmed

BLANK: Final = [
    "\u200b",
    "\ufeff",
    "\u202a",
    "\u202b",
    "\u202c",
    "\u00ad",
    "\u2060",
    "\u200e",
    "\u2066",
    "\u061c",
    "\u180e",
    "\U000e0020",
    " ",
    "\t\r\n",
    "\u00a0",
    "\u3000",
    "\u2028",
    " \ufeff\u00a0\u200b ",
]


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("Ann@Example.COM", "ann@example.com"),
        ("ann@STRASSE.example", "ann@strasse.example"),
        ("ann@straße.example", "ann@xn--strae-oqa.example"),
        ("ann@STRAẞE.example", "ann@xn--strae-oqa.example"),
        ("ann@bücher.example", "ann@xn--bcher-kva.example"),
        ("ann@bu\u0308cher.example", "ann@xn--bcher-kva.example"),
        ("ann@XN--BCHER-KVA.example", "ann@xn--bcher-kva.example"),
        ("ann@例え。example", "ann@xn--r8jz45g.example"),
        ("ann@\uff45xample.com", "ann@example.com"),
        ("müller@bücher.example", "müller@xn--bcher-kva.example"),
        ("Ürsel@BÜCHER.example", "Ürsel@xn--bcher-kva.example"),
    ],
)
def test_spellings_of_one_address_are_equal(written: str, same: str) -> None:
    """ASCII letters are compared without case, and domains as of IDNA 2008."""
    assert identity(written) == identity(same) == same


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("mi\u212ae@example.com", "mike@example.com"),
        ("anna\u017fmith@example.com", "annasmith@example.com"),
        ("\ufb01ona@example.com", "fiona@example.com"),
        ("stra\u00dfe@example.com", "strasse@example.com"),
        ("\uff41nn@example.com", "ann@example.com"),
        ("ann\u037ebob@example.com", "ann;bob@example.com"),
        ("al\u0131ce@example.com", "alice@example.com"),
        ("al\u0130ce@example.com", "alice@example.com"),
        ("\u00c9va@example.com", "\u00e9va@example.com"),
        ("e\u0301va@example.com", "\u00e9va@example.com"),
        ("ana@stra\u00dfe.example", "ana@strasse.example"),
        ("ana@b\u03cc\u03bb\u03bf\u03c2.example", "ana@b\u03cc\u03bb\u03bf\u03c3.example"),
        ("ann@example.com.", "ann@example.com"),
        ("ann@exam\ufeffple.com", "ann@example.com"),
        ("an\u200bn@example.com", "ann@example.com"),
        ("ann@exam\u00adple.com", "ann@example.com"),
        ("ann\0@example.com", "ann@example.com"),
        ("ann@example.com\0", "ann@example.com"),
        ("ann@\u0378example.com", "ann@example.com"),
        ("ann\ud800@example.com", "ann@example.com"),
        ("ann@xn--\u00fc.example", "ann@xn--tda.example"),
        ("ann\uff20example.com", "ann@example.com"),
        ("a\u00adnn+x@example.com", "ann@example.com"),
    ],
)
def test_different_addresses_differ(one: str, another: str) -> None:
    """Letters that only Unicode folds together differ, and inner invisible characters count."""
    assert identity(one) != identity(another)


@pytest.mark.parametrize("blank", BLANK)
def test_invisible_characters_at_the_ends_are_trimmed(blank: str) -> None:
    """A copied address can contain them."""
    assert trimmed(f"{blank}ann@example.com{blank}") == "ann@example.com"
    assert identity(f"{blank}Ann@example.com{blank}") == "ann@example.com"
    assert trimmed(blank) == ""


_DOMAINS: Final = [
    "example.com",
    "straße.example",
    "例え.example",
    "xn--a.example",
    "a" * 300,
    "x.",
]
_LOCALS: Final = ["ann", "a.b+c", "\u212a", "\u017f", '"a b"', "x" * 65, "", "@", "ü"]
_texts = st.one_of(
    st.text(max_size=20),
    st.tuples(
        st.sampled_from(_LOCALS) | st.text(max_size=5),
        st.sampled_from(_DOMAINS) | st.text(max_size=8),
    ).map("@".join),
)


@given(_texts)
def test_an_identity_is_valid_only_if_the_address_is(email: str) -> None:
    """The identity of a valid address is the address that gets the email."""
    own, address = identity(email), deliverable(trimmed(email))
    assert own == (address.lower() if address else own)
    if address is None:
        assert deliverable(own) is None
    assert identity(own) == own


def test_spellings_include_the_domain_in_unicode() -> None:
    """Records may have an international domain in either form."""
    assert spellings("Ann@BÜCHER.example") == {"ann@bücher.example", "ann@xn--bcher-kva.example"}
    assert spellings("ann@xn--a.example") == {"ann@xn--a.example"}
    assert spellings("Ann@example.com") == {"ann@example.com"}


def test_a_mailbox_has_many_addresses() -> None:
    """Tags are ignored, and so are dots at Gmail."""
    assert mailbox("Ann+Party@example.com") == "ann@example.com"
    assert mailbox("a.n.n+x@googlemail.com") == mailbox("ann@gmail.com") == "ann@gmail.com"
    assert mailbox("a.n.n@example.com") == "a.n.n@example.com"
    assert mailbox("+@example.com") == "+@example.com"
