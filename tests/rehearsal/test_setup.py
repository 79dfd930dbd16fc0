"""`ops/setup` and `ops/check`: the whole way, then each refusal of Google's, and each question."""

import base64
import copy
import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import pytest

from functions.email_address import record_id
from functions.service_accounts import SECRET_READERS
from ops import wanted
from ops.cloud import Cloud, Outside, RefusedError
from ops.firebase import signed_in
from ops.wanted import APIS
from tests.rehearsal.app import LOCKED
from tests.rehearsal.conftest import FirstRun, Operator
from tests.rehearsal.fake_google import (
    BUILD_SECONDS,
    BUILDER,
    PROJECT,
    REGION,
    TOKEN,
    FakeGoogle,
)

WEBHOOKS: Final = "serviceAccount:wall-webhooks@acme.iam.gserviceaccount.com"
LOGS: Final = "serviceAccount:wall-logs@acme.iam.gserviceaccount.com"
RECAP: Final = "serviceAccount:wall-recap@acme.iam.gserviceaccount.com"
PREFERENCES: Final = "serviceAccount:wall-preferences@acme.iam.gserviceaccount.com"
MAIL_EVENTS: Final = "serviceAccount:wall-mail-events@acme.iam.gserviceaccount.com"
PUBSUB: Final = "serviceAccount:service-123456@gcp-sa-pubsub.iam.gserviceaccount.com"
READ_SECRET: Final = ("secretmanager.secretAccessor", "secretmanager.viewer")
OF_PROJECT: Final = f"cloudresourcemanager projects/{PROJECT}"


def test_an_empty_project_comes_to_have_everything(first_run: FirstRun, ready: Operator) -> None:
    """APIs, accounts, metrics and Eventarc are new; a second time nothing is changed."""
    assert "has not been used before. Trying again in" in first_run.said, "an API is young"
    assert "does not exist. Trying again in" in first_run.said, "an account is young"
    assert "no trigger calls onPhotoWritten" in first_run.said, "Eventarc is not ready at first"
    ready.done("apply", "--email=ops@example.com", "--budget=50")
    for script in ("check", "setup", "apply"):
        assert "Everything is" in ready.done(script)
        assert not ready.google.changes + ready.commands


def test_a_deploy_that_goes_on_failing_is_told(ready: Operator) -> None:
    """A deploy that fails for ten minutes is told."""
    del ready.google.resources[f"cloudtasks {REGION}/queues/deliverWebhook"]
    tools = ready.checkout / "emulator/node_modules"
    tools.unlink()
    (tools / ".bin").mkdir(parents=True)
    (tools / ".bin/firebase").symlink_to(ready.machine / "bin/firebase")  # always fails
    said = ready.stopped("setup")
    assert "no queue deliverWebhook" in said
    assert "Some parts were not deployed" in said
    assert ready.slept == 600


def test_each_account_may_do_what_it_needs_and_no_more(ready: Operator) -> None:
    """Accounts have the roles of docs/security.md; what others have is only asked for."""
    google = ready.google
    google.policies[OF_PROJECT].append({"role": "roles/editor", "members": [BUILDER]})
    said = ready.done("setup")
    assert "gcloud projects remove-iam-policy-binding acme --member=serviceAccount:123456-" in said
    assert not google.changes
    assert google.policies[OF_PROJECT].pop()["role"] == "roles/editor"
    assert google.granted(OF_PROJECT) == {
        ("datastore.user", WEBHOOKS),
        ("cloudtasks.enqueuer", WEBHOOKS),
        ("eventarc.eventReceiver", WEBHOOKS),
        *(("firebaseauth.viewer", account) for account in (WEBHOOKS, RECAP, PREFERENCES)),
        ("datastore.user", LOGS),
        ("cloudtasks.enqueuer", LOGS),
        ("cloudtasks.enqueuer", RECAP),
        ("datastore.user", RECAP),
        ("datastore.user", PREFERENCES),
        ("datastore.user", MAIL_EVENTS),
        ("cloudbuild.builds.builder", BUILDER),
        ("iam.serviceAccountTokenCreator", PUBSUB),  # an account of Google's: a deploy gives it
    }
    for account in (WEBHOOKS, LOGS, RECAP):
        itself = f"iam projects/{PROJECT}/serviceAccounts/{account.partition(':')[2]}"
        assert google.granted(itself) == {("iam.serviceAccountUser", account)}
    secrets = f"secretmanager projects/{PROJECT}/secrets"
    assert google.granted(f"{secrets}/EMAIL_PREFS_KEY") == {
        (role, account) for role in READ_SECRET for account in (RECAP, PREFERENCES)
    }
    assert google.granted(f"{secrets}/LOG_LINKS_KEY") == {(role, LOGS) for role in READ_SECRET}
    assert google.granted(f"{secrets}/SENDGRID_API_KEY") == {(role, RECAP) for role in READ_SECRET}


