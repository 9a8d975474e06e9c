import math
from types import SimpleNamespace

import numpy as np
import pytest
from support.mlperf_results import ACCELERATORS, accelerator, mlperf_row, predicted, publish

from costcalc.throughput.fitted_parameters import KINDS, calibrated, widening
from costcalc.training import System, Tier
from science.validation.answered_runs import AnsweredRun
from science.validation.end_to_end import HOLD_OUT, KINDS_ASKED, EndToEnd, by_tier, regret_of_picks
from science.validation.held_out import Learner
from science.validation.scores import Case, half_width

EIGHT = System("X100", 8, 1)
SIXTEEN = System("X100", 16, 2)


@pytest.fixture(scope="module")
def end_to_end(learner):
    return EndToEnd(learner)


@pytest.fixture(scope="module")
def after(rows):
    """What is learned where Bob measured other rates."""

    def moved(row):
        result = row.result
        return mlperf_row(result.organisation, result.accelerator, result.accelerators, result.nodes, rate=2000.0)

    return Learner(publish([moved(row) if row.result.organisation == "Bob" else row for row in rows]))


def names(cases):
    return {case.name for case in cases}


class TestKinds:
    """Cases whose evidence of speed is of one kind."""

    def test_every_kind_is_asked_with_and_without_a_round(self, end_to_end):
        assert set(KINDS_ASKED) == {calibrated(kind, undated) for kind in KINDS[:4] for undated in (True, False)}
        assert all(end_to_end.by_kind[name] for name in KINDS_ASKED)

    @pytest.mark.parametrize(
        ("kind", "systems"),
        [
            ("transferred", {(4, 1), (8, 1), (16, 2)}),
            ("interpolated", {(4, 1), (8, 1)}),
            ("machines", {(16, 2)}),
            ("accelerator", {(4, 1), (8, 1)}),
        ],
    )
    def test_each_has_its_systems(self, end_to_end, learner, kind, systems):
        ran_on = {run.name: (run.accelerators, run.system.nodes) for run in learner.runs}
        assert {ran_on[case.name] for case in end_to_end.by_kind[kind]} == systems

    def test_an_unseen_accelerator_is_a_group_and_an_organisation_otherwise(self, end_to_end):
        assert {case.group for case in end_to_end.by_kind["accelerator"]} == {"X100", "Y100"}
        assert {case.group for case in end_to_end.by_kind["machines"]} == {"Ada", "Bob", "Cleo"}

    def test_one_organisation_alone_is_evidence_for_nobody(self, rows):
        lone = [mlperf_row("Ada", "Z100"), mlperf_row("Ada", "Z100", 4), mlperf_row("Ada", "Z100", 16, 2)]
        found = EndToEnd(Learner(publish([*rows, *lone]))).by_kind
        zs = {kind: [name for name in names(found[kind]) if "z100" in name] for kind in KINDS_ASKED}
        assert {kind for kind, members in zs.items() if members} == {"accelerator", calibrated("accelerator", True)}

    @pytest.mark.parametrize("unpredicted", [{"vendor": "Huawei"}, {"tflops": None}])
    def test_what_is_not_answered_unmeasured_is_no_case(self, rows, unpredicted):
        sheets = [*ACCELERATORS[:2], accelerator("Z100", **unpredicted)]
        more = [*rows, *(mlperf_row(who, "Z100") for who in ("Ada", "Bob"))]
        found = EndToEnd(Learner(publish(more, sheets))).by_kind
        assert {case.group for case in found["accelerator"]} == {"X100", "Y100"}

    def test_pods_are_no_single_machine(self, rows):
        found = EndToEnd(Learner(publish([*rows, mlperf_row("Ada", count=17)]))).by_kind
        assert not [name for name in names(found["accelerator"]) if "-17-" in name]

    def test_early_rounds_are_apart(self, rows):
        around = [mlperf_row("Ada", round=round, year=2020) for round in ("v0.7", "v1.0")]
        found = EndToEnd(Learner(publish([*rows, *around])))
        assert [run.result.round for run in found.earlier_runs] == ["v0.7"]
        assert [run.result.round for run in found.runs] == ["v2.0"] * len(rows) + ["v1.0"]
        assert not [name for kind in KINDS_ASKED for name in names(found.by_kind[kind]) if "v0.7" in name]

    def test_errors_are_small_where_all_ran_alike(self, end_to_end):
        for kind in ("transferred", "interpolated"):
            assert max(abs(case.error) for case in end_to_end.by_kind[kind]) < 0.03

    def test_each_has_its_own_baseline(self, end_to_end, learner):
        for kind in KINDS[:4]:
            case = end_to_end.by_kind[kind][0]
            run = next(run for run in learner.runs if run.name == case.name)
            guess = getattr(learner.baselines, kind)(run)
            assert case.baseline_error == pytest.approx(guess - run.log_seconds)

    @pytest.mark.parametrize("kind", KINDS[:4])
    def test_scatter_widens_as_it_does_in_answers(self, end_to_end, learner, kind):
        runs = {run.name: run for run in learner.runs}
        for case in end_to_end.by_kind[kind]:
            run = runs[case.name]
            scatter = learner.reference_model(HOLD_OUT[kind](run)).scatter(run.system.accelerator)
            expected = widening(np.int8(KINDS.index(kind)), run.system.nodes > 1, scatter)
            assert case.scatter == pytest.approx(float(expected))

    @pytest.mark.parametrize("kind", KINDS[:4])
    def test_the_organisations_own_results_do_not_leak(self, learner, end_to_end, after, kind):
        was = predicted(end_to_end.by_kind[kind], learner)
        now = predicted(EndToEnd(after).by_kind[kind], after)
        if kind == "accelerator":
            changed = [name for name in was if was[name] != pytest.approx(now[name], abs=1e-9)]
            assert changed  # the rates of other accelerators, and the law of elapsed time, are known
        else:
            bobs = [name for name in was if "-bob-" in name]
            assert bobs
            assert [now[name] for name in bobs] == pytest.approx([was[name] for name in bobs])


