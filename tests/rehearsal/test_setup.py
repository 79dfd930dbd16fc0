"""`ops/setup` and `ops/check`: a complete setup, each error of Google, and each question."""

import base64
import copy
import json
import re
import smtplib
import ssl
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import pytest

from functions.email_address import record_id
from functions.mail.smtp import MailServer
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


def test_an_empty_project_is_set_up_completely(first_run: FirstRun, ready: Operator) -> None:
    """Wait for new APIs, accounts, metrics and Eventarc. Change nothing the second time."""
    assert "has not been used before. Trying again in" in first_run.said, "an API is new"
    assert "does not exist. Trying again in" in first_run.said, "an account is new"
    assert "no trigger calls onPhotoWritten" in first_run.said, "Eventarc is not ready at first"
    ready.done("apply", "--email=ops@example.com", "--budget=50")
    for script in ("check", "setup", "apply"):
        assert "Everything is" in ready.done(script)
        assert not ready.google.changes + ready.commands


def test_a_deploy_that_keeps_failing_is_reported(ready: Operator) -> None:
    """Report the failure after ten minutes."""
    del ready.google.resources[f"cloudtasks {REGION}/queues/deliverWebhook"]
    tools = ready.checkout / "emulator/node_modules"
    tools.unlink()
    (tools / ".bin").mkdir(parents=True)
    (tools / ".bin/firebase").symlink_to(ready.machine / "bin/firebase")  # always fails
    said = ready.stopped("setup")
    assert "no queue deliverWebhook" in said
    assert "Some parts were not deployed" in said
    assert ready.slept == 600


def test_each_account_has_only_the_roles_that_it_needs(ready: Operator) -> None:
    """Compare the roles with docs/security.md. Roles of other accounts are not changed."""
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
        ("iam.serviceAccountTokenCreator", PUBSUB),  # Google's account, granted by a deploy
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


def test_each_function_may_be_called_by_the_account_of_its_requests(
    ready: Operator,
) -> None:
    """Use the default account for no function, trigger, queue or schedule."""
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
    """Build two functions at a time, as in a new project, and none of them twice."""
    operator.google.build_seconds = 300
    said = operator.done("setup")
    active = [int(count) for count in re.findall(r"(\d+) of \d+ are active", said)]
    assert active == sorted(active)
    assert active[-1] == len(operator.google.names("functions"))
    assert len(set(active)) > 4, "progress is reported while Google builds"
    deploys = [line.count("functions:") for line in operator.commands if "=functions:" in line]
    assert deploys[0] == active[-1]
    assert all(later < first for first, later in pairwise(deploys))


def test_keys_are_not_arguments(first_run: FirstRun) -> None:
    """Print no generated or typed key, and pass none as an argument."""
    for name in SECRET_READERS.keys() - {"SMTP_PASSWORD"}:
        version = f"secretmanager projects/{PROJECT}/secrets/{name}/versions/1"
        data = first_run.google.resources[version]["payload"]["data"]
        value = base64.b64decode(data).decode()
        assert value not in first_run.said
        assert not any(value in command for command in first_run.commands)
        if name == "SENDGRID_API_KEY":
            assert value == "SG.typed-in"
        else:
            assert len(bytes.fromhex(value)) == 32


def test_the_email_key_may_be_added_later(operator: Operator) -> None:
    """Skip the key with Enter: deploy webhooks, and print the command that adds the key."""
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


def _use_mail_server(operator: Operator, url: str) -> None:
    env = operator.checkout / ".env.acme"
    text = env.read_text() if env.exists() else ""
    env.write_text(f"{text}\nMAIL_URL={url}\n")


