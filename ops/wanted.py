"""The parts that a project has to have: read off main.py's manifest, the indexes and the settings.

`firebase deploy` reads the same manifest. The tables here hold the roles, which no manifest holds.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from firebase_functions.params import BoolParam, IntParam

from functions.parameters import DECLARED
from functions.ports import LOCATION
from functions.service_accounts import LOGS, MAIL_EVENTS, PREFERENCES, RECAP, WEBHOOKS
from ops.cloud import OpsError
from tools import env_file

REGION: Final = LOCATION
APIS: Final = tuple(
    f"{name}.googleapis.com"
    for name in (
        *("cloudfunctions", "run", "cloudbuild", "artifactregistry", "eventarc", "pubsub"),
        *("cloudtasks", "cloudscheduler", "secretmanager", "firestore", "identitytoolkit"),
        *("firebase", "firebaserules", "firebasehosting", "iam"),
        *("serviceusage", "cloudresourcemanager", "cloudquotas", "orgpolicy", "storage"),
    )
)
ROLES: Final[Mapping[str, Sequence[str]]] = {
    WEBHOOKS: (
        "datastore.user",
        "cloudtasks.enqueuer",
        "eventarc.eventReceiver",
        "firebaseauth.viewer",
    ),
    LOGS: ("datastore.user", "cloudtasks.enqueuer"),
    RECAP: ("datastore.user", "cloudtasks.enqueuer", "firebaseauth.viewer"),
    PREFERENCES: ("datastore.user", "firebaseauth.viewer"),
    MAIL_EVENTS: ("datastore.user",),
}
"""Roles in the project of the accounts that functions run as, by account."""
TOKEN_CREATOR: Final = "iam.serviceAccountTokenCreator"  # noqa: S105 - a role
"""Without it no trigger fires, if the agent of Pub/Sub dates from `OLD_AGENT` or before."""
OLD_AGENT: Final = "2021-04-09"
"""https://cloud.google.com/eventarc/docs/roles-permissions"""
BUILDER_ROLE: Final = "cloudbuild.builds.builder"
"""All that the project's default account may do: no function runs as it."""
NEEDLESS_FOR_BUILDER: Final = ("editor", "run.invoker", "eventarc.eventReceiver")
"""Roles that Google or a deploy gives the default account, and nothing needs."""
MADE_KEYS: Final = ("EMAIL_PREFS_KEY", "LOG_LINKS_KEY")
"""Secrets that sign links: `ops/setup` makes their values."""
CPU_QUOTA: Final = "CpuAllocPerProjectRegion"
_PARAMETER: Final = re.compile(r"{{ params\.(\w+) }}")
_DURATIONS: Final[Mapping[str, str]] = {
    "maxRetrySeconds": "maxRetryDuration",
    "minBackoffSeconds": "minBackoff",
    "maxBackoffSeconds": "maxBackoff",
}
"""Limits of a queue that Cloud Tasks names otherwise than the manifest."""
_REMOVED: Final = re.compile(
    "ENFORCE_APP_CHECK|BRAKE_ON_BUDGET|SERVICE_ACCOUNT_.*|TRIGGER_INSTANCES|VPC_EGRESS"
    "|EVENT_DELIVERIES_A_SECOND|RECAPS_PER_ADDRESS_A_DAY"
)
"""Parameters of earlier releases."""
_FORMS: Final[Mapping[object, tuple[str, str]]] = {
    BoolParam: ("(?i:true|false)", "true or false"),
    IntParam: ("[0-9]+", "a whole number"),
    "PUBLIC_BASE_URL": (r"https://[^/\s]\S*", "https:// and a host"),
    "PHOTO_HOSTS": ("(?!.*://).*", "hosts without https://"),
}
"""Forms of settings, by their kind or name, and the form in words."""
_RENDER: Final = """\
import json, yaml
from firebase_functions.private import serving
print(json.dumps(yaml.safe_load(serving.functions_as_yaml(serving.get_functions()))))
"""


@dataclass(frozen=True)
class Function:
    """A function that has to be there, with what belongs to it."""

    name: str
    kind: str
    """`callable`, `https`, `taskQueue`, `event` or `schedule`."""
    config: Mapping[str, Any]
    """What Google has to say of its service and its trigger, by Google's names."""
    invokers: tuple[str, ...]
    """Members who may call its service."""
    queue: Mapping[str, float]
    """Limits of its queue, by their names at Cloud Tasks; times in seconds."""
    schedule: str
    """When it runs, in the words of Cloud Scheduler; empty where nothing is scheduled."""
    cpu_setting: str
    """The setting that its number of instances follows from."""

    @property
    def service(self) -> str:
        """Name of its service in Cloud Run."""
        return self.name.lower()

    @property
    def is_public(self) -> bool:
        """Whether everybody may call it; a callable looks at tokens itself."""
        return self.invokers == ("allUsers",)

    @property
    def max_cpu(self) -> float:
        """The vCPU that all its instances take together at the most."""
        return float(self.config["availableCpu"] * self.config["maxInstanceCount"])


