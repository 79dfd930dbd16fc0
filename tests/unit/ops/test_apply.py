"""`ops/apply`: metrics, alerts and the dashboard; a second run does nothing."""

import subprocess

import pytest

from ops import applying
from tests.unit.ops.conftest import Project

EMAIL = "--email=ops@example.com"
BUDGET = "--budget=50"


def applied(project: Project, *arguments: str) -> str:
    """What a run that succeeds says."""
    status, said, errors = project.run("apply", "acme", *arguments)
    assert status == 0, said + errors
    return said


def test_an_empty_project_gets_everything(project: Project) -> None:
    """Each alert with its whole page, and with somebody who is told."""
    applied(project, EMAIL, BUDGET)
    state = project.state
    assert set(state["metrics"]) == dict(applying.files("metrics")).keys()
    alerts = {one["userLabels"]["photo_wall"]: one for one in state["policies"].values()}
    assert alerts.keys() == dict(applying.files("alerts")).keys()
    for name, alert in alerts.items():
        assert name in alert["documentation"]["content"].splitlines()[0]
        assert "## What to do" in alert["documentation"]["content"]
        assert alert["notificationChannels"] == [state["channels"][0]["name"]]
    assert len(state["dashboards"]) == len(state["budgets"]) == 1
    [budget] = [one for one in project.changes if "budgets" in one]
    assert "--filter-projects=projects/acme" in budget
    assert all("--project=acme" in one for one in state["calls"])


def test_a_second_run_does_nothing(project: Project) -> None:
    """Nor does one without the arguments: who is told already stays."""
    applied(project, EMAIL, BUDGET)
    before = project.kept
    for arguments in ([EMAIL, BUDGET], []):
        assert "Everything is up to date." in applied(project, *arguments)
        assert project.changes == []
    assert project.kept == before


def test_a_dry_run_tells_what_it_would_do_and_does_nothing(project: Project) -> None:
    """Every metric and alert by its name, and the commands."""
    project.state["apis"] = [*applying.APIS, applying.BUDGET_API]
    said = applied(project, EMAIL, BUDGET, "--dry-run")
    assert project.changes == []
    for kind, folder in (("metric", "metrics"), ("alert", "alerts")):
        for name, _ in applying.files(folder):
            assert f"would create the {kind} {name}\n  gcloud " in said
    assert "would create the dashboard" in said
    assert "would tell ops@example.com of alerts" in said
    assert "--budget-amount=50" in said


def test_only_what_differs_is_brought_up_to_date(project: Project) -> None:
    """A file that has changed since, a new budget, somebody else who is told."""
    applied(project, EMAIL, BUDGET)
    metrics, dashboards = project.state["metrics"], project.state["dashboards"]
    metrics["wall_recaps"]["description"] = "of an earlier version [0123456789abcdef]"
    dashboards["d0"]["labels"][applying.DIGEST_LABEL] = "old"
    applied(project, EMAIL, "--budget=70")
    changed = [" ".join(one[1:5]) for one in project.changes]
    assert [one.rsplit(" ", 1)[0] if "config" in one else one for one in changed] == [
        "logging metrics update wall_recaps",
        "monitoring dashboards update d0",
        "billing budgets update b0",
    ]
    applied(project, "--email=two@example.com")
    told = {tuple(one["notificationChannels"]) for one in project.state["policies"].values()}
    assert told == {tuple(one["name"] for one in project.state["channels"])}
    assert "Everything is up to date." in applied(project, "--email=two@example.com")


def test_again_writes_what_is_up_to_date(project: Project) -> None:
    """After somebody has changed an alert by hand."""
    applied(project)
    before = project.kept
    next(iter(project.state["policies"].values()))["enabled"] = False
    applied(project, "--again")
    assert project.kept["policies"] == before["policies"]


def test_an_alert_without_a_file_is_told_of_and_left(project: Project) -> None:
    """Nothing is deleted; alerts of others are not looked at."""
    label = {"userLabels": {"photo_wall": "before"}, "name": "projects/p/alertPolicies/x"}
    others = {"name": "projects/p/alertPolicies/y", "displayName": "somebody else's"}
    project.state["policies"] = {"x": label, "y": others}
    said = applied(project)
    assert "The alert before has no file any more" in said
    assert {"x", "y"} <= project.state["policies"].keys()


def test_what_fails_is_said_and_a_further_run_goes_on(project: Project) -> None:
    """With the command, what it said, and a status that scripts can see."""
    project.state["refuse"] = "policies create"
    status, _, errors = project.run("apply", "acme")
    assert (status, "policies create" in errors, "PERMISSION_DENIED" in errors) == (1, True, True)
    project.state["refuse"] = ""
    said = applied(project)
    assert "the metric" not in said
    assert "create the alert" in said


def test_an_operator_runs_it(project: Project) -> None:
    """From any folder, with `gcloud` on PATH: a dry run, and that it says what is missing."""
    ran = project.run_on_path("apply", "acme", "--dry-run")
    assert ran.returncode == 1
    assert "monitoring API is disabled" in ran.stderr
    project.state["apis"] = [*applying.APIS]
    ran = project.run_on_path("apply", "acme", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert "would create the dashboard" in ran.stdout
    assert project.changes == []


def test_a_missing_program_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """`gcloud` has to be installed."""

    def start(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        raise FileNotFoundError(2, "No such file or directory")

    assert applying.main(["acme"], start) == 1
    assert "gcloud: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("amount", ["0", "-1", "50.5", "much", "50USD"])
def test_an_amount_that_is_none_is_refused(project: Project, amount: str) -> None:
    """Before anything is done."""
    assert project.run("apply", "acme", f"--budget={amount}")[0] == 2
    assert project.state["calls"] == []
