"""What is learned of other networks, from rates made up of known effects."""

import math
from collections import Counter

import pytest
from msgspec.structs import replace
from support.speeds import MODELS, PARTS, REFERENCE, TRANSFER, rate

from costcalc.throughput.reference_model import Setup, step_overhead
from costcalc.throughput.workloads import Transfer, workload
from science.fitting.transfer import Ratio, fit_transfer, ratios, residual, terms


def test_a_ratio_is_what_reference_size_and_multiply_adds_leave_to_explain():
    row = rate(5000.0, "new-big", image_size=112, global_batch_size=8 * 64)
    [found] = ratios([row], REFERENCE, MODELS)
    reference = REFERENCE.log_rate(Setup("new", 8, 1, 64.0, 2022, "pytorch"))  # the twin's
    offset = 1.6 * math.log(2) + 0.7 * math.log(10)
    assert found.value == pytest.approx(math.log(5000 / 8) - reference - offset)
    assert found.workload == workload(row, 112, MODELS)


def test_rows_that_the_reference_says_nothing_of_are_left_out():
    known = rate(5000.0)
    assert [
        found.row for found in ratios([rate(1.0, accelerators=0), rate(1.0, "silent"), known], REFERENCE, MODELS)
    ] == [known]


def test_a_row_is_explained_by_software_hardware_and_batch():
    row = rate(5000.0, "game", accelerators=32, nodes=4, global_batch_size=32 * 16)
    ratio = Ratio(row, workload(row, 224, MODELS), 0.0)
    found = list(terms(ratio, Transfer({}, PARTS, {})))
    values = {key: value for key, value, _ in found}
    assert values["batch", "small"] == pytest.approx(step_overhead(16))
    keys = Counter(key for key, _, _ in found)
    assert keys["count", "tiny"] == keys["no peers",] == 3  # doublings to eight in a machine
    assert values["family", "tiny"] == 1.0


def test_the_residual_is_what_the_effects_do_not_explain():
    row = rate(5000.0, global_batch_size=8 * 256)
    made = workload(row, 224, MODELS)
    explained = TRANSFER.software(made) - made.offset + TRANSFER.hardware(made, "new", 8)
    assert residual(Ratio(row, made, explained + 0.3), TRANSFER) == pytest.approx(0.3)
    small = rate(5000.0, global_batch_size=8 * 16)
    assert residual(Ratio(small, made, 0.0), TRANSFER) == pytest.approx(-explained - 0.4 * step_overhead(16))


def test_a_network_twice_as_fast_everywhere_is_learned_to_be():
    """All networks on two accelerators by one implementation, the small one always twice as fast as the reference says."""
    rows = [rate(1.0, name, count, model=model) for name in ("new", "old") for count in (1, 8) for model in MODELS]
    twice = [
        Ratio(row, workload(row, 224, MODELS), math.log(2) if row.model == "small" else 0.0)
        for row in rows
        for _ in range(3)
    ]
    learned = fit_transfer(twice, MODELS, PARTS)
    for ratio in twice:
        assert residual(ratio, learned) == pytest.approx(0, abs=0.02)
    small, resnet = (learned.software(workload(rate(1.0, model=name), 224, MODELS)) for name in ("small", "resnet50"))
    offset = workload(rate(1.0), 224, MODELS).offset
    assert small - offset - resnet == pytest.approx(math.log(2), abs=0.05)
    assert (learned.models, learned.accelerators) == (MODELS, PARTS)


def test_no_count_is_learned_to_make_a_network_faster():
    """Four of one maker's code reach more each than one of another's: the code is what differs."""
    rows = [rate(1.0, "new", 1, stack="theirs"), rate(1.0, "new", 4), rate(1.0, "new", 8)]
    found = [Ratio(row, workload(row, 224, MODELS), value) for row, value in zip(rows, (0.0, 0.5, 0.4), strict=True)]
    learned = fit_transfer(found * 4, MODELS, PARTS)
    for row in rows[1:]:
        made = workload(row, 224, MODELS)
        speeds = [learned.hardware(made, "new", count) for count in (1, 2, 4, 8, 16)]
        assert speeds == sorted(speeds, reverse=True)
        assert learned.effects["count", "tiny"] + learned.effects["count", "model", "small"] < 0
    assert residual(found[1], learned) == pytest.approx(0, abs=0.05)


def test_a_network_with_its_own_balance_is_learned_on_one_chip_and_follows_it_to_another():
    """A transformer that is as fast as the reference on one chip by its balance: what is learned there holds on the other."""
    models = {**MODELS, "small": replace(MODELS["small"], family="vit", activations_millions=2.0)}
    rows = [rate(1.0, name, 1, model="small") for name in ("new", "old")]
    made = [workload(row, 224, models) for row in rows]
    values = [Transfer(models, PARTS, {}).balance(each, row.accelerator) for each, row in zip(made, rows, strict=True)]
    there, here = (Ratio(row, each, value) for row, each, value in zip(rows, made, values, strict=True))
    assert abs(values[0] - values[1]) > 0.05
    learned = fit_transfer([there] * 3, models, PARTS)
    assert residual(here, learned) == pytest.approx(0, abs=1e-6)
