"""Proxy settings for connections on this machine, which must bypass every proxy."""

import re
from collections.abc import Mapping

LOOPBACK = ("127.0.0.1", "localhost", "::1")

_EVERY_HOST = "*"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy")
_EXCEPTIONS = ("no_proxy", "NO_PROXY")
_EXCEPTIONS_OF_GRPC = "no_grpc_proxy"


def loopback_bypass(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables with which clients connect to this machine without a proxy.

    Clients read different spellings of a variable, so both spellings get the hosts of both. The
    result is empty if `environment` has no proxy: on macOS, Python ignores the system's proxies
    when such a variable is set.
    """
    if not any(environment.get(name) for proxy in _PROXIES for name in (proxy, proxy.upper())):
        return {}
    hosts = [
        host
        for name in _EXCEPTIONS
        for host in re.split(r"[,\s]+", environment.get(name, ""))
        if host
    ]
    # gRPC prefers its own variable, and does not support the asterisk.
    of_grpc = [host for host in environment.get(_EXCEPTIONS_OF_GRPC, "").split(",") if host]
    # Python and curl support the asterisk only without other hosts.
    listed = _EVERY_HOST if _EVERY_HOST in hosts else _joined(hosts)
    return {
        **dict.fromkeys(_EXCEPTIONS, listed),
        _EXCEPTIONS_OF_GRPC: _joined(of_grpc or hosts),
    }


def _joined(hosts: list[str]) -> str:
    return ",".join(dict.fromkeys([*hosts, *LOOPBACK]))