def test_check_signs_in_to_the_mail_server(operator: Operator) -> None:
    """Setup prompts for SMTP_PASSWORD only. A wrong one is reported before a recap needs it."""
    _use_mail_server(operator, "smtps://ana@mail.example")
    operator.typed = "hunter2 and 3"
    said = operator.done("setup")
    google = operator.google
    secrets = f"secretmanager projects/{PROJECT}/secrets"
    assert google.granted(f"{secrets}/SMTP_PASSWORD") == {(role, RECAP) for role in READ_SECRET}
    assert not any("SENDGRID_API_KEY" in path for path in google.resources)
    version = google.resources[f"{secrets}/SMTP_PASSWORD/versions/1"]
    assert base64.b64decode(version["payload"]["data"]) == b"hunter2 and 3"
    google.sleep(BUILD_SECONDS)
    seen = []
    for error, words in (
        (None, "Everything is in place"),
        (smtplib.SMTPAuthenticationError(535, b"hunter2"), "mail.example:465 rejects"),
        (smtplib.SMTPNotSupportedError("hunter2"), "STARTTLS"),
        (ssl.SSLCertVerificationError(1, "hunter2"), "certificate of mail.example:465"),
        (ConnectionRefusedError("hunter2"), "ConnectionRefusedError"),
    ):

        def sign_in(server: MailServer, password: str, error: Any = error) -> None:
            seen.append((server.user, password))
            if error:
                raise error

        operator.sign_in = sign_in
        checked = operator.stopped("check") if error else operator.done("check")
        assert words in checked
        said += checked + operator.said + "".join(operator.commands)
    assert seen == [("ana", "hunter2 and 3")] * 5
    assert "hunter2" not in said


@pytest.mark.parametrize(
    "url", ["smtp://ana:hunter2@mail.example", "smtp://ana@mail.example:25", "mail.example"]
)
def test_invalid_mail_url_stops_setup(operator: Operator, url: str) -> None:
    """The message names the setting, and repeats no password."""
    _use_mail_server(operator, url)
    said = operator.stopped("setup")
    assert "MAIL_URL" in said
    assert "hunter2" not in said
    assert ("port 25" in said) == (":25" in url)


def test_a_rejected_api_does_not_block_other_apis(operator: Operator) -> None:
    """Enable APIs one by one after an error: Google enables all APIs of a batch or none."""
    operator.google.closed_api = "cloudscheduler.googleapis.com"
    _, said, errors = operator.run("setup")
    assert "cloudscheduler.googleapis.com cannot be enabled" in said + errors
    assert set(APIS) - operator.google.apis.keys() == {"cloudscheduler.googleapis.com"}


def test_only_the_apis_of_a_deploy_are_enabled(first_run: FirstRun) -> None:
    """Enable no unused API: if Google removed it, every setup would stop."""
    only_looked_for = {"appengine", "compute", "runtimeconfig"}  # not required by a deploy
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
def test_every_error_about_a_new_account_is_retried(
    operator: Operator, status: int, code: str, text: str
) -> None:
    """Retry Google's different errors in the first minute of an account."""
    operator.google.young_account = status, code, text
    operator.google.milli_cpu = 1  # stops before the deploy
    operator.run("setup")
    assert ("datastore.user", WEBHOOKS) in operator.google.granted(OF_PROJECT)


def test_a_missing_default_account_is_reported(operator: Operator) -> None:
    """Stop at once: builds need the account, and waiting does not help."""
    operator.google.has_builder = False
    said = operator.stopped("setup")
    assert "gcloud services enable compute.googleapis.com --project=acme" in said
    assert operator.commands == []


@pytest.mark.parametrize(("created", "needs"), [("2021-04-08T12:00:00Z", True), ("2022", False)])
def test_the_agent_of_an_old_project_has_the_token_creator(
    ready: Operator, created: str, needs: bool
) -> None:
    """Grant the role in projects of April 2021 or earlier: their triggers need it."""
    ready.google.created = created
    bindings = ready.google.policies[OF_PROJECT]
    ready.google.policies[OF_PROJECT] = [each for each in bindings if "Token" not in each["role"]]
    assert ("has no iam.serviceAccountTokenCreator" in ready.run("check")[1]) is needs
    ready.done("setup")
    role = ("iam.serviceAccountTokenCreator", PUBSUB)
    assert (role in ready.google.granted(OF_PROJECT)) is needs


