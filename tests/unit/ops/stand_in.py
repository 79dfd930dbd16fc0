# ruff: noqa: D102 - each method is the command of its name
"""In the place of `gcloud` and `firebase`: a cloud in a file, for scripts that have no emulator.

It knows the commands that ops/ uses, keeps what they make, refuses what Google would refuse, and
writes down every call. Started under either name; the file is in STAND_IN_STATE.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

NUMBER = "123456"
BUILDER = f"{NUMBER}-compute@developer.gserviceaccount.com"
EMPTY: dict[str, Any] = {
    "calls": [],
    "refuse": "",
    "signed_in": [],
    "firebase": [],
    "apis": [],
    "databases": [],
    "bindings": [],
    "accounts": [],
    "bindings_on": {},
    "secrets": {},
    "functions": [],
    "channels": [],
    "metrics": {},
    "policies": {},
    "dashboards": {},
    "budgets": {},
}


class RefusedError(Exception):
    """What Google answers to a command that makes no sense now."""


class Cloud:
    """The commands, by their first words."""

    def __init__(self, state: dict[str, Any], flags: dict[str, str], typed: str) -> None:
        self.state = state
        self.typed = typed
        self.flags = flags

    def config(self) -> dict[str, Any]:
        """The file that a command was given."""
        name = "config-from-file" if "config-from-file" in self.flags else "policy-from-file"
        content: dict[str, Any] = json.loads(Path(self.flags[name]).read_text())
        return content

    def needs(self, api: str) -> None:
        """Refuse what calls an API that is not on."""
        if f"{api}.googleapis.com" not in self.state["apis"]:
            raise RefusedError(f"{api} API is disabled")

    # gcloud

    def auth_list(self) -> Any:
        return [{"account": "me"}] if "gcloud" in self.state["signed_in"] else []

    def auth_login(self) -> None:
        self.state["signed_in"].append("gcloud")

    def services_list(self) -> Any:
        return [{"config": {"name": one}} for one in self.state["apis"]]

    def services_enable(self, *apis: str) -> None:
        self.state["apis"] += apis

    def firestore_databases_list(self) -> Any:
        self.needs("firestore")
        return self.state["databases"]

    def firestore_databases_create(self) -> None:
        self.needs("firestore")
        self.state["databases"].append({"locationId": self.flags["location"]})

    def projects_describe(self, project: str) -> Any:
        return {"projectId": project, "projectNumber": NUMBER}

    def projects_get_iam_policy(self, _: str) -> Any:
        return {"bindings": self.state["bindings"]}

    def projects_add_iam_policy_binding(self, _: str) -> None:
        self.state["bindings"].append(self._binding())

    def projects_remove_iam_policy_binding(self, _: str) -> None:
        if self._binding() not in self.state["bindings"]:
            raise RefusedError("no such binding")
        self.state["bindings"].remove(self._binding())

    def iam_service_accounts_list(self) -> Any:
        self.needs("iam")
        return [{"email": one} for one in self.state["accounts"]]

    def iam_service_accounts_create(self, name: str) -> None:
        self.needs("iam")
        email = f"{name}@{self.flags['project']}.iam.gserviceaccount.com"
        if email in self.state["accounts"]:
            raise RefusedError("ALREADY_EXISTS")
        self.state["accounts"].append(email)

    def iam_service_accounts_get_iam_policy(self, name: str) -> Any:
        self.needs("iam")
        return self._policy_on(name)

    def iam_service_accounts_add_iam_policy_binding(self, name: str) -> None:
        self._add_on(name, there=name in self.state["accounts"])

    def secrets_get_iam_policy(self, name: str) -> Any:
        self.needs("secretmanager")
        return self._policy_on(name)

    def secrets_add_iam_policy_binding(self, name: str) -> None:
        self._add_on(name, there=name in self.state["secrets"])

    def run_services_get_iam_policy(self, name: str) -> Any:
        self.needs("run")
        return self._policy_on(name)

    def run_services_add_iam_policy_binding(self, name: str) -> None:
        self._add_on(name, there=name in [one.lower() for one in self.state["functions"]])

    def _policy_on(self, name: str) -> Any:
        bindings = self.state["bindings_on"].get(name)
        return {"bindings": bindings} if bindings else {"etag": "ACAB"}

    def _add_on(self, name: str, *, there: bool) -> None:
        if not there:
            raise RefusedError("NOT_FOUND")
        self.state["bindings_on"].setdefault(name, []).append(self._binding())

    def _binding(self) -> dict[str, Any]:
        return {"role": self.flags["role"], "members": [self.flags["member"]]}

    def secrets_versions_list(self, name: str) -> Any:
        self.needs("secretmanager")
        if name not in self.state["secrets"]:
            raise RefusedError("NOT_FOUND")
        return [{"state": "ENABLED"}]

    def beta_monitoring_channels_list(self) -> Any:
        self.needs("monitoring")
        return self.state["channels"]

    def beta_monitoring_channels_create(self) -> None:
        key, _, value = self.flags["channel-labels"].partition("=")
        number = len(self.state["channels"])
        self.state["channels"].append(
            {
                "name": f"projects/p/notificationChannels/{number}",
                "type": self.flags["type"],
                "labels": {key: value},
            }
        )

    def logging_metrics_list(self) -> Any:
        return list(self.state["metrics"].values())

    def logging_metrics_create(self, name: str) -> None:
        self._new("metrics", name)
        self.state["metrics"][name] = self.config()

    def logging_metrics_update(self, name: str) -> None:
        self._old("metrics", name)
        self.state["metrics"][name] = self.config()

    def alpha_monitoring_policies_list(self) -> Any:
        self.needs("monitoring")
        return list(self.state["policies"].values())

    def alpha_monitoring_policies_create(self) -> None:
        name = f"projects/p/alertPolicies/{len(self.state['policies'])}"
        self.state["policies"][name] = self.config() | {"name": name}

    def alpha_monitoring_policies_update(self, name: str) -> None:
        self._old("policies", name)
        self.state["policies"][name] = self.config() | {"name": name}

    def monitoring_dashboards_list(self) -> Any:
        return list(self.state["dashboards"].values())

    def monitoring_dashboards_create(self) -> None:
        name = f"d{len(self.state['dashboards'])}"
        self.state["dashboards"][name] = self.config() | {
            "name": f"projects/{NUMBER}/dashboards/{name}",
            "etag": "e1",
        }

    def monitoring_dashboards_update(self, name: str) -> None:
        self._old("dashboards", name)
        old, new = self.state["dashboards"][name], self.config()
        if new.get("etag") != old["etag"]:
            raise RefusedError("etag")
        self.state["dashboards"][name] = old | new | {"etag": old["etag"] + "+"}

    def billing_projects_describe(self, _: str) -> Any:
        return {"billingAccountName": "billingAccounts/AAAA-BBBB"}

    def billing_budgets_list(self) -> Any:
        self.needs("billingbudgets")
        return list(self.state["budgets"].values())

    def billing_budgets_create(self) -> None:
        self.state["budgets"]["b0"] = {
            "name": "billingAccounts/AAAA-BBBB/budgets/b0",
            "displayName": self.flags["display-name"],
            "amount": {"specifiedAmount": {"units": self.flags["budget-amount"]}},
        }

    def billing_budgets_update(self, name: str) -> None:
        self._old("budgets", name)
        units = {"specifiedAmount": {"units": self.flags["budget-amount"]}}
        self.state["budgets"][name]["amount"] = units

    def _new(self, kind: str, name: str) -> None:
        if name in self.state[kind]:
            raise RefusedError("ALREADY_EXISTS")

    def _old(self, kind: str, name: str) -> None:
        if name not in self.state[kind]:
            raise RefusedError("NOT_FOUND")

    # firebase

    def login_list(self) -> Any:
        return [{"user": {}}] if "firebase" in self.state["signed_in"] else []

    def login(self) -> None:
        self.state["signed_in"].append("firebase")

    def projects_list(self) -> Any:
        return [{"projectId": one} for one in self.state["firebase"]]

    def projects_addfirebase(self, project: str) -> None:
        self.state["firebase"].append(project)

    def functions_secrets_set(self, name: str, *_: str) -> None:
        self.needs("secretmanager")
        self.state["secrets"][name] = self.typed.strip()

    def functions_list(self) -> Any:
        return [{"id": one} for one in self.state["functions"]]

    def deploy(self) -> None:
        if not self.state["databases"]:
            raise RefusedError("no database")
        # What firebase-tools gives the default account.
        self.state["bindings"] += [
            {"role": f"roles/{role}", "members": [f"serviceAccount:{BUILDER}"]}
            for role in ("run.invoker", "eventarc.eventReceiver")
        ]
        self.state["functions"] = re.findall(
            r"^def ([a-z]\w+)\(", Path("main.py").read_text(), re.MULTILINE
        )


def handle(
    state: dict[str, Any], program: str, arguments: list[str], typed: str
) -> tuple[int, str, str]:
    """Do one command; its status, output and errors. `typed` is what stands at its input."""
    flags = dict(one[2:].partition("=")[::2] for one in arguments if one.startswith("--"))
    words = [one for one in arguments if not one.startswith("--")]
    state["calls"].append([program, *arguments])
    cloud = Cloud(state, flags, typed)
    try:
        if state["refuse"] and state["refuse"] in " ".join(arguments):
            return 1, "", "ERROR: PERMISSION_DENIED"
        command, rest = _command(cloud, words)
        answer = command(*rest)
    except RefusedError as refused:
        return 1, "", f"ERROR: {refused}"
    if answer is None:
        return 0, "", ""
    return 0, json.dumps({"result": answer} if program == "firebase" else answer), ""


def main() -> int:
    """Do the command of the command line."""
    path = Path(os.environ["STAND_IN_STATE"])
    state: dict[str, Any] = json.loads(path.read_text())
    program, arguments = Path(sys.argv[1]).name, sys.argv[2:]
    typed = sys.stdin.readline() if "functions:secrets:set" in arguments else ""
    status, output, errors = handle(state, program, arguments, typed)
    path.write_text(json.dumps(state))
    sys.stdout.write(output)
    sys.stderr.write(errors)
    return status


def _command(cloud: Cloud, words: list[str]) -> tuple[Callable[..., Any], list[str]]:
    """The method that is named by the most of the first words, and the words behind them."""
    for count in range(len(words), 0, -1):
        name = "_".join(words[:count]).replace("-", "_").replace(":", "_")
        if method := getattr(cloud, name, None):
            return method, words[count:]
    raise RefusedError(f"unknown command: {words}")


if __name__ == "__main__":
    sys.exit(main())