def test_each_function_is_called_by_the_account_that_its_requests_come_from(
    ready: Operator,
) -> None:
    """No function runs as the default account, which calls no trigger, queue or schedule."""
    functions = {
        path.rpartition("/")[2]: made
        for path, made in ready.google.resources.items()
        if path.startswith(f"cloudfunctions {REGION}/functions/")
    }
    runs_as = {
        name: f"serviceAccount:{made['serviceConfig']['serviceAccountEmail']}"
        for name, made in functions.items()
    }
    assert set(runs_as.values()) == {WEBHOOKS, LOGS, RECAP, PREFERENCES, MAIL_EVENTS}
    assert runs_as["sendEventRecap"] == RECAP
    assert runs_as["getEmailPreferences"] == runs_as["unsubscribe"] == PREFERENCES
    webhooks = WEBHOOKS.partition(":")[2]
    triggers = [made["eventTrigger"] for made in functions.values() if "eventTrigger" in made]
    assert {trigger["serviceAccountEmail"] for trigger in triggers} == {webhooks}
    queues = ready.google.names("queues")
    for name, made in functions.items():
        callers = {"allUsers"}
        if name in queues or "eventTrigger" in made or name == "sweepDeliveries":
            callers = {WEBHOOKS, LOGS} if name.startswith("deliver") else {WEBHOOKS}
        if name == "sendScheduledRecap":
            callers = {RECAP, WEBHOOKS}
        invokers = ready.google.granted(f"run {REGION}/services/{name.lower()}")
        assert invokers == {("run.invoker", caller) for caller in callers}
    job = f"cloudscheduler {REGION}/jobs/firebase-schedule-sweepDeliveries-us-central1"
    token = ready.google.resources[job]["httpTarget"]["oidcToken"]
    assert token["serviceAccountEmail"] == webhooks


def test_builds_that_outlast_firebase_are_waited_for(operator: Operator) -> None:
    """A new project may build two functions at a time. Finished functions are not built again."""
    operator.google.build_seconds = 300
    said = operator.done("setup")
    active = [int(count) for count in re.findall(r"(\d+) of \d+ are active", said)]
    assert active == sorted(active)
    assert active[-1] == len(operator.google.names("functions"))
    assert len(set(active)) > 4, "progress is reported while Google builds"
    deploys = [line.count("functions:") for line in operator.commands if "=functions:" in line]
    assert deploys[0] == active[-1]
    assert all(later < first for first, later in pairwise(deploys))


def test_the_keys_are_in_no_argument(first_run: FirstRun) -> None:
    """Neither the made keys nor the typed one is printed or handed over as an argument."""
    for name in SECRET_READERS:
        version = f"secretmanager projects/{PROJECT}/secrets/{name}/versions/1"
        data = first_run.google.resources[version]["payload"]["data"]
        value = base64.b64decode(data).decode()
        assert value not in first_run.said
        assert not any(value in command for command in first_run.commands)
        if name == "SENDGRID_API_KEY":
            assert value == "SG.typed-in"
        else:
            assert len(bytes.fromhex(value)) == 32


def test_the_key_of_emails_may_come_later(operator: Operator) -> None:
    """Enter skips the key, once: webhooks are deployed, and the command that adds it is named."""
    operator.typed = ""
    command = "gcloud secrets versions add SENDGRID_API_KEY --data-file=- --project=acme"
    operator.done("setup")
    assert "deliverWebhook" in operator.google.names("functions")
    versions = "secrets/SENDGRID_API_KEY/versions/"
    assert not any(versions in path for path in operator.google.resources)
    operator.google.sleep(BUILD_SECONDS)
    assert command in operator.done("check")
    operator.typed = "SG.typed-in"
    operator.done("setup")
    assert command not in operator.done("check")


