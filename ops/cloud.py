"""A thin client of Google's REST APIs for one project, which retries calls to new resources.

Calls use the access token of `gcloud`. The only programs started are `gcloud` and `firebase`.
"""

import argparse
import getpass
import json
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from functions.firestore.model import Documents
from functions.mail.smtp import MailServer

ROOT: Final = Path(__file__).resolve().parent.parent
_FIREBASE: Final = Path("emulator/node_modules/.bin/firebase")
"""The version of the checkout. Older versions ignore `.env` and deploy the defaults."""
_NEW_ACCOUNT: Final = re.compile(
    r"does not exist|Unknown service account|service ?account.*may not exist", re.IGNORECASE
)
"""Google's errors about a service account that was just created."""
WAITS: Final = (2, 4, 8, 16, 32, 60, 60, 60)
"""Seconds between attempts at a call that needs a new resource: four minutes in total."""
_CALL_SECONDS: Final = 60
_OPERATION_SECONDS: Final = 2
_OPERATION_LOOKS: Final = 450
"""Maximum number of polls of one operation, which is 15 minutes."""
_NO_GCLOUD: Final = (
    "`gcloud` is not on PATH. Install the Google Cloud CLI first: "
    "https://cloud.google.com/sdk/docs/install"
)
_PAYS_ITSELF: Final = ("serviceusage", "cloudresourcemanager")
"""APIs called before any API is enabled, so calls cannot be billed to the project."""

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


class OpsError(Exception):
    """A script cannot continue. The message says what to change."""


class RefusedError(OpsError):
    """Google rejected a call with the HTTP `status`."""

    def __init__(self, status: int, answer: bytes, call: str) -> None:
        try:
            body = json.loads(answer)
            # Firestore's streams, such as runQuery, respond with an array.
            error = (body[0] if isinstance(body, list) else body)["error"]
            self.text, reasons = str(error["message"]), [error.get("status")]
            reasons += [detail.get("reason") for detail in error.get("details", [])]
        except (ValueError, LookupError, TypeError):
            self.text, reasons = "The response is not JSON.", []
        self.status = status
        self.is_switched_off = "SERVICE_DISABLED" in reasons
        self._was_overtaken = "ABORTED" in reasons
        super().__init__(f"{call}: {status} {self.text}")

    @property
    def is_missing(self) -> bool:
        """Whether the resource does not exist or its API is still disabled."""
        return self.status == 404 or self.is_switched_off  # noqa: PLR2004 - HTTP's own number

    @property
    def is_young(self) -> bool:
        """Whether a retry may succeed because an API, an account or a policy is new."""
        is_new_account = self.status in (400, 403, 404) and bool(_NEW_ACCOUNT.search(self.text))
        is_busy = self._was_overtaken or self.status in (429, 500, 503)
        return self.is_switched_off or is_new_account or is_busy


def _documents(cloud: "Cloud") -> Documents:
    from ops import firebase  # noqa: PLC0415 - its imports take a second, and few scripts need them

    return firebase.documents(cloud)


def _sign_in(server: MailServer, password: str) -> None:
    import certifi  # noqa: PLC0415 - few scripts need it

    server.sign_in(password, ssl.create_default_context(cafile=certifi.where())).quit()


@dataclass(frozen=True)
class Outside:
    """Programs, clock, terminal, network and checkout of a script. Tests replace them."""

    run: Run = subprocess.run
    sleep: Callable[[float], None] = time.sleep
    type_in: Callable[[str], str] = getpass.getpass
    ask: Callable[[str], str] = input
    address: str = "https://{host}"
    root: Path = ROOT
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    documents: "Callable[[Cloud], Documents]" = _documents
    sign_in: Callable[[MailServer, str], object] = _sign_in


