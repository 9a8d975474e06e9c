from importlib import resources
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from costcalc.evidence.collection import stretched
from costcalc.training import Metric
from science.fitting.schedules import (
    Lengths,
    OutOfRange,
    accuracy_at_end,
    between,
    interpolated,
    lengths,
    monotone_cubic,
    to_csv,
)

KNOWN = Lengths(np.array([16.0, 32.0, 40.0, 88.0]), np.array([0.7376, 0.7659, 0.7724, 0.7843]))


@pytest.fixture(scope="session")
def ffcv(packaged_evidence):
    return [recipe for recipe in packaged_evidence.recipes if recipe.family == "ffcv-rn50"]


@given(st.lists(st.floats(0, 10), min_size=2, max_size=8, unique_by=lambda x: round(x, 1)), st.data())
def test_the_cubic_goes_through_the_points_and_never_overshoots(x, data):
    x = np.array(sorted(x))
    y = np.array(sorted(data.draw(st.lists(st.floats(-5, 5), min_size=len(x), max_size=len(x)))))
    assert monotone_cubic(x, y, x) == pytest.approx(y, abs=1e-9)
    between_points = monotone_cubic(x, y, np.linspace(x[0], x[-1], 200))
    assert (np.diff(between_points) >= -1e-9).all()


def test_the_cubic_is_scipys():
    interpolate = pytest.importorskip("scipy.interpolate")
    x, y = np.array([0.0, 1.0, 2.5, 4.0]), np.array([0.0, 3.0, 3.5, 3.4])
    grid = np.linspace(0, 4, 50)
    assert monotone_cubic(x, y, grid) == pytest.approx(interpolate.PchipInterpolator(x, y)(grid))


@given(st.floats(16, 88), st.floats(16, 88))
def test_a_longer_schedule_never_ends_lower(first, second):
    short, long = sorted((first, second))
    assert KNOWN.at(short) <= KNOWN.at(long)


@given(st.floats(0.7376, 0.784))
def test_the_shortest_schedule_ends_at_the_accuracy_asked_for(accuracy):
    assert KNOWN.at(KNOWN.shortest(accuracy)) == pytest.approx(accuracy, abs=2e-4)


@pytest.mark.parametrize("epochs", [15.9, 88.1, 1000])
def test_lengths_outside_the_measured_ones_are_refused(epochs):
    with pytest.raises(OutOfRange, match="16 to 88"):
        KNOWN.at(epochs)


def test_accuracies_outside_the_measured_ones_are_refused():
    with pytest.raises(OutOfRange):
        KNOWN.shortest(0.80)
    with pytest.raises(OutOfRange):
        KNOWN.shortest(0.70)


def made(family, epochs):
    """The recipe of an interpolated schedule of a family."""
    schedule = interpolated(family, epochs)
    return stretched(next(recipe for recipe in family if recipe.name == schedule.shape_of), schedule)


def test_the_packaged_schedules_are_of_the_packaged_recipes(packaged_evidence):
    stale, made = "the tables changed since the fit: run `make fit`", between(packaged_evidence.recipes)
    for packaged, fresh in zip_longest(packaged_evidence.schedules, made):
        assert packaged, stale
        assert fresh, stale
        assert astuple(packaged)[:3] == astuple(fresh)[:3], stale
        assert astuple(packaged)[3:] == pytest.approx(astuple(fresh)[3:], abs=1e-12), stale


def test_schedules_are_read_as_they_are_written(packaged_evidence):
    written = (resources.files("costcalc.evidence") / "data" / "schedules.csv").read_text("utf-8")
    assert to_csv(packaged_evidence.schedules) == written


def test_an_interpolated_recipe_lies_between_its_neighbours(ffcv):
    recipe = made(ffcv, 28)
    assert recipe.name == "ffcv-rn50-28ep"
    assert recipe.is_interpolated
    assert recipe.phases[0].from_epoch == 0
    assert recipe.phases[-1].to_epoch == 28
    assert recipe.phases[0].to_epoch == recipe.phases[1].from_epoch
    assert recipe.evaluations[-1].epochs == 28
    ends = {recipe.scheduled_epochs: accuracy_at_end(recipe, Metric.TOP1) for recipe in ffcv}
    assert ends[16] < accuracy_at_end(recipe, Metric.TOP1) < ends[32]


def test_an_interpolated_recipe_keeps_the_shape_of_the_nearest_log(ffcv):
    recipe = made(ffcv, 28)
    nearest = next(one for one in ffcv if one.scheduled_epochs == 32)
    assert [point.epochs / 28 for point in recipe.evaluations] == pytest.approx(
        [point.epochs / 32 for point in nearest.evaluations]
    )
    shifts = [ours.top1 - theirs.top1 for ours, theirs in zip(recipe.evaluations, nearest.evaluations, strict=True)]
    assert max(shifts) - min(shifts) < 1e-12
    assert [phase.images_per_second for phase in recipe.phases] == [one.images_per_second for one in nearest.phases]
    hours = [(ours.hours, theirs.hours) for ours, theirs in zip(recipe.evaluations, nearest.evaluations, strict=True)]
    assert all(ours == pytest.approx(theirs * 28 / 32) for ours, theirs in hours if theirs is not None)


def test_a_metric_without_enough_lengths_is_left_out(ffcv):
    without = [replace(r, evaluations=tuple(replace(e, top5=None) for e in r.evaluations)) for r in ffcv]
    assert interpolated(without, 28).top5_shift is None
    assert {point.top5 for point in made(without, 28).evaluations} == {None}


def test_only_families_with_enough_lengths_are_interpolated(packaged_evidence, ffcv):
    found = packaged_evidence.interpolated
    assert {recipe.family for recipe in found} == {"ffcv-rn18", "ffcv-rn50"}
    measured = {recipe.name for recipe in packaged_evidence.recipes}
    assert not measured & {recipe.name for recipe in found}
    assert lengths(ffcv[:3]) is None
    with pytest.raises(OutOfRange, match="fewer than"):
        interpolated(ffcv[:3], 24)


def test_a_family_of_several_batches_is_not_interpolated(ffcv):
    assert between([replace(ffcv[0], global_batch_size=256), *ffcv[1:]]) == ()


@pytest.mark.parametrize("family", ["ffcv-rn18", "ffcv-rn50"])
def test_every_whole_length_between_the_measured_ones_can_be_asked_for(packaged_evidence, family):
    every = (*packaged_evidence.recipes, *packaged_evidence.interpolated)
    epochs = sorted(recipe.scheduled_epochs for recipe in every if recipe.family == family)
    assert epochs == list(range(16, 89))


def test_a_recipe_known_at_its_end_only_is_interpolated_there(packaged_evidence):
    family = [recipe for recipe in packaged_evidence.recipes if recipe.family == "ffcv-rn18"]
    recipe = made(family, 40)
    assert [evaluation.epochs for evaluation in recipe.evaluations] == [40]
    assert accuracy_at_end(replace(recipe, evaluations=()), Metric.TOP1) is None
