"""Checks of the deployed parts: functions, queues, callers, indexes and pages."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ops import merging
from ops.cloud import RefusedError, say
from ops.parts import Issue, Look, Parts, deployed_rules, grants
from ops.wanted import OLD_AGENT, REGION, TOKEN_CREATOR, Function


class Deployed(Parts):
    """The deployed parts of one project."""

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """All checks except the call."""
        return [
            ("Functions", self.functions),
            ("Queues", self.queues),
            ("Triggers", self.triggers),
            ("The schedule", self.schedule),
            ("Callers of the functions", self.invokers),
            ("Rules, indexes and TTL of Firestore", self.firestore),
            ("Pages", self.hosting),
        ]

    @property
    def answering(self) -> list[tuple[str, Look]]:
        """An end-to-end check by a call."""
        return [("A callable responds", self.answers)]

    def gone(self) -> list[str]:
        """Return deployed functions that were removed from main.py."""
        path = f"v2/{self._region}/functions"
        return sorted(self._former(self._cloud.named("cloudfunctions", path, "functions")))

    def functions(self) -> Iterator[Issue]:
        """Yield functions that are not ACTIVE or differ from the manifest and the settings."""
        path = f"v2/{self._region}/functions"
        there = self._cloud.named("cloudfunctions", path, "functions")
        states = [there.get(each.name, {}).get("state") for each in self._wanted.functions]
        say(f"  {states.count('ACTIVE')} of {len(states)} are active")
        for function in self._wanted.functions:
            found = there.get(function.name, {})
            state = found.get("state", "missing")
            if state != "ACTIVE":
                is_under_way = state == "DEPLOYING"
                target = "" if is_under_way else self._target(function)
                yield Issue(f"{function.name} is {state}", deploy=target, is_under_way=is_under_way)
                continue
            for text in _differences(function, found, self._wanted.settings):
                yield Issue(f"{function.name} {text}", deploy=self._target(function))
            connector = _said(found)["vpcConnector"]
            if connector and not function.config["vpcConnector"]:
                # A deploy does not change settings that are missing from the manifest.
                fields = "serviceConfig.vpcConnector,serviceConfig.vpcConnectorEgressSettings"
                where = f"{path}/{function.name}"
                fix = self._patcher("cloudfunctions", where, fields, {"serviceConfig": {}})
                yield Issue(f"{function.name} is behind {connector}", fix=fix)

    def queues(self) -> Iterator[Issue]:
        """Yield queues that are not RUNNING or differ from the manifest."""
        there = self._cloud.named("cloudtasks", f"v2/{self._region}/queues", "queues")
        for function in self._of("taskQueue"):
            path, found = f"v2/{self._region}/queues/{function.name}", there.get(function.name, {})
            yield from self._running("cloudtasks", path, found, "RUNNING", function)
            limits = {**found.get("rateLimits", {}), **found.get("retryConfig", {})}
            for limit, wanted in function.queue.items() if found else ():
                has = float(str(limits.get(limit, 0)).removesuffix("s"))  # Google omits 0
                if has != wanted:
                    yield Issue(
                        f"the queue {function.name} has {limit} {has:g}, not {wanted:g}",
                        deploy=self._target(function),
                    )

    def schedule(self) -> Iterator[Issue]:
        """Yield jobs that are not ENABLED or have another schedule than main.py."""
        there = self._cloud.named("cloudscheduler", f"v1/{self._region}/jobs", "jobs")
        for function in self._of("schedule"):
            job = f"firebase-schedule-{function.name}-{REGION}"
            path = f"v1/{self._region}/jobs/{job}"
            found = there.get(job, {})
            yield from self._running("cloudscheduler", path, found, "ENABLED", function)
            if found and found.get("schedule") != function.schedule:
                yield Issue(
                    f"the job {job} runs {found.get('schedule')}, not {function.schedule}",
                    deploy=self._target(function),
                )

    def triggers(self) -> Iterator[Issue]:
        """Yield functions without a working trigger."""
        path = f"v1/{self._project}/locations/-/triggers"
        there = {
            trigger["destination"].get("cloudFunction", "").rpartition("/")[2]
            for trigger in self._cloud.every("eventarc", path, "triggers")
            if not trigger.get("conditions")
        }
        for function in self._of("event"):
            if function.name not in there:
                yield Issue(f"no trigger calls {function.name}", deploy=self._target(function))
        if self._about().get("createTime", OLD_AGENT) < OLD_AGENT:
            path = f"v1/{self._project}"
            agent = self._pubsub_agent()
            yield from self._bound("cloudresourcemanager", path, [TOKEN_CREATOR], agent)

    def invokers(self) -> Iterator[Issue]:
        """Yield missing callers of functions, which a deploy does not bind for new triggers."""
        services = self._cloud.named("run", f"v2/{self._region}/services", "services")
        for function in self._wanted.functions:
            found = services.get(function.service)
            if found is None or (found.get("invokerIamDisabled") and function.is_public):
                continue
            path = f"v2/{self._region}/services/{function.service}"
            policy = self._cloud.policy("run", path)
            for member in function.invokers:
                if not grants(policy, "roles/run.invoker", member):
                    bind = self._binder("run", path, "run.invoker", member)
                    yield Issue(
                        f"{function.name} may not be called by {member}",
                        fix=partial(self._publish, path, bind) if function.is_public else bind,
                    )

    def firestore(self) -> Iterator[Issue]:
        """Yield other rules than ours, and indexes and TTL policies that are not ready."""
        if not self._wanted.is_beside:
            rules = deployed_rules(self._cloud)
            if not merging.is_ours(rules, self._wanted.rules):
                text = "the rules differ from firestore.rules" if rules else "no rules"
                yield Issue(text, deploy="firestore")
        indexes, fields = self._indexes(), self._ttl()
        for index in sorted(self._wanted.indexes):
            yield from self._building(f"index {index}", indexes.get(index), "READY")
        for field in sorted(self._wanted.ttl):
            yield from self._building(f"TTL of {field}", fields.get(field), "ACTIVE")

    def hosting(self) -> Iterator[Issue]:
        """Yield pages without a release, and rewrites that do not lead to their function."""
        sites = self._sites().items()
        defaults = (name for name, site in sites if site.get("type") == "DEFAULT_SITE")
        name = self._wanted.hosting_site or next(defaults, "")
        releases = self._releases(name) if name else []
        if not releases:
            yield Issue("no release", deploy="hosting")
            return
        there = releases[0].get("version", {}).get("config", {}).get("rewrites", [])
        led = {rewrite.get("glob"): rewrite.get("run", {}).get("serviceId") for rewrite in there}
        for source, function in self._wanted.rewrites.items():
            if led.get(source) != function.lower():
                # A release that is older than the function names a first-generation function.
                yield Issue(f"{source} does not lead to {function}", deploy="hosting")

    def answers(self) -> Iterator[Issue]:
        """Yield a callable that does not respond."""
        function = self._of("callable")[0]
        if not self._cloud.is_answering(REGION, function.name):
            yield Issue(
                f"{function.name} does not respond",
                ask="Check its log, and whether it may be called without authentication.",
            )

    def _publish(self, path: str, bind: Callable[[], None]) -> None:
        # https://cloud.google.com/run/docs/authenticating/public
        try:
            bind()
        except RefusedError as error:
            if error.status != 400:  # noqa: PLR2004 - HTTP's own number
                raise
            say("    The organization forbids allUsers. Disabling the check of callers.")
            self._patcher("run", path, "invokerIamDisabled", {"invokerIamDisabled": True})()

    def _of(self, kind: str) -> list[Function]:
        return [function for function in self._wanted.functions if function.kind == kind]

    def _target(self, function: Function) -> str:
        return f"functions:{self._wanted.codebase}:{function.name}"

    def _running(
        self, api: str, path: str, found: Mapping[str, Any], wanted: str, function: Function
    ) -> Iterator[Issue]:
        name = f"{path.split('/')[-2].removesuffix('s')} {path.rpartition('/')[2]}"
        state = found.get("state")
        if not found:
            yield Issue(f"no {name}", deploy=self._target(function))
        elif state != wanted:
            yield Issue(f"the {name} is {state}", fix=self._maker(api, f"{path}:resume", {}))

    def _building(self, name: str, state: str | None, wanted: str) -> Iterator[Issue]:
        if state == "CREATING":
            yield Issue(f"{name} is being built", is_under_way=True)
        elif state != wanted:
            target = "firestore:indexes" if self._wanted.is_beside else "firestore"
            yield Issue(f"{name} is {state or 'missing'}", deploy=target)


def _differences(
    function: Function, found: Mapping[str, Any], environment: Mapping[str, str]
) -> Iterator[str]:
    said = _said(found)
    for name, wanted in function.config.items():
        if said.get(name) != wanted and (wanted or name != "vpcConnector"):
            yield f"has {name} {said.get(name) or 'none'}, not {wanted or 'none'}"
    has = said.get("environmentVariables", {})
    if others := [name for name, text in environment.items() if has.get(name) != text]:
        yield f"has settings that differ from .env: {', '.join(others)}"


def _said(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return Google's description of a function in the format of `Function.config`."""
    service, trigger = found.get("serviceConfig", {}), found.get("eventTrigger", {})
    cpu, memory = service.get("availableCpu", "0"), service.get("availableMemory", "0")
    filters = {entry["attribute"]: entry["value"] for entry in trigger.get("eventFilters", [])}
    return {
        **service,
        **filters,
        "minInstanceCount": service.get("minInstanceCount", 0),
        "retryPolicy": trigger.get("retryPolicy"),
        "availableCpu": float(cpu.removesuffix("m")) / (1000 if cpu.endswith("m") else 1),
        "availableMemory": int(memory.rstrip("GMi")) * (1024 if "G" in memory else 1),
        "vpcConnector": service.get("vpcConnector", "").rpartition("/")[2],
    }
