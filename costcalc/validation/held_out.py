"""What `/cost` answers about a system when it knows nobody who ran one: the question anybody would ask, in process."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from costcalc import Catalogue, EstimateQuery, answer
from costcalc.answers import Estimate
from costcalc.evidence import Evidence
from costcalc.hardware import Accelerator, Machine
from costcalc.offers import Offer, PurchaseOption
from costcalc.throughput.fitted_parameters import unfitted
from costcalc.training import MLPERF_TARGET, Recipe, Throughput
from costcalc.validation.mlperf import Cell, Run
from costcalc.validation.speeds import Systems

TODAY = datetime(2024, 12, 31, tzinfo=UTC)  # of the made-up offers; any day will do
NOWHERE: Cell = ("", 0, 0)
EVERY_ROUND = ("mlperf-*",)


@dataclass(frozen=True, slots=True)
class Held:
    """What an answer must not know: an organisation, a system (accelerator, count, machines), an accelerator; "" is none.

    Of the system `rates_of` only the rates are held out, not the recipes.
    """

    organisation: str = ""
    system: Cell = NOWHERE
    accelerator: str = ""
    rates_of: Cell = NOWHERE

    def recipe(self, organisation: str, cell: Cell) -> bool:
        """Whether a recipe run there by them is held out."""
        return organisation == self.organisation or cell == self.system or cell[0] == self.accelerator

    def rate(self, organisation: str, cell: Cell) -> bool:
        """Whether a rate measured there by them is held out."""
        return self.recipe(organisation, cell) or cell == self.rates_of


@dataclass(frozen=True, slots=True)
class Answered:
    """A run, the estimate that was given for it, and how much wider than usual errors are on its accelerator."""

    run: Run
    estimate: Estimate
    scatter: float

    @property
    def error(self) -> float:
        """ln(predicted / published time)."""
        return math.log(self.estimate.hours * 3600) - self.run.log_seconds


Patterns = Callable[[Run], tuple[str, ...]]


def of_any_round(_: Run) -> tuple[str, ...]:
    """All of MLPerf's recipes."""
    return EVERY_ROUND


def of_its_round(run: Run) -> tuple[str, ...]:
    """The recipes of the round in which the run was published."""
    return (f"mlperf-{run.result.round}-*",)


def answers(systems: Systems, runs: Sequence[Run], hold: Callable[[Run], Held], patterns: Patterns) -> list[Answered]:
    """The cheapest estimate of each run on its own kind of machine, everything fitted anew without what is held out."""
    groups: dict[Held, list[Run]] = defaultdict(list)
    for run in runs:
        groups[hold(run)].append(run)
    return [found for held, members in groups.items() for found in _answers(systems, members, held, patterns)]


def _answers(systems: Systems, runs: Sequence[Run], held: Held, patterns: Patterns) -> Iterator[Answered]:
    evidence = without(systems, held)
    catalogue = made_up(evidence.accelerators, {machine(run) for run in runs})
    for run in runs:
        found = answer(question(run, patterns(run)), evidence, catalogue, TODAY).estimates
        if found:
            yield Answered(run, found[0], evidence.fitted.reference.scatter(run.result.accelerator))


def machine(run: Run) -> tuple[str, int]:
    """One of the machines of a run: its accelerator and how many it holds."""
    return run.result.accelerator, run.total // run.result.nodes


def question(run: Run, patterns: tuple[str, ...]) -> EstimateQuery:
    """How long it takes to reach MLPerf's target on as many of these machines, on MLPerf's clock."""
    return EstimateQuery(
        "resnet50",
        MLPERF_TARGET,
        instance_type=("{}-{}".format(*machine(run)).casefold(),),
        recipe=patterns,
        accelerators=run.total,
        nodes=run.result.nodes,
        overheads="none",
        confidence=0.5,
        limit=1,
    )


def made_up(chips: Mapping[str, Accelerator], machines: Iterable[tuple[str, int]]) -> Catalogue:
    """One offer of each machine, a dollar an hour for each accelerator."""
    offers = [
        Offer(
            provider="made-up",
            region="anywhere",
            instance_type=f"{name}-{count}",
            machine=Machine(name, count, chips[name].memory_gib),
            purchase_option=PurchaseOption.ON_DEMAND,
            hourly_rate=Decimal(count),
            observed_at=TODAY,
            source="validation",
        )
        for name, count in sorted(machines)
    ]
    return Catalogue.from_offers(offers, "made up")


def without(systems: Systems, held: Held) -> Evidence:
    """MLPerf's evidence without what is held out, and everything fitted anew without it."""
    published, evidence = systems.published, systems.published.evidence

    def known(measured: Recipe | Throughput, held_out: Callable[[str, Cell], bool]) -> bool:
        return not held_out(published.organisation(measured.organisation), _cell(measured))

    closed = [recipe for recipe in evidence.recipes if recipe.is_mlperf and recipe.division != "open"]
    reference = systems.reference(lambda seen, group: not held.rate(group, systems.cell(seen)))
    return replace(
        evidence,
        recipes=tuple(recipe for recipe in closed if known(recipe, held.recipe)),
        throughputs=tuple(row for row in evidence.throughputs if row.stack == "mlperf" and known(row, held.rate)),
        fitted=replace(
            unfitted(evidence.models), reference=reference, elapsed_time=systems.elapsed_time(held.organisation)
        ),
    )


def _cell(measured: Recipe | Throughput) -> Cell:
    where = measured.system if isinstance(measured, Recipe) else measured
    return (where.accelerator, where.accelerators, where.nodes) if where else NOWHERE
