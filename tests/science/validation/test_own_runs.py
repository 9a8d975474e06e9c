"""The chance of a run of one's own, scored on sets of equal runs."""

from math import sqrt
from statistics import NormalDist

import pytest
from msgspec.structs import replace
from support.mlperf_results import mlperf_row, publish

from costcalc.convergence.own_noise import RISE_SHARE
from costcalc.training import Evaluation
from science.validation.convergence.own_runs import (
    MARGINS,
    SEEN,
    own_run_chances,
    own_run_ends,
    own_run_scores,
    reliability,
)
from science.validation.published import load_published
from science.validation.scores import score

EARLY, LATE = (0.2, 0.5), (0.21, 0.502)  # after 10 and 20 of 40 epochs


def curve(*values, every=10):
    return tuple(Evaluation(every * place, None, value, None) for place, value in enumerate(values, 1))


def published(*sets):
    """Organisations with the logs of their equal runs."""
    rows = [mlperf_row(who, count=place) for place, (who, _) in enumerate(sets, 1)]
    curves = {row.recipe.name: logs for row, (_, logs) in zip(rows, sets, strict=True)}
    return replace(publish(rows), seed_curves=curves)


def pair(who="Ada"):
    return who, (curve(*EARLY, 0.7, 0.76), curve(*LATE, 0.71, 0.761))


@pytest.fixture(scope="module")
def packaged():
    return load_published()


def test_each_run_says_what_the_other_had_reached_at_the_same_share():
    low, high = [one for one in own_run_chances(published(pair()), 0.5) if one.margin == 0.001]
    assert (low.reached, high.reached) == (True, False)
    sigma = RISE_SHARE * (EARLY[1] - EARLY[0])
    assert low.said == pytest.approx(NormalDist().cdf(0.001 / (sigma * sqrt(2))))
    assert low.family == "own run, 50 % seen"


def test_only_what_was_seen_counts():
    other_end = ("Ada", (curve(*EARLY, 0.1, 0.2), curve(*LATE, 0.9, 0.91)))
    assert [*own_run_chances(published(other_end), 0.5)] == [*own_run_chances(published(pair()), 0.5)]


def test_targets_that_an_answer_refuses_are_not_asked():
    flat = ("Ada", (curve(0.05, 0.75, 0.759, 0.7600), curve(0.05, 0.75, 0.759, 0.7601)))
    asked = {one.margin for one in own_run_chances(published(flat), 1.0)}
    assert asked == {margin for margin in MARGINS if margin >= -0.001}


def test_runs_that_were_evaluated_at_other_times_or_once_are_not_compared():
    other_times = ("Ada", (curve(*EARLY, 0.7, 0.76), curve(0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.75, 0.76, every=5)))
    assert [*own_run_chances(published(other_times), 0.5)] == []
    assert [*own_run_chances(published(pair()), 0.3)] == []


def test_the_baseline_is_what_other_organisations_runs_reached():
    both_low = ("Bob", (curve(*EARLY, 0.7, 0.76), curve(*EARLY, 0.7, 0.76)))
    found = {one.family: one for one in own_run_scores(published(pair(), both_low))}
    assert found["own run, 50 % seen"].runs == 4
    alone = {one.family: one for one in own_run_scores(published(pair()))}
    assert alone["own run, 50 % seen"].baseline == pytest.approx(0.25)
    assert found.keys() == {*(f"own run, {share} % seen" for share in (50, 70, 100)), "own runs, other organisations"}


def test_published_runs_reach_their_targets_about_as_often_as_is_said(packaged):
    found = reliability(packaged)
    for bins in found.values():
        assert sum(one.chances for one in bins) > 30_000
        assert all(abs(one.said - one.reached) < 0.12 for one in bins)


def test_the_chance_is_no_worse_than_the_base_rate_by_much(packaged):
    by_share = [one for one in own_run_scores(packaged) if one.family.startswith("own run,")]
    assert [one.runs > 1300 for one in by_share] == [True] * 4
    assert all(one.score < 1.06 * one.baseline for one in by_share)


def test_each_run_ends_apart_from_the_other_by_as_much_as_they_differ():
    low, high = own_run_ends(published(pair()), 0.5)
    assert (low.error, high.error) == (pytest.approx(-0.002), pytest.approx(0.002))
    assert low.half_widths[0] > RISE_SHARE * (EARLY[1] - EARLY[0]) * sqrt(2)


def test_of_runs_seen_in_part_the_range_holds_eight_in_ten(packaged):
    found = [score("", [*own_run_ends(packaged, share)], by_group=True).coverage[0].observed for share in SEEN]
    assert all(0.72 < share < 0.88 for share in found[:-1])
    assert found[-1] > 0.9  # of whole ones more