def test_staff_can_sign_in_by_email_from_the_site(first_run: FirstRun) -> None:
    """Keep the project's domains, and create one web app for the console."""
    assert first_run.google.sign_in == {
        "signIn": {"email": {"enabled": True, "passwordRequired": False}},
        "authorizedDomains": ["localhost", "acme.web.app", "wall.events"],
    }
    assert len(first_run.google.names("webApps")) == 1


def test_functions_are_deployed_by_name(first_run: FirstRun) -> None:
    """Deploy functions with `--force` and before the pages."""
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
    assert all(triggers in command for command in again), "only the triggers that Eventarc rejected"


@pytest.mark.parametrize("call", ["projects/acme:setIam", "addVersion"])
def test_a_stopped_run_can_be_continued(operator: Operator, call: str) -> None:
    """Print Google's error. Another run does the rest."""
    operator.google.refuse = call
    assert "The caller does not have permission." in operator.stopped("setup")
    operator.google.refuse = ""
    operator.google.milli_cpu = 1
    status, said, _ = operator.run("setup")
    assert (status, "Google would reject" in said) == (1, True), "stops before the deploy"


def test_nothing_is_deployed_with_example_settings(operator: Operator) -> None:
    """Stop if the sender is the example, because its emails are not delivered."""
    env = operator.checkout / ".env"
    env.write_text(env.read_text().replace("wall.events", "example.com"))
    assert "Fill in MAIL_FROM and PUBLIC_BASE_URL." in operator.stopped("setup")
    assert operator.commands == []


def test_too_much_cpu_is_reported_before_the_deploy(operator: Operator) -> None:
    """Stop: Google would reject the function, and its queue would be missing."""
    operator.google.milli_cpu = 2_000
    env = operator.checkout / ".env"
    env.write_text(env.read_text().replace("DELIVERY_INSTANCES=2", "DELIVERY_INSTANCES=3"))
    (operator.checkout / "manifest.json").unlink()  # it has the old settings
    said = operator.stopped("setup")
    assert "the project has 2\n" in said
    assert "Google would reject" in said
    assert "Lower DELIVERY_INSTANCES, or ask for more" in said
    assert "gcloud beta quotas preferences create --service=run.googleapis.com" in said
    assert operator.commands == []


def test_an_organization_without_public_services_stops_the_setup(operator: Operator) -> None:
    """Stop if both `allUsers` and services without an invoker check are forbidden."""
    operator.google.forbids_all_users = operator.google.requires_invoker_iam = True
    assert (
        "gcloud org-policies reset run.managed.requireInvokerIam --project=acme"
        in operator.stopped("setup")
    )
    assert operator.commands == []


def test_without_all_users_public_services_have_no_invoker_check(
    operator: Operator,
) -> None:
    """Disable the invoker check only of public services, also after each deploy."""
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


def test_unaccepted_terms_are_reported(operator: Operator) -> None:
    """Explain that Firebase's terms must be accepted in its console."""
    operator.google.refuse = "projects/acme:addFirebase"
    assert "https://console.firebase.google.com" in operator.stopped("setup")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({"locationId": "nam5"}, "the database is in nam5: a multi-region doubles"),
        ({"locationId": "eur3"}, "the database is in eur3: each call leaves us-central1"),
    ],
)
def test_the_database_location_is_reported(
    ready: Operator, place: dict[str, Any], told: str
) -> None:
    """Report the location and its costs, because it is permanent."""
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
    """Stop without native mode. For the Enterprise edition, ask the operator."""
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
    """Add a release with rewrites to first-generation functions, which do not exist."""
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
    # a change of the project, the output of `ops/check`, the target that `ops/setup` deploys
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
def test_only_a_missing_or_broken_part_is_fixed(
    ready: Operator, breaks: Callable[[FakeGoogle], object], told: str, deployed: str
) -> None:
    """Report the part with `ops/check`. `ops/setup` deploys at most its target."""
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
def test_the_operator_is_asked_about_unreadable_settings(
    ready: Operator, call: str, told: str, refusal: int
) -> None:
    """Ask the operator about an unreadable quota or policy, and continue."""
    ready.google.refuse, ready.google.refusal = call, refusal
    for script in ("setup", "check"):
        assert told in ready.done(script)


