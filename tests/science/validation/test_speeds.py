import math

import pytest
from msgspec.structs import replace
from support.mlperf_results import ACCELERATORS, accelerator, mlperf_row, predicted, publish

from costcalc.training import System
from science.validation.held_out import Learner
from science.validation.speeds import (
    later_rounds,
    many_machines,
    other_count,
    own_system,
    same_system,
    unseen_accelerator,
)


def own(learner):
    return own_system(learner, own_epochs=False)


HELD_OUT_BY_ORGANISATION = (same_system, other_count, many_machines)
EVERY_EXPERIMENT = (own, *HELD_OUT_BY_ORGANISATION, unseen_accelerator)


def with_rate(row, factor):
    """The same run with another rate in its log."""
    throughput = replace(row.throughput, images_per_second=row.throughput.images_per_second * factor)
    return replace(row, throughput=throughput)


def faster(row, factor):
    """The same run at another rate, and in as much less time as that makes."""
    result = row.result
    rate = row.throughput.images_per_second / result.accelerators * factor
    return mlperf_row(result.organisation, result.accelerator, result.accelerators, result.nodes, rate=rate)


def changed(rows, organisation, factor=3.0):
    """The same published times with other rates in an organisation's logs."""
    return [with_rate(row, factor) if row.recipe.organisation == organisation else row for row in rows]


def slower(rows, organisation, factor=2.0):
    """The same logs with other published times and epochs of an organisation."""
    return [
        replace(row, result=replace(row.result, minutes=row.result.minutes * factor, epochs=70.0))
        if row.recipe.organisation == organisation
        else row
        for row in rows
    ]


class TestWhoIsPredicted:
    """Which runs can be predicted from what is left."""

    def systems(self, cases, learner):
        runs = {run.name: run.system for run in learner.runs}
        return {runs[case.name] for case in cases}

    def test_the_same_system_by_others(self, learner):
        assert len(same_system(learner)) == len(learner.runs)

    def test_not_where_one_organisation_alone_ran_it(self, rows):
        learner = Learner(publish([*rows, mlperf_row("Ada", "Z100"), mlperf_row("Ada", "Z100", 4)]))
        assert not [case for case in same_system(learner) if "z100" in case.name]
        assert not [case for case in other_count(learner) if "z100" in case.name]

    def test_other_counts_are_those_of_one_machine(self, learner):
        systems = self.systems(other_count(learner), learner)
        assert systems == {System(name, count, 1) for name in ("X100", "Y100") for count in (4, 8)}

    def test_many_machines_are_more_than_one(self, learner):
        assert self.systems(many_machines(learner), learner) == {System(name, 16, 2) for name in ("X100", "Y100")}

    def test_an_accelerator_is_unseen_in_one_machine(self, learner):
        assert {system.nodes for system in self.systems(unseen_accelerator(learner), learner)} == {1}

    @pytest.mark.parametrize(
        "unpredicted",
        [
            accelerator("Z100", vendor="Huawei"),
            accelerator("Z100", tflops=None),
        ],
    )
    def test_unless_nothing_can_be_said_of_it(self, rows, unpredicted):
        more = [*rows, mlperf_row("Ada", "Z100"), mlperf_row("Bob", "Z100")]
        known = Learner(publish(more))
        assert sum(case.group == "Z100" for case in unseen_accelerator(known)) == 2
        unknown = Learner(publish(more, [*ACCELERATORS[:2], unpredicted]))
        assert sum(case.group == "Z100" for case in unseen_accelerator(unknown)) == 0

    def test_a_pod_is_no_single_machine(self, rows):
        pods = [mlperf_row(who, count=count) for who in ("Ada", "Bob") for count in (16, 17)]
        learner = Learner(publish([*rows, *pods]))
        counts = {system.accelerators for system in self.systems(unseen_accelerator(learner), learner)}
        assert counts == {4, 8, 16}

    def test_logs_that_include_evaluations_say_nothing_of_ones_own_system(self, rows):
        learner = Learner(publish([*rows, mlperf_row("Dan", note="rate end to end")]))
        assert len(own(learner)) == len(rows)


class TestErrors:
    """Where everybody's results follow one law, they are found again."""

    @pytest.mark.parametrize("experiment", [own, same_system, other_count])
    def test_they_are_small(self, experiment, learner):
        assert max(abs(case.error) for case in experiment(learner)) < 0.03

    def test_the_baseline_of_ones_own_rate_misses_the_overheads_of_short_runs(self, learner):
        case = own(learner)[0]
        run = next(run for run in learner.runs if run.name == case.name)
        assert case.baseline_error == pytest.approx(learner.baselines.own(run) - run.log_seconds)
        assert case.group == run.group

    def test_own_epochs_or_those_of_others(self, rows):
        odd = [mlperf_row("Dan", epochs=54.0), *rows]
        learner = Learner(publish(odd))
        (by_own,) = (case for case in own_system(learner, own_epochs=True) if case.group == "Dan")
        (by_others,) = (case for case in own(learner) if case.group == "Dan")
        assert by_own.error == pytest.approx(0, abs=0.01)
        assert by_others.error == pytest.approx(math.log(36 / 54), abs=0.03)

    def test_runs_that_a_baseline_cannot_predict_are_left_out(self, rows):
        sheets = [replace(each, memory_bandwidth_gb_per_s=None) for each in ACCELERATORS]
        assert unseen_accelerator(Learner(publish(rows, sheets))) == []


