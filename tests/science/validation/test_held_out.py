import math

import pytest
from support.mlperf_results import ELAPSED, mlperf_row, publish

from costcalc.training import IMAGES_PER_EPOCH, System
from science.validation.held_out import (
    HeldOut,
    Learner,
    equal_system,
    one_machine,
    other_count_in_one_machine,
)
from science.validation.published import ReferencePoint

EIGHT, SIXTEEN, OTHER = System("X100", 8, 1), System("X100", 16, 2), System("Y100", 8, 1)


@pytest.mark.parametrize(
    ("held_out", "recipe", "rate"),
    [
        (HeldOut(), False, False),
        (HeldOut("ada"), True, True),
        (HeldOut("bob"), False, False),
        (HeldOut(system=EIGHT), True, True),
        (HeldOut(system=SIXTEEN), False, False),
        (HeldOut(accelerator="X100"), True, True),
        (HeldOut(accelerator="Y100"), False, False),
        (HeldOut(system_rates=EIGHT), False, True),
        (HeldOut(system_rates=SIXTEEN), False, False),
    ],
)
def test_what_is_held_out_is_hidden_and_nothing_else(held_out, recipe, rate):
    assert held_out.hides_recipe("ada", EIGHT) == recipe
    assert held_out.hides_rate("ada", EIGHT) == rate


def test_a_group_hides_all_its_systems_and_a_system_hides_it_for_all():
    assert all(HeldOut("ada").hides_rate("ada", system) for system in (EIGHT, SIXTEEN, OTHER))
    assert all(HeldOut("ada", EIGHT).hides_rate(group, EIGHT) for group in ("ada", "bob"))
    assert HeldOut("ada", EIGHT).hides_rate("ada", OTHER)
    assert not HeldOut("ada", EIGHT).hides_rate("bob", OTHER)


def test_equal_systems_share_accelerator_count_and_machines(learner):
    ada = next(run for run in learner.runs if run.system == EIGHT)
    equal = {other.system for other in learner.runs if equal_system(other, ada)}
    counts = {other.system for other in learner.runs if other_count_in_one_machine(other, ada)}
    assert equal == {EIGHT}
    assert counts == {System(name, 4, 1) for name in ("X100", "Y100")}
    assert {other.system.nodes for other in learner.runs if one_machine(other, ada)} == {1}


class TestOthersRan:
    """Whether another organisation's logged run on the same accelerator passes a test."""

    def test_only_others_count(self):
        alone = Learner(publish([mlperf_row("Ada"), mlperf_row("Ada", count=4)]))
        assert not any(alone.others_ran(run) for run in alone.runs)

    def test_only_the_same_accelerator_counts(self):
        apart = Learner(publish([mlperf_row("Ada"), mlperf_row("Bob", "Y100")]))
        assert not any(apart.others_ran(run) for run in apart.runs)

    def test_only_logged_runs_count(self):
        rows = [mlperf_row("Ada"), mlperf_row("Bob")]
        assert all(Learner(publish(rows)).others_ran(run) for run in Learner(publish(rows)).runs)
        silent = Learner(publish(rows, logged=False))
        assert not any(silent.others_ran(run) for run in silent.runs)

    def test_the_test_is_asked_of_the_other_and_the_run(self, learner):
        run = next(run for run in learner.runs if run.group == "Ada" and run.system == EIGHT)
        assert learner.others_ran(run, lambda other, same: same is run and other.group == "Bob")
        assert not learner.others_ran(run, lambda other, _: other.group == "Ada")


class TestRates:
    """The reference model learned from what is left."""

    def test_all_rates_are_learned_from_when_nothing_is_held_out(self, learner):
        reference = learner.reference_model(HeldOut())
        assert set(reference.years) == {"X100", "Y100"}
        for run in learner.runs:
            assert reference.log_rate(run.setup) == pytest.approx(run.log_rate, abs=0.02)

    def test_an_accelerator_held_out_is_not_learned(self, learner):
        assert set(learner.reference_model(HeldOut(accelerator="X100")).years) == {"Y100"}

    def test_an_organisation_held_out_moves_nothing(self, rows):
        wild = [mlperf_row("Dan", rate=9000.0), *rows]
        held_out = HeldOut("Dan")
        assert Learner(publish(wild)).reference_model(held_out) == Learner(publish(rows)).reference_model(held_out)

    def test_organisations_of_one_group_are_held_out_together(self, rows):
        groups = {"organisation": {"Ada": "ada and bob", "Bob": "ada and bob"}}
        learner = Learner(publish(rows, groups=groups))
        without = learner.reference_model(HeldOut("ada and bob"))
        cleo = [row for row in rows if row.recipe.organisation == "Cleo"]
        assert without == Learner(publish(cleo)).reference_model(HeldOut())

    def test_nothing_left_is_said(self, learner):
        everybody = Learner(publish([mlperf_row("Ada")]))
        with pytest.raises(ValueError, match="to learn from"):
            everybody.reference_model(HeldOut("Ada"))

    def test_an_accelerator_without_data_sheet_is_no_observation(self, rows):
        learner = Learner(publish([*rows, mlperf_row("Ada", "unheard of")]))
        assert len(learner.observations) == len(learner.runs) == len(rows)


