# ruff: noqa: D102, S310 - each method makes what its name says; the address is of loopback
"""In the place of the program `firebase`: reads the manifest and deploys it to the stand-in.

It is no firebase-tools. It does what they do to a project, in their order, by calls of Google's
APIs: what is there and ACTIVE is left alone unless it is named, what fails does not stop the rest,
a first failure policy needs `--force`, and accounts of Google's get three roles. With `--force`
it deletes indexes that the file does not name, functions of the codebase where none is named, and
has old images of every function deleted.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

REGION = "projects/acme/locations/us-central1"
DATABASE = "v1/projects/acme/databases/(default)"


class Deploy:
    """One deploy; `failed` where something was refused."""

    def __init__(self, flags: dict[str, str]) -> None:
        self.failed = False
        self.force = "force" in flags
        self.only = [target for target in flags.get("only", "").split(",") if target]
        self.config = json.loads(Path(flags.get("config", "firebase.json")).read_text())
        self.codebase = self.config["functions"][0]["codebase"]

    def call(self, method: str, api: str, path: str, body: Any = None) -> Any:
        """An answer of Google's; None where it refuses, which is printed."""
        address = os.environ["FAKE_GOOGLE"].format(host=f"{api}.googleapis.com")
        request = urllib.request.Request(
            f"{address}/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {os.environ['FAKE_TOKEN']}"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code not in {404, 409}:
                self.failed = True
                print(f"{method} {path}: {json.loads(error.read())['error']['message']}")
            return None

    def all(self) -> None:
        """Rules and indexes, functions, pages: as far as they are named."""
        wants_hosting = not self.only or "hosting" in self.only
        listed = self.call("GET", "firebasehosting", "v1beta1/projects/acme/sites")["sites"]
        site = self.config["hosting"].get("site", "acme")
        sites = [found for found in listed if found["name"].endswith(f"/{site}")]
        if wants_hosting and not sites:
            print("Unable to deploy to Hosting as there is no Hosting site.")
            self.failed = True
            return
        if not self.only or "firestore" in self.only:
            self.rules()
        if not self.only or {"firestore", "firestore:indexes"} & set(self.only):
            self.indexes()
        self.functions()
        if wants_hosting:
            self.call("POST", "firebasehosting", f"v1beta1/{sites[0]['name']}/releases", {})

    def rules(self) -> None:
        if "rules" not in self.config["firestore"]:
            return
        project, content = "v1/projects/acme", Path(self.config["firestore"]["rules"]).read_text()
        source = {"source": {"files": [{"name": "firestore.rules", "content": content}]}}
        made = self.call("POST", "firebaserules", f"{project}/rulesets", source)
        body = {"name": "cloud.firestore", "rulesetName": made["name"]}
        if not self.call("POST", "firebaserules", f"{project}/releases", body):
            self.call("PATCH", "firebaserules", f"{project}/releases/cloud.firestore", body)

    def indexes(self) -> None:
        file = json.loads(Path(self.config["firestore"]["indexes"]).read_text())
        if self.force:
            listed = self.call("GET", "firestore", f"{DATABASE}/collectionGroups/-/indexes")
            for index in listed["indexes"]:
                self.call("DELETE", "firestore", f"v1/{index['name']}")
        for index in file["indexes"]:
            group = f"{DATABASE}/collectionGroups/{index['collectionGroup']}/indexes"
            fields = [*index["fields"], {"fieldPath": "__name__", "order": "ASCENDING"}]
            self.call("POST", "firestore", group, index | {"fields": fields})
        for field in file["fieldOverrides"]:
            if field.get("ttl"):
                group = f"{DATABASE}/collectionGroups/{field['collectionGroup']}"
                path = f"{group}/fields/{field['fieldPath']}"
                self.call("PATCH", "firestore", path, {"ttlConfig": {}})

    def functions(self) -> None:
        manifest = json.loads(Path(os.environ["FAKE_MANIFEST"]).read_text())
        named = {target.split(":")[-1] for target in self.only if target.startswith("functions:")}
        if self.only and not named:
            return
        there = {
            name: self.call("GET", "cloudfunctions", f"v2/{REGION}/functions/{name}")
            for name in manifest["endpoints"]
            if name in named or not self.only
        }
        if not self.force and any(
            old is None and "eventTrigger" in manifest["endpoints"][name]
            for name, old in there.items()
        ):
            print("Pass the --force option to deploy functions with a failure policy")
            self.failed = True
            return
        triggers = {name for name, made in manifest["endpoints"].items() if "eventTrigger" in made}
        if not any(there.get(name) for name in triggers):
            self.give_roles()
        if self.force and not named:
            self.delete_the_rest(set(manifest["endpoints"]))
        for name, old in there.items():
            if name in named or not old or old["state"] != "ACTIVE":
                self.function(name, manifest["endpoints"][name], is_new=old is None)
        if self.force:
            self.delete_images()

    def delete_the_rest(self, wanted: set[str]) -> None:
        """Functions of the codebase that the source does not have."""
        listed = self.call("GET", "cloudfunctions", f"v2/{REGION}/functions")
        for found in listed["functions"]:
            codebase = found.get("labels", {}).get("firebase-functions-codebase", "default")
            if codebase == self.codebase and found["name"].rpartition("/")[2] not in wanted:
                self.call("DELETE", "cloudfunctions", f"v2/{found['name']}")

    def delete_images(self) -> None:
        """A policy of the repository with the images of every function."""
        path = f"v1/{REGION}/repositories"
        self.call("POST", "artifactregistry", path, {"name": "gcf-artifacts"})
        where = f"{path}/gcf-artifacts?updateMask=cleanupPolicies"
        there = self.call("GET", "artifactregistry", f"{path}/gcf-artifacts")
        policies = there.get("cleanupPolicies", {})
        policies |= {"firebase-functions-cleanup": {"action": "DELETE"}}
        self.call("PATCH", "artifactregistry", where, {"cleanupPolicies": policies})

    def function(self, name: str, endpoint: dict[str, Any], *, is_new: bool) -> None:
        """The function; then who may call it, its queue or its job. Nothing where it fails."""
        body: dict[str, Any] = {
            "serviceConfig": {
                "maxInstanceCount": int(self.filled(str(endpoint["maxInstances"]))),
                "availableCpu": str(endpoint["cpu"]),
                "serviceAccountEmail": self.filled(endpoint["serviceAccountEmail"]),
            },
            "labels": {"firebase-functions-codebase": self.codebase},
        }
        if "vpc" in endpoint:
            name_of_connector = endpoint["vpc"]["connector"]
            body["serviceConfig"]["vpcConnector"] = f"{REGION}/connectors/{name_of_connector}"
        if "eventTrigger" in endpoint:
            body["eventTrigger"] = endpoint["eventTrigger"]
        functions = f"v2/{REGION}/functions"
        if is_new:
            made = self.call("POST", "cloudfunctions", f"{functions}?functionId={name}", body)
        else:
            made = self.call("PATCH", "cloudfunctions", f"{functions}/{name}", body)
        if not made:
            return
        queue = endpoint.get("taskQueueTrigger")
        if queue:
            callers = queue["invoker"]
        elif "scheduleTrigger" in endpoint:
            callers = [endpoint["serviceAccountEmail"]]
        else:
            callers = [] if "eventTrigger" in endpoint else ["allUsers"]
        if callers and not self.let_call(name, [self.filled(caller) for caller in callers]):
            return
        if queue:
            body = {"name": f"{REGION}/queues/{name}"}
            self.call("POST", "cloudtasks", f"v2/{REGION}/queues", body)
        if "scheduleTrigger" in endpoint:
            body = {"name": f"{REGION}/jobs/firebase-schedule-{name}-us-central1"}
            self.call("POST", "cloudscheduler", f"v1/{REGION}/jobs", body)

    def let_call(self, name: str, callers: list[str]) -> Any:
        service = f"v2/{REGION}/services/{name.lower()}"
        policy = self.call("GET", "run", f"{service}:getIamPolicy")
        members = [
            caller if caller == "allUsers" else f"serviceAccount:{caller}" for caller in callers
        ]
        policy["bindings"] = [{"role": "roles/run.invoker", "members": members}]
        return self.call("POST", "run", f"{service}:setIamPolicy", {"policy": policy})

    def give_roles(self) -> None:
        project = "v1/projects/acme"
        policy = self.call("POST", "cloudresourcemanager", f"{project}:getIamPolicy", {})
        number = self.call("GET", "cloudresourcemanager", project)["projectNumber"]
        builder = f"serviceAccount:{number}-compute@developer.gserviceaccount.com"
        pubsub = f"serviceAccount:service-{number}@gcp-sa-pubsub.iam.gserviceaccount.com"
        wanted = {
            ("roles/run.invoker", builder),
            ("roles/eventarc.eventReceiver", builder),
            ("roles/iam.serviceAccountTokenCreator", pubsub),
        }
        # Asked without a version, Google names no conditions; what is written then has none.
        known = [binding for binding in policy["bindings"] if "condition" not in binding]
        there = {(binding["role"], member) for binding in known for member in binding["members"]}
        if wanted <= there:
            return
        added = [{"role": role, "members": [member]} for role, member in sorted(wanted)]
        policy["bindings"] = known + added
        self.call("POST", "cloudresourcemanager", f"{project}:setIamPolicy", {"policy": policy})

    def filled(self, text: str) -> str:
        """The settings of `.env` in the place of parameters."""
        lines = Path(".env").read_text().splitlines()
        for name, _, value in (line.partition("=") for line in lines if "=" in line):
            text = text.replace(f"{{{{ params.{name} }}}}", value)
        return text.replace("{{ params.GCLOUD_PROJECT }}", "acme")


def main() -> int:
    """Do the command of the command line."""
    line = re.sub(r"--(config|project) ", r"--\1=", " ".join(sys.argv[1:]))
    words = [word for word in line.split() if not word.startswith("--")]
    flags = dict(word[2:].partition("=")[::2] for word in line.split() if word.startswith("--"))
    if words == ["login:list"]:
        print('{"result": [{"user": {"email": "me@example.com"}}]}')
        return 0
    assert words == ["deploy"], words
    assert flags["project"] == "acme"
    assert "non-interactive" in flags
    deploy = Deploy(flags)
    deploy.all()
    return 1 if deploy.failed else 0


if __name__ == "__main__":
    sys.exit(main())
