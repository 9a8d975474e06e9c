"""Which rented machines are one column of the training matrix."""

import numpy as np
import pytest
from fakes.offers import offer
from fakes.recipes import recipe

from costcalc.catalogue.catalogue import Catalogue
from costcalc.duration.offered_clusters import NOWHERE, Home, offered_clusters, own_cluster
from costcalc.hardware import Machine
from costcalc.machine_limits.limits import Limit, RentedMachines
from costcalc.training import System

V100, T4 = Machine("V100", 1, 16.0, 8), Machine("T4", 1, 16.0, 4)


@pytest.fixture(scope="module")
def catalogue():
    machines = {"a": V100, "b": V100, "c": V100, "d": V100, "other": T4}
    return Catalogue.from_offers([offer(instance_type=name, machine=one) for name, one in machines.items()], "made up")


def put_together(catalogue, pairs, seconds, touched, homes=()):
    machines = RentedMachines(catalogue.vocabulary.instances, *np.array(pairs).T)
    limits = [Limit("host", np.array([seconds], float), np.array(0.1))]
    return machines, offered_clusters(catalogue, machines, homes, limits, np.array(touched))


def test_machines_of_equal_limits_are_one(catalogue):
    fours = [(0, 1), (1, 1), (2, 1), (3, 1)]
    _, found = put_together(catalogue, fours, [5, 7, 5, 7], [False, True, False, True])
    assert [(cluster.nodes, cluster.instance) for cluster in found.clusters] == [(1, -1), (1, 1)]
    assert found.standing_for.tolist() == [0, 1]
    assert found.of_instances[1].tolist() == [0, 1, 0, 1, NOWHERE]


def test_a_recipes_own_machines_stand_for_themselves(catalogue):
    homes = {Home(2, 1), Home(3, 2)}
    fours_and_two = [(0, 1), (1, 1), (2, 1), (3, 1), (3, 2)]
    machines, found = put_together(catalogue, fours_and_two, [5] * 5, [True] * 5, homes)
    assert [(cluster.nodes, cluster.instance) for cluster in found.clusters] == [(1, 0), (1, 2), (2, 3)]
    assert [found.place(home) for home in (Home(2, 1), Home(3, 2), Home(0, 2), Home(0, 9), None)] == [1, 2, -1, -1, -1]
    assert machines.by_type(lambda each: each[2].vcpus).tolist() == [8] * 5


def test_the_own_system_is_found_where_it_can_be_rented(catalogue):
    home = System("V100", 2, 2, "acme", "b")
    assert own_cluster(recipe(system=home), catalogue) == Home(1, 2)
    assert own_cluster(recipe(system=home, is_interpolated=True), catalogue) is None
    assert own_cluster(recipe(system=System("V100", 2, 2, "acme", "gone")), catalogue) is None
    assert own_cluster(recipe(system=System("V100", 2, 2)), catalogue) is None
