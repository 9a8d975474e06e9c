"""The answers beside what one H100 was measured at."""

from science.validation.one_device import is_inside, on_one_device


def test_most_rates_lie_in_the_range_of_the_answer_that_is_shown():
    """80 % of them should; they are of one device, and each network was run in ways that differ by up to a factor of 3."""
    found = on_one_device()
    assert len({one.row.model for one in found}) >= 12
    assert all(one.row.organisation == "costcalc" and one.row.source for one in found)
    assert 0.65 <= sum(map(is_inside, found)) / len(found) <= 0.92
