import math
from decimal import Decimal

import pytest
from msgspec.structs import replace
from support.mlperf_results import ACCELERATORS, mlperf_row, publish

from costcalc.training import MLPERF_TARGET, System
from science.validation.answered_runs import (
    AskedRecipes,
    answered_runs,
    evidence_without,
    machine,
    made_up_offers,
    question,
    recipes_of_any_round,
    recipes_of_its_round,
)
from science.validation.held_out import HeldOut, Learner


def run_of(learner, group, system):
    return next(run for run in learner.runs if run.group == group and run.system == system)


@pytest.fixture
def bob(learner):
    return run_of(learner, "Bob", System("X100", 16, 2))


class TestQuestion:
    """What anybody would ask."""

    def test_it_asks_for_the_target_on_as_many_machines(self, bob):
        asked = question(bob, recipes_of_its_round(bob))
        assert (asked.model, asked.target, asked.recipe) == ("resnet50", MLPERF_TARGET, ("mlperf-v2.0-*",))
        assert (asked.instance_type, asked.accelerators, asked.nodes) == (("x100-8",), 16, 2)
        assert (asked.overheads, asked.confidence, asked.limit) == ("none", 0.5, 1)
        assert (asked.software, question(bob, recipes_of_any_round(bob)).software) == ("recipe", "usual")

    def test_a_machine_is_an_accelerator_and_a_count(self, bob):
        assert machine(bob) == ("X100", 8)

    def test_recipes_are_of_any_round_or_of_its_own(self, bob):
        assert recipes_of_any_round(bob).patterns == ("mlperf-*",)
        assert recipes_of_its_round(bob).patterns == ("mlperf-v2.0-*",)

    def test_offers_cost_a_dollar_for_each_accelerator(self):
        accelerators = {each.name: each for each in ACCELERATORS}
        prices = made_up_offers(accelerators, {("Y100", 4), ("X100", 8)})
        offers = [prices.offer(row) for row in range(len(prices))]
        assert [(each.instance_type, each.hourly_rate) for each in offers] == [
            ("X100-8", Decimal(8)),
            ("Y100-4", Decimal(4)),
        ]
        assert [(each.machine.accelerator, each.machine.accelerator_memory_gib) for each in offers] == [
            ("X100", 80),
            ("Y100", 80),
        ]


class TestEvidence:
    """What is left of it."""

    def systems(self, evidence):
        return {(row.organisation, row.accelerator, row.accelerators) for row in evidence.throughputs}

    def test_an_organisation_is_left_out_with_its_recipes_and_rates(self, learner):
        left = evidence_without(learner, HeldOut("Bob"))
        assert {recipe.organisation for recipe in left.recipes} == {"Ada", "Cleo"}
        assert {row.organisation for row in left.throughputs} == {"Ada", "Cleo"}

    def test_so_is_a_system_whoever_ran_it(self, learner):
        left = evidence_without(learner, HeldOut(system=System("X100", 8, 1)))
        assert System("X100", 8, 1) not in {recipe.system for recipe in left.recipes}
        assert {count for _, name, count in self.systems(left) if name == "X100"} == {4, 16}

    def test_of_rates_alone_the_recipes_stay(self, learner):
        left = evidence_without(learner, HeldOut(system_rates=System("X100", 8, 1)))
        assert len(left.recipes) == len(learner.runs)
        assert {count for _, name, count in self.systems(left) if name == "X100"} == {4, 16}

    def test_where_and_by_whom_a_system_was_rented_does_not_matter(self, rows):
        rented = [
            replace(row, recipe=replace(row.recipe, system=replace(row.recipe.system, provider="aws"))) for row in rows
        ]
        left = evidence_without(Learner(publish(rented)), HeldOut(system=System("X100", 8, 1)))
        assert len(left.recipes) == len(rows) - 3

    def test_only_mlperfs_closed_division_stays(self, rows):
        odd = mlperf_row("Dan", division="open")
        other = mlperf_row("Eve")
        outside = replace(
            other,
            recipe=replace(other.recipe, tuned_to=None),
            throughput=replace(other.throughput, stack="other"),
        )
        learner = Learner(publish([*rows, odd, outside]))
        left = evidence_without(learner, HeldOut())
        assert {recipe.organisation for recipe in left.recipes} == {"Ada", "Bob", "Cleo"}
        assert {row.organisation for row in left.throughputs} == {"Ada", "Bob", "Cleo", "Dan"}

    def test_everything_is_learned_anew(self, learner):
        left = evidence_without(learner, HeldOut("Bob"))
        assert left.fitted.reference == learner.reference_model(HeldOut("Bob"))
        assert left.fitted.elapsed_time == learner.elapsed_time("Bob")
        assert left.fitted.transfer.effects == {}


