"""The answers beside what one H100 and one H200 were measured at."""

import pytest

from costcalc.evidence import load_evidence
from science.validation.chosen_answers import Chosen, on_one_device


@pytest.fixture(scope="module")
def found() -> list[Chosen]:
    return on_one_device(load_evidence())


@pytest.mark.parametrize(("chip", "networks"), [("H100", 12), ("H200", 6)])
def test_most_rates_lie_in_the_range_of_the_answer_that_is_shown(found, chip, networks):
    """80 % of them should; they are of one device, and each network was run in ways that differ by up to a factor of 3."""
    here = [one for one in found if one.row.accelerator == chip]
    assert len({one.row.model for one in here}) >= networks
    assert all(one.row.organisation == "costcalc" and one.row.source for one in here)
    inside = [abs(one.case.error) <= one.case.half_widths[0] for one in here]
    assert 0.6 <= sum(inside) / len(inside) <= 0.92
