"""Commands bypass the environment's proxies for connections on this machine."""

import json
import os
import subprocess
import sys

import pytest

from tools.paths import ROOT
from tools.proxies import LOOPBACK, loopback_bypass

_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_PROXY = dict.fromkeys(_VARIABLES, "http://127.0.0.1:9")
_ENVIRONMENT = """
import json, os, sys
from emulator import __main__
from tools import installation
def prepare():
    print(json.dumps(dict(os.environ)))
    raise SystemExit(0)
installation.prepare = prepare
sys.argv = ["emulator", sys.argv[1], *sys.argv[2:]]
__main__.main()
"""


@pytest.mark.parametrize("command", ["demo", "up", "exec true", "test unit", "bench", "setup"])
def test_every_command_and_its_processes_bypass_the_proxies(command: str) -> None:
    """Set the six variables before any process starts."""
    done = subprocess.run(
        [sys.executable, "-c", _ENVIRONMENT, *command.split()],
        cwd=ROOT,
        env={**os.environ, **_PROXY, "NO_PROXY": "intranet.example", "no_proxy": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    environment = json.loads(done.stdout)

    for name in ("NO_PROXY", "no_proxy", "no_grpc_proxy"):
        assert environment[name].split(",") == ["intranet.example", *LOOPBACK]
    assert {name: environment[name] for name in _PROXY} == _PROXY


@pytest.mark.parametrize("proxy", [*_VARIABLES, "grpc_proxy"])
def test_one_proxy_variable_is_enough(proxy: str) -> None:
    """Bypass loopback if any proxy is set. Set nothing without a proxy."""
    assert loopback_bypass({proxy: "http://proxy.example:3128"})["no_proxy"] == ",".join(LOOPBACK)
    assert loopback_bypass({proxy: "", "NO_PROXY": "a.example"}) == {}


@pytest.mark.parametrize(
    ("upper", "lower", "listed"),
    [
        ("", "a.example,.b.example", "a.example,.b.example,127.0.0.1,localhost,::1"),
        ("a.example, 10.0.0.0/8", "a.example", "a.example,10.0.0.0/8,127.0.0.1,localhost,::1"),
        ("localhost", "c.example", "c.example,localhost,127.0.0.1,::1"),
        ("*", "", "*"),
        ("a.example", "*", "*"),
    ],
)
def test_a_list_of_exceptions_is_kept_and_extended(upper: str, lower: str, listed: str) -> None:
    """Merge the hosts of both spellings. An asterisk stays the only entry, for Python."""
    given = {**_PROXY, "NO_PROXY": upper, "no_proxy": lower}
    bypass = loopback_bypass(given)

    assert bypass["NO_PROXY"] == bypass["no_proxy"] == listed
    assert set(LOOPBACK) <= set(bypass["no_grpc_proxy"].split(","))
    assert loopback_bypass({**given, **bypass}) == bypass, "a second call changes nothing"


def test_grpc_keeps_a_list_of_its_own() -> None:
    """Extend `no_grpc_proxy`."""
    bypass = loopback_bypass({**_PROXY, "no_grpc_proxy": "g.example", "NO_PROXY": "a.example"})

    assert bypass["no_grpc_proxy"] == "g.example,127.0.0.1,localhost,::1"
