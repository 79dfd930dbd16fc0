"""Spec 3.4 and design 3.18: the parser of configured URLs, and the allowed addresses."""

import re
from base64 import b64encode

import pytest

from functions.webhooks.deliveries.endpoint_url import (
    BAD_PORTS,
    EndpointUrl,
    UnusableUrlError,
    host_of,
    is_public,
    name_of,
)
from tools.paths import ROOT


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com", ("example.com", 443, "/", "example.com")),
        ("https://example.com/hook?a=1", ("example.com", 443, "/hook?a=1", "example.com")),
        ("https://example.com:8443/x", ("example.com", 8443, "/x", "example.com:8443")),
        ("HTTPS://EXAMPLE.com/", ("example.com", 443, "/", "example.com")),
        ("https://example.com/a#part", ("example.com", 443, "/a", "example.com")),
        ("https://exämple.com/ä?ö", ("xn--exmple-cua.com", 443, "/%C3%A4?%C3%B6", None)),
        ("https://straße.de/", ("xn--strae-oqa.de", 443, "/", "xn--strae-oqa.de")),
        ("https://STRASSE.de/", ("strasse.de", 443, "/", "strasse.de")),
        ("https://βόλος.example/", ("xn--nxasmm1c.example", 443, "/", None)),
        ("https://faß。example/", ("xn--fa-hia.example", 443, "/", None)),
        ("https://_hooks.example.com./", ("_hooks.example.com", 443, "/", None)),
        ("https://[2001:db8::1]:8443/", ("2001:db8::1", 8443, "/", "[2001:db8::1]:8443")),
        ("https://example.com:1024/", ("example.com", 1024, "/", None)),
        ("https://example.com:65535/", ("example.com", 65535, "/", None)),
        ("https://example.com:25/", ("example.com", 25, "/", "example.com:25")),
        ("https://@example.com/", ("example.com", 443, "/", "example.com")),
        ("https://192.0.2.7/", ("192.0.2.7", 443, "/", "192.0.2.7")),
        (
            "https://example.com/%0d%0aX:y",
            ("example.com", 443, "/%0d%0aX:y", "example.com"),
        ),
    ],
)
def test_a_usable_url_is_parsed(url: str, expected: tuple[str, int, str, str | None]) -> None:
    """Return the host for DNS and TLS, the port, the path with the query, and the Host header."""
    host, port, path, authority = expected
    found = EndpointUrl.parse(url)
    assert (host, port, path) == (found.host, found.port, found.path)
    assert authority in (None, found.authority)


@pytest.mark.parametrize(
    ("user_info", "decoded"),
    [
        ("user:password", "user:password"),
        ("user", "user:"),
        (":x", ":x"),
        ("ü%40:b@c", "ü@:b@c"),
    ],
)
def test_a_user_name_becomes_basic_authentication(user_info: str, decoded: str) -> None:
    """See RFC 7617. The password is in no log and in no name."""
    url = f"https://{user_info}@example.com/"
    found = EndpointUrl.parse(url)
    assert found.authorization == f"Basic {b64encode(decoded.encode()).decode()}"
    assert found.authorization not in repr(found)
    assert (found.host, found.authority, host_of(url)) == ("example.com",) * 3
    assert name_of(url).startswith("example.com~")


def test_the_console_warns_of_the_blocked_ports() -> None:
    """The list is from the Fetch standard."""
    source = (ROOT / "console/src/domain/endpoint.ts").read_text()
    [ports] = re.findall(r"BAD_PORTS = new Set\(\[(.*?)\]", source, re.DOTALL)
    assert set(map(int, re.findall(r"\d+", ports))) == BAD_PORTS


@pytest.mark.parametrize(
    "url",
    [
        "",
        " ",
        "example.com/hook",
        "//example.com/hook",
        "http://example.com/",
        "ftp://example.com/",
        "javascript:alert(1)",
        "https:",
        f"https://example.com/{'u' * 1481}",  # 1,501 bytes
        f"https://example.com/{'ü' * 741}",
        "https://",
        "https:///path",
        "https://:443/",
        "https://[::1/",
        "https://[nonsense]/",
        "https://example.com:65536/",
        "https://example.com:port/",
        "https://exa mple.com/",
        "https://example.com/\r\nX-Injected: 1",
        "https://exam\nple.com/",
        "https://example..com/",
        "https://" + "a" * 64 + ".com/",
        "https://ä" + "b" * 60 + ".com/",
        "https://" + "a." * 130 + "com/",
        "https://-example.com/",
        "https://xn--ä.example/",
        "https://\u200dx.example/",
        "https://exam<ple.com/",
        "https://example.com\\@evil.example/",
        "https://example.com/\x00",
    ],
)
def test_an_unusable_url_is_rejected(url: str) -> None:
    """Spec 3.4: empty, unparseable or not HTTPS."""
    with pytest.raises(UnusableUrlError):
        EndpointUrl.parse(url)
    assert host_of(url) is None


@pytest.mark.parametrize(
    "address",
    [
        "93.184.215.14",
        "8.8.8.8",
        "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
        "2a00:1450:4001:80b::200e",
        "::ffff:8.8.8.8",
    ],
)
def test_public_addresses_are_allowed(address: str) -> None:
    """Design 3.18: receivers are on the public internet."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "::",
        "::1",
        "::ffff:0:8.8.8.8",  # IPv4-translated (RFC 7915)
        "200::1",  # NSAP, returned (RFC 4548)
        "400::1",
        "1fff:ffff::1",
        "4000::1",
        "5f00::1",
        "8000::1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_other_ipv6_addresses_are_not_allowed(address: str) -> None:
    """Design 3.18. `test_hostile_hosts.py` has IPv4 addresses, also within IPv6 addresses."""
    assert not is_public(address)
