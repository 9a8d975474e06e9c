"""The speeds of many recipes on many clusters, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from costcalc.training import Throughput, Tier
from costcalc.units import Floats, Indices

TIERS = (Tier.MEASURED, Tier.TRANSFERRED, Tier.INTERPOLATED, Tier.MODELLED)
REFUSALS = ("", "no_throughput", "does_not_fit_memory", "no_network", "batch_too_small")

Codes = NDArray[np.int8]
Numbers = NDArray[np.int32]
Widths = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SpeedTable:
    """R recipes x C clusters, P the most phases of any recipe.

    `seconds_per_epoch` [R, C, P] is training alone (no evaluation, no start-up) in the order of `recipe.phases`; NaN where
    refused or where a recipe has fewer phases. `refusal` indexes REFUSALS (0 = answered), `tier` indexes TIERS (the weakest
    phase; -1 where refused), `kind` the sort of evidence whose out-of-group errors make the widths. `steps` says in how many
    steps its memory makes each accelerator take its share of a batch. `width_80` is the half-width in ln(seconds) of the 80 %
    interval: seconds x exp(+-width). `row` indexes `throughputs`, the measurement that stands nearest; -1 where there is none.
    `sentences` [R] are those of each kind of evidence, with a place for that measurement.
    """

    throughputs: tuple[Throughput, ...]
    seconds_per_epoch: Floats
    refusal: Codes
    tier: Codes
    kind: Codes
    steps: Numbers
    width_80: Widths
    row: Numbers
    sentences: tuple[tuple[str, ...], ...]

    def source(self, recipe: int, cluster: int) -> Throughput | None:
        """The measurement behind a pair, None where the speed is modelled from many."""
        row = int(self.row[recipe, cluster])
        return self.throughputs[row] if row >= 0 else None

    def notes(self, recipe: int, cluster: int) -> tuple[str, ...]:
        """What was assumed about the speed of a pair, in sentences."""
        if self.tier[recipe, cluster] < 0:
            return ()
        sentence = self.sentences[recipe][self.kind[recipe, cluster]]
        return (sentence.format(row=_named(self.source(recipe, cluster))),)

    def of(self, clusters: Indices) -> SpeedTable:
        """The same of these clusters alone, in this order."""
        return replace(self, **{name: getattr(self, name)[:, clusters] for name in COLUMNS})

    def copy(self, source: int, target: int) -> None:
        """Gives one recipe the speeds of another."""
        for name in COLUMNS:
            values = getattr(self, name)
            values[target] = values[source]


def _named(row: Throughput | None) -> str:
    """A measurement in words: who, with what, when and where."""
    if row is None:
        return "the recipe's own log"
    where = f"{row.accelerators} x {row.accelerator}" + (f" in {row.nodes} machines" if row.nodes > 1 else "")
    return ", ".join(filter(None, (row.organisation, row.framework, row.precision, str(row.year), where)))


COLUMNS = ("seconds_per_epoch", "refusal", "tier", "kind", "steps", "width_80", "row")


def empty_table(throughputs: tuple[Throughput, ...], recipes: int, clusters: int, phases: int) -> SpeedTable:
    """A table in which everything is refused for want of a speed."""
    shape = recipes, clusters
    return SpeedTable(
        throughputs=throughputs,
        seconds_per_epoch=np.full((*shape, phases), np.nan),
        refusal=np.full(shape, REFUSALS.index("no_throughput"), np.int8),
        tier=np.full(shape, -1, np.int8),
        kind=np.zeros(shape, np.int8),
        steps=np.ones(shape, np.int32),
        width_80=np.full(shape, np.nan, np.float32),
        row=np.full(shape, -1, np.int32),
        sentences=(),
    )
