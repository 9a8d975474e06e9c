"""Laws of speed, on any network, accelerator and count that can be asked for."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine import evidence

from costcalc.hardware import Cluster
from costcalc.throughput import SpeedModel
from costcalc.throughput.cluster_features import halved_and_doubled
from costcalc.throughput.fitted_parameters import TRANSFERRED
from costcalc.throughput.prediction import LOWER, RAISED, same_work
from costcalc.throughput.speed_model import COLUMNS
from costcalc.training import IMAGES_PER_EPOCH

EVIDENCE = evidence()
SPEEDS = SpeedModel(EVIDENCE.throughputs, EVIDENCE.fitted)
MODELS = sorted({recipe.model for recipe in EVIDENCE.recipes})
ACCELERATORS = sorted(EVIDENCE.accelerators)
MEASURED = [row for row in EVIDENCE.throughputs if row.model in MODELS and row.accelerators]
EQUAL = 1e-6  # ln(rates) nearer than this

models, accelerators = st.sampled_from(MODELS), st.sampled_from(ACCELERATORS)
per_node, nodes, times = st.integers(1, 16), st.sampled_from([1, 2, 3, 5, 8, 16, 64, 256]), st.integers(2, 8)


def table(model, *clusters):
    """Speeds, and ln(images/s of one accelerator) [R, C, P]."""
    found = SPEEDS.speeds(EVIDENCE.recipes_of(model), clusters)
    count = np.array([cluster.total_accelerators for cluster in clusters])
    return found, np.log(IMAGES_PER_EPOCH / found.seconds_per_epoch / count[:, None])


@given(models, accelerators, per_node, nodes, times, st.booleans())
def test_no_accelerator_is_faster_among_more(model, accelerator, count, machines, more, in_one):
    fewer = Cluster(accelerator, count, machines)
    many = Cluster(accelerator, count * more, machines) if in_one else Cluster(accelerator, count, machines * more)
    _, each = table(model, fewer, many)
    assert np.nanmax(each[:, 1] - each[:, 0], initial=-np.inf) < EQUAL


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(MEASURED), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([1, 2, 4, 8]))
def test_a_cluster_is_as_fast_and_as_well_known_whatever_else_is_asked_about(row, count, machines):
    home = Cluster(row.accelerator, row.accelerators // row.nodes, row.nodes)
    asked = [home, *halved_and_doubled(home), Cluster(row.accelerator, count, machines)]
    together, _ = table(row.model, *asked)
    alone, _ = table(row.model, asked[-1])
    for column in COLUMNS:
        found, expected = getattr(together, column)[:, -1], getattr(alone, column)[:, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=f"{column} of {asked[-1]}")


@given(models, accelerators, per_node, nodes)
def test_no_accelerator_is_faster_than_its_arithmetic_allows(model, accelerator, count, machines):
    recipes, network = EVIDENCE.recipes_of(model), EVIDENCE.models[model]
    peak = EVIDENCE.accelerators[accelerator].dense_16bit_tflops
    if not (network.gmacs and network.image_size and peak):
        return
    _, each = table(model, Cluster(accelerator, count, machines))
    for recipe, rates in zip(recipes, np.exp(each[:, 0]), strict=True):
        for phase, rate in zip(recipe.phases, rates, strict=False):
            operations = 6 * network.gmacs * 1e9 * (phase.image_size / network.image_size) ** 2
            assert not rate * operations > peak * 1e12 * (1 + EQUAL)


@given(models, accelerators, per_node, nodes, st.booleans())
def test_ranges_of_a_count_and_of_twice_as_many_overlap(model, accelerator, count, machines, in_one):
    one = Cluster(accelerator, count, machines)
    two = Cluster(accelerator, 2 * count, machines) if in_one else Cluster(accelerator, count, 2 * machines)
    found, each = table(model, one, two)
    apart = np.abs(each[:, 1] - each[:, 0]).T - found.width_80.sum(axis=1)
    apart[:, (found.kind == TRANSFERRED).all(axis=1)] = np.nan  # measured apart
    assert np.nanmax(apart, initial=-np.inf) < EQUAL


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (less.name, more.name)
        for less in EVIDENCE.accelerators.values()
        for more in EVIDENCE.accelerators.values()
        if less.name != more.name and more.is_no_worse_than(less)
    ],
)
@settings(max_examples=8, deadline=None)
@given(model=models, count=per_node, machines=nodes)
def test_a_chip_with_more_memory_is_not_slower(less, more, model, count, machines):
    _, each = table(model, Cluster(less, count, machines), Cluster(more, count, machines))
    assert np.nanmax(each[:, 0] - each[:, 1], initial=-np.inf) < EQUAL


SMALLER = sorted({model for model in MODELS if EVIDENCE.recipes_of_larger(model)})


@given(st.sampled_from(SMALLER), accelerators, per_node, nodes)
def test_no_network_is_slower_than_a_larger_one_of_its_series_with_the_same_code(model, accelerator, count, machines):
    cluster = Cluster(accelerator, count, machines)
    found = SPEEDS.speeds(EVIDENCE.recipes_of(model), [cluster], EVIDENCE.recipes_of_larger(model))
    may_be_slow = found.beside_larger[:, 0] == LOWER
    for larger in {one.model for one in EVIDENCE.recipes_of_larger(model)}:
        others = SPEEDS.speeds(EVIDENCE.recipes_of(larger), [cluster], EVIDENCE.recipes_of_larger(larger))
        alike = [
            (s, k)
            for (s, small), (k, large) in product(enumerate(found.recipes), enumerate(others.recipes))
            if same_work(small) == same_work(large) and not may_be_slow[s]
        ]
        for s, k in alike:
            phases = len(found.recipes[s].phases)
            times = found.seconds_per_epoch[s, 0, :phases] / others.seconds_per_epoch[k, 0, :phases]
            assert not (np.log(times) > EQUAL).any()


def test_a_network_logged_slower_than_a_larger_one_is_as_fast_elsewhere_and_says_so_everywhere():
    """GluonCV logged 3,726 images/s of MobileNet 0.5 on eight V100, 5,640 of the whole one."""
    clusters = [Cluster("V100", 8), Cluster("H100", 8)]
    small, whole = (
        SPEEDS.speeds(EVIDENCE.recipes_of(name), clusters, EVIDENCE.recipes_of_larger(name))
        for name in ("mobilenet_0_5", "mobilenet")
    )
    assert list(small.beside_larger[0]) == [LOWER, RAISED]
    assert IMAGES_PER_EPOCH / small.seconds_per_epoch[0, 0, 0] == pytest.approx(3726)
    assert small.seconds_per_epoch[0, 1, 0] <= whole.seconds_per_epoch[0, 1, 0]
    assert small.notes(0, 0)[-1].endswith("the measured speed of this one stands.")
    assert small.notes(0, 1)[-1].endswith("which the same code trains faster.")
    assert not whole.beside_larger.any()