def test_one_api_that_is_refused_keeps_no_other_off(operator: Operator) -> None:
    """Google enables all of a batch or none, so that the one that fails has to be named."""
    operator.google.closed_api = "cloudscheduler.googleapis.com"
    _, said, errors = operator.run("setup")
    assert "cloudscheduler.googleapis.com cannot be enabled" in said + errors
    assert set(APIS) - operator.google.apis.keys() == {"cloudscheduler.googleapis.com"}


def test_the_apis_that_a_deploy_calls_are_enabled_and_no_others(first_run: FirstRun) -> None:
    """An API that nothing calls may end, and would then stop the set-up of every project."""
    only_looked_for = {"appengine", "compute", "runtimeconfig"}  # a deploy works without them
    called = first_run.google.called - {f"{name}.googleapis.com" for name in only_looked_for}
    assert called == set(APIS) == first_run.google.apis.keys()


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (400, "INVALID_ARGUMENT", "Service account {member} does not exist."),
        (404, "NOT_FOUND", "Unknown service account"),
        (403, "PERMISSION_DENIED", "Permission denied on service account (or it may not exist)."),
    ],
)
def test_every_answer_about_a_young_account_is_waited_for(
    operator: Operator, status: int, code: str, text: str
) -> None:
    """Google answers in several ways for a minute after the account was created."""
    operator.google.young_account = status, code, text
    operator.google.milli_cpu = 1  # as far as the deploy
    operator.run("setup")
    assert ("datastore.user", WEBHOOKS) in operator.google.granted(OF_PROJECT)


def test_a_default_account_that_is_not_there_is_named(operator: Operator) -> None:
    """Without it nothing can be built, and waiting does not help."""
    operator.google.has_builder = False
    said = operator.stopped("setup")
    assert "gcloud services enable compute.googleapis.com --project=acme" in said
    assert operator.commands == []


@pytest.mark.parametrize(("created", "needs"), [("2021-04-08T12:00:00Z", True), ("2022", False)])
def test_the_agent_of_an_old_project_has_the_token_creator(
    ready: Operator, created: str, needs: bool
) -> None:
    """Without the role, no trigger of a project of April 2021 or before fires."""
    ready.google.created = created
    bindings = ready.google.policies[OF_PROJECT]
    ready.google.policies[OF_PROJECT] = [each for each in bindings if "Token" not in each["role"]]
    assert ("has no iam.serviceAccountTokenCreator" in ready.run("check")[1]) is needs
    ready.done("setup")
    role = ("iam.serviceAccountTokenCreator", PUBSUB)
    assert (role in ready.google.granted(OF_PROJECT)) is needs


def test_people_sign_in_by_mail_from_the_site(first_run: FirstRun) -> None:
    """The project's own domains stay; the console has one web app."""
    assert first_run.google.sign_in == {
        "signIn": {"email": {"enabled": True, "passwordRequired": False}},
        "authorizedDomains": ["localhost", "acme.web.app", "wall.events"],
    }
    assert len(first_run.google.names("webApps")) == 1


def test_functions_are_deployed_by_name(first_run: FirstRun) -> None:
    """Functions are deployed with `--force`, by name, and before the pages."""
    rules, functions, pages, *again = first_run.commands
    assert "--only=firestore " in rules
    assert "--only=hosting " in pages
    assert "--force" not in rules + pages
    [only] = [word for word in functions.split() if word.startswith("--only=")]
    names = {target.split(":")[-1] for target in only.removeprefix("--only=").split(",")}
    assert names == first_run.google.names("functions")
    assert "--force" in functions
    triggers = (
        "--only=functions:photo-wall:onEventWritten,functions:photo-wall:onPhotoWritten,"
        "functions:photo-wall:onUserWritten "
    )
    assert all(triggers in command for command in again), "only what Eventarc was not ready for"