class TestAnswers:
    """What `/cost` says of a run."""

    def test_each_run_is_answered_on_its_own_kind_of_machine(self, learner):
        found = answered_runs(learner, learner.runs, lambda run: HeldOut(run.group), recipes_of_any_round)
        assert len(found) == len(learner.runs)
        for answered in found:
            estimate, run = answered.estimate, answered.run
            assert (estimate.accelerator, estimate.accelerators, estimate.nodes) == (
                run.system.accelerator,
                run.accelerators,
                run.system.nodes,
            )
            assert run.group.casefold() not in estimate.recipe
            assert answered.scatter == learner.reference_model(HeldOut(run.group)).scatter(run.system.accelerator)

    def test_the_error_is_that_of_its_hours(self, learner, bob):
        (answered,) = answered_runs(learner, [bob], lambda run: HeldOut(run.group), recipes_of_any_round)
        assert answered.error == pytest.approx(math.log(answered.estimate.hours * 60 / bob.result.minutes))
        assert answered.error == pytest.approx(0, abs=0.03)

    @pytest.mark.parametrize(("minutes", "rate"), [(1000.0, 2400.0), (None, 9000.0)])
    def test_an_organisations_results_do_not_change_its_answers(self, rows, learner, bob, minutes, rate):
        (was,) = answered_runs(learner, [bob], lambda run: HeldOut(run.group), recipes_of_any_round)
        others = [row for row in rows if row.recipe.name != bob.name]
        changed = Learner(publish([*others, mlperf_row("Bob", "X100", 16, 2, rate=rate, minutes=minutes)]))
        again = run_of(changed, "Bob", System("X100", 16, 2))
        (now,) = answered_runs(changed, [again], lambda run: HeldOut(run.group), recipes_of_any_round)
        assert now.estimate.hours == pytest.approx(was.estimate.hours)

    def test_others_results_do(self, rows, learner, bob):
        (was,) = answered_runs(learner, [bob], lambda run: HeldOut(run.group), recipes_of_any_round)
        bobs = [row for row in rows if row.result.organisation == "Bob"]
        others = [
            mlperf_row(who, "X100", count, nodes, rate=3000.0)
            for who in ("Ada", "Cleo")
            for count, nodes in ((8, 1), (16, 2))
        ]
        (now,) = answered_runs(
            Learner(publish([*bobs, *others])), [bob], lambda run: HeldOut(run.group), recipes_of_any_round
        )
        assert now.estimate.hours < 0.9 * was.estimate.hours

    def test_a_run_without_an_answer_is_left_out(self, learner, bob):
        assert answered_runs(learner, [bob], lambda run: HeldOut(), lambda run: AskedRecipes(("mlperf-v9.9-*",))) == []

    def test_patterns_name_the_recipes_to_choose_from(self, learner, bob):
        cleo = run_of(learner, "Cleo", bob.system)
        (answered,) = answered_runs(learner, [bob], lambda run: HeldOut(), lambda run: AskedRecipes((cleo.name,)))
        assert answered.estimate.recipe == cleo.name
