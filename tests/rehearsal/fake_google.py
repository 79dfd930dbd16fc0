# ruff: noqa: C901, PLR0911, PLR0912 - a case and a response for each kind of call
"""A fake of Google's APIs on a real socket: one project, its resources, and Google's errors.

Resources are identified by their paths, as in Google's REST APIs. The fake returns Google's errors
for disabled and just enabled APIs, roles of a new account, `allUsers` in an organization that
forbids it, more CPU than the region's quota, triggers while Eventarc's account is new, and alerts
on new metrics. Tests move its clock.
"""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from emulator.server import HttpRequest, HttpResponse, StandIn

PROJECT: Final = "acme"
NUMBER: Final = "123456"
BUILDER: Final = f"serviceAccount:{NUMBER}-compute@developer.gserviceaccount.com"
REGION: Final = f"projects/{PROJECT}/locations/us-central1"
IMAGES: Final = f"{REGION}/repositories/gcf-artifacts"
"""The repository of the functions' images, which Google creates with the first function."""
TOKEN: Final = "token-of-the-operator"
API_SECONDS: Final = 30
ACCOUNT_SECONDS: Final = 60
EVENTARC_SECONDS: Final = 120
METRIC_SECONDS: Final = 600
BUILD_SECONDS: Final = 900
"""Time to build an index or a TTL policy."""
BUILDS_AT_ONCE: Final = 2
FIREBASE_SECONDS: Final = 1500
"""Time for which firebase-tools waits for a function."""
_ALWAYS_ON: Final = ("serviceusage", "cloudresourcemanager")
_COLLECTIONS: Final = {
    *("functions", "services", "queues", "triggers", "jobs", "indexes", "fields", "secrets"),
    *("versions", "serviceAccounts", "webApps", "alertPolicies", "notificationChannels"),
    *("metrics", "dashboards", "budgets", "databases", "releases", "sites", "rulesets"),
    *("repositories", "defaultSupportedIdpConfigs", "exclusions"),
}
_LIST_KEYS: Final = {"serviceAccounts": "accounts", "webApps": "apps"}
_IDS: Final = ("functionId", "secretId", "databaseId", "siteId")
_READS: Final = (
    *("getIamPolicy", "getEffectivePolicy", "runQuery", "test", "testIamPermissions"),
    *("generateServiceIdentity", "generateUploadUrl", "populateFiles", "listCollectionIds"),
)
_PAGE: Final = 5


