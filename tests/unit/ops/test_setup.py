"""`ops/setup`: an empty project, step by step; each step skipped where it is done."""

from pathlib import Path
from typing import Any, Final

import pytest

from ops import setting_up
from tests.unit.ops.conftest import Project
from tests.unit.ops.stand_in import BUILDER

ROOT: Final = Path(__file__).parents[3]
STEPS: Final = 15
WEBHOOKS: Final = "serviceAccount:wall-webhooks@acme.iam.gserviceaccount.com"
RECAP: Final = "serviceAccount:wall-recap@acme.iam.gserviceaccount.com"
PREFERENCES: Final = "serviceAccount:wall-preferences@acme.iam.gserviceaccount.com"
MAIL_EVENTS: Final = "serviceAccount:wall-mail-events@acme.iam.gserviceaccount.com"
READ_SECRET: Final = ("roles/secretmanager.secretAccessor", "roles/secretmanager.viewer")
DEFAULT: Final = f"serviceAccount:{BUILDER}"


def granted(bindings: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Pairs of a role and who has it."""
    pairs = [(one["role"], member) for one in bindings for member in one["members"]]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


@pytest.fixture
def filled_in(monkeypatch: pytest.MonkeyPatch, project: Project, tmp_path: Path) -> Project:
    """The same, from a checkout whose `.env` has been filled in."""
    (tmp_path / "main.py").symlink_to(ROOT / "main.py")
    env = (ROOT / ".env").read_text()
    (tmp_path / ".env").write_text(env.replace("example.com", "wall.events"))
    monkeypatch.setattr(setting_up, "ROOT", tmp_path)
    return project


def set_up(project: Project, *arguments: str) -> str:
    """What a run that succeeds says."""
    status, said, errors = project.run("setup", "acme", *arguments)
    assert status == 0, said + errors
    return said


def test_an_empty_project_is_made_ready(filled_in: Project) -> None:
    """All that docs/operations.md asks for, and the first deploy."""
    said = set_up(filled_in)
    state = filled_in.state
    assert set(state["apis"]) == set(setting_up.APIS)
    assert state["databases"] == [{"locationId": "us-central1"}]
    assert state["firebase"] == ["acme"]
    assert state["functions"] == setting_up.functions()
    assert said.count("done already") == 1, "of the settings, which nobody here has to fill in"


def test_each_account_may_do_what_it_needs_and_no_more(filled_in: Project) -> None:
    """docs/security.md, Accounts; the default account is left with building."""
    filled_in.state["bindings"] = [{"role": "roles/editor", "members": [DEFAULT]}]
    set_up(filled_in)
    assert granted(filled_in.state["bindings"]) == {
        ("roles/datastore.user", WEBHOOKS),
        ("roles/cloudtasks.enqueuer", WEBHOOKS),
        ("roles/eventarc.eventReceiver", WEBHOOKS),
        ("roles/datastore.user", RECAP),
        ("roles/datastore.user", PREFERENCES),
        ("roles/datastore.user", MAIL_EVENTS),
        ("roles/cloudbuild.builds.builder", DEFAULT),
    }
    on = {name: granted(bindings) for name, bindings in filled_in.state["bindings_on"].items()}
    assert on == {
        WEBHOOKS.partition(":")[2]: {("roles/iam.serviceAccountUser", WEBHOOKS)},
        "EMAIL_PREFS_KEY": {
            (role, account) for role in READ_SECRET for account in (RECAP, PREFERENCES, WEBHOOKS)
        },
        "SENDGRID_API_KEY": {(role, RECAP) for role in READ_SECRET},
        "onphotowritten": {("roles/run.invoker", WEBHOOKS)},
        "oneventwritten": {("roles/run.invoker", WEBHOOKS)},
    }


def test_the_keys_are_in_no_argument(filled_in: Project) -> None:
    """One of 32 random bytes, one typed in; neither is printed."""
    said = set_up(filled_in)
    secrets = filled_in.state["secrets"]
    assert len(bytes.fromhex(secrets["EMAIL_PREFS_KEY"])) == 32
    assert secrets["SENDGRID_API_KEY"] == "SG.typed-in"
    for value in secrets.values():
        assert value not in said
        assert not any(value in word for call in filled_in.state["calls"] for word in call)


def test_a_second_run_does_nothing(filled_in: Project) -> None:
    """Every step says so."""
    set_up(filled_in)
    before = filled_in.kept
    said = set_up(filled_in)
    assert filled_in.changes == []
    assert said.count("done already") == STEPS
    assert "Everything is there." in said
    assert filled_in.kept == before


def test_a_dry_run_tells_every_step_and_does_nothing(project: Project) -> None:
    """Also in a project where nothing can be looked at yet, and before `.env` is filled in."""
    said = set_up(project, "--dry-run")
    assert project.changes == []
    for number in range(1, STEPS + 1):
        assert f"{number}/{STEPS} " in said
    assert "MAIL_FROM and PUBLIC_BASE_URL" in said
    for roles in setting_up.ROLES.values():
        for role in roles:
            assert f"--role=roles/{role}" in said
    assert f"would deploy {len([*setting_up.functions()])} functions" in said


def test_an_operator_runs_it(project: Project) -> None:
    """With `gcloud` and `firebase` on PATH, in a project where some of it is done."""
    project.state["signed_in"] = ["gcloud", "firebase"]
    project.state["apis"] = [*setting_up.APIS]
    ran = project.run_on_path("setup", "acme", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert f"1/{STEPS} Sign in to Google Cloud and Firebase\n  done already" in ran.stdout
    assert "would make it\n  gcloud firestore databases create" in ran.stdout
    assert project.changes == []


@pytest.mark.parametrize(
    "step",
    [
        "services enable",
        "databases create",
        "projects add-iam-policy-binding",
        "accounts create",
        "secrets:set",
        "deploy",
    ],
)
def test_what_stopped_goes_on_there(filled_in: Project, step: str) -> None:
    """Each step is done once, however often it took."""
    filled_in.state["refuse"] = step
    status, _, errors = filled_in.run("setup", "acme")
    assert (status, step in errors) == (1, True)
    filled_in.state["refuse"] = ""
    set_up(filled_in)
    state = filled_in.state
    assert len(state["databases"]) == len(state["firebase"]) == 1
    assert len(state["accounts"]) == len(setting_up.ROLES)
    assert len(granted(state["bindings"])) == 7
    assert len(state["apis"]) == len(setting_up.APIS)


def test_nothing_is_deployed_with_made_up_settings(project: Project) -> None:
    """A mail from example.com reaches nobody."""
    status, _, errors = project.run("setup", "acme")
    assert status == 1
    assert "Fill in MAIL_FROM and PUBLIC_BASE_URL in .env" in errors
    assert project.state["functions"] == []


def test_a_role_that_is_there_under_a_condition_only_is_given(filled_in: Project) -> None:
    """Such a right may end, or not be meant for this."""
    role = "roles/datastore.user"
    filled_in.state["bindings"] = [
        {"role": role, "members": [WEBHOOKS], "condition": {"title": "x"}}
    ]
    set_up(filled_in)
    assert {"role": role, "members": [WEBHOOKS]} in filled_in.state["bindings"]