@pytest.mark.parametrize("call", ["projects/acme:setIam", "addVersion"])
def test_a_run_that_stopped_goes_on(operator: Operator, call: str) -> None:
    """Google's words are printed, and a further run makes the rest."""
    operator.google.refuse = call
    assert "The caller does not have permission." in operator.stopped("setup")
    operator.google.refuse = ""
    operator.google.milli_cpu = 1
    status, said, _ = operator.run("setup")
    assert (status, "Google would reject" in said) == (1, True), "as far as the deploy"


def test_nothing_is_deployed_with_made_up_settings(operator: Operator) -> None:
    """Nothing is deployed with the sender of the example, whose mails reach nobody."""
    env = operator.checkout / ".env"
    env.write_text(env.read_text().replace("wall.events", "example.com"))
    assert "Fill in MAIL_FROM and PUBLIC_BASE_URL." in operator.stopped("setup")
    assert operator.commands == []


def test_more_cpu_than_the_region_has_is_told_before_the_deploy(operator: Operator) -> None:
    """Google would refuse the function, and its queue would be missing."""
    operator.google.milli_cpu = 2_000
    env = operator.checkout / ".env"
    env.write_text(env.read_text().replace("DELIVERY_INSTANCES=2", "DELIVERY_INSTANCES=3"))
    (operator.checkout / "manifest.json").unlink()  # it is of the old settings
    said = operator.stopped("setup")
    assert "the project has 2\n" in said
    assert "Google would reject" in said
    assert "Lower DELIVERY_INSTANCES, or ask for more" in said
    assert "gcloud beta quotas preferences create --service=run.googleapis.com" in said
    assert operator.commands == []


def test_an_organization_that_forbids_public_services(operator: Operator) -> None:
    """Where neither `allUsers` nor a service without a check is allowed, set-up stops."""
    operator.google.forbids_all_users = operator.google.requires_invoker_iam = True
    assert (
        "gcloud org-policies reset run.managed.requireInvokerIam --project=acme"
        in operator.stopped("setup")
    )
    assert operator.commands == []


def test_where_all_users_are_refused_services_are_public_without_a_check(
    operator: Operator,
) -> None:
    """Public services lose their check of callers, again after each deploy; others keep it."""
    operator.google.forbids_all_users = True
    operator.done("setup")
    services = f"run {REGION}/services/"
    resources = operator.google.resources
    callers = {"sendeventrecap": True, "unsubscribe": True, "deliverwebhook": None}

    def open_services() -> dict[str, Any]:
        return {name: resources[services + name].get("invokerIamDisabled") for name in callers}

    assert open_services() == callers
    for name in callers:
        resources[services + name].pop("invokerIamDisabled", None)
    assert "unsubscribe may not be called by allUsers" in operator.run("check")[1]
    operator.done("deploy")
    assert open_services() == callers
    operator.google.sleep(BUILD_SECONDS)
    operator.done("check")


def test_terms_that_nobody_accepted_are_told(operator: Operator) -> None:
    """Google refuses to add Firebase until its terms were accepted in its console."""
    operator.google.refuse = "projects/acme:addFirebase"
    assert "https://console.firebase.google.com" in operator.stopped("setup")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({"locationId": "nam5"}, "the database is in nam5: a multi-region doubles"),
        ({"locationId": "eur3"}, "the database is in eur3: each call leaves us-central1"),
    ],
)
def test_where_the_database_lies_is_told(ready: Operator, place: dict[str, Any], told: str) -> None:
    """The location stays for ever: it is said, with what it costs."""
    ready.google.resources[f"firestore projects/{PROJECT}/databases/(default)"] |= place
    assert told in ready.done("check")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ({"databaseEdition": "ENTERPRISE"}, "--accept enterprise"),
        ({"type": "DATASTORE_MODE"}, "Install the service in a separate project."),
    ],
)
def test_a_database_of_another_kind_stops_the_run(
    ready: Operator, kind: dict[str, str], told: str
) -> None:
    """Triggers need one in Firestore's mode; of the Enterprise edition the operator decides."""
    ready.google.resources[f"firestore projects/{PROJECT}/databases/(default)"] |= kind
    del ready.google.resources[QUEUE]
    for script in ("check", "setup"):
        assert told in ready.stopped(script)
        assert not ready.google.changes + ready.commands
    if "--accept" in told:
        ready.done("setup", "--accept=enterprise")


