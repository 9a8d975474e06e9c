"""Forecasts of a round know nothing of it."""

import pytest
from support.mlperf_results import mlperf_row, publish

from science.validation.backtest import NEW, ONE, backtest, inside, markdown

ROUNDS = ("v1.0", "v2.0", "v3.0")
RATES = {"X100": 2500.0, "Y100": 1250.0}


def rows(fast=1.0):
    """Two chips in three rounds; a third one comes in the last round."""
    known = [
        mlperf_row(who, name, rate=rate, round=round)
        for round in ROUNDS
        for who in ("Ada", "Bob", "Cleo")
        for name, rate in RATES.items()
    ]
    return [*known, *(mlperf_row(who, "Z100", rate=5000.0 * fast, round="v3.0") for who in ("Ada", "Bob"))]


@pytest.fixture(scope="module")
def found():
    return backtest(publish(rows()))


def test_every_round_but_the_first_is_forecast(found):
    assert [one.name for one in found] == ["v2.0", "v3.0"]
    assert [len(one.of(ONE)) for one in found] == [6, 6]
    assert set(found[1].new_chips) == {"Z100"}


def test_known_chips_come_back_and_ranges_narrow(found):
    assert all(abs(one.error) < 0.03 for each in found for one in each.of(ONE))
    first, last = (each.of(ONE)[0].half_width for each in found)
    assert last < first
    assert inside(found[:1], ONE) == (6, 6)


def test_a_forecast_does_not_move_with_what_came_true(found):
    faster = backtest(publish(rows(2.0)))
    said, published = (each[1].new_chips["Z100"] for each in (faster, found))
    assert said - published == pytest.approx(-0.693, abs=0.001)


def test_the_table_has_a_line_for_each_round_and_a_picture(found):
    text = markdown(found)
    assert "| v2.0 |" in text
    assert "Z100" in text
    assert text.count("```") == 2
    assert len(found[1].of(NEW)) == 2
