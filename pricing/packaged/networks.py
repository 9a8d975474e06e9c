"""The network between machines of an instance type, and how many of them its provider rents out together: packaged tables.

Where no network is known, none is assumed: nobody then answers for several of these machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer
from pricing.packaged.tables import Key, Table

NETWORKS = Table(
    "networks.csv", "provider instance_type", "network_gbits_per_second network_cards network observed_on source"
)
ANY, CAPACITY_BLOCK = "any", "capacity_block"
CLUSTERS = Table("clusters.csv", "provider family purchase", "most_machines observed_on source")


class Networks(Struct, frozen=True):
    """Gb/s that every machine of an instance type can send for as long as a job takes, by provider and instance type; and the
    most machines that anybody can rent together, by provider, how the instance type begins and whether that is in a
    `capacity_block` or in `any` other way."""

    gbits_per_second: Mapping[Key, float]
    most_machines: Mapping[Key, int]

    def joined(self, provider: str, instance_type: str, machine: Machine) -> Machine:
        """The machine with its network."""
        most = {ANY: 1, CAPACITY_BLOCK: 1}
        for (owner, family, purchase), count in self.most_machines.items():
            if owner == provider and instance_type.startswith(family):
                most[purchase] = max(most[purchase], count)
        network = self.gbits_per_second.get((provider, instance_type))
        counts = {"most_machines": most[ANY], "most_in_block": most[CAPACITY_BLOCK]}
        return replace(machine, network_gbits_per_second=network, **counts)

    def joined_offer(self, offer: Offer) -> Offer:
        """The offer, its machine with its network."""
        return replace(offer, machine=self.joined(offer.provider, offer.instance_type, offer.machine))


def read_networks(folder: Traversable | None = None) -> Networks:
    """The packaged tables. Raises TableError."""
    return Networks(
        NETWORKS.read(lambda row: row.number("network_gbits_per_second"), folder),
        CLUSTERS.read(lambda row: row.integer("most_machines"), folder),
    )


packaged_networks = cache(read_networks)
