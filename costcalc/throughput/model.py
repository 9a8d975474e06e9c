"""Speeds of all recipes of a model on a list of clusters, worked out once when the evidence is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from costcalc.hardware import Cluster
from costcalc.throughput.measured import Match, Measurements
from costcalc.throughput.table import REFUSALS, TIERS, SpeedTable
from costcalc.training import IMAGES_PER_EPOCH, Recipe, Throughput, Tier

WIDTHS = {True: (0.095, 0.140), False: (0.45, 0.60)}  # ln half-widths at 80 and 90 %: own stack, another stack


class SpeedModel:
    """Answers how fast a recipe trains on a cluster, from the measurements it was built with."""

    def __init__(self, throughputs: Sequence[Throughput]) -> None:
        self._throughputs = tuple(throughputs)

    def speeds(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """One table for recipes of one model; every pair is answered or refused with its reason."""
        table = self._empty(recipes, clusters)
        sentences: dict[str, int] = {}
        measurements = Measurements(self._throughputs, recipes[0].model) if recipes else None
        for r, recipe in enumerate(recipes):
            for c, cluster in enumerate(clusters):
                found = measurements.match(recipe, cluster) if measurements else None
                if found:
                    self._fill(table, (r, c), found)
                    table.sentence[r, c] = sentences.setdefault(self._sentence(found), len(sentences))
        return _with_sentences(table, tuple(sentences))

    def _empty(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        shape = len(recipes), len(clusters)
        phases = max((len(recipe.phases) for recipe in recipes), default=0)
        nan = np.full(shape, np.nan)
        return SpeedTable(
            throughputs=self._throughputs,
            seconds_per_epoch=np.full((*shape, phases), np.nan),
            refusal=np.full(shape, REFUSALS.index("no_throughput"), dtype=np.int8),
            tier=np.full(shape, -1, dtype=np.int8),
            width_80=nan,
            width_90=nan.copy(),
            row=np.full(shape, -1, dtype=np.int64),
            sentences=(),
            sentence=np.full(shape, -1, dtype=np.int64),
        )

    def _fill(self, table: SpeedTable, pair: tuple[int, int], found: Sequence[Match]) -> None:
        rates = [match.images_per_second for match in found]
        table.seconds_per_epoch[pair][: len(rates)] = IMAGES_PER_EPOCH / np.array(rates)
        table.refusal[pair] = 0
        table.tier[pair] = TIERS.index(Tier.TRANSFERRED)
        table.width_80[pair], table.width_90[pair] = WIDTHS[all(match.same_stack for match in found)]
        table.row[pair] = found[-1].row

    def _sentence(self, found: Sequence[Match]) -> str:
        row = self._throughputs[found[-1].row]
        software = f"{row.framework} {row.precision or 'unknown precision'}, {row.year}, {row.organisation}"
        return f"Speed as measured with {software}; the stack sets the speed, another may be 2.5 times slower."


def _with_sentences(table: SpeedTable, sentences: tuple[str, ...]) -> SpeedTable:

    return replace(table, sentences=sentences)
