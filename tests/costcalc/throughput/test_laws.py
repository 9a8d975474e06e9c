"""Laws of speed that no answer may break, whatever was measured and fitted."""

import numpy as np
import pytest
from msgspec.structs import replace
from support import laws
from support.engine import evidence
from support.sampled import sampled

from costcalc.hardware import Accelerator
from costcalc.training import Phase

PARTS = [
    Accelerator("small", "NVIDIA", 40, 300, 1500, 400, 2020, "sheet", chip="chip"),
    Accelerator("big", "NVIDIA", 80, 300, 2000, 400, 2020, "sheet", chip="chip"),
    Accelerator("unknown", "NVIDIA", 96, None, None, 400, 2020, "sheet", chip="chip"),
]


@pytest.fixture(scope="module")
def packaged_evidence():
    return evidence()


def networks_with_several_recipes_and_some_others(evidence):
    """At night all."""
    several = [each for each in evidence.models.values() if len(evidence.recipes_of(each.name)) > 2]
    return {each.name: each for each in [*sampled(several, 3), *sampled(evidence.models.values(), 24)]}.values()


@pytest.mark.timeout(600)
def test_no_answer_breaks_a_law(packaged_evidence):
    """One test, as the speeds take seconds."""
    parts = list(packaged_evidence.accelerators.values())
    networks = networks_with_several_recipes_and_some_others(packaged_evidence)
    broken = {
        (law, of.model.name): most
        for of in laws.speeds(packaged_evidence, parts, networks)
        for law, excess in laws.HELD.items()
        if (most := np.nanmax(excess(of, parts), initial=0)) > laws.EQUAL
    }
    assert broken == {}


@pytest.fixture
def level(packaged_evidence):
    """One recipe, 1,000 images/s on each accelerator wherever it is."""
    model = packaged_evidence.models["resnet50"]
    recipe = replace(packaged_evidence.recipes_of("resnet50")[0], phases=(Phase(224, 0, 1),))
    shape = 1, len(PARTS), len(laws.SHAPES)
    return laws.Speeds(model, [recipe], np.full((*shape, 1), 1000.0), np.full(shape, 0.1), np.zeros(shape, bool))


def test_equal_rates_break_none(level):
    for law in laws.HELD.values():
        assert np.nanmax(law(level, PARTS)) <= 1


def test_one_of_eight_that_is_faster_than_one_alone_breaks_the_first(level):
    eight = laws.SHAPES.index((8, 1))
    level.each[0, 0, eight] = 1100.0
    excess = laws.more_than_linear(level, PARTS)
    assert [laws.LARGER[pair] for _, _, pair, _ in np.argwhere(excess > laws.EQUAL)] == [
        (laws.SHAPES.index((count, 1)), eight) for count in (1, 2, 4)
    ]
    assert np.nanmax(excess) == pytest.approx(1.1)


def test_arithmetic_of_all_three_passes_counts(level):
    level.each[0, 0] = 300e12 / (3 * 2 * 4.1e9) * 1.01
    assert np.nanmax(laws.beyond_the_data_sheet(level, PARTS)) == pytest.approx(1.01, rel=0.01)
    level.recipes[0] = replace(level.recipes[0], phases=(Phase(112, 0, 1),))
    assert np.nanmax(laws.beyond_the_data_sheet(level, PARTS)) == pytest.approx(1.01 / 4, rel=0.01)


def test_more_memory_is_compared_as_far_as_it_is_known(level):
    level.each[0, 1] = 900.0
    excess = laws.slower_with_more_memory(level, PARTS)  # of big and unknown over small, then of unknown over big
    assert excess[0, :, 0, 0] == pytest.approx([1000 / 900, 1, 900 / 1000])


def test_ranges_that_do_not_touch_are_apart(level):
    two = laws.SHAPES.index((2, 1))
    level.each[0, 0, two] = 1000 * np.exp(-0.25)
    assert np.nanmax(laws.ranges_apart(level, PARTS)) == pytest.approx(np.exp(0.05))
    level.measured[0, 0, two] = True
    assert np.nanmax(laws.ranges_apart(level, PARTS)) > 1
    level.measured[0, 0] = True
    assert np.nanmax(laws.ranges_apart(level, PARTS)) < 1  # measured apart