def _rules_of_test_mode(google: FakeGoogle) -> None:
    release = google.resources[f"firebaserules projects/{PROJECT}/releases/cloud.firestore"]
    [file] = google.resources[f"firebaserules {release['rulesetName']}"]["source"]["files"]
    until = "if request.time < timestamp.date(2026, 12, 24)"
    file["content"] = LOCKED.replace("if false", until)


def _pages_from_before_the_functions(google: FakeGoogle) -> None:
    """Such a release leads to functions of the first generation, which are not there."""
    path = f"firebasehosting projects/{PROJECT}/sites/{PROJECT}/releases/"
    [release] = [found for key, found in google.resources.items() if key.startswith(path)]
    rewrites = release["version"]["config"]["rewrites"]
    rewrites[-1] = {"glob": "/unsubscribe", "function": "unsubscribe"}


def _in_state(path: str, state: str) -> Callable[[FakeGoogle], None]:
    return lambda google: google.resources[path].update(state=state)


QUEUE: Final = f"cloudtasks {REGION}/queues/retryWebhookAfter5s"
CALLED: Final = f"run {REGION}/services/onphotowritten"
JOB: Final = f"cloudscheduler {REGION}/jobs/firebase-schedule-sweepDeliveries-us-central1"
FUNCTION: Final = f"cloudfunctions {REGION}/functions/mailEvents"
BROKEN: Final[list[tuple[Callable[[FakeGoogle], object], str, str]]] = [
    # a change to the project, the words of `ops/check`, the target that `ops/setup` deploys
    (_rules_of_test_mode, "the rules differ from firestore.rules", "firestore"),
    (_pages_from_before_the_functions, "/unsubscribe does not lead to unsubscribe", "hosting"),
    (lambda google: google.resources.pop(QUEUE), "no queue", "retryWebhookAfter5s"),
    (_in_state(QUEUE, "PAUSED"), "the queue retryWebhookAfter5s is PAUSED", ""),
    (_in_state(JOB, "PAUSED"), "sweepDeliveries-us-central1 is PAUSED", ""),
    (_in_state(FUNCTION, "FAILED"), "mailEvents is FAILED", "mailEvents"),
    (
        lambda google: google.resources[JOB].update(schedule="every 24 hours"),
        "sweepDeliveries-us-central1 runs every 24 hours, not every 5 minutes",
        "sweepDeliveries",
    ),
    (
        lambda google: google.policies.update({CALLED: []}),
        f"onPhotoWritten may not be called by {WEBHOOKS}",
        "",
    ),
]


@pytest.mark.parametrize(("breaks", "told", "deployed"), BROKEN, ids=[row[1] for row in BROKEN])
def test_a_part_that_is_gone_or_broken_is_told_and_it_alone_is_mended(
    ready: Operator, breaks: Callable[[FakeGoogle], object], told: str, deployed: str
) -> None:
    """`ops/check` names the part, `ops/setup` deploys at most its target, and all is there."""
    breaks(ready.google)
    assert told in ready.stopped("check")
    ready.done("setup")
    targets = [re.findall(r"--only=(?:\S*:)?(\w+) ", command) for command in ready.commands]
    assert targets == ([[deployed]] if deployed else [])
    ready.done("check")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("GET cloudquotas", "vCPU in us-central1."),
        ("GET orgpolicy", "whether a service may be public"),
    ],
)
@pytest.mark.parametrize("refusal", [403, 400, 500])
def test_what_the_deployer_may_not_read_is_asked_of_the_person(
    ready: Operator, call: str, told: str, refusal: int
) -> None:
    """An unreadable quota or policy is asked of the operator, and the run goes on."""
    ready.google.refuse, ready.google.refusal = call, refusal
    for script in ("setup", "check"):
        assert told in ready.done(script)


def test_an_operation_that_never_ends_is_told(operator: Operator) -> None:
    """After a quarter of an hour the run says what Google is still making, and ends."""
    operator.google.ends_operations = False
    said = operator.stopped("setup")
    assert "Google is still working on v1/projects/acme/services:batchEnable" in said
    assert operator.slept == 900


def test_the_reason_of_a_stream_is_read() -> None:
    """Firestore's streams answer with an array that has one error."""
    error = {"code": 403, "message": "off", "details": [{"reason": "SERVICE_DISABLED"}]}
    for answer in ({"error": error}, [{"error": error}]):
        refused = RefusedError(403, json.dumps(answer).encode(), "POST firestore")
        assert (refused.is_switched_off, refused.text) == (True, "off")


