"""`ops/setup --static-ip`: one fixed address for requests to receivers, off by default."""

import json
from typing import Final

import pytest

from tests.unit.ops.conftest import Operator
from tests.unit.ops.fake_google import PROJECT, REGION

NAME: Final = "wall-webhooks"
OF_REGION: Final = f"projects/{PROJECT}/regions/us-central1"
PARTS: Final = {
    f"compute projects/{PROJECT}/global/networks/{NAME}",
    f"compute {OF_REGION}/addresses/{NAME}",
    f"compute {OF_REGION}/routers/{NAME}",
    f"vpcaccess {REGION}/connectors/{NAME}",
}
POSTING: Final = ("deliverWebhook", "sendTestWebhook")


def put_behind_connector(operator: Operator) -> None:
    """Fill in the setting, and let the manifest follow as main.py's does."""
    (operator.checkout / ".env.acme").write_text(f"VPC_CONNECTOR={NAME}\n")
    path = operator.checkout / "manifest.json"
    manifest = json.loads(path.read_text())
    for name in POSTING:
        manifest["endpoints"][name]["vpc"] = {"connector": NAME, "egressSettings": "ALL_TRAFFIC"}
    path.write_text(json.dumps(manifest))


def connectors(operator: Operator) -> dict[str, str]:
    """The functions behind a connector."""
    functions = f"cloudfunctions {REGION}/functions/"
    found = {
        path.removeprefix(functions): function["serviceConfig"].get("vpcConnector")
        for path, function in operator.google.resources.items()
        if path.startswith(functions)
    }
    return {name: connector for name, connector in found.items() if connector}


def test_nothing_of_it_is_made_unasked(ready: Operator) -> None:
    """Neither its APIs."""
    ready.done("setup")
    assert not PARTS & ready.google.resources.keys()
    assert not {"compute.googleapis.com", "vpcaccess.googleapis.com"} & ready.google.apis.keys()
    assert connectors(ready) == {}


def test_the_parts_are_made_and_the_setting_is_asked_for(ready: Operator) -> None:
    """Nothing is deployed before; the address is printed for the receivers' firewalls."""
    status, said, _ = ready.run("setup", "--static-ip")
    assert status == 1
    assert f"Put VPC_CONNECTOR={NAME} into .env.acme." in said
    assert not ready.commands
    assert ready.google.resources.keys() >= PARTS
    put_behind_connector(ready)
    said = ready.done("setup", "--static-ip")
    assert "  203.0.113.7\n" in said
    [deploy] = ready.commands
    assert all(f":{name}" in deploy for name in POSTING)
    assert connectors(ready) == dict.fromkeys(POSTING, f"{REGION}/connectors/{NAME}")
    for script in ("check", "setup"):
        ready.done(script, "--static-ip")
        assert not ready.google.changes + ready.commands
    [nat] = ready.google.resources[f"compute {OF_REGION}/routers/{NAME}"]["nats"]
    assert nat["natIpAllocateOption"] == "MANUAL_ONLY"
    assert nat["natIps"] == [f"{OF_REGION}/addresses/{NAME}"]


def test_a_router_without_the_nat_gets_it(ready: Operator) -> None:
    """What somebody else has put there stays."""
    put_behind_connector(ready)
    ready.done("setup", "--static-ip")
    router = ready.google.resources[f"compute {OF_REGION}/routers/{NAME}"]
    others = {"name": "other", "natIps": []}
    router["nats"] = [others]
    status, said, _ = ready.run("check", "--static-ip")
    assert (status, "the router has no NAT" in said) == (1, True)
    ready.done("setup", "--static-ip")
    changed = ready.google.resources[f"compute {OF_REGION}/routers/{NAME}"]
    assert [nat["name"] for nat in changed["nats"]] == ["other", NAME]


def test_an_empty_setting_takes_the_functions_out_again(ready: Operator) -> None:
    """A deploy would leave them behind the connector."""
    manifest = (ready.checkout / "manifest.json").read_text()
    put_behind_connector(ready)
    ready.done("setup", "--static-ip")
    (ready.checkout / ".env.acme").unlink()
    (ready.checkout / "manifest.json").write_text(manifest)
    status, said, _ = ready.run("check")
    assert (status, f"deliverWebhook is behind {NAME}" in said) == (1, True)
    ready.done("setup")
    assert connectors(ready) == {}


@pytest.mark.parametrize(
    "refuse",
    [
        "POST compute projects/acme/global/networks",
        "POST compute projects/acme/regions/us-central1/addresses",
        "POST compute projects/acme/regions/us-central1/routers",
        f"POST vpcaccess {REGION}/connectors",
    ],
)
def test_a_refusal_is_told_and_a_further_run_goes_on(ready: Operator, refuse: str) -> None:
    """With Google's words; nothing is deployed by halves."""
    put_behind_connector(ready)
    ready.google.refuse = refuse
    status, _, errors = ready.run("setup", "--static-ip")
    assert status == 1
    assert "The caller does not have permission." in errors
    assert not ready.commands
    ready.google.refuse = ""
    ready.done("setup", "--static-ip")


def test_a_quota_that_is_used_up_is_told(ready: Operator) -> None:
    """Compute Engine takes the call, and its operation says no."""
    put_behind_connector(ready)
    ready.google.addresses = 0
    status, _, errors = ready.run("setup", "--static-ip")
    assert (status, "403 STATIC_ADDRESSES" in errors) == (1, True)


def test_a_connector_that_failed_has_to_be_deleted(ready: Operator) -> None:
    """Google never mends one; the command is printed."""
    put_behind_connector(ready)
    ready.done("setup", "--static-ip")
    ready.google.resources[f"vpcaccess {REGION}/connectors/{NAME}"]["state"] = "ERROR"
    status, said, _ = ready.run("setup", "--static-ip")
    assert status == 1
    assert (
        f"networks vpc-access connectors delete {NAME} --region=us-central1 --project=acme" in said
    )
