"""What `/cost` answers about MLPerf's runs when what they would give away is held out: the question anybody would ask."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from costcalc import Catalogue, EstimateQuery, answer
from costcalc.answers import Estimate
from costcalc.evidence import Evidence
from costcalc.hardware import Accelerator, Machine
from costcalc.memory import Memory
from costcalc.offer import Offer, PurchaseOption
from costcalc.throughput.fitted_parameters import unfitted
from costcalc.training import MLPERF_TARGET, System, Throughput
from costcalc.units import SECONDS_PER_HOUR
from science.validation.held_out import HeldOut, Learner
from science.validation.published import MLPerfRun

TODAY = datetime(2024, 12, 31, tzinfo=UTC)  # of the made-up offers; any day will do

Machines = tuple[str, int]  # an accelerator, and how many of it one machine holds
HoldOut = Callable[[MLPerfRun], HeldOut]


class AskedRecipes(NamedTuple):
    """The patterns of the recipes that a question allows, and whose software it asks for. Recipes that are asked `alone` are all
    that is known: the others decide between equally good ones, and take nine tenths of the time."""

    patterns: tuple[str, ...]
    software: Literal["usual", "recipe"] = "usual"
    alone: bool = False


RecipeChoice = Callable[[MLPerfRun], AskedRecipes]


class AnsweredRun(Struct, frozen=True):
    """A published run, the estimate for it, and how many times wider than usual the errors on its accelerator are."""

    run: MLPerfRun
    estimate: Estimate
    scatter: float

    @property
    def error(self) -> float:
        """ln(predicted / published time)."""
        return math.log(self.estimate.hours * SECONDS_PER_HOUR) - self.run.log_seconds


def recipes_of_any_round(_: MLPerfRun) -> AskedRecipes:
    """All MLPerf recipes, with the usual software."""
    return AskedRecipes(("mlperf-*",))


def recipes_of_its_round(run: MLPerfRun) -> AskedRecipes:
    """The recipes of the round in which the run was published, with the software of its year."""
    return AskedRecipes((f"mlperf-{run.result.round}-*",), "recipe", alone=True)


def answered_runs(
    learner: Learner, runs: Sequence[MLPerfRun], hold_out: HoldOut, recipes: RecipeChoice
) -> list[AnsweredRun]:
    """The cheapest estimate of each run on its own kind of machine, everything learned without what is held out for it.

    Runs without any estimate are missing.
    """
    held_out_together: dict[HeldOut, list[MLPerfRun]] = defaultdict(list)
    for run in runs:
        held_out_together[hold_out(run)].append(run)
    return [
        answered
        for held_out, members in held_out_together.items()
        for answered in _answered(evidence_without(learner, held_out), members, recipes)
    ]


def _answered(evidence: Evidence, runs: Sequence[MLPerfRun], recipes: RecipeChoice) -> Iterator[AnsweredRun]:
    catalogue = made_up_offers(evidence.accelerators, {machine(run) for run in runs})
    asked = list(map(recipes, runs))
    if all(each.alone for each in asked):
        patterns = {pattern for each in asked for pattern in each.patterns}
        evidence = replace(evidence, recipes=tuple(one for one in evidence.recipes if one.is_named(patterns)))
    memory = Memory()
    for run, wanted in zip(runs, asked, strict=True):
        estimates = answer(question(run, wanted), evidence, catalogue, TODAY, memory=memory).estimates
        if estimates:
            yield AnsweredRun(run, estimates[0], evidence.fitted.reference.scatter(run.system.accelerator))


def machine(run: MLPerfRun) -> Machines:
    """The kind of machine that a run used."""
    return run.system.accelerator, run.system.accelerators_per_node


def question(run: MLPerfRun, recipes: AskedRecipes) -> EstimateQuery:
    """How long MLPerf's target takes on as many of these machines, on MLPerf's clock, by these recipes."""
    return EstimateQuery(
        "resnet50",
        MLPERF_TARGET,
        instance_type=("{}-{}".format(*machine(run)).casefold(),),
        recipe=recipes.patterns,
        software=recipes.software,
        accelerators=run.accelerators,
        nodes=run.system.nodes,
        overheads="none",
        confidence=0.5,
        limit=1,
    )


MANY = 10_000  # machines that are sold together


def made_up_offers(accelerators: Mapping[str, Accelerator], machines: Iterable[Machines]) -> Catalogue:
    """One offer of each kind of machine, at a dollar an hour for each accelerator."""
    offers = [
        Offer(
            provider="made-up",
            region="anywhere",
            instance_type=f"{name}-{count}",
            machine=Machine(name, count, accelerators[name].memory_gib, most_machines=MANY),
            purchase_option=PurchaseOption.ON_DEMAND,
            hourly_rate=Decimal(count),
            observed_at=TODAY,
            source="validation",
        )
        for name, count in sorted(machines)
    ]
    return Catalogue.from_offers(offers, "made up")


def evidence_without(learner: Learner, held_out: HeldOut) -> Evidence:
    """MLPerf's evidence without what is held out, and everything learned anew from the rest."""
    published, evidence = learner.published, learner.published.evidence

    def kept(organisation: str, ran_on: System | Throughput, hides: Callable[[str, System], bool]) -> bool:
        system = System(ran_on.accelerator, ran_on.accelerators, ran_on.nodes)  # whoever rented it out
        return not hides(published.organisation(organisation), system)

    closed = [recipe for recipe in evidence.recipes if recipe.is_mlperf and recipe.division != "open"]
    rates = [row for row in evidence.throughputs if row.stack == "mlperf"]
    return replace(
        evidence,
        recipes=tuple(
            recipe
            for recipe in closed
            if recipe.system and kept(recipe.organisation, recipe.system, held_out.hides_recipe)
        ),
        throughputs=tuple(row for row in rates if kept(row.organisation, row, held_out.hides_rate)),
        fitted=replace(
            unfitted(evidence.models),
            reference=learner.reference_model(held_out),
            elapsed_time=learner.elapsed_time(held_out.group),
        ),
    )