def test_an_odd_line_of_settings_is_told_by_its_number(operator: Operator) -> None:
    """A line that is no setting stops the run before anything is looked at."""
    (operator.checkout / ".env.acme").write_text('export PUBLIC_BASE_URL="https://a.wall" # ours\n')
    assert wanted.read("acme", operator.checkout).site == "a.wall"
    (operator.checkout / ".env.acme").write_text("A=1\nPUBLIC_BASE_URL: https://a.wall\n")
    for script in ("check", "setup"):
        _, said, errors = operator.run(script)
        assert (said, errors) == ("", ".env.acme, line 2: write NAME=value, or # in front.\n")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("PUBLIC_WALL=yes", "PUBLIC_WALL is yes in .env. Write true or false."),
        ("PUBLIC_WALL=", "PUBLIC_WALL is empty in .env. Write true or false."),
        ("THREADS=many", "THREADS is many in .env. Write a whole number."),
        ("PUBLIC_BASE_URL=a.wall", "PUBLIC_BASE_URL is a.wall in .env. Write https:// and a host."),
        ("PHOTO_HOSTS=project,https://a.wall", "in .env. Write hosts without https://."),
    ],
)
def test_a_setting_of_another_kind_is_told(operator: Operator, line: str, told: str) -> None:
    """A deploy accepts any text: a switch would be off, and links in mails lead nowhere."""
    (operator.checkout / ".env.acme").write_text(line)
    (operator.checkout / "manifest.json").unlink()  # it is of the old settings
    assert told in operator.stopped("setup")
    assert not operator.google.changes + operator.commands


def test_a_callable_is_asked(ready: Operator) -> None:
    """`ops/check` calls a callable, because a policy on paper is no answer."""
    for name in ready.google.names("services"):
        ready.google.policies[f"run {REGION}/services/{name}"] = []
    said = ready.stopped("check")
    assert "may not be called by allUsers" in said
    assert "does not respond" in said


def test_a_role_that_is_there_under_a_condition_only_is_given(ready: Operator) -> None:
    """A role under a condition does not count, and stays beside the new one."""
    limited = {"role": "roles/datastore.user", "members": [WEBHOOKS], "condition": {"title": "x"}}
    bindings = ready.google.policies[OF_PROJECT]
    [given] = [binding for binding in bindings if binding["role"] == "roles/datastore.user"]
    given["members"].remove(WEBHOOKS)
    bindings.append(limited)
    ready.done("setup")
    bindings = ready.google.policies[OF_PROJECT]
    assert limited in bindings
    [given] = [
        binding
        for binding in bindings
        if binding["role"] == "roles/datastore.user" and binding != limited
    ]
    assert WEBHOOKS in given["members"]


def test_an_empty_project_lacks_everything(operator: Operator) -> None:
    """`ops/check` changes nothing, and its status tells."""
    said = operator.stopped("check")
    assert "no account wall-webhooks" in said
    assert "deliverWebhook is missing" in said
    assert "Run ops/setup acme." in said
    assert not operator.google.changes + operator.commands


def test_indexes_that_are_being_built_are_not_deployed_again(
    first_run: FirstRun, ready: Operator
) -> None:
    """Google takes minutes; `ops/check` tells when they are done."""
    assert "Run ops/check acme in some minutes." in first_run.said
    ready.google.sleep(-BUILD_SECONDS)
    said = ready.stopped("check")
    assert "is being built" in said
    assert said.endswith("\nGoogle is still working. Run this again in some minutes.\n")
    ready.done("setup")
    assert not ready.google.changes + ready.commands


def test_whoever_is_not_signed_in_is_told(operator: Operator) -> None:
    """`ops/check` opens no browser where nobody is signed in."""
    (operator.machine / "bin/gcloud").write_text("#!/bin/sh\nexit 1\n")
    status, _, errors = operator.run("check")
    assert (status, errors) == (1, "Sign in first: gcloud auth login\n")