class TestElapsedTime:
    """From training to MLPerf's clock."""

    def test_the_law_is_found_again(self, learner):
        for training in (500.0, 5000.0):
            assert learner.elapsed_time(None).seconds(training) == pytest.approx(ELAPSED.seconds(training), rel=0.01)

    def test_a_group_held_out_moves_nothing(self, rows):
        slow = [mlperf_row("Dan", count=count, minutes=600.0) for count in range(1, 25)]  # more than the others ran
        with_dan, without = Learner(publish([*rows, *slow])), Learner(publish(rows))
        assert with_dan.elapsed_time("Dan") == without.elapsed_time("Dan") == without.elapsed_time(None)
        assert with_dan.elapsed_time(None) != without.elapsed_time(None)

    def test_logs_that_include_evaluations_are_left_out(self, rows):
        slow = [mlperf_row("Dan", minutes=600.0, note="rate end to end", count=count) for count in range(1, 25)]
        assert Learner(publish([*rows, *slow])).elapsed_time(None) == Learner(publish(rows)).elapsed_time(None)


class TestEpochs:
    """Epochs at a batch, as other organisations had them."""

    @pytest.fixture
    def batches(self):
        rows = [("Ada", 2048, 36.0), ("Bob", 2048, 38.0), ("Bob", 4096, 40.0), ("Cleo", 4096, 99.0)]
        return [mlperf_row(who, batch=batch, epochs=epochs) for who, batch, epochs in rows]

    def test_they_are_those_of_other_organisations(self, batches):
        learner = Learner(publish(batches, reference_points=()))
        assert learner.epochs("mlperf-lars", 2048.0, "Ada") == 38
        assert learner.epochs("mlperf-lars", 2048.0, "Bob") == 36
        assert learner.epochs("mlperf-lars", 3072.0, "Cleo") == pytest.approx((37 + 40) / 2)

    def test_reference_points_continue_beyond_the_largest_batch_of_lars(self, batches):
        points = (ReferencePoint(3072, 12.0), ReferencePoint(8192, 50.0))
        learner = Learner(publish(batches, reference_points=points))
        assert learner.epochs("mlperf-lars", 8192.0, "Cleo") == 50
        assert learner.epochs("mlperf-lars", 6144.0, "Cleo") == 45
        assert learner.epochs("mlperf-lars", 4096.0, "Cleo") == 40

    def test_other_optimizers_have_no_reference_points(self):
        rows = [mlperf_row(who, batch=2048, family="mlperf-sgd") for who in ("Ada", "Bob")]
        learner = Learner(publish(rows))
        assert learner.epochs("mlperf-sgd", 2048.0, "Ada") == 36
        assert learner.epochs("mlperf-sgd", 16384.0, "Ada") is None
        assert learner.epochs("mlperf-lars", 16384.0, "Ada") == 43

    def test_a_family_that_nobody_else_ran_has_none(self):
        learner = Learner(publish([mlperf_row("Ada", family="mlperf-sgd")]))
        assert learner.epochs("mlperf-sgd", 2048.0, "Ada") is None


class TestSeconds:
    """From a rate to the published clock."""

    def test_epochs_times_images_over_the_rate_of_all_accelerators(self, learner):
        run = next(run for run in learner.runs if run.system == SIXTEEN)
        training = 40 * IMAGES_PER_EPOCH / (1000 * 16)
        law = learner.elapsed_time(run.group)
        assert learner.log_seconds(run, math.log(1000), 40.0) == pytest.approx(math.log(law.seconds(training)))

    def test_without_epochs_those_of_others_are_taken(self, learner):
        run = learner.runs[0]
        assert learner.log_seconds(run, 7.0) == learner.log_seconds(run, 7.0, 36.0)

    def test_none_where_the_epochs_are_unknown(self):
        learner = Learner(publish([mlperf_row("Ada", family="mlperf-sgd"), mlperf_row("Bob")]))
        assert learner.log_seconds(learner.runs[0], 7.0) is None
        assert learner.log_seconds(learner.runs[0], 7.0, 36.0) is not None
