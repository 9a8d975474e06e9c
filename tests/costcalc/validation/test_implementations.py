from dataclasses import replace

import pytest

from costcalc.fitting.transfer import Ratio
from costcalc.throughput.workloads import implementation, workload
from costcalc.validation.additive_baseline import additive


def ratio(row, network, card, rate):
    made = replace(
        row,
        name=f"{network} {card}",
        model=network,
        accelerator=card,
        accelerators=1,
        nodes=1,
        images_per_second=rate,
        includes_evaluation=False,
    )
    return Ratio(made, workload(made, 224, {}), 0.0)


def cell(item):
    return item.row.name


@pytest.fixture(scope="module")
def row(packaged_evidence):
    return next(row for row in packaged_evidence.throughputs if row.stack == "lambda-tf")


def test_a_network_and_a_card_that_multiply_are_told_exactly(row):
    rates = {"a": 100.0, "b": 300.0, "c": 40.0}
    found = [ratio(row, n, card, rate * f) for n, rate in rates.items() for card, f in (("V100", 1), ("A10", 0.5))]
    errors = additive(found, cell)
    assert len(errors) == 6
    assert list(errors.values()) == pytest.approx([0.0] * 6, abs=1e-9)


def test_what_nothing_ties_together_is_not_told(row):
    alone = [ratio(row, "a", "V100", 100.0), ratio(row, "b", "A10", 50.0), ratio(row, "b", "V100", 90.0)]
    assert additive(alone, cell) == {}


def test_codes_do_not_mix(row, packaged_evidence):
    other = next(r for r in packaged_evidence.throughputs if r.stack == "nvidia-tf2")
    assert implementation(other) != implementation(row)
    found = [ratio(row, "a", "V100", 100.0), ratio(row, "a", "A10", 50.0), ratio(row, "b", "A10", 60.0)]
    assert additive([*found, ratio(other, "b", "V100", 7.0)], cell) == {}