def test_a_missing_program_is_named(operator: Operator) -> None:
    """A missing `gcloud` or firebase-tools is named."""
    (operator.machine / "bin/gcloud").rename(operator.machine / "bin/cloud")
    status, _, errors = operator.run("setup")
    assert (status, "cloud.google.com/sdk" in errors) == (1, True)
    (operator.machine / "bin/cloud").rename(operator.machine / "bin/gcloud")
    (operator.checkout / "emulator/node_modules").unlink()
    assert operator.run("setup")[::2] == (1, "Install first: python3 -m emulator setup\n")


def test_a_function_is_as_the_settings_have_it(ready: Operator) -> None:
    """A function that differs from its settings is named and deployed by its name."""
    function = f"cloudfunctions {REGION}/functions/deliverWebhook"
    service = ready.google.resources[function]["serviceConfig"]
    right = copy.deepcopy(service)
    service |= {"maxInstanceCount": 1, "maxInstanceRequestConcurrency": 1}
    service |= {"serviceAccountEmail": "x@acme.iam.gserviceaccount.com", "vpcConnector": "a/old"}
    service |= {"availableMemory": "256Mi", "timeoutSeconds": 10, "minInstanceCount": 3}
    service["environmentVariables"]["PHOTO_HOSTS"] = "*"
    trigger = ready.google.resources[f"cloudfunctions {REGION}/functions/onPhotoWritten"]
    trigger["eventTrigger"]["eventFilters"][0]["value"] = "other"
    trigger["eventTrigger"]["retryPolicy"] = "RETRY_POLICY_DO_NOT_RETRY"
    queue = ready.google.resources[f"cloudtasks {REGION}/queues/deliverWebhook"]
    limits = copy.deepcopy(queue)
    queue["retryConfig"] |= {"maxAttempts": 3, "minBackoff": "0.100s"}
    queue["rateLimits"]["maxDispatchesPerSecond"] = 10
    said = ready.stopped("check")
    for lack in (
        "deliverWebhook has maxInstanceCount 1, not 2",
        "deliverWebhook has maxInstanceRequestConcurrency 1, not ",
        "deliverWebhook has serviceAccountEmail x@acme.iam.gserviceaccount.com, not wall-webhooks@",
        "deliverWebhook is behind old",
        "deliverWebhook has availableMemory 256, not 512",
        "deliverWebhook has timeoutSeconds 10, not 60",
        "deliverWebhook has minInstanceCount 3, not none",
        "deliverWebhook has settings that differ from .env: PHOTO_HOSTS",
        "onPhotoWritten has database other, not (default)",
        "onPhotoWritten has retryPolicy RETRY_POLICY_DO_NOT_RETRY, not RETRY_POLICY_RETRY",
        "the queue deliverWebhook has maxAttempts 3, not 100",
        "the queue deliverWebhook has minBackoff 0.1, not 1",
        "the queue deliverWebhook has maxDispatchesPerSecond 10, not 500",
    ):
        assert lack in said
    ready.done("setup")
    [deploy] = ready.commands
    targets = "functions:photo-wall:deliverWebhook,functions:photo-wall:onPhotoWritten"
    assert f"--only={targets} " in deploy
    assert ready.google.resources[function]["serviceConfig"] == right
    assert ready.google.resources[f"cloudtasks {REGION}/queues/deliverWebhook"] == limits


def test_where_photos_lie_is_asked_once(operator: Operator) -> None:
    """An app with an image host of its own loses nobody's photos unseen."""
    operator.google.milli_cpu = 1  # as far as the deploy
    env = operator.checkout / ".env.acme"
    operator.run("setup")
    assert not env.exists(), "nobody was there to answer"
    operator.hosts = " https://images.wall.events, cdn.wall.events/a "
    operator.run("setup")
    assert env.read_text() == "PHOTO_HOSTS=project,images.wall.events,cdn.wall.events/a\n"
    operator.hosts = "other.wall.events"
    operator.run("setup")
    assert "other" not in env.read_text()


def test_photos_that_no_mail_shows_are_told(ready: Operator) -> None:
    """`ops/check` names hosts of photos that `PHOTO_HOSTS` does not name."""
    own = "https://firebasestorage.googleapis.com/v0/b/acme.appspot.com/o/1"
    urls = (own, "https://images.wall.events/1", "https://images.wall.events/2")
    ready.google.documents["photos"] = [{"url": {"stringValue": url}} for url in urls]
    said = ready.done("check")
    assert said.count("recap emails leave out photos") == 1
    assert "recap emails leave out photos at images.wall.events" in said
    assert "set PHOTO_HOSTS=project,images.wall.events in .env" in said


