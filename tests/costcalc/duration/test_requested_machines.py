"""How many machines of each type a question is about."""

import pytest
from fakes.offers import offer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.duration.offered_clusters import (
    Home,
    MachinesAsked,
    Published,
    are_homes,
    are_joined,
    as_clusters,
    beyond_any_cluster,
    requested_machines,
    sold_in_blocks_alone,
    usual_counts,
)
from costcalc.hardware import Cluster, Machine

MACHINES = {
    "alone": Machine("V100", 8, 16.0),
    "joined": Machine("V100", 8, 16.0, network_gbits_per_second=25.0),
    "one": Machine("V100", 1, 16.0),
    "processor": Machine("Xeon", 0, network_gbits_per_second=25.0, most_machines=4),
    "sold": Machine("V100", 8, 16.0, most_machines=4),
    "sold, joined": Machine("V100", 8, 16.0, network_gbits_per_second=100.0, most_machines=5),
}


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue.from_offers([offer(instance_type=name, machine=one) for name, one in MACHINES.items()], "made up")


def asked(catalogue, accelerators=None, nodes=None, homes=(), most=(None, None)):
    found = requested_machines(catalogue, homes, MachinesAsked(accelerators, nodes, None, *most))
    return [(found.types[i][1], n) for i, n in zip(found.instance.tolist(), found.nodes.tolist(), strict=True)]


def test_unasked_powers_of_two_of_what_is_sold_as_a_cluster_with_a_known_network(catalogue):
    counts = [("processor", 2), ("processor", 4), ("sold, joined", 2), ("sold, joined", 4)]
    assert asked(catalogue) == sorted([*((name, 1) for name in MACHINES), *counts])


def test_unasked_the_machines_of_a_published_run(catalogue):
    homes = {Home(catalogue.instance_code["acme", "alone"], 16)}
    assert set(asked(catalogue, homes=homes)) - set(asked(catalogue)) == {("alone", 16)}
    assert ("alone", 16) not in asked(catalogue, nodes=2, homes=homes)


def test_so_many_machines_of_every_type(catalogue):
    assert asked(catalogue, nodes=3) == [(name, 3) for name in sorted(MACHINES)]


def test_no_more_machines_and_no_more_accelerators_than_the_most(catalogue):
    found = asked(catalogue, most=(8, None))
    assert ("sold", 1) in found
    assert {n for _, n in found} == {1, 2, 4}
    assert not [pair for pair in found if pair[0] not in ("one", "processor") and pair[1] > 1]
    assert {n for _, n in asked(catalogue, most=(None, 2))} == {1, 2}


def test_so_many_accelerators_are_split_over_whole_machines(catalogue):
    eights = ["alone", "joined", "sold", "sold, joined"]
    assert asked(catalogue, 16) == sorted([("one", 16), *((name, 2) for name in eights)])
    assert asked(catalogue, 12) == [("one", 12)]
    assert asked(catalogue, 16, 2) == [(name, 2) for name in eights]
    assert asked(catalogue, 16, 3) == []


def test_instance_types_that_are_not_looked_at_are_left_out_but_not_what_a_recipe_was_run_on(catalogue):
    found = requested_machines(catalogue, {Home(1, 3)}, MachinesAsked(instances=(0,)))
    assert sorted(zip(found.instance.tolist(), found.nodes.tolist(), strict=True)) == [(0, 1), (1, 3)]


def test_several_need_a_network(catalogue):
    several = requested_machines(catalogue, (), MachinesAsked(nodes=2))
    assert are_joined(several).tolist() == [False, True, False, True, True, True]
    assert are_joined(requested_machines(catalogue, (), MachinesAsked(nodes=1))).all()


def test_the_machines_of_a_recipe_are_found(catalogue):
    several = requested_machines(catalogue, (), MachinesAsked(nodes=2))
    assert are_homes(several, {Home(1, 2), Home(2, 1)}).tolist() == [False, True, False, False, False, False]


def test_no_more_machines_than_anybody_rents_out_together_or_published_a_run_on(catalogue):
    published = {"V100": Published(machines=512, accelerators=2048)}
    most = {"alone": 256, "joined": 256, "one": 512, "processor": 16, "sold": 256, "sold, joined": 256}
    for name, count in most.items():
        for nodes, too_many in ((count, False), (count + 1, True)):
            several = requested_machines(catalogue, (), MachinesAsked(nodes=nodes))
            at = [several.types[i][1] for i in several.instance.tolist()].index(name)
            assert bool(beyond_any_cluster(several, published)[at]) == too_many


def test_machines_that_differ_around_their_accelerators_alone_are_one_cluster(catalogue):
    clusters, column = as_clusters(catalogue, requested_machines(catalogue, (), MachinesAsked(nodes=2)))
    assert [clusters[c] for c in column] == [
        Cluster("Xeon", 0, 2) if name == "processor" else Cluster("V100", MACHINES[name].accelerators, 2)
        for name in sorted(MACHINES)
    ]
    assert len(clusters) == 3


@pytest.mark.parametrize(("most", "counts"), [(1, [1]), (2, [1, 2]), (8, [1, 2, 4, 8]), (15, [1, 2, 4, 8])])
def test_usual_counts(most, counts):
    assert list(usual_counts(Machine("V100", 8, network_gbits_per_second=25.0, most_machines=most))) == counts


def test_more_machines_are_sold_in_a_capacity_block_than_by_the_hour():
    block = Machine("H100", 8, 80.0, network_gbits_per_second=3200.0, most_machines=2, most_in_block=8)
    catalogue = Catalogue.from_offers([offer(instance_type="block", machine=block)], "made up")
    assert asked(catalogue) == [("block", count) for count in (1, 2, 4, 8)]
    homes = {Home(0, 4)}
    alone = sold_in_blocks_alone(requested_machines(catalogue, homes), homes)
    assert {nodes: flags.tolist() for nodes, flags in alone.items()} == {1: [False], 2: [False], 4: [False], 8: [True]}