class Cloud:
    """The APIs of one project, which are called with the operator's token."""

    def __init__(self, project: str, outside: Outside) -> None:
        self.project = project
        self.outside = outside
        self._token = ""

    def get(self, api: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return a resource, or the response to a read with a body, or None if it is missing."""
        try:
            return self.call("GET" if body is None else "POST", api, path, body)
        except RefusedError as error:
            if error.is_missing:
                return None
            raise

    def every(self, api: str, path: str, key: str) -> Iterator[Any]:
        """Yield all resources of a collection. `key` is the name of the list in a response."""
        mark = "&" if "?" in path else "?"
        page = self.get(api, path) or {}
        yield from page.get(key, [])
        while token := page.get("nextPageToken"):
            page = self.get(api, f"{path}{mark}pageToken={token}") or {}
            yield from page.get(key, [])

    def named(self, api: str, path: str, key: str) -> dict[str, Any]:
        """Return the resources of a collection by the last segments of their names."""
        return {found["name"].rpartition("/")[2]: found for found in self.every(api, path, key)}

    def switched_off(self, apis: Sequence[str]) -> list[str]:
        """Return the APIs that are disabled in the project."""
        path = f"v1/projects/{self.project}/services?filter=state:ENABLED"
        on = {api["config"]["name"] for api in self.every("serviceusage", path, "services")}
        return [api for api in apis if api not in on]

    def make(self, api: str, path: str, body: Mapping[str, Any], method: str = "POST") -> Any:
        """Create or change a resource, and wait for the operation to finish.

        Raises:
            RefusedError: Google rejected every attempt.
            OpsError: The operation did not finish within 15 minutes.
        """
        made = self.patiently(lambda: self.call(method, api, path, body))
        operation = f"{path.partition('/')[0]}/{made.get('name', '')}"
        for _ in range(_OPERATION_LOOKS):
            if "operations/" not in operation or made.get("done"):
                break
            self.outside.sleep(_OPERATION_SECONDS)
            made = self.patiently(lambda: self.call("GET", api, operation))
        else:
            raise OpsError(f"Google is still working on {path}. Run this again later.")
        if "error" in made:
            failed = json.dumps({"error": made["error"]}).encode()
            raise RefusedError(made["error"].get("code", 500), failed, f"{method} {path}")
        return made

    def policy(self, api: str, path: str) -> dict[str, Any]:
        """Return the IAM policy of a resource, including conditions."""
        path = f"{path}:getIamPolicy"
        if api == "cloudresourcemanager":
            return self.get(api, path, {"options": {"requestedPolicyVersion": 3}}) or {}
        body: dict[str, Any] | None = {} if api == "iam" else None
        return self.get(api, f"{path}?options.requestedPolicyVersion=3", body) or {}

    def bind(self, api: str, path: str, role: str, member: str, *, take: bool = False) -> None:
        """Grant `member` a role on a resource, or revoke it, and keep all other bindings."""

        def change() -> Any:
            # Read the policy in each attempt, because a concurrent change invalidates its etag.
            policy = self.policy(api, path)
            bindings = policy.setdefault("bindings", [])
            if take:
                for binding in bindings:
                    if binding["role"] == role and "condition" not in binding:
                        binding["members"] = [name for name in binding["members"] if name != member]
                policy["bindings"] = [binding for binding in bindings if binding["members"]]
            else:
                bindings.append({"role": role, "members": [member]})
            return self.call("POST", api, f"{path}:setIamPolicy", {"policy": policy})

        self.patiently(change)

    def patiently(self, act: Callable[[], Any]) -> Any:
        """Call `act`, and retry with backoff while a resource that it needs is new."""
        for seconds in WAITS:
            try:
                return act()
            except RefusedError as error:
                if not error.is_young:
                    raise
                say(f"    {error.text} Trying again in {seconds} s.")
                self.outside.sleep(seconds)
        return act()

    def call(self, method: str, api: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Call an API with the operator's token. Raise `RefusedError` if Google rejects it."""
        url = self.outside.address.format(host=f"{api}.googleapis.com") + f"/{path}"
        headers = {"Content-Type": "application/json"}
        if api not in _PAYS_ITSELF:
            headers["X-Goog-User-Project"] = self.project
        for is_again in (False, True):
            self._token = self._token or self.new_token()
            headers["Authorization"] = f"Bearer {self._token}"
            status, answer = _send(method, url, headers, body)
            if status != 401 or is_again:  # noqa: PLR2004 - HTTP's own number
                break
            self._token = ""  # expired, because setup can outlast a token
        if status >= 400:  # noqa: PLR2004 - HTTP's own number
            raise RefusedError(status, answer, f"{method} {api} {path}")
        return json.loads(answer or b"{}")

    def is_answering(self, region: str, function: str) -> bool:
        """Return whether a callable responds itself, not an error page of Google."""
        host = f"{region}-{self.project}.cloudfunctions.net"
        url = self.outside.address.format(host=host) + f"/{function}"
        _, answer = _send("POST", url, {"Content-Type": "application/json"}, {"data": {}})
        try:
            return bool({"error", "result"} & json.loads(answer).keys())
        except (ValueError, AttributeError):
            return False

    def start(self, *command: str) -> int:
        """Run a program that may interact with the operator, and return its exit status."""
        complete = [*command, f"--project={self.project}"]
        say(f"    {shlex.join(complete)}")
        return self._run(complete, stdout=None).returncode

    def hear(self, *command: str) -> str:
        """Return the output of a program, or "" if it fails."""
        ran = self._run(command, stdout=subprocess.PIPE)
        return "" if ran.returncode else ran.stdout.strip()

    def type_in(self, question: str) -> str:
        """Prompt for a secret, and return "" without a terminal."""
        try:
            return self.outside.type_in(question).strip()
        except EOFError:
            return ""

    def new_token(self) -> str:
        """Return a new access token. Raise `OpsError` if `gcloud` is not signed in."""
        token = self.hear("gcloud", "auth", "print-access-token")
        if not token:
            raise OpsError("Sign in first: gcloud auth login")
        return token

    def _run(self, command: Sequence[str], stdout: int | None) -> subprocess.CompletedProcess[str]:
        program, *arguments = command
        root = self.outside.root
        if program == "firebase":
            program = str(root / _FIREBASE)
            if not (root / _FIREBASE).exists():
                raise OpsError("Install first: python3 -m emulator setup")
        try:
            return self.outside.run(
                [program, *arguments], cwd=root, stdout=stdout, text=True, check=False
            )
        except OSError as error:
            if program == "gcloud" and isinstance(error, FileNotFoundError):
                raise OpsError(_NO_GCLOUD) from error
            raise OpsError(f"{program}: {error.strerror}") from error


def _send(
    method: str, url: str, headers: Mapping[str, str], body: Mapping[str, Any] | None
) -> tuple[int, bytes]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, dict(headers), method=method)  # noqa: S310 - https
    try:
        with urllib.request.urlopen(request, timeout=_CALL_SECONDS) as answer:  # noqa: S310
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        raise OpsError(f"Cannot reach {url}: {error}") from error


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


Script: TypeAlias = Callable[[argparse.Namespace, Cloud, Outside], None]
"""Body of a script. An `OpsError` ends it with status 1."""


def run(script: Script, options: argparse.Namespace, outside: Outside | None) -> int:
    """Run a script, print the message of a failure, and return the exit status."""
    try:
        if outside is None and shutil.which("gcloud") is None:
            raise OpsError(_NO_GCLOUD)  # noqa: TRY301 - handled as failures of the script are
        outside = outside or Outside()
        script(options, Cloud(options.project, outside), outside)
    except Exception as error:
        from ops import firebase  # noqa: PLC0415 - its imports take a second

        if not isinstance(error, (OpsError, *firebase.FAILURES)):
            raise
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def parser_of(program: str, description: str | None) -> argparse.ArgumentParser:
    """Return a command line parser whose first argument is the project."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("project", help="ID of the project")
    return parser
