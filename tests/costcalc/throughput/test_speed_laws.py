"""Laws of speed, on any network, accelerator and count that can be asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costcalc import load_evidence
from costcalc.hardware import Cluster
from costcalc.throughput import SpeedModel
from costcalc.throughput.prediction import TRANSFERRED
from costcalc.training import IMAGES_PER_EPOCH

EVIDENCE = load_evidence()
SPEEDS = SpeedModel(EVIDENCE.throughputs, EVIDENCE.fitted)
MODELS = sorted({recipe.model for recipe in EVIDENCE.recipes})
ACCELERATORS = sorted(EVIDENCE.accelerators)
EQUAL = 1e-6  # ln(rates) nearer than this

models, accelerators = st.sampled_from(MODELS), st.sampled_from(ACCELERATORS)
per_node, nodes, times = st.integers(1, 16), st.sampled_from([1, 2, 3, 5, 8, 16, 64, 256]), st.integers(2, 8)


def table(model, *clusters):
    """Speeds, and ln(images/s of one accelerator) [R, C, P]."""
    found = SPEEDS.speeds(EVIDENCE.recipes_of(model), clusters)
    count = np.array([cluster.total_accelerators for cluster in clusters])
    return found, np.log(IMAGES_PER_EPOCH / found.seconds_per_epoch / count[:, None])


@settings(max_examples=60, deadline=None)
@given(models, accelerators, per_node, nodes, times, st.booleans())
def test_no_accelerator_is_faster_among_more(model, accelerator, count, machines, more, in_one):
    fewer = Cluster(accelerator, count, machines)
    many = Cluster(accelerator, count * more, machines) if in_one else Cluster(accelerator, count, machines * more)
    _, each = table(model, fewer, many)
    assert np.nanmax(each[:, 1] - each[:, 0], initial=-np.inf) < EQUAL


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=60, deadline=None)
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
