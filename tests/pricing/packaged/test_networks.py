"""The packaged networks: what they say of real machines, and of those that nobody sells as clusters."""

import re
from datetime import date

import pytest
from support.stores import packaged_edition

from costcalc.hardware import Machine
from pricing.packaged.machine_facts import read_machines
from pricing.packaged.networks import CLUSTERS, NETWORKS, Networks, packaged_networks
from pricing.packaged.tables import day

V100S = Machine("V100", 8, 16.0)


@pytest.mark.parametrize(
    ("provider", "instance_type", "gbits", "most", "most_in_block"),
    [
        ("aws", "p3.16xlarge", 25, 16, 1),  # https://aws.amazon.com/ec2/instance-types/p3/
        ("aws", "p5.48xlarge", 3200, 16, 64),
        ("aws", "g5.48xlarge", 100, 1, 1),
        ("azure", "Standard_ND96isr_H100_v5", 3200, 16, 1),
        ("azure", "Standard_ND96is_H100_v5", None, 1, 1),
        ("gcp", "n1-highmem-64+8xV100", 32, 1, 1),
        ("digitalocean", "gpu-h100x8-640gb", None, 1, 1),
        ("lambda", "gpu_8x_h100_sxm5", None, 1, 1),
    ],
)
def test_real_machines(provider, instance_type, gbits, most, most_in_block):
    found = packaged_networks().joined(provider, instance_type, V100S)
    assert (found.network_gbits_per_second, found.most_machines, found.most_in_block) == (gbits, most, most_in_block)


def test_the_longest_beginning_is_not_needed_for_the_most_machines():
    networks = Networks({}, {("acme", "a", "any"): 2, ("acme", "ab", "any"): 8, ("other", "abc", "any"): 64})
    assert [networks.joined("acme", name, V100S).most_machines for name in ("abc", "ac", "b")] == [8, 2, 1]


def test_every_row_is_of_a_packaged_machine_and_of_a_day_past():
    machines = read_machines()
    assert all(name in machines or name[0] == "owned" for name in packaged_networks().gbits_per_second)
    for table in (NETWORKS, CLUSTERS):
        assert all(
            seen.date() <= date(2026, 11, 22) for seen in table.read(lambda row: day(row, "observed_on")).values()
        )
    for provider, family, _ in packaged_networks().most_machines:
        assert any(owner == provider and name.startswith(family) for owner, name in machines)


def test_every_figure_can_be_looked_up_or_says_that_it_cannot():
    """An address, or a file at a commit; what stands in no source that was found again is marked."""
    sources = NETWORKS.read(lambda row: row.text("source"))
    assert all(re.match(r"https://|[\w-]+/[\w.-]+@[0-9a-f]{12}[ :]|unverified: ", said) for said in sources.values())
    assert {name for name, said in sources.items() if said.startswith("unverified")} == {
        ("owned", "DGX-1 (P100)"),
    }


def test_packaged_offers_know_their_network():
    found = {offer.machine for offer in packaged_edition().offers if offer.instance_type == "p3.16xlarge"}
    assert {(machine.network_gbits_per_second, machine.most_machines) for machine in found} == {(25, 16)}
