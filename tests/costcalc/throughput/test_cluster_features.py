"""Columns of clusters against the models asked one by one."""

import math

import numpy as np
import pytest
from msgspec.structs import replace
from support.speeds import MODELS, REFERENCE, TRANSFER, rate

from costcalc.evidence import load_evidence
from costcalc.hardware import Cluster
from costcalc.throughput.cluster_features import ClusterFeatures, halved_and_doubled
from costcalc.throughput.reference_model import UNDATED, Setup
from costcalc.throughput.workloads import workload

CLUSTERS = (
    Cluster("new", 8),
    Cluster("new", 8, 4),
    Cluster("game", 8, 4),
    Cluster("new", 2, 16),
    Cluster("slice", 4, 8),
    Cluster("odd", 8),
    Cluster("silent", 8),
    Cluster("Xeon", 0),
    Cluster("new-big", 8),
)


@pytest.fixture(scope="module")
def features():
    return ClusterFeatures(CLUSTERS, REFERENCE, TRANSFER)


def names(features, mask):
    return [
        f"{c.accelerator} x {c.accelerators} x {c.nodes}" for c, yes in zip(features.clusters, mask, strict=True) if yes
    ]


def test_counts_are_over_all_machines(features):
    assert features.total.tolist() == [8, 32, 32, 32, 32, 8, 8, 0, 8]
    assert features.log_total[[0, 7]] == pytest.approx([math.log(8), 0])
    assert features.nodes.tolist() == [1, 4, 4, 16, 8, 1, 1, 1, 1]


def test_a_slice_is_one_machine(features):
    assert names(features, features.several) == ["new x 8 x 4", "game x 8 x 4", "new x 2 x 16"]


def test_machines_need_a_network_and_four_accelerators_each(features):
    assert names(features, features.several & ~features.networked) == ["game x 8 x 4", "new x 2 x 16"]
    assert features.networked[~features.several].all()


def test_machines_that_were_measured_together_need_no_data_sheet():
    measured = ClusterFeatures(
        [Cluster("new", 4, 2), Cluster("old", 4, 2), Cluster("new-big", 4, 2)], REFERENCE, TRANSFER
    )
    assert measured.networked.tolist() == [True, False, True]  # new-big is sold with a network


def test_a_vendor_with_one_measured_part_is_not_predicted(features):
    assert names(features, ~features.predictable) == [
        "odd x 8 x 1",
        "silent x 8 x 1",
        "Xeon x 0 x 1",
        "new-big x 8 x 1",
    ]


def test_memory_batch_and_scatter_are_those_of_the_accelerator(features):
    assert features.memory_gib.tolist() == [80, 80, 24, 80, 32, 32, math.inf, math.inf, 160]
    assert features.largest_batch.tolist() == [200] * 9  # the only one known
    assert features.scatter.tolist() == [0.8, 0.8, 1, 0.8, 1, 1, 1, 1, 1]


def test_clusters_are_found_by_accelerator_chip_and_system(features):
    assert names(features, features.with_any(["game", "nowhere"])) == ["game x 8 x 4"]
    assert names(features, features.with_chip(["new"]))[-1] == "new-big x 8 x 1"
    assert features.with_chip(["new"]).sum() == 4
    assert names(features, features.equal_to([("new", 32, 4), ("new", 8, 4)])) == ["new x 8 x 4"]
    assert features.of_accelerator["new"].tolist() == [0, 1, 3]
    assert features.at["new", 32, 16].tolist() == [3]


@pytest.mark.parametrize("year", [UNDATED, 2021, 2023])
@pytest.mark.parametrize("framework", ["mxnet", "pytorch"])
def test_rates_are_the_reference_models(features, year, framework):
    batch = np.linspace(16, 512, len(CLUSTERS))
    rates = features.rates.log_rate(batch, year, framework)
    for cluster, each, found in zip(CLUSTERS, batch.tolist(), rates.tolist(), strict=True):
        if cluster.accelerators and REFERENCE.knows(cluster.accelerator):
            setup = Setup(cluster.accelerator, cluster.accelerators, cluster.nodes, each, year, framework)
            assert found == pytest.approx(REFERENCE.log_rate(setup)), cluster
        else:
            assert math.isnan(found), cluster


def test_a_twin_runs_like_the_part_it_is_named_after():
    faster = replace(REFERENCE, effects={**REFERENCE.effects, ("accelerator", "new-big"): 0.5})
    features, batch = ClusterFeatures(CLUSTERS, faster, TRANSFER), np.full(len(CLUSTERS), 64.0)
    by_name, by_twin = (rates.log_rate(batch, 2022, "mxnet") for rates in (features.rates, features.rates_by_twin))
    assert by_twin[8] == by_twin[0] == by_name[0] < by_name[8]
    assert by_twin[:5] == pytest.approx(by_name[:5])