@dataclass(frozen=True)
class Wanted:
    """Everything that has to be in one project."""

    project: str
    settings: Mapping[str, str]
    functions: tuple[Function, ...]
    indexes: frozenset[str]
    """Composite indexes, as `index_text` writes them."""
    ttl: frozenset[str]
    """Fields whose documents end by themselves: `group.field`."""
    codebase: str
    overrides: frozenset[str]
    """Fields with indexes or a TTL of their own: `group.field`."""
    rewrites: Mapping[str, str]
    """Functions that the pages' site leads to, by path."""
    rules: str
    """Text of firestore.rules."""
    hosting_site: str = ""
    """Beside an app: the site of the pages. Empty in a project of our own: its default site."""

    @property
    def is_beside(self) -> bool:
        """Whether an app lives in the project, which is left as it is."""
        return bool(self.hosting_site)

    @property
    def environment(self) -> dict[str, str]:
        """What a deploy hands to each function."""
        return {name: text for name, text in self.settings.items() if name != "GCLOUD_PROJECT"}

    def account(self, name: str) -> str:
        """Address of a service account of the project."""
        return f"{name}@{self.project}.iam.gserviceaccount.com"

    @property
    def site(self) -> str:
        """Host of the links in mails, which people sign in at."""
        return urlsplit(self.settings.get("PUBLIC_BASE_URL", "")).hostname or ""

    @property
    def unfilled(self) -> list[str]:
        """Settings that still hold the example's values."""
        names = ("MAIL_FROM", "PUBLIC_BASE_URL")
        return [name for name in names if "example.com" in self.settings.get(name, "example.com")]

    @property
    def removed(self) -> list[str]:
        """Settings that are parameters of earlier releases only."""
        known = {parameter.name for parameter in DECLARED.values()}
        return [name for name in self.settings if _REMOVED.fullmatch(name) and name not in known]

    @property
    def largest(self) -> Function:
        """The function that asks for the most CPU."""
        return max(self.functions, key=lambda function: function.max_cpu)

    @property
    def max_cpu(self) -> float:
        """The vCPU of all functions at their maxima together."""
        return sum(function.max_cpu for function in self.functions)


def read(project: str, root: Path) -> Wanted:
    """Everything that `project` has to have, of the checkout at `root`.

    Raises:
        OpsError: the checkout is not installed; a setting is none.
    """
    config = json.loads((root / "firebase.json").read_text(encoding="utf-8"))
    indexes = json.loads((root / "firestore.indexes.json").read_text(encoding="utf-8"))
    overrides = {
        f"{override['collectionGroup']}.{override['fieldPath']}": override
        for override in indexes["fieldOverrides"]
    }
    own = root / config_name(project)
    beside = json.loads(own.read_text(encoding="utf-8")) if own.exists() else {}
    settings = settings_of(root, project)
    _check(settings)
    settings["GCLOUD_PROJECT"] = project
    return Wanted(
        project=project,
        settings=settings,
        functions=tuple(
            _function(name, endpoint, settings)
            for name, endpoint in manifest(root, settings)["endpoints"].items()
        ),
        indexes=frozenset(
            index_text(index["collectionGroup"], index) for index in indexes["indexes"]
        ),
        ttl=frozenset(name for name, override in overrides.items() if override.get("ttl")),
        codebase=config["functions"][0]["codebase"],
        overrides=frozenset(overrides),
        rewrites={
            rewrite["source"]: rewrite["function"]["functionId"]
            for rewrite in config["hosting"]["rewrites"]
        },
        rules=(root / "firestore.rules").read_text(encoding="utf-8"),
        hosting_site=beside.get("hosting", {}).get("site", ""),
    )


def config_name(project: str) -> str:
    """Name of the file that a deploy beside an app reads in the place of firebase.json."""
    return f"firebase.{project}.json"


def config_beside(root: Path, wanted: Wanted) -> str:
    """Text of that file: no rules, and a site of its own for the pages."""
    config = json.loads((root / "firebase.json").read_text(encoding="utf-8"))
    del config["firestore"]["rules"], config["emulators"]
    config["hosting"] = {"site": wanted.hosting_site, **config["hosting"]}
    return json.dumps(config, indent=2) + "\n"


