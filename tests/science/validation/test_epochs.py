import math

import numpy as np
import pytest
from fakes.recipes import recipe
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.interpolate import PchipInterpolator
from support.mlperf_results import mlperf_row, publish

from costcalc.training import IMAGES_PER_EPOCH, Evaluation, Phase
from science.fitting.schedules import OutOfRange
from science.validation.convergence.epochs import (
    BATCH_REACH,
    BatchCurve,
    batch_factor,
    batches_left_out,
    borrowed,
    curves_left_out,
    ends_by_length,
    lengths_left_out,
)
from science.validation.published import ReferencePoint, load_published

REFERENCE = [(1632.0, 35.0), (3264.0, 35.2), (13056.0, 45.0), (32768.0, 56.0)]


@given(st.floats(1, 32768 * BATCH_REACH), st.floats(1, 32768 * BATCH_REACH))
def test_larger_batches_never_need_fewer_epochs(first, second):
    curve = BatchCurve.through(REFERENCE)
    small, large = sorted((first, second))
    if not any(3264 < batch < 13056 for batch in (small, large)):
        assert curve.at(small) <= curve.at(large) + 1e-9


def test_batches_lie_on_straight_lines_and_end_where_evidence_ends():
    curve = BatchCurve.through([*REFERENCE, (1632.0, 35.0)])
    assert curve.at(100) == 35
    assert curve.at(22912) == pytest.approx(50.5)
    assert curve.at(32768 * 1.2) == pytest.approx(56 + 32768 * 0.2 * (56 - 45) / (32768 - 13056))
    with pytest.raises(OutOfRange, match="beyond"):
        curve.at(32768 * 1.3)
    with pytest.raises(OutOfRange, match="too far apart"):
        BatchCurve.through([(100.0, 30.0), (1000.0, 40.0)]).at(500)
    with pytest.raises(ValueError, match="at least one"):
        BatchCurve.through([])


@pytest.mark.parametrize(("batch", "far"), [(400.0, False), (410.0, True)])
def test_four_times_is_the_widest_gap(batch, far):
    curve = BatchCurve.through([(100.0, 30.0), (batch, 40.0)])
    assert curve.at(100) == 30
    assert curve.at(batch * 1.25) == pytest.approx(40 + 10 * 0.25 * batch / (batch - 100))
    if far:
        with pytest.raises(OutOfRange, match="between 100 and 410"):
            curve.at(200)
    else:
        assert curve.at(250) == 35


def test_a_lone_batch_is_a_constant():
    assert BatchCurve.through([(256.0, 90.0)]).at(300) == 90


def test_an_outlying_run_counts_as_one_run():
    many = [(1000.0, 35.0)] * 9 + [(1001.0, 55.0)] + [(1002.0, 35.0)] * 9
    assert BatchCurve.through(many).at(1002) == pytest.approx(37)


def test_epochs_grow_with_the_batch_by_one_law():
    assert batch_factor(46_000, 0.0001) == pytest.approx(2)
    assert batch_factor(8192, 1024) * batch_factor(1024, 8192) == pytest.approx(1)
    assert batch_factor(None, 1024) == batch_factor(8192, None) == 1


def dawnbench(name, *, epochs, minutes, rate=1000.0, size=224, batch=1024, top5=0.93):
    """A run of DAWNBench's that reaches 93 % after so many epochs at one image size."""
    row = mlperf_row(name)
    recipe = replace(
        row.recipe,
        name=f"dawnbench-{name}",
        global_batch_size=batch,
        phases=(Phase(size, 0.0, 100.0, rate),),
        evaluations=(Evaluation(epochs - 1, None, None, 0.9), Evaluation(epochs, None, None, top5)),
    )
    return replace(
        row, recipe=recipe, result=replace(row.result, recipe=recipe.name, minutes=minutes, stack="dawnbench")
    )


def family(*rows, name="odd"):
    return publish(rows, groups={"recipe_family": {row.recipe.name: name for row in rows}})


