"""MLPerf's published ResNet-50 results as things to predict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from costcalc.fitting.reference_model import observation
from costcalc.throughput.reference_model import Setup
from costcalc.validation.published import Published, Result

Cell = tuple[str, int, int]  # accelerator, how many in all, machines
FIRST_ROUND = "v0.7"  # before it target or rules differed


@dataclass(frozen=True, slots=True)
class Run:
    """A published result with what is known of it: its setting, group, family, and its logged rate where there is one."""

    result: Result
    setup: Setup
    group: str
    family: str
    log_rate: float | None
    steady: bool

    @property
    def total(self) -> int:
        """Accelerators."""
        return self.result.accelerators

    @property
    def cell(self) -> Cell:
        """What another system must share to be called the same accelerator and count."""
        return self.result.accelerator, self.total, self.result.nodes

    @property
    def log_seconds(self) -> float:
        """ln of the published time."""
        return math.log(self.result.minutes * 60)


def published_runs(published: Published) -> tuple[Run, ...]:
    """Every result of the closed division on known accelerators, from FIRST_ROUND on."""
    return tuple(_runs(published))


def _runs(published: Published) -> Iterator[Run]:
    for result in published.results:
        recipe = published.recipes[result.recipe]
        usable = result.stack == "mlperf" and result.round >= FIRST_ROUND and recipe.division != "open"
        known = result.accelerator in published.evidence.accelerators
        if usable and known and result.accelerators and result.batch:
            own = published.throughputs.get(result.recipe)
            each, batch = result.accelerators // result.nodes, result.batch / result.accelerators
            yield Run(
                result=result,
                setup=Setup(result.accelerator, each, result.nodes, batch, recipe.year, recipe.framework_family),
                group=published.organisation(result.organisation),
                family=recipe.family,
                log_rate=observation(own).log_rate if own else None,
                steady=own is not None and "end to end" not in own.note,
            )