def test_a_steeper_network_loses_more_with_small_batches(features):
    def log_rate(batch, steeper):
        return features.rates.log_rate(np.full(len(CLUSTERS), batch), 2022, "mxnet", steeper)[0]

    assert log_rate(256.0, 1.0) == pytest.approx(log_rate(256.0, 0.0))
    lost = math.log((1 + 20 / 16) / (1 + 20 / 256))
    assert log_rate(16.0, 1.0) == pytest.approx(log_rate(16.0, 0.0) - lost)


def test_what_hardware_adds_is_found_once_for_each_machine(features):
    made = workload(rate(1), 224, MODELS)
    added, steepest = features.transferred(made)
    for cluster, found, most in zip(CLUSTERS, added.tolist(), steepest.tolist(), strict=True):
        assert found == pytest.approx(TRANSFER.hardware(made, cluster.accelerator, cluster.accelerators))
        assert most == pytest.approx(0.26 if cluster.accelerator == "game" else 0.06)
    assert features.transferred(made)[0] is added


def test_a_doubling_of_the_reference_takes_off_at_most_a_second_machine_and_the_worst_step(features):
    assert features.rates.steepest[[0, 5]] == pytest.approx([0.04 + 0.02 + 0.01, 0.04 + 0.02])


def test_rates_are_those_of_the_model_below_the_roof_of_memory_too():
    quick = replace(REFERENCE, effects={**REFERENCE.effects, ("mean",): 3.0})
    features, batch = ClusterFeatures(CLUSTERS, quick, TRANSFER), np.full(len(CLUSTERS), 64.0)
    found = features.rates.log_rate(batch, 2022, "mxnet")
    setups = [Setup(c.accelerator, c.accelerators, c.nodes, 64.0, 2022, "mxnet") for c in CLUSTERS]
    for each, setup in zip(found.tolist(), setups, strict=True):
        assert math.isnan(each) or each == pytest.approx(quick.log_rate(setup))
    assert found[4] == pytest.approx(math.log(1200 / 0.3))


def test_halved_and_doubled_is_the_size_of_the_machines_or_their_number():
    assert [*halved_and_doubled(Cluster("new", 8, 3))] == [
        *(Cluster("new", 16, 3), Cluster("new", 4, 3)),
        Cluster("new", 8, 6),  # three machines have no half
    ]
    assert [*halved_and_doubled(Cluster("Xeon", 0, 2, 96))] == []


def test_a_step_is_as_steep_as_the_worst_up_to_the_next_doubling_whatever_else_is_asked():
    effects = {("count", "new", "2"): -0.01, ("count", "new", "8"): -0.3, ("count", "new", "16"): -0.02}
    steep = replace(REFERENCE, effects={**REFERENCE.effects, **effects})
    counts = (1, 2, 4, 8)
    together = ClusterFeatures([Cluster("new", count) for count in counts], steep, TRANSFER).rates.steepest
    alone = [ClusterFeatures([Cluster("new", count)], steep, TRANSFER).rates.steepest[0] for count in counts]
    assert together.tolist() == alone
    assert np.diff(together) == pytest.approx([0, 0.29, 0])


def test_doubled_are_as_many_machines_of_twice_the_size_and_twice_as_many():
    clusters = [Cluster("new", 4), Cluster("new", 8), Cluster("new", 4, 2), Cluster("new", 8, 2), Cluster("old", 8)]
    one, two = ClusterFeatures(clusters, REFERENCE, TRANSFER).doubled
    assert sorted(zip(one.tolist(), two.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 3), (2, 3)]


def test_no_clusters_make_no_columns():
    nothing = ClusterFeatures([], REFERENCE, TRANSFER)
    assert nothing.total.shape == nothing.rates.log_rate(np.zeros(0), 2022, "mxnet").shape == (0,)


def test_around_a_cluster_are_those_of_its_chip_that_are_better_and_worse_off():
    new, new_big, four, two_machines = (
        Cluster("new", 8),
        Cluster("new-big", 8),
        Cluster("new", 4),
        Cluster("new", 8, 2),
    )
    clusters = [new, new_big, four, two_machines, Cluster("old", 1)]
    features = ClusterFeatures(clusters, REFERENCE, TRANSFER)

    def around(cluster):
        return tuple([clusters[c] for c in at] for at in features.around(clusters.index(cluster)))

    assert around(new) == ([new, new_big, four], [new, two_machines])
    assert around(new_big) == ([new_big], [new, new_big, two_machines])
    assert around(four) == (
        [four],
        [new, four, two_machines],
    )  # with less memory than the one, and fewer than it to share with


def test_a_slice_has_no_machines_to_share_with():
    features = ClusterFeatures([Cluster("slice", 4, 8), Cluster("slice", 8, 4)], REFERENCE, TRANSFER)
    assert [at.tolist() for at in features.around(0)] == [[0, 1], [0, 1]]


def test_the_same_chip_is_less_strange_than_another_of_its_vendor_and_that_less_than_others():
    names = ("A100-80GB", "A100-40GB", "H100", "TPUv4")
    real = load_evidence().fitted
    features = ClusterFeatures([Cluster(name, 8) for name in names], real.reference, real.transfer)
    assert features.strangeness("A100-80GB").tolist() == [0, 1, 2, 3]