def settings_of(root: Path, project: str) -> dict[str, str]:
    """The settings of a project: `.env`, and the project's own file after it.

    Raises:
        OpsError: a line of a file is no setting.
    """
    try:
        return {**env_file.read(root / ".env"), **env_file.read(root / f".env.{project}")}
    except env_file.EnvFileError as error:
        raise OpsError(str(error)) from error


def _check(settings: Mapping[str, str]) -> None:
    """A deploy accepts any text: a switch that is `yes` would be off without a word.

    Raises:
        OpsError: a setting has another form.
    """
    for parameter in DECLARED.values():
        form, means = _FORMS.get(parameter.name) or _FORMS.get(type(parameter), (".*", ""))
        text = settings.get(parameter.name, "")
        if not re.fullmatch(form, text):
            raise OpsError(f"{parameter.name} is {text or 'empty'} in .env: write {means}.")


def set_own(root: Path, project: str, name: str, value: str) -> None:
    """Write a setting into the project's own file, in the place of an earlier value."""
    env = root / f".env.{project}"
    text = env.read_text(encoding="utf-8") if env.exists() else ""
    others = re.sub(rf"^{name}=.*\n?", "", text, flags=re.MULTILINE)
    env.write_text(f"{others.rstrip()}\n{name}={value}\n".lstrip(), encoding="utf-8")


def manifest(root: Path, settings: Mapping[str, str]) -> dict[str, Any]:
    """The manifest of main.py, as `firebase deploy` has it rendered under the `settings`.

    Raises:
        OpsError: it cannot be rendered.
    """
    python = root / "venv" / "bin" / "python"
    try:
        made = subprocess.run(
            [str(python), "-c", _RENDER],
            cwd=root,
            env={**os.environ, **settings},
            check=True,
            capture_output=True,
            text=True,
        )
    except OSError as error:
        raise OpsError("Install first: python3 -m emulator setup") from error
    except subprocess.CalledProcessError as error:
        *_, last = ["", *str(error.stderr).strip().splitlines()]
        raise OpsError(
            f"main.py cannot be read with these settings and packages: {last}\n"
            "After an upgrade: python3 -m emulator setup"
        ) from error
    rendered: dict[str, Any] = json.loads(made.stdout)
    return rendered


def index_text(group: str, index: Mapping[str, Any]) -> str:
    """A composite index in one line, the same for Google's form and the file's."""
    fields = " ".join(
        f"{part['fieldPath']}:{part.get('order') or part.get('arrayConfig')}"
        for part in index["fields"]
        if part["fieldPath"] != "__name__"
    )
    return f"{group} {index['queryScope']} {fields}"


def _function(name: str, endpoint: Mapping[str, Any], settings: Mapping[str, str]) -> Function:
    [trigger] = [key for key in endpoint if key.endswith("Trigger")]
    kind = trigger.removesuffix("Trigger")
    own = [f"serviceAccount:{endpoint['serviceAccountEmail']}"]
    named = [f"serviceAccount:{caller}" for caller in endpoint[trigger].get("invoker", [])]
    invokers = {"callable": ["allUsers"], "https": ["allUsers"], "taskQueue": named}.get(kind, own)
    instances = str(endpoint["maxInstances"])
    declared = endpoint[trigger]
    config = {
        "maxInstanceCount": int(_filled(instances, settings)),
        "minInstanceCount": endpoint["minInstances"] or 0,
        "maxInstanceRequestConcurrency": endpoint["concurrency"],
        "availableCpu": endpoint["cpu"],
        "availableMemory": endpoint["availableMemoryMb"],
        "timeoutSeconds": endpoint["timeoutSeconds"],
        "serviceAccountEmail": _filled(endpoint["serviceAccountEmail"], settings),
        "vpcConnector": endpoint.get("vpc", {}).get("connector", "").rpartition("/")[2],
        **declared.get("eventFilters", {}),
        **declared.get("eventFilterPathPatterns", {}),
    }
    return Function(
        name=name,
        kind=kind,
        config=config | ({"retryPolicy": "RETRY_POLICY_RETRY"} if declared.get("retry") else {}),
        queue={
            _DURATIONS.get(limit, limit): value
            for part in ("rateLimits", "retryConfig")
            for limit, value in declared.get(part, {}).items()
            if value is not None and kind == "taskQueue"
        },
        invokers=tuple(_filled(member, settings) for member in invokers),
        schedule=declared.get("schedule", ""),
        cpu_setting="DELIVERY_INSTANCES" if kind in ("event", "taskQueue") else "",
    )


def _filled(text: str, settings: Mapping[str, str]) -> str:
    try:
        return _PARAMETER.sub(lambda found: settings[found[1]], text)
    except KeyError as error:
        raise OpsError(f"{error.args[0]} stands in no .env: the repository's has it.") from error
