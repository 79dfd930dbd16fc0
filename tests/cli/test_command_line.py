"""The command line explains invalid calls and unsupported Pythons in one sentence."""

import ast
import os
import subprocess
import sys

import pytest

from tools.paths import ROOT

_AS_ANOTHER_VERSION = """
import sys
sys.version_info = (3, {minor}, 0, "final", 0)
sys.argv = ["emulator", "demo"]
from emulator.__main__ import main
sys.exit(main())
"""


def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run this Python with `arguments` and an empty PATH."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={"PATH": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("minor", [6, 7, 8, 9, 10, 15, 20])
def test_an_unsupported_python_is_rejected_with_a_sentence(minor: int) -> None:
    """Exit with status 2 and without a traceback."""
    done = ran("-c", _AS_ANOTHER_VERSION.format(minor=minor))

    assert done.returncode == 2
    assert f"This is Python 3.{minor}. Python 3.11 to 3.14 is needed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "path",
    [
        "emulator/__init__.py",
        "emulator/__main__.py",
        "tools/__init__.py",
        "tools/command_list.py",
    ],
)
def test_the_version_check_compiles_on_old_pythons(path: str) -> None:
    """Compile on old Pythons: a SyntaxError would not name the required version."""
    source = (ROOT / path).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))

    # The parser accepts these at any version, but Python 3.6 to 3.8 fail at run time.
    names = {"list", "dict", "tuple", "set", "frozenset", "type"}
    subscripts = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    assert [s.lineno for s in subscripts if getattr(s.value, "id", "") in names] == []


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("exec --", 2, "exec -- CMD"),
        ("exec --verbose", 2, "exec -- CMD"),
        ("exec --help", 0, "run CMD with the service"),
        ("demo --help", 0, "run CMD with the service"),
        ("test --help", 0, "run CMD with the service"),
        ("test suite -h", 0, "run CMD with the service"),
        ("demo now", 2, "demo takes no arguments"),
        ("demo --smtp", 2, "demo takes no arguments"),
        ("up --smtp now", 2, "up takes no arguments"),
        ("test suit", 2, "unknown argument of test: suit."),
        ("test --all lint typse -k recap", 2, "unknown argument of test: typse."),
        ("test tests/units/test_x.py", 2, "unknown argument of test: tests/units/test_x.py."),
        ("bench delivry", 2, "unknown argument of bench: delivry."),
        ("demo --ports", 2, "--ports needs a number"),
        ("up --ports x", 2, "--ports needs a number"),
        ("up --ports=-1", 2, "--ports needs a number"),
        ("bench delivery --ports 50001", 2, "--ports needs a number"),
        ("exec --ports 200", 2, "exec -- CMD"),
        ("exec --ports 200 --verbose", 2, "exec -- CMD"),
        ("demo --ports 200 now", 2, "demo takes no arguments"),
        ("test suite --ports 200", 2, "test takes no --ports"),
        ("setup --ports 200", 2, "setup takes no --ports"),
    ],
)
def test_an_incomplete_command_line_is_explained(arguments: str, status: int, said: str) -> None:
    """Print help or an error before anything is installed or started."""
    done = ran("-m", "emulator", *arguments.split())

    assert done.returncode == status
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        *("exec bash --help", "exec -- --help", "test -k recap", "test lint tests/unit/x.py"),
        *("exec curl --ports x", "exec -- --ports x", "exec --ports 200 -- curl --ports x"),
        *("demo --ports 200", "up --ports=200", "up --smtp", "bench delivery --ports 0 recap"),
    ],
)
def test_options_of_other_programs_are_accepted(arguments: str) -> None:
    """Accept options of CMD and pytest. The command continues until it misses Node.js."""
    done = ran("-m", "emulator", *arguments.split())

    assert "`node` is not on PATH" in done.stderr
