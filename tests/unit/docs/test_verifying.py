"""The verifiers of docs/receiving.md and the local receiver accept only genuine signatures."""

import hmac
import json
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from emulator.receiver import signature_problem
from functions.webhooks.signing import sign

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs/receiving.md").read_text()
SECRET: Final = "whsec_test"
OTHER: Final = "whsec_other"
BODY: Final = '{"name":"Zoë ✓"}'.encode()


class Case(NamedTuple):
    """The secrets of a receiver, a request, and whether it is genuine."""

    name: str
    secrets: str | list[str]
    header: str | None
    genuine: bool
    body: bytes = BODY


Verifier = Callable[[Sequence[Case]], list[bool]]


def block(language: str) -> str:
    """Return the page's code in `language` that defines `verify`."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [found] = [code for code in blocks if re.search(r"(def|function) verify\(", code)]
    return str(found)


def in_python(cases: Sequence[Case]) -> list[bool]:
    """Return the results of the Python code."""
    names: dict[str, Any] = {}
    exec(block("python"), names)  # noqa: S102 - the page's own code
    return [names["verify"](case.secrets, case.header, case.body) for case in cases]


def in_javascript(cases: Sequence[Case]) -> list[bool]:
    """Return the results of the JavaScript code."""
    program = f"""
        import {{ readFileSync }} from "node:fs";
        {block("javascript")}
        const judge = (one) => verify(one.secrets, one.header, Buffer.from(one.body, "hex"));
        console.log(JSON.stringify(JSON.parse(readFileSync(0)).map(judge)));
    """
    return _run(["node", "--input-type=module", "-e", program], cases)


def by_the_local_receiver(cases: Sequence[Case]) -> list[bool]:
    """Return the results of `emulator/receiver`, which verifies with one secret at a time."""
    now = time.time()

    def is_genuine(case: Case) -> bool:
        secrets = [case.secrets] if isinstance(case.secrets, str) else case.secrets
        given = [secret for secret in secrets if secret]
        return "" in [signature_problem(case.header, case.body, secret, now) for secret in given]

    return list(map(is_genuine, cases))


def _run(command: Sequence[str], cases: Sequence[Case]) -> list[bool]:
    given = [case._asdict() | {"body": case.body.hex()} for case in cases]
    ran = subprocess.run(
        command, check=True, capture_output=True, text=True, input=json.dumps(given)
    )
    assert ran.stderr == ""
    verdicts: list[bool] = json.loads(ran.stdout)
    return verdicts


@pytest.fixture(params=[in_python, in_javascript, by_the_local_receiver])
def verdicts(request: pytest.FixtureRequest) -> Verifier:
    """Return a verifier: the page's code in each language, and the local receiver."""
    verifier: Verifier = request.param
    return verifier


def judged(verdicts: Verifier, cases: Sequence[Case]) -> list[str]:
    """Return the names of the cases with a wrong result."""
    found = verdicts(cases)
    return [
        case.name for case, verdict in zip(cases, found, strict=True) if verdict != case.genuine
    ]


def cases(now: int) -> list[Case]:
    """Return cases of spec 5, receiver side, with several secrets and several `v1`."""
    header = sign(SECRET, BODY, at=now)
    t, _, v1 = header.partition(",")
    wrong = "v1=" + "0" * 64
    odd = [f"+{now}", f" {now}", f"{now} ", f"{now}.0", f"{now}s", "1e9", "-1", "", "٣"]
    odd += ["9" * 30, "9" * 5000]
    return [
        Case("genuine", SECRET, header, genuine=True),
        Case("a list of one", [SECRET], header, genuine=True),
        Case("290 s old", SECRET, sign(SECRET, BODY, at=now - 290), genuine=True),
        Case("310 s old", SECRET, sign(SECRET, BODY, at=now - 310), genuine=False),
        Case("310 s ahead", SECRET, sign(SECRET, BODY, at=now + 310), genuine=False),
        Case("another body", SECRET, header, genuine=False, body=BODY + b" "),
        Case("an empty body", SECRET, sign(SECRET, b"", at=now), genuine=True, body=b""),
        Case("another secret", SECRET, sign(OTHER, BODY, at=now), genuine=False),
        Case("no v1", SECRET, t, genuine=False),
        Case("no t", SECRET, v1, genuine=False),
        Case("an empty header", SECRET, "", genuine=False),
        Case("no header", SECRET, None, genuine=False),
        Case("a v1 cut short", SECRET, header[:-2], genuine=False),
        Case("a v1 with more digits", SECRET, f"{header}00", genuine=False),
        Case("a v1 followed by other letters", SECRET, f"{header}zz", genuine=False),
        Case("a v1 followed by =", SECRET, f"{header}=", genuine=False),
        Case("a v1 in capitals", SECRET, f"{t},v1={v1[3:].upper()}", genuine=False),
        Case("a v1 that is not hexadecimal", SECRET, f"{t},v1=ü✓", genuine=False),
        Case("an empty v1", SECRET, f"{t},v1=", genuine=False),
        Case("another name", SECRET, f"{t},xv1={v1[3:]}", genuine=False),
        Case("unknown parts", SECRET, f"v0=1,{t},,a,{v1},v2=1", genuine=True),
        Case("v1 before t", SECRET, f"{v1},{t}", genuine=True),
        Case("the first of two secrets", [SECRET, OTHER], header, genuine=True),
        Case("the second of two secrets", [OTHER, SECRET], header, genuine=True),
        Case("none of two secrets", [OTHER, "whsec_third"], header, genuine=False),
        Case("no secret", [], header, genuine=False),
        Case("the first of two v1", SECRET, f"{header},{wrong}", genuine=True),
        Case("the second of two v1", SECRET, f"{t},{wrong},{v1}", genuine=True),
        Case("none of two v1", SECRET, f"{t},{wrong},{wrong}", genuine=False),
        Case("any of each", [OTHER, SECRET], f"{t},{wrong},{v1}", genuine=True),
        Case("an empty secret", "", sign("", BODY, at=now), genuine=False),
        Case("one empty secret", [SECRET, ""], sign("", BODY, at=now), genuine=False),
        Case("a secret after an empty one", ["", SECRET], header, genuine=True),
        Case("two t, the first too old", SECRET, f"t=0,{header}", genuine=False),
        Case("a t without a value", SECRET, f"t,{v1}", genuine=False),
        *(Case(f"t={t_[:20]}", SECRET, _signed(t_), genuine=False) for t_ in odd),
    ]


def _signed(t: str) -> str:
    """Return the header with a valid signature for any text as `t`."""
    mac = hmac.digest(SECRET.encode(), t.encode() + b"." + BODY, "sha256")
    return f"t={t},v1={mac.hex()}"


def test_only_genuine_requests_are_accepted(verdicts: Verifier) -> None:
    """See spec 5. Any of several secrets and any `v1` may match."""
    assert judged(verdicts, cases(int(time.time()))) == []