class TestBorrowed:
    """DAWNBench's recipes for the epochs of their family."""

    def test_each_runs_the_others_epochs_at_its_own_rate(self):
        ada = dawnbench("ada", epochs=40, minutes=600.0)
        bob = dawnbench("bob", epochs=50, minutes=900.0, rate=2000.0)
        cases = {case.name: case for case in borrowed(family(ada, bob))}
        assert set(cases) == {"dawnbench-ada", "dawnbench-bob"}
        assert {case.group for case in cases.values()} == {"odd"}
        assert cases["dawnbench-ada"].error == pytest.approx(math.log(50 * IMAGES_PER_EPOCH / 1000 / 36_000))
        assert cases["dawnbench-bob"].error == pytest.approx(math.log(40 * IMAGES_PER_EPOCH / 2000 / 54_000))

    def test_its_own_epochs_say_nothing(self):
        def error(epochs):
            rows = dawnbench("ada", epochs=epochs, minutes=600.0), dawnbench("bob", epochs=50, minutes=900.0)
            return borrowed(family(*rows))[0].error

        assert error(40) == error(60)

    def test_the_median_of_several_is_taken(self):
        rows = [dawnbench(f"r{epochs}", epochs=epochs, minutes=600.0) for epochs in (40, 30, 50, 90)]
        first = borrowed(family(*rows))[0]
        assert first.error == pytest.approx(math.log(50 * IMAGES_PER_EPOCH / 1000 / 36_000))

    def test_larger_batches_need_more_epochs_but_for_the_baseline(self):
        ada = dawnbench("ada", epochs=40, minutes=600.0, batch=46_000)
        bob = dawnbench("bob", epochs=40, minutes=600.0, batch=23_000)
        first = borrowed(family(ada, bob))[0]
        assert first.error - first.baseline_error == pytest.approx(math.log(2 / 1.5))

    def test_every_image_size_has_its_own_rate(self):
        ada, bob = dawnbench("ada", epochs=40, minutes=600.0), dawnbench("bob", epochs=30, minutes=600.0)
        phases = Phase(128, 0.0, 20.0, 4000.0), Phase(224, 20.0, 100.0, 1000.0)
        both = [replace(row, recipe=replace(row.recipe, phases=phases)) for row in (ada, bob)]
        seconds = IMAGES_PER_EPOCH * (20 / 4000 + 10 / 1000)
        assert borrowed(family(*both))[0].error == pytest.approx(math.log(seconds / 36_000))

    def test_a_rate_at_another_size_lends_nothing(self):
        ada = dawnbench("ada", epochs=40, minutes=600.0)
        other = dawnbench("bob", epochs=40, minutes=600.0, size=128)
        assert borrowed(family(ada, other)) == []

    def test_who_never_reached_the_target_lends_nothing(self):
        ada = dawnbench("ada", epochs=40, minutes=600.0)
        missed = dawnbench("bob", epochs=40, minutes=600.0, top5=0.929)
        assert [case.name for case in borrowed(family(ada, missed))] == ["dawnbench-bob"]

    def test_other_stacks_and_other_families_lend_nothing(self):
        ada, bob = dawnbench("ada", epochs=40, minutes=600.0), dawnbench("bob", epochs=50, minutes=600.0)
        apart = {"recipe_family": {ada.recipe.name: "odd", bob.recipe.name: "even"}}
        assert borrowed(publish([ada, bob], groups=apart)) == []
        assert borrowed(family(mlperf_row("Ada"), mlperf_row("Bob"))) == []

    def test_a_rate_at_another_size_of_the_packaged_recipes(self):
        published = load_published()
        odd = {"dawnbench-alibaba-rn50-1xgn6e": "odd", "dawnbench-diux-rn50-p3-tensorpack": "odd"}
        found = borrowed(replace(published, groups={**published.groups, "recipe_family": odd}))
        assert [case.name for case in found] == ["dawnbench-alibaba-rn50-1xgn6e"]


def schedule(epochs, accuracy):
    row = mlperf_row(f"rn{epochs}", epochs=float(epochs))
    recipe = replace(
        row.recipe, name=f"ffcv-{epochs}", tuned_to=None, evaluations=(Evaluation(epochs, None, accuracy, None),)
    )
    return replace(row, recipe=recipe)


LENGTHS = [schedule(epochs, 0.5 + 0.05 * math.log(epochs)) for epochs in (88, 16, 24, 32, 40)]