def test_accounts_that_no_record_lists_are_reported(ready: Operator) -> None:
    """After an upgrade, `ops/check` names `ops/adopt` until it has run."""
    emails = ["Ann@example.com", "First.Last@Gmail.com", "ann+x@example.com", "no address", ""]
    accounts = [{"email": {"stringValue": email}} for email in emails]
    ready.google.documents["users"] = accounts
    said = ready.done("check")
    assert "accounts missing from the record of their address: 3" in said
    assert "Run ops/adopt acme" in said
    # The records of two addresses list their accounts, which the stand-in calls by their numbers.
    for number, email in enumerate(emails[:2]):
        listed = {"mapValue": {"fields": {str(number): {"booleanValue": True}}}}
        ready.google.documents["users"].append({"id": record_id(email), "accounts": listed})
    assert "the record of their address: 1" in ready.done("check")
    del ready.google.documents["users"]
    assert "accounts missing from" not in ready.done("check")


def test_documents_that_are_nearly_too_large_for_triggers_are_named(ready: Operator) -> None:
    """A document of 256 KB and its version before it are more than an event carries."""
    text = "\u00e9" * 50_000
    ready.google.documents = {
        "photos": [{"id": "small", "name": {"stringValue": text}}],
        "events": [{"id": "large", "notes": {"stringValue": text * 3}}],
        "users": [{"id": "u1", "bio": {"stringValue": text}, "more": {"stringValue": text * 2}}],
    }
    said = ready.done("check")
    assert re.findall(r"(\S+) has (\d+) KB", said) == [("events/large", "293"), ("users/u1", "293")]


def test_guests_without_app_check_are_told(ready: Operator) -> None:
    """App Check is named where guests sign in anonymously or may list the wall."""
    told = "App Check is not enforced for Firestore"
    assert told not in ready.done("check")
    env = ready.checkout / ".env.acme"
    env.write_text("PUBLIC_WALL=true\n")
    assert f"PUBLIC_WALL is on, and {told}" in ready.run("check")[1]
    env.unlink()
    assert ready.google.sign_in is not None
    ready.google.sign_in["signIn"]["anonymous"] = {"enabled": True}
    assert f"guests sign in anonymously, and {told}" in ready.done("check")
    service = f"firebaseappcheck projects/{PROJECT}/services/firestore.googleapis.com"
    ready.google.resources[service] = {"enforcementMode": "ENFORCED"}
    ready.google.apis["firebaseappcheck.googleapis.com"] = 0.0
    assert told not in ready.done("check")


def test_a_projects_own_settings_count(operator: Operator) -> None:
    """`.env.PROJECT` counts after `.env`, as firebase-tools read it."""
    (operator.checkout / ".env.acme").write_text("STAFF_CALLS_AN_HOUR=7\n")
    settings = wanted.read("acme", operator.checkout).settings
    assert (settings["STAFF_CALLS_AN_HOUR"], settings["THREADS"]) == ("7", "300")


@pytest.mark.parametrize("line", ["BRAKE_ON_BUDGET=true", "SERVICE_ACCOUNT_RECAP=mailer"])
def test_a_removed_parameter_that_is_still_set_is_named(ready: Operator, line: str) -> None:
    """It does nothing any more, so whoever has set it expects something that does not happen."""
    (ready.checkout / ".env.acme").write_text(line + "\n")
    name = line.partition("=")[0]
    for script in ("check", "setup"):
        assert f"{name} in .env is obsolete" in ready.run(script)[1]


def test_libraries_call_as_the_operator_and_for_the_project(operator: Operator) -> None:
    """Firebase's libraries send the token of `gcloud`, and count for the project itself."""
    cloud = Cloud(PROJECT, Outside(run=operator.start))
    headers: dict[str, str] = {}
    signed_in(cloud).before_request(None, "GET", "https://firestore.googleapis.com", headers)  # type: ignore[no-untyped-call]
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["x-goog-user-project"] == PROJECT