class TestWithoutOrganisation:
    """Answers as they come, with intervals from other organisations' errors."""

    def test_each_run_is_answered_once(self, end_to_end, learner):
        for any_round in (True, False):
            found = end_to_end.without_organisation(end_to_end.runs, any_round=any_round)
            assert sorted(case.name for _, case in found) == sorted(run.name for run in learner.runs)
            assert {case.group for _, case in found} == {"Ada", "Bob", "Cleo"}

    def test_half_widths_are_those_of_others_errors(self, end_to_end):
        found = end_to_end.without_organisation(end_to_end.runs, any_round=True)
        answered, case = next((one, case) for one, case in found if one.run.system == EIGHT and one.run.group == "Bob")
        assert answered.estimate.evidence.throughput is Tier.TRANSFERRED
        others = [each for each in end_to_end.by_kind[calibrated("transferred", True)] if each.group != "Bob"]
        expected = [half_width(others, level).ln * case.scatter for level in (0.8, 0.9)]
        assert case.half_widths == pytest.approx(expected)
        assert expected[0] <= expected[1]

    def test_the_baseline_is_the_first_that_answers(self, end_to_end, learner):
        found = end_to_end.without_organisation(end_to_end.runs, any_round=True)
        for answered, case in found:
            guess = learner.baselines.transferred(answered.run)
            assert case.baseline_error == pytest.approx(guess - answered.run.log_seconds)

    def test_a_later_baseline_answers_where_the_first_cannot(self, rows):
        learner = Learner(publish([*rows, mlperf_row("Ada", "Z100")]))
        run = next(run for run in learner.runs if run.system.accelerator == "Z100")
        ((_, case),) = EndToEnd(learner).without_organisation([run], any_round=True)
        assert case.group == "Z100"
        assert case.baseline_error == pytest.approx(learner.baselines.accelerator(run) - run.log_seconds)

    def test_no_baseline_is_no_number(self, rows):
        sheets = [*ACCELERATORS[:2], accelerator("Z100", bandwidth=None)]
        learner = Learner(publish([*rows, mlperf_row("Ada", "Z100", 32, 4), mlperf_row("Bob", "Z100", 16, 2)], sheets))
        run = next(run for run in learner.runs if run.system == System("Z100", 32, 4))
        ((_, case),) = EndToEnd(learner).without_organisation([run], any_round=True)
        assert math.isnan(case.baseline_error)
        assert math.isfinite(case.error)

    @pytest.mark.parametrize(
        ("row", "tier", "kinds"),
        [
            (mlperf_row("Ada", "Z100", 16, 2), Tier.MODELLED, ("accelerator", "machines")),
            (mlperf_row("Ada", "Z100", 8), Tier.MODELLED, ("accelerator",)),
            (mlperf_row("Ada", "X100", 32, 4), Tier.MODELLED, ("machines",)),
            (mlperf_row("Ada", "X100", 16), Tier.INTERPOLATED, ("interpolated", "machines")),
            (mlperf_row("Ada", "X100", 2), Tier.INTERPOLATED, ("interpolated",)),
            (mlperf_row("Ada", "X100", 16, 2, batch=8192), Tier.TRANSFERRED, ("transferred",)),
        ],
    )
    def test_the_widths_of_what_a_speed_rests_on_add_in_quadrature(self, rows, row, tier, kinds):
        """As in answers: unseen accelerators, several machines, and crowded ones of more than eight, each add an error."""
        learner = Learner(publish([*rows, row]))
        end_to_end = EndToEnd(learner)
        run = next(run for run in learner.runs if run.name == row.recipe.name)
        ((answered, case),) = end_to_end.without_organisation([run], any_round=False)
        assert answered.estimate.evidence.throughput is tier

        def width(kind, level):
            known = [end_to_end.by_kind[each] for each in KINDS[: KINDS.index(kind) + 1]]
            return max(half_width([case for case in cases if case.group != "Ada"], level).ln for cases in known)

        both = [math.hypot(*(width(kind, level) for kind in kinds)) for level in (0.8, 0.9)]
        assert case.half_widths == pytest.approx([case.scatter * each for each in both])