class RefusedError(Exception):
    """An error response of Google."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status = status
        reason = [{"reason": code}] if code == "SERVICE_DISABLED" else []
        self.body = {
            "error": {"code": status, "status": code, "message": message, "details": reason}
        }
        super().__init__(message)


class FakeGoogle:
    """The fake project.

    Attributes:
        resources: Resources by API and path: `run projects/acme/…`.
        policies: Bindings of roles, by API and path.
        accounts: Accounts of users, by ID.
        documents: Fields of the app's documents, by collection.
        changes: Method, API and path of every call that changed a resource.
        called: Every API that was called, or checked by firebase-tools.
        sources: Uploaded archives of the functions' source.
        now: Seconds since the creation of the project.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.has_firebase = False
        self.has_builder = True
        self.created = ""
        self.closed_api = ""
        self.young_account = 400, "INVALID_ARGUMENT", "Service account {member} does not exist."
        self.milli_cpu = 20_000
        self.build_seconds = 0.0
        self.forbids_all_users = False
        self.requires_invoker_iam = False
        self.ends_operations = True
        self.apis: dict[str, float] = {}
        self.resources: dict[str, dict[str, Any]] = {}
        self.policies: dict[str, list[dict[str, Any]]] = {}
        self.sign_in: dict[str, Any] | None = None
        self.documents: dict[str, list[dict[str, Any]]] = {}
        self.changes: list[str] = []
        self.called: set[str] = set()
        self.refuse, self.refusal = "", 403
        self.sources: list[bytes] = []
        self.accounts: dict[str, dict[str, Any]] = {}
        self._made: dict[str, float] = {}
        self._built: dict[str, float] = {}
        self._operations: list[dict[str, Any]] = []

    def names(self, kind: str) -> set[str]:
        """Return the last parts of the names of all resources of a kind."""
        found = (path.split("/") for path in self.resources)
        return {parts[-1] for parts in found if len(parts) > 1 and parts[-2] == kind}

    def granted(self, resource: str) -> set[tuple[str, str]]:
        """Return the pairs of role and member of a resource."""
        pairs = [
            (binding["role"].removeprefix("roles/"), member)
            for binding in self.policies.get(resource, [])
            for member in binding["members"]
        ]
        assert len(pairs) == len(set(pairs))
        return set(pairs)

    def sleep(self, seconds: float) -> None:
        """Move the clock."""
        self.now += seconds

    # --- one call --------------------------------------------------------------------------------

    def answer(self, method: str, host: str, path: str, body: Any) -> Any:
        """Return Google's response to a call of a signed-in operator."""
        url = urlsplit(path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        api, path = host.removesuffix(".googleapis.com"), url.path.lstrip("/")
        version, path = re.findall(r"^((?:admin/)?v\d\w*)?/?(.*)$", path)[0]
        # firebase-tools also uses the project's number.
        path = path.replace(f"projects/{NUMBER}", f"projects/{PROJECT}")
        if self.refuse and self.refuse in f"{method} {api} {path}":
            told = "The caller does not have permission."
            raise RefusedError(self.refusal, "PERMISSION_DENIED", told)
        looked_for = re.match(r"projects/\w+/services/([\w.-]+)$", path)
        self.called.add(looked_for[1] if looked_for else f"{api}.googleapis.com")
        self._needs(api)
        path, _, verb = path.partition(":") if "projects" in path else (path, "", "")
        is_read = method == "GET" or verb in _READS
        if not is_read:
            self.changes.append(f"{method} {api} {path}" + (f":{verb}" if verb else ""))
        if verb == "access":
            return self._list(api, path.removesuffix("/latest"), {})["versions"][-1]
        if verb:
            return self._custom(verb, api, path, body)
        if "operations/" in path:
            end = self._operations[int(path.rpartition("/")[2])]
            return {"name": path, "done": True, **end} if self.ends_operations else {"name": path}
        if (api, version, path.rpartition("/")[2]) == ("cloudfunctions", "v1", "functions"):
            return {"functions": [], "unreachable": []}  # first-generation functions
        if special := self._special(method, api, path, query, body):
            return special
        last = path.rpartition("/")[2]
        if method == "GET":
            return self._list(api, path, query) if last in _COLLECTIONS else self._get(api, path)
        if method == "POST":
            return self._post(api, path, query, body)
        if method == "DELETE" and api == "cloudfunctions":
            return self._deleted_function(path)
        is_implied = method == "PUT" or "/fields/" in path or "/documents/" in path
        old = {} if is_implied else self._get(api, path)
        if "updateMask" in query:
            body = _masked(old, body, query["updateMask"])
            old = {key: value for key, value in old.items() if key in body}
        if api == "firebaserules":
            body = body["release"]
        if api == "cloudtasks":
            body = {
                key: value for key, value in body.items() if key != "state"
            }  # an output-only field
        self._check(api, path, body)
        if "etag" in old:
            if body.get("etag") != old["etag"]:
                raise RefusedError(409, "ABORTED", "etag")
            body = body | {"etag": old["etag"] + "+"}
        if "ttlConfig" in body:
            body = body | {"ttlConfig": {"state": "CREATING"}}
        name = last if api == "logging" else path
        return (
            self._made_function(path, body)
            if api == "cloudfunctions"
            else self._keep(api, path, {**old, **body, "name": name})
        )

    def _needs(self, api: str) -> None:
        since = self.now - self.apis.get(f"{api}.googleapis.com", self.now)
        if api not in _ALWAYS_ON and since < API_SECONDS:
            raise RefusedError(403, "SERVICE_DISABLED", f"{api} has not been used before.")

    def _get(self, api: str, path: str) -> dict[str, Any]:
        try:
            return self._grown(api, self.resources[f"{api} {path}"])
        except KeyError:
            raise RefusedError(404, "NOT_FOUND", f"{path} was not found.") from None

    def _grown(self, api: str, resource: dict[str, Any]) -> dict[str, Any]:
        """Return an index or a TTL policy with its state at the current time."""
        age = self.now - self._made.get(f"{api} {resource.get('name')}", 0)
        if self.now < self._built.get(str(resource.get("name")), 0):
            return resource | {"state": "DEPLOYING"}
        if api == "firestore" and age >= BUILD_SECONDS:
            if resource.get("state") == "CREATING":
                return resource | {"state": "READY"}
            if "ttlConfig" in resource:
                return resource | {"ttlConfig": {"state": "ACTIVE"}}
        return resource

    def _list(self, api: str, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        pattern = re.compile(re.escape(f"{api} {path}/").replace("/\\-/", "/[^/]+/") + "[^/]+$")
        found = [
            self._grown(api, resource)
            for name, resource in self.resources.items()
            if pattern.match(name)
        ]
        if query.get("filter") == "ttlConfig:*":
            found = [resource for resource in found if "ttlConfig" in resource]
        if api == "firebasehosting" and path.endswith("/releases"):
            found.reverse()  # newest first
        start = int(query.get("pageToken") or 0)
        # firebase-tools reads only the first page of indexes and fields.
        size = 100 if api == "firestore" else _PAGE
        last = path.rpartition("/")[2]
        page: dict[str, Any] = {_LIST_KEYS.get(last, last): found[start : start + size]}
        return page | ({"nextPageToken": str(start + size)} if len(found) > start + size else {})

    def _post(self, api: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any]:
        kind = path.rpartition("/")[2]
        given = [query[key] for key in _IDS if key in query]
        given += [body[key] for key in ("accountId", "name") if key in (body or {})]
        name = str(given[0]) if given else str(len(self.names(kind)))
        name = name.rpartition("/")[2]
        if kind == "serviceAccounts":
            name = f"{name}@{PROJECT}.iam.gserviceaccount.com"
            body = {"email": name}
        is_there = f"{api} {path}/{name}" in self.resources
        if kind == "indexes":  # identified by their definition, not by a name
            is_there = any(
                key.startswith(f"{api} {path}/") and body["fields"] == resource["fields"][:-1]
                for key, resource in self.resources.items()
            )
        if is_there:
            raise RefusedError(409, "ALREADY_EXISTS", f"{name} already exists.")
        self._check(api, path, body)
        if kind == "functions":
            return self._made_function(f"{path}/{name}", body)
        if kind == "releases" and api == "firebasehosting":
            path = path.replace("/channels/live", "")
            body = {"version": self._get(api, query["versionName"])}
        if kind in ("indexes", "versions"):
            name = str(len(self.resources))
        if kind == "indexes":
            order = body["fields"][-1].get("order", "ASCENDING")
            fields = [*body["fields"], {"fieldPath": "__name__", "order": order}]
            body = body | {"fields": fields, "apiScope": "ANY_API", "density": "SPARSE_ALL"}
        full = name if api == "logging" else f"{path}/{name}"
        extra = {
            "databases": {"databaseEdition": "STANDARD"},
            "queues": {"state": "RUNNING"},
            "jobs": {"state": "ENABLED"},
            "indexes": {"state": "CREATING"},
            "dashboards": {"etag": "e1"},
            "webApps": {"appId": f"1:{NUMBER}:web:{name}"},
            "sites": {"type": "DEFAULT_SITE" if name == PROJECT else "USER_SITE"},
        }.get(kind, {})
        made = self._keep(api, f"{path}/{name}", {**body, "name": full, **extra})
        if kind in ("databases", "webApps"):
            return self._operation(made)
        return made

    def _made_function(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create a function: a Cloud Run service, and a trigger if documents call the function.

        Google returns an operation. A failed function exists as well.
        """
        name = path.rpartition("/")[2]
        service = f"{REGION}/services/{name.lower()}"
        given = {key: value for key, value in body["serviceConfig"].items() if value is not None}
        given |= {"service": service, "uri": f"https://{name}.example"}
        body = body | {"name": path, "state": "FAILED", "environment": "GEN_2"}
        function = self._keep("cloudfunctions", path, body | {"serviceConfig": given})
        images = {"name": IMAGES, "format": "DOCKER"}
        self.resources.setdefault(f"artifactregistry {IMAGES}", images)
        if "eventTrigger" in body:
            if self.now - self.apis["eventarc.googleapis.com"] < EVENTARC_SECONDS:
                why = "Permission denied while using the Eventarc agent."
                return self._operation(error={"code": 9, "message": why})
            trigger = f"{REGION}/triggers/{name.lower()}-1"
            found = {"destination": {"cloudFunction": path}} | body["eventTrigger"]
            self._keep("eventarc", trigger, {"name": trigger, **found})
        self._keep("run", service, {"name": service})
        function["state"] = "ACTIVE"
        if self.build_seconds:
            building = sorted(end for end in self._built.values() if end > self.now)
            begins = building[-BUILDS_AT_ONCE] if len(building) >= BUILDS_AT_ONCE else self.now
            if begins + self.build_seconds - self.now > FIREBASE_SECONDS:
                self._built[path] = begins + self.build_seconds
                return self._operation(error={"code": 4, "message": "Timed out."})
            self._built[f"{path} in time"] = begins + self.build_seconds
        return self._operation(function)

    def _deleted_function(self, path: str) -> dict[str, Any]:
        """Delete a function with its service, its trigger and its policy."""
        name = path.rpartition("/")[2].lower()
        for key in (f"run {REGION}/services/{name}", f"eventarc {REGION}/triggers/{name}-1"):
            self.resources.pop(key, None)
            self.policies.pop(key, None)
        return self._operation(self.resources.pop(f"cloudfunctions {path}"))

    def _keep(self, api: str, path: str, resource: dict[str, Any]) -> dict[str, Any]:
        self._made.setdefault(f"{api} {path}", self.now)
        self.resources[f"{api} {path}"] = resource
        return resource

    def _operation(self, response: Any = None, *, error: Any = None) -> dict[str, Any]:
        self._operations.append({"error": error} if error else {"response": response or {}})
        return {"name": f"operations/{len(self._operations) - 1}"}

    # --- Google's errors --------------------------------------------------------------------------

    def _check(self, api: str, path: str, body: Any) -> None:
        *_, parent, last = path.split("/")
        kind = last if last in _COLLECTIONS else parent
        if api == "cloudfunctions" and kind == "functions":
            self._check_cpu(body["serviceConfig"])
        if api == "monitoring" and kind == "alertPolicies":
            self._check_metrics(body["conditions"])

    def _check_cpu(self, service: Any) -> None:
        asked = int(service["maxInstanceCount"] * float(service["availableCpu"]) * 1000)
        if asked > self.milli_cpu:
            told = f"CpuAllocPerProjectRegion requested: {asked} allowed: {self.milli_cpu}"
            raise RefusedError(400, "INVALID_ARGUMENT", f"Quota violated: {told}")

    def _check_metrics(self, conditions: Any) -> None:
        for condition in conditions:
            promql = condition.get("conditionPrometheusQueryLanguage", {})
            for name in re.findall(r"user_(wall_[a-z_]+?)(?:_sum|_count|_bucket)?\{", str(promql)):
                made = self._made.get(f"logging projects/{PROJECT}/metrics/{name}", self.now)
                is_young = self.now - made < METRIC_SECONDS
                if is_young and not promql.get("disableMetricValidation"):
                    raise RefusedError(404, "NOT_FOUND", f"Cannot find a metric {name}.")

    def _check_members(self, bindings: list[dict[str, Any]]) -> None:
        for member in {member for binding in bindings for member in binding["members"]}:
            if member == "allUsers" and self.forbids_all_users:
                told = "allUsers is not in a permitted organization."
                raise RefusedError(400, "FAILED_PRECONDITION", told)
            if member == "allUsers" or member.startswith("user:") or "@gcp-sa-" in member:
                continue
            account = f"projects/{PROJECT}/serviceAccounts/{member.partition(':')[2]}"
            made = self._made.get(f"iam {account}")
            if member != BUILDER and (made is None or self.now - made < ACCOUNT_SECONDS):
                raise RefusedError(*self.of_young(member))

    def of_young(self, member: str) -> tuple[int, str, str]:
        """Return Google's error for a new service account."""
        status, code, text = self.young_account
        return status, code, text.format(member=member)

    # --- requests beyond plain resources -------------------------------------------------------

    def _special(self, method: str, api: str, path: str, query: Any, body: Any) -> Any:
        project = f"projects/{PROJECT}"
        match api, path.removeprefix(project):
            case "serviceusage", "/services":
                names = list(self.apis)
                start = int(query.get("pageToken", 0))
                page = [{"config": {"name": name}} for name in names[start : start + _PAGE]]
                more = len(names) > start + _PAGE
                return {"services": page} | ({"nextPageToken": f"{start + _PAGE}"} if more else {})
            case "serviceusage", str(rest) if rest.startswith("/services/"):
                is_on = path.rpartition("/")[2] in self.apis
                return {"state": "ENABLED" if is_on else "DISABLED"}
            case "cloudresourcemanager", "":
                created = {"createTime": self.created} if self.created else {}
                return {"projectId": PROJECT, "projectNumber": NUMBER, **created}
            case "iam", str(rest) if self.has_builder and rest.endswith(BUILDER.partition(":")[2]):
                return {"email": BUILDER.partition(":")[2]}
            case "firebase", "":
                if not self.has_firebase:
                    raise RefusedError(404, "NOT_FOUND", "not a Firebase project")
                return {"projectId": PROJECT}
            case "firebase", "/adminSdkConfig":
                return {"projectId": PROJECT, "storageBucket": f"{PROJECT}.firebasestorage.app"}
            case "run", str(rest) if rest.endswith(f"/namespaces/{PROJECT}/services"):
                paths = [key for key in self.resources if re.match(r"run .*/services/[^/]+$", key)]
                return {"items": [{"metadata": {"name": key.split("/")[-1]}} for key in paths]}
            case "cloudbilling", "/billingInfo":
                return {"billingAccountName": "billingAccounts/AAAA-BBBB"}
            case "cloudquotas", str(rest) if rest.endswith("/CpuAllocPerProjectRegion"):
                here = {"region": "us-central1"}
                return {
                    "dimensionsInfos": [
                        {"dimensions": {"region": "asia-east1"}, "details": {"value": "1000"}},
                        {"dimensions": here, "details": {"value": str(self.milli_cpu)}},
                    ]
                }
            case "identitytoolkit", "/accounts":
                account = {"localId": str(len(self.accounts)), **body}
                return self.accounts.setdefault(account["localId"], account)
            case "identitytoolkit", "/config":
                if self.sign_in is None:
                    raise RefusedError(404, "CONFIGURATION_NOT_FOUND", "CONFIGURATION_NOT_FOUND")
                if method == "PATCH":
                    assert query["updateMask"].partition(".")[0] in body
                    self.sign_in |= body
                return self.sign_in
        return None

    def _custom(self, verb: str, api: str, path: str, body: Any) -> Any:
        resource = f"{api} {path}"
        match verb:
            case "getIamPolicy" | "setIamPolicy":
                if resource != f"cloudresourcemanager projects/{PROJECT}":
                    self._get(api, path)
                if verb == "setIamPolicy":
                    self._set_policy(resource, body["policy"])
                bindings = json.loads(json.dumps(self.policies.get(resource, [])))
                return {"etag": str(hash(str(bindings))), "bindings": bindings}
            case "lookup":
                found = [
                    account
                    for account in self.accounts.values()
                    if account["email"] in body.get("email", ())
                    or account["localId"] in body.get("localId", ())
                ]
                return {"users": found} if found else {}
            case "update":
                self.accounts[body["localId"]] |= body
                return {"localId": body["localId"]}
            case "sendOobCode":
                return {"oobLink": f"https://{PROJECT}.firebaseapp.com/?oobCode=1"}
            case "batchGet":
                return {"users": list(self.accounts.values())}
            case "generateServiceIdentity":
                return self._operation()
            case "generateUploadUrl":
                return {
                    "uploadUrl": "https://storage.googleapis.com/sources/1",
                    "storageSource": {"bucket": "sources", "object": "1"},
                }
            case "populateFiles":
                return {"uploadUrl": "https://upload-firebasehosting.googleapis.com/upload"}
            case "testIamPermissions":
                return {"permissions": body["permissions"]}
            case "batchEnable":
                assert len(body["serviceIds"]) <= 20
                if self.closed_api in body["serviceIds"]:
                    raise RefusedError(400, "FAILED_PRECONDITION", "One API is not available.")
                self.apis |= dict.fromkeys(body["serviceIds"], self.now)
                return self._operation(None)
            case "enable":
                if path.rpartition("/")[2] == self.closed_api:
                    raise RefusedError(404, "NOT_FOUND", "The API is not available.")
                self.apis[path.rpartition("/")[2]] = self.now
                return self._operation(None)
            case "addFirebase":
                self.has_firebase = True
                return self._operation(None)
            case "initializeAuth":
                self.sign_in = {"authorizedDomains": ["localhost", f"{PROJECT}.web.app"]}
                return {}
            case "addVersion":
                self._get(api, path)
                number = len(self._list(api, f"{path}/versions", {})["versions"]) + 1
                version = f"{path}/versions/{number}"
                return self._keep(api, version, {"name": version, "state": "ENABLED", **body})
            case "resume":
                state = "ENABLED" if api == "cloudscheduler" else "RUNNING"
                return self._keep(api, path, self._get(api, path) | {"state": state})
            case "getEffectivePolicy":
                if path.endswith("iam.allowedPolicyMemberDomains") and self.forbids_all_users:
                    return {"spec": {"rules": [{"values": {"allowedValues": ["is:C0123"]}}]}}
                if path.endswith("run.managed.requireInvokerIam"):
                    return {"spec": {"rules": [{"enforce": self.requires_invoker_iam}]}}
                return {"spec": {}}
            case "runQuery":
                group = body["structuredQuery"]["from"][0]["collectionId"]
                found = [
                    {
                        "document": {
                            "name": f"{path}/{group}/{fields.get('id', number)}",
                            "fields": fields,
                        }
                    }
                    for number, fields in enumerate(self.documents.get(group, []))
                ]
                # A response without a document has only the time of the read.
                return found or [{"readTime": "now"}]
            case "listCollectionIds":
                self._get(api, path.removesuffix("/documents"))
                return {"collectionIds": sorted(self.documents)}
            case "test" if "testSuite" not in body:  # compiles the rules
                return {"issues": []}
            case "test":
                return {"testResults": self._tested(path, body["testSuite"]["testCases"])}
        raise RefusedError(404, "NOT_FOUND", f"no method {verb}")

    def _tested(self, ruleset: str, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Pass every case, except if the rules begin with a block that allows everything."""
        [file] = self._get("firebaserules", ruleset)["source"]["files"]
        is_open = "match /{document=**} { allow read: if request.auth != null; }" in file["content"]
        assert {case["expectation"] for case in cases} == {"DENY"}
        is_read = [case["request"]["method"] in ("get", "list") for case in cases]
        return [{"state": "FAILURE" if is_open and read else "SUCCESS"} for read in is_read]

    def _set_policy(self, resource: str, policy: dict[str, Any]) -> None:
        bindings = self.policies.get(resource, [])
        if policy.get("etag") and policy["etag"] != str(hash(str(bindings))):
            raise RefusedError(409, "ABORTED", "The policy was changed by another.")
        self._check_members(policy["bindings"])
        merged: dict[str, dict[str, Any]] = {}  # one binding for each role, as Google stores them
        for binding in policy["bindings"]:
            key = json.dumps([binding["role"], binding.get("condition")])
            kept = merged.setdefault(key, binding | {"members": []})
            kept["members"] = sorted({*kept["members"], *binding["members"]})
        self.policies[resource] = list(merged.values())

    def call_function(self, name: str) -> tuple[int, str, str]:
        """Return a callable's response to a browser: status, type and text."""
        path = f"{REGION}/services/{name.lower()}"
        members = {member for _, member in self.granted(f"run {path}")}
        if f"run {path}" not in self.resources:
            return 404, "text/html", "<h1>Not Found</h1>"
        is_open = "allUsers" in members or self.resources[f"run {path}"].get("invokerIamDisabled")
        if not is_open:
            return 403, "text/html", "<h1>Forbidden</h1>"
        error = {"error": {"status": "UNAUTHENTICATED", "message": "Sign in."}}
        return 401, "application/json", json.dumps(error)


def token_for(path: str) -> str:
    """Return the token of a call. firebase-admin treats the fake as its emulator."""
    return "owner" if f"v1/projects/{PROJECT}/accounts" in path else TOKEN


def _masked(old: dict[str, Any], body: dict[str, Any], mask: str) -> dict[str, Any]:
    """Apply a PATCH: the fields of the mask get the body's values, or are removed."""
    changed: dict[str, Any] = json.loads(json.dumps(old))
    for path in mask.split(","):
        *parents, field = path.split(".")
        into, given = changed, body
        for parent in parents:
            into, given = into.setdefault(parent, {}), given.get(parent) or {}
        into.pop(field, None)
        if given.get(field) is not None:
            into[field] = given[field]
    return changed


@contextmanager
def serving(google: FakeGoogle) -> Iterator[str]:
    """Serve the fake on a free port and yield the pattern of its URLs, which has `{host}`.

    firebase-tools sends the original host in a header.
    """
    lock = threading.Lock()

    def answer(asked: HttpRequest) -> HttpResponse:
        host, path = asked.headers.get("True-Host", ""), asked.path
        if not host:
            host, _, path = asked.path.lstrip("/").partition("/")
        status, kind, text = 200, "application/json", ""
        if host == "storage.googleapis.com":
            google.sources.append(asked.body)
        elif host.endswith("cloudfunctions.net"):
            status, kind, text = google.call_function(path)
        elif asked.headers.get("Authorization") != f"Bearer {token_for(path)}":
            status, text = 401, json.dumps({"error": {"message": "no token"}})
        else:
            try:
                with lock:
                    body = json.loads(asked.body or b"null")
                    text = json.dumps(google.answer(asked.method, host, path, body))
            except RefusedError as refused:
                status, text = refused.status, json.dumps(refused.body)
        return status, {"Content-Type": kind}, text.encode()

    with StandIn(answer) as server:
        yield f"http://127.0.0.1:{server.port}/{{host}}"