class TestLengths:
    """Schedules between the lengths of a family."""

    def test_ends_are_ordered_by_length(self):
        ends = ends_by_length(family(*LENGTHS), "odd")
        assert [name for _, _, name in ends] == [f"ffcv-{epochs}" for epochs in (16, 24, 32, 40, 88)]
        assert ends[0][:2] == (16.0, pytest.approx(0.5 + 0.05 * math.log(16)))

    def test_what_lies_on_a_line_is_found_again(self):
        cases = lengths_left_out(family(*LENGTHS), "odd")
        assert [case.name for case in cases] == [case.group for case in cases] == ["ffcv-24", "ffcv-32", "ffcv-40"]
        for case in cases:
            assert case.error == pytest.approx(0, abs=0.003)
            assert case.baseline_error == pytest.approx(0, abs=0.003)

    def test_only_its_accuracy_is_known_of_the_one_left_out(self):
        longer = schedule(36, 0.5 + 0.05 * math.log(32))
        others = [row for row in LENGTHS if row.recipe.name != "ffcv-32"]
        cases = {case.name: case for case in lengths_left_out(family(*others, longer), "odd")}
        assert cases["ffcv-36"].error == pytest.approx(math.log(32 / 36), abs=0.003)

    def test_the_baseline_is_scipys_monotone_cubic(self):
        ends = {16: 0.63, 24: 0.652, 32: 0.667, 40: 0.69, 88: 0.72}
        rows = [schedule(epochs, accuracy) for epochs, accuracy in ends.items()]
        case = next(case for case in lengths_left_out(family(*rows), "odd") if case.name == "ffcv-32")
        cubic = PchipInterpolator(np.log([16, 24, 40, 88]), [0.63, 0.652, 0.69, 0.72])
        (log_epochs,) = cubic.solve(0.667, extrapolate=False)
        assert case.baseline_error == pytest.approx(log_epochs - math.log(32), abs=0.002)
        assert abs(case.error - case.baseline_error) > 0.005

    def test_the_baseline_takes_the_longest_schedule_for_an_accuracy_above_its_cubic(self):
        ends = {16: 0.60, 24: 0.65, 32: 0.703, 40: 0.70, 88: 0.70}
        rows = [schedule(epochs, accuracy) for epochs, accuracy in ends.items()]
        case = next(case for case in lengths_left_out(family(*rows), "odd") if case.name == "ffcv-32")
        assert case.baseline_error == pytest.approx(math.log(88 / 32), abs=1e-9)


class TestBatches:
    """MLPerf's reference points from their neighbours."""

    @pytest.fixture
    def cases(self):
        points = tuple(ReferencePoint(*point) for point in [(4000, 44.0), (1000, 35.0), (2000, 38.0), (8000, 50.0)])
        return batches_left_out(publish([mlperf_row("Ada")], reference_points=points))

    def test_neighbours_give_a_straight_line(self, cases):
        assert [(case.name, case.group) for case in cases] == [("batch 2000", "2000"), ("batch 4000", "4000")]
        assert cases[0].error == pytest.approx(math.log((35 + 9 / 3) / 38))
        assert cases[1].error == pytest.approx(math.log((38 + 12 / 3) / 44))

    def test_the_baseline_takes_the_nearest_in_proportion(self, cases):
        assert cases[0].baseline_error == pytest.approx(math.log(35 / 38))
        assert cases[1].baseline_error == pytest.approx(math.log(38 / 44))


class TestCurvesLeftOut:
    """Where logs pass accuracies below their end, from others with the same kind of schedule."""

    @pytest.fixture
    def published(self, rows):
        def log(name, times):
            points = (
                Evaluation(3.0 * step, None, 0.8 - 0.2 * (times - 1) * (1 - step / 100), None) for step in range(101)
            )
            return recipe(name=name, schedule_shape="cosine", scheduled_epochs=300.0, evaluations=tuple(points))

        base = publish(rows)
        evidence = replace(base.evidence, recipes=tuple(log(name, 2.0) for name in ("one", "two")))
        unseen = {"cosine": {"theirs": log("theirs", 1.5).evaluations}, "step": {"others": ()}}
        return replace(base, evidence=evidence, unseen_curves=unseen)

    def test_logs_of_one_course_tell_of_each_other(self, published):
        cases = [case for case in curves_left_out(published, "cosine") if case.group != "theirs"]
        assert {case.group for case in cases} == {"one", "two"}
        assert all(abs(case.error) < 0.03 and case.baseline_error > 0 for case in cases)
        assert all(case.scatter == pytest.approx(case.baseline_error - case.error) for case in cases)

    def test_an_unseen_log_is_scored_and_lends_nothing(self, published):
        theirs = [case for case in curves_left_out(published, "cosine") if case.group == "theirs"]
        # a drop of 0.04 takes 40 % of their schedule, but 20 % of the others'
        assert theirs[-1].error == pytest.approx(math.log(0.8 / 0.6), abs=0.04)


def test_packaged_unseen_curves_are_whole_sourced_and_no_recipe():
    published = load_published()
    assert {shape: len(logs) for shape, logs in published.unseen_curves.items()} == {"deit": 10, "ffcv-rn50": 2}
    for logs in published.unseen_curves.values():
        assert not logs.keys() & published.recipes.keys()
        for name, curve in logs.items():
            assert curve[-1].epochs == float(name.rsplit("-", 1)[1].removesuffix("ep"))
            assert 0.75 < curve[-1].top1 < 0.84
    assert {case.group for case in curves_left_out(published, "deit")} >= published.unseen_curves["deit"].keys()
