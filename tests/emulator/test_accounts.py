"""Who the functions run as, as firebase-tools itself fills it in before a deploy."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PROJECT: Final = "wall-project"

# firebase-tools' own reading of the manifest, and its own requests to Google, unsent.
_REHEARSE: Final = """
const lib = "firebase-tools/lib/";
const discovery = require(lib + "deploy/functions/runtimes/discovery/index.js");
const { resolveBackend } = require(lib + "deploy/functions/build.js");
const { allEndpoints, isScheduleTriggered } = require(lib + "deploy/functions/backend.js");
const { functionFromEndpoint } = require(lib + "gcp/cloudfunctionsv2.js");
const { jobFromEndpoint } = require(lib + "gcp/cloudscheduler.js");
const { getInvokerMembers } = require(lib + "gcp/proto.js");
const { parse } = require(lib + "functions/env.js");
const [project, manifest, env] = process.argv.slice(1);

(async () => {
  const build = discovery.yamlToBuild(JSON.parse(manifest), project, "us-central1", "python311");
  const { backend } = await resolveBackend({
    build,
    firebaseConfig: { projectId: project },
    userEnvs: parse(env).envs,
    codebase: "default",
    nonInteractive: true,
    isEmulator: true, // or it looks for the secrets
  });
  const found = {};
  for (const one of allEndpoints(backend)) {
    one.codebase = "default";
    const request = functionFromEndpoint(one);
    found[one.id] = {
      runsAs: request.serviceConfig.serviceAccountEmail,
      eventsFrom: request.eventTrigger?.serviceAccountEmail,
      tasksFrom: one.taskQueueTrigger && getInvokerMembers(one.taskQueueTrigger.invoker, project),
    };
    if (isScheduleTriggered(one)) {
      one.uri = "https://example.com";
      const job = await jobFromEndpoint(one, "us-central1", "1234567890");
      found[one.id].scheduledBy = job.httpTarget.oidcToken.serviceAccountEmail;
    }
  }
  process.stdout.write(JSON.stringify(found));
})();
"""
_RENDER: Final = (
    "import json, yaml;"
    "from firebase_functions.private import serving;"
    "made = serving.functions_as_yaml(serving.get_functions());"
    "print(json.dumps(yaml.safe_load(made)))"
)
TRIGGERS: Final = {"onPhotoWritten", "onEventWritten", "onUserWritten"}


def account(name: str) -> str:
    """Address of a service account of the project."""
    return f"{name}@{PROJECT}.iam.gserviceaccount.com"


@pytest.fixture(scope="module")
def rehearsed() -> dict[str, Any]:
    """What a deploy would ask of Google, by function."""
    manifest = _run(sys.executable, "-c", _RENDER, cwd=ROOT)
    env = (ROOT / ".env").read_text()
    answer = _run("node", "-e", _REHEARSE, PROJECT, manifest, env, cwd=ROOT / "emulator")
    found: dict[str, Any] = json.loads(answer)
    return found


def _run(*command: str, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_no_function_runs_as_the_default_account(rehearsed: dict[str, Any]) -> None:
    """Each capability has its own."""
    of = {name: call["runsAs"] for name, call in rehearsed.items()}
    assert set(of.values()) == {
        account("wall-webhooks"),
        account("wall-logs"),
        account("wall-recap"),
        account("wall-preferences"),
        account("wall-mail-events"),
    }
    assert of["sendEventRecap"] == account("wall-recap")
    assert of["getEmailPreferences"] == of["unsubscribe"] == account("wall-preferences")


def test_a_queue_calls_with_the_account_that_enqueues(rehearsed: dict[str, Any]) -> None:
    """The deploy itself lets these accounts invoke each queue's function, and nobody else."""
    callers = {name: call["tasksFrom"] for name, call in rehearsed.items() if "tasksFrom" in call}
    assert {"deliverWebhook", "retryWebhookAfter30s"} <= callers.keys()
    webhooks, logs = (f"serviceAccount:{account(name)}" for name in ("wall-webhooks", "wall-logs"))
    for name, found in callers.items():
        assert found == ([webhooks, logs] if name.startswith("deliver") else [webhooks]), name


@pytest.mark.parametrize("trigger", sorted(TRIGGERS))
def test_events_come_with_the_account_of_the_webhooks(
    trigger: str, rehearsed: dict[str, Any]
) -> None:
    """It needs `eventarc.eventReceiver`, and to invoke the trigger's function."""
    assert rehearsed[trigger]["eventsFrom"] == account("wall-webhooks")


def test_the_schedule_calls_with_a_whole_address(rehearsed: dict[str, Any]) -> None:
    """firebase-tools passes on what stands there, a short form or nothing at all too."""
    assert rehearsed["sweepDeliveries"]["scheduledBy"] == account("wall-webhooks")