def answered(name, tier, error=0.0):
    """Something answered for an accelerator, with its case."""
    run = SimpleNamespace(system=System(name, 8, 1))
    estimate = SimpleNamespace(evidence=SimpleNamespace(throughput=tier))
    return AnsweredRun(run, estimate, 1.0), Case(f"{name} {error}", "g", error, error)


class TestGroups:
    """Rows of the report."""

    def test_tiers_are_ordered_by_their_number(self):
        found = [answered("A", Tier.MODELLED), *(answered("A", Tier.TRANSFERRED, each) for each in range(2))]
        groups = by_tier(found)
        assert list(groups) == ["transferred", "modelled"]
        assert [len(cases) for cases in groups.values()] == [2, 1]


def regret_among(rows):
    found = EndToEnd(Learner(publish(rows)))
    return regret_of_picks(found.runs, [case.name for case in found.picks()])


class TestPicks:
    """What `/cost` picks among the recipes published on one system."""

    def test_the_same_recipe_for_all_costs_nothing(self, rows):
        fast = [mlperf_row(who, minutes=20.0, epochs=30.0) for who in ("Dan", "Eve")]
        found = regret_among([*rows, *fast])
        assert found.choices == 6
        assert found.mean >= 0

    def test_a_pick_that_took_longer_costs_its_time_over_the_shortest(self, rows):
        """Fewer epochs are picked, but that run took twice as long as anybody's."""
        trap = mlperf_row("Dan", epochs=18.0, minutes=60.0)
        eights = [row.result.minutes for row in rows if row.result.system == EIGHT]
        found = regret_among([*rows, trap])
        assert found.worst == pytest.approx(60.0 / min(eights) - 1)
        assert found.mean == pytest.approx(found.worst / found.choices, abs=0.02)

    def test_a_system_with_one_recipe_and_early_rounds_are_no_choice(self, rows):
        more = [*rows, mlperf_row("Ada", "Z100"), mlperf_row("Bob", "Z100", round="v0.7", year=2020)]
        assert regret_among(more).choices == regret_among(rows).choices == 6

    def test_a_pick_is_scored_by_its_own_time_with_a_range_of_others_errors(self, rows):
        cases = EndToEnd(Learner(publish(rows))).picks()
        assert len(cases) == 6
        assert all(abs(case.error) < 0.05 and case.half_widths[0] > 0 for case in cases)
