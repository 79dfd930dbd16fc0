"""One fixed address for all requests to receivers: network, address, router with NAT, connector.

    functions ▸ connector ▸ network ▸ router with NAT ▸ address ▸ receivers

The network is the service's own, so that no range of the project's own networks is taken.
"""

from collections.abc import Iterator
from typing import Any, Final

from ops.cloud import say
from ops.parts import Lack, Look, Parts
from ops.wanted import REGION

NAME: Final = "wall-webhooks"
"""Of each of the parts."""
APIS: Final = ("compute.googleapis.com", "vpcaccess.googleapis.com")
RANGE: Final = "10.8.0.0/28"
"""Of the connector, in its own network; a connector takes a /28."""
MACHINES: Final = (2, 3)
"""Of the connector, at least and at most; it grows and does not shrink."""
PORTS_OF_A_MACHINE: Final = 16384
"""Connections of one machine to one receiver: an address has ports for three such machines."""


class StaticIp(Parts):
    """The parts of the address, in one project."""

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """In the order in which the parts can be made."""
        return [
            ("APIs of the network", lambda: self._switched_on(APIS)),
            ("A network for the connector alone", self.network),
            ("The fixed address", self.address),
            ("A router with a NAT that has the address", self.router),
            ("A connector from the functions to the network", self.connector),
        ]

    @property
    def conditions(self) -> list[tuple[str, Look]]:
        """Looks at what only the operator can change."""
        return [("The connector works, and is the one in .env", self.use)]

    def network(self) -> Iterator[Lack]:
        """Without subnets: the connector makes its own."""
        collection = f"{self._compute}/global/networks"
        if self._cloud.get("compute", f"{collection}/{NAME}") is None:
            body = {"name": NAME, "autoCreateSubnetworks": False}
            yield Lack(f"no network {NAME}", mend=self._maker("compute", collection, body))

    def address(self) -> Iterator[Lack]:
        """Reserved; it costs also while nothing uses it."""
        found = self._found("addresses")
        if found is None:
            mend = self._maker("compute", f"{self._there}/addresses", {"name": NAME})
            yield Lack(f"no address {NAME}", mend=mend)
        else:
            say(f"  {found['address']}")

    def router(self) -> Iterator[Lack]:
        """No other address than the fixed one: a NAT may also take some of its own."""
        nat = {
            "name": NAME,
            "natIpAllocateOption": "MANUAL_ONLY",
            "natIps": [f"{self._region_path}/addresses/{NAME}"],
            "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
            "minPortsPerVm": PORTS_OF_A_MACHINE,
        }
        found = self._found("routers")
        if found is None:
            network = f"{self._project}/global/networks/{NAME}"
            body = {"name": NAME, "network": network, "nats": [nat]}
            mend = self._maker("compute", f"{self._there}/routers", body)
            yield Lack(f"no router {NAME}", mend=mend)
            return
        others = [other for other in found.get("nats", []) if other["name"] != NAME]
        if len(others) == len(found.get("nats", [])):
            path, body = f"{self._there}/routers/{NAME}", {"nats": [*others, nat]}
            yield Lack("the router has no NAT", mend=self._maker("compute", path, body, "PATCH"))

    def connector(self) -> Iterator[Lack]:
        """Google takes some minutes to make one."""
        if self._cloud.get("vpcaccess", f"{self._connectors}/{NAME}") is None:
            least, most = MACHINES
            body = {
                "network": NAME,
                "ipCidrRange": RANGE,
                "machineType": "e2-micro",
                "minInstances": least,
                "maxInstances": most,
            }
            path = f"{self._connectors}?connectorId={NAME}"
            yield Lack(f"no connector {NAME}", mend=self._maker("vpcaccess", path, body))

    def use(self) -> Iterator[Lack]:
        """Without the setting nothing goes through the connector; a failed connector stays so."""
        found = self._cloud.get("vpcaccess", f"{self._connectors}/{NAME}") or {}
        if found.get("state", "READY") != "READY":
            yield Lack(
                f"the connector is {found['state']}",
                ask="Where it is ERROR, delete it:\n      "
                f"gcloud compute networks vpc-access connectors delete {NAME} --region={REGION} "
                f"--project={self._cloud.project}",
            )
        if self._wanted.settings.get("VPC_CONNECTOR", "").rpartition("/")[2] != NAME:
            yield Lack(
                "VPC_CONNECTOR names another one, or none",
                ask=f"Put VPC_CONNECTOR={NAME} into .env.{self._cloud.project}.",
            )

    @property
    def _region_path(self) -> str:
        return f"{self._project}/regions/{REGION}"

    @property
    def _compute(self) -> str:
        return f"compute/v1/{self._project}"

    @property
    def _there(self) -> str:
        return f"compute/v1/{self._region_path}"

    @property
    def _connectors(self) -> str:
        return f"v1/{self._region}/connectors"

    def _found(self, kind: str) -> Any:
        return self._cloud.get("compute", f"{self._there}/{kind}/{NAME}")