def test_an_endless_operation_is_reported(operator: Operator) -> None:
    """Stop after 15 minutes and name the unfinished operation."""
    operator.google.ends_operations = False
    said = operator.stopped("setup")
    assert "Google is still working on v1/projects/acme/services:batchEnable" in said
    assert operator.slept == 900


def test_the_error_of_a_stream_is_reported() -> None:
    """Read the array with one error that Firestore's streams return."""
    error = {"code": 403, "message": "off", "details": [{"reason": "SERVICE_DISABLED"}]}
    for answer in ({"error": error}, [{"error": error}]):
        refused = RefusedError(403, json.dumps(answer).encode(), "POST firestore")
        assert (refused.is_switched_off, refused.text) == (True, "off")


def test_an_invalid_line_of_settings_is_reported_with_its_number(operator: Operator) -> None:
    """Stop before any call."""
    (operator.checkout / ".env.acme").write_text('export PUBLIC_BASE_URL="https://a.wall" # ours\n')
    assert wanted.read("acme", operator.checkout).site == "a.wall"
    (operator.checkout / ".env.acme").write_text("A=1\nPUBLIC_BASE_URL: https://a.wall\n")
    for script in ("check", "setup"):
        _, said, errors = operator.run(script)
        assert (said, errors) == (
            "",
            ".env.acme, line 2: write NAME=value, or begin the line with #.\n",
        )


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
def test_an_invalid_setting_is_reported(operator: Operator, line: str, told: str) -> None:
    """Stop: a deploy accepts any text, which could disable a feature or break links."""
    (operator.checkout / ".env.acme").write_text(line)
    (operator.checkout / "manifest.json").unlink()  # it has the old settings
    assert told in operator.stopped("setup")
    assert not operator.google.changes + operator.commands


def test_check_calls_a_callable(ready: Operator) -> None:
    """Call a function, because its policy does not prove that calls succeed."""
    for name in ready.google.names("services"):
        ready.google.policies[f"run {REGION}/services/{name}"] = []
    said = ready.stopped("check")
    assert "may not be called by allUsers" in said
    assert "does not respond" in said


def test_a_conditional_role_is_also_granted_without_a_condition(ready: Operator) -> None:
    """Keep the conditional role."""
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


def test_check_reports_every_missing_part(operator: Operator) -> None:
    """Change nothing and exit with status 1."""
    said = operator.stopped("check")
    assert "no account wall-webhooks" in said
    assert "deliverWebhook is missing" in said
    assert "Run ops/setup acme." in said
    assert not operator.google.changes + operator.commands


def test_unfinished_indexes_are_not_deployed_again(first_run: FirstRun, ready: Operator) -> None:
    """Report them with `ops/check` until Google has built them."""
    assert "Run ops/check acme in some minutes." in first_run.said
    ready.google.sleep(-BUILD_SECONDS)
    said = ready.stopped("check")
    assert "is being built" in said
    assert said.endswith("\nGoogle is still working. Run this again in some minutes.\n")
    ready.done("setup")
    assert not ready.google.changes + ready.commands


def test_a_missing_login_is_reported(operator: Operator) -> None:
    """Open no browser."""
    (operator.machine / "bin/gcloud").write_text("#!/bin/sh\nexit 1\n")
    status, _, errors = operator.run("check")
    assert (status, errors) == (1, "Sign in first: gcloud auth login\n")


def test_a_missing_firebase_is_named(operator: Operator) -> None:
    """Stop without firebase-tools. `tests/unit/ops/test_cloud.py` has a missing `gcloud`."""
    (operator.checkout / "emulator/node_modules").unlink()
    assert operator.run("setup")[::2] == (1, "Install first: python3 -m emulator setup\n")


def test_a_function_with_old_settings_is_deployed_again(ready: Operator) -> None:
    """Report and deploy only this function."""
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