class TestNothingLeaks:
    """A prediction does not move with the figures of those who are held out."""

    @pytest.mark.parametrize("experiment", HELD_OUT_BY_ORGANISATION)
    def test_the_rates_of_the_organisation(self, experiment, rows, learner):
        after = Learner(publish(changed(rows, "Bob")))
        was, now = predicted(experiment(learner), learner), predicted(experiment(after), after)
        bobs = [run.name for run in learner.runs if run.group == "Bob" and run.name in was]
        assert bobs
        assert [now[name] for name in bobs] == [was[name] for name in bobs]
        assert any(now[name] != was[name] for name in was if name not in bobs)

    @pytest.mark.parametrize("experiment", EVERY_EXPERIMENT)
    def test_its_times_and_epochs(self, experiment, rows, learner):
        after = Learner(publish(slower(rows, "Bob")))
        was, now = predicted(experiment(learner), learner), predicted(experiment(after), after)
        bobs = [run.name for run in learner.runs if run.group == "Bob" and run.name in was]
        assert bobs
        assert [now[name] for name in bobs] == pytest.approx([was[name] for name in bobs])

    @pytest.mark.parametrize(("experiment", "nodes"), [(other_count, 1), (many_machines, 2)])
    def test_anybodys_rates_of_the_system(self, experiment, nodes, rows, learner):
        system = System("X100", 8 * nodes, nodes)
        after = Learner(publish([faster(row, 1.5) if row.result.system == system else row for row in rows]))
        was, now = predicted(experiment(learner), learner), predicted(experiment(after), after)
        held_out = [run.name for run in learner.runs if run.system == system]
        assert [now[name] for name in held_out] == pytest.approx([was[name] for name in held_out], abs=0.005)

    def test_others_rates_of_the_accelerator_are_what_is_learned_from(self, rows, learner):
        system = System("X100", 8, 1)
        others = [row.result.accelerator == "X100" and row.result.organisation != "Bob" for row in rows]
        after = Learner(publish([faster(row, 1.2) if other else row for row, other in zip(rows, others, strict=True)]))
        name = next(run.name for run in learner.runs if run.system == system and run.group == "Bob")
        was, now = predicted(same_system(learner), learner)[name], predicted(same_system(after), after)[name]
        assert now < was - 0.1

    def test_anybodys_rates_of_the_accelerator(self, rows, learner):
        after = Learner(publish([faster(row, 2.0) if row.result.accelerator == "X100" else row for row in rows]))
        was, now = predicted(unseen_accelerator(learner), learner), predicted(unseen_accelerator(after), after)
        held_out = [name for name in was if "-x100-" in name]
        assert len(held_out) == 6
        assert [now[name] for name in held_out] == pytest.approx([was[name] for name in held_out], abs=0.005)
        assert {case.group for case in unseen_accelerator(learner)} == {"X100", "Y100"}


class TestLaterRounds:
    """Learned from earlier rounds, predicted for later ones."""

    @pytest.fixture
    def later(self, rows):
        return [
            *rows,
            mlperf_row("Ada", round="v3.0"),
            mlperf_row("Ada", "Z100", round="v3.0"),
            mlperf_row("Ada", round="v2.5"),
        ]

    def test_those_on_accelerators_known_before(self, later):
        (case,) = later_rounds(Learner(publish(later)))
        assert case.name == "mlperf-v3.0-ada-x100-8-1-2048"
        assert case.error == pytest.approx(0, abs=0.03)
        assert case.group == "Ada"

    def test_later_rates_say_nothing(self, later):
        def prediction(rows):
            learner = Learner(publish(rows))
            return predicted(later_rounds(learner), learner)

        faster = [with_rate(row, 2.0) if row.result.round != "v2.0" else row for row in later]
        assert prediction(faster) == prediction(later)

    def test_the_baseline_takes_the_earlier_rounds_median(self, later):
        learner = Learner(publish(later))
        (case,) = later_rounds(learner)
        run = next(run for run in learner.runs if run.name == case.name)
        old = {other.name for other in learner.runs if other.result.round == "v2.0"}
        assert case.baseline_error == pytest.approx(learner.baselines.earlier(run, old) - run.log_seconds)