def test_the_hosts_of_photos_are_asked_once(operator: Operator) -> None:
    """Ask for the app's image host, so that no photos are missing from emails."""
    operator.google.milli_cpu = 1  # stops before the deploy
    env = operator.checkout / ".env.acme"
    operator.run("setup")
    assert not env.exists(), "there was no terminal"
    operator.hosts = " https://images.wall.events, cdn.wall.events/a "
    operator.run("setup")
    assert env.read_text() == "PHOTO_HOSTS=project,images.wall.events,cdn.wall.events/a\n"
    operator.hosts = "other.wall.events"
    operator.run("setup")
    assert "other" not in env.read_text()


def test_photos_that_emails_omit_are_reported(ready: Operator) -> None:
    """Report hosts of photos that are missing from `PHOTO_HOSTS`."""
    own = "https://firebasestorage.googleapis.com/v0/b/acme.appspot.com/o/1"
    urls = (own, "https://images.wall.events/1", "https://images.wall.events/2")
    ready.google.documents["photos"] = [{"url": {"stringValue": url}} for url in urls]
    said = ready.done("check")
    assert said.count("recap emails leave out photos") == 1
    assert "recap emails leave out photos at images.wall.events" in said
    assert "set PHOTO_HOSTS=project,images.wall.events in .env" in said


def test_accounts_that_no_record_lists_are_reported(ready: Operator) -> None:
    """Recommend `ops/adopt` after an upgrade until it has run."""
    emails = ["Ann@example.com", "First.Last@Gmail.com", "ann+x@example.com", "no address", ""]
    accounts = [{"email": {"stringValue": email}} for email in emails]
    ready.google.documents["users"] = accounts
    said = ready.done("check")
    assert "accounts missing from the record of their address: 3" in said
    assert "Run ops/adopt acme" in said
    # The records of two addresses list their accounts, which the fake identifies by number.
    for number, email in enumerate(emails[:2]):
        listed = {"mapValue": {"fields": {str(number): {"booleanValue": True}}}}
        ready.google.documents["users"].append({"id": record_id(email), "accounts": listed})
    assert "the record of their address: 1" in ready.done("check")
    del ready.google.documents["users"]
    assert "accounts missing from" not in ready.done("check")


def test_documents_near_the_size_limit_of_triggers_are_reported(ready: Operator) -> None:
    """Report documents of 256 KB: the document before and after a write exceeds the limit."""
    text = "\u00e9" * 50_000
    ready.google.documents = {
        "photos": [{"id": "small", "name": {"stringValue": text}}],
        "events": [{"id": "large", "notes": {"stringValue": text * 3}}],
        "users": [{"id": "u1", "bio": {"stringValue": text}, "more": {"stringValue": text * 2}}],
    }
    said = ready.done("check")
    assert re.findall(r"(\S+) has (\d+) KB", said) == [("events/large", "293"), ("users/u1", "293")]


def test_missing_app_check_is_reported(ready: Operator) -> None:
    """Report it if guests sign in anonymously or may list the wall."""
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


@pytest.mark.parametrize("line", ["BRAKE_ON_BUDGET=true", "SERVICE_ACCOUNT_RECAP=mailer"])
def test_a_removed_parameter_that_is_still_set_is_named(ready: Operator, line: str) -> None:
    """Report it, because the operator may expect its former effect."""
    (ready.checkout / ".env.acme").write_text(line + "\n")
    name = line.partition("=")[0]
    for script in ("check", "setup"):
        assert f"{name} in .env is obsolete" in ready.run(script)[1]


def test_libraries_use_the_operators_token_and_the_projects_quota(operator: Operator) -> None:
    """Send the token of `gcloud` and the project's ID."""
    cloud = Cloud(PROJECT, Outside(run=operator.start))
    headers: dict[str, str] = {}
    signed_in(cloud).before_request(None, "GET", "https://firestore.googleapis.com", headers)  # type: ignore[no-untyped-call]
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["x-goog-user-project"] == PROJECT
