"""Speeds of all recipes of a model on a list of clusters, worked out once when the evidence is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from costcalc.hardware import Cluster
from costcalc.throughput.cluster_features import Field, prepare
from costcalc.throughput.fitted_parameters import KINDS, Fitted, calibrated, stretch
from costcalc.throughput.measurements import Measurements, Others
from costcalc.throughput.prediction import Column, column, is_reference
from costcalc.throughput.rates import precision_class
from costcalc.throughput.reference_model import USUAL_YEAR, tool
from costcalc.throughput.speed_table import REFUSALS, TIERS, SpeedTable
from costcalc.throughput.workloads import own_rates
from costcalc.training import IMAGES_PER_EPOCH, Recipe, Throughput, Tier
from costcalc.units import Floats, Indices

TIER_OF_KIND = {
    "transferred": Tier.TRANSFERRED,
    "interpolated": Tier.INTERPOLATED,
    "machines": Tier.MODELLED,
    "accelerator": Tier.MODELLED,
    "network": Tier.MODELLED,
    "stack": Tier.MODELLED,
}
SENTENCE = {
    "transferred": "Speed measured on this accelerator and count: {row}.",
    "interpolated": "Speed from other counts of this accelerator in one machine; nearest measurement: {row}.",
    "machines": "Speed modelled from this accelerator in one machine, InfiniBand-class network; nearest: {row}.",
    "accelerator": "This accelerator was never measured with this code: speed by its data sheet, and others such as {row}.",
    "network": (
        "This code was measured on this chip, but not with this network, precision or memory: speed from their ratios; nearest: "
        "{row}."
    ),
    "stack": "This code was never measured on this accelerator: speed carried over, by data sheets and ratios, from {row}.",
}
FITTED = (
    "Speed fitted to all published ones of this accelerator; nearest, of this count: {row}."  # MLPerf's, where measured
)
USUAL_SOFTWARE = " Software of no year in particular: the middle of what was published; name one round for its year's."

WITHIN = 1.05  # what others measured lies inside the interval by so much


class SpeedModel:
    """Answers how fast a recipe trains on a cluster, from the measurements and the models fitted to them."""

    def __init__(self, throughputs: Sequence[Throughput], fitted: Fitted) -> None:
        self._throughputs = tuple(throughputs)
        self._fitted = fitted

    def speeds(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """One table for recipes of one model; every pair is answered or refused with its reason."""
        field = prepare(clusters, self._fitted.core, self._fitted.relative)
        table, sentences = _empty(self._throughputs, recipes, clusters), _Sentences(self._throughputs)
        done: dict[tuple[object, ...], int] = {}
        evidence: dict[tuple[str, str | None, int], tuple[Measurements, Indices, Others]] = {}
        for r, recipe in enumerate(recipes):
            twin = done.setdefault(signature(recipe), r)
            if twin != r:
                _copy(table, twin, r)
                continue
            code = (
                recipe.stack,
                precision_class(recipe.precision),
                recipe.year if is_reference(recipe) else USUAL_YEAR,
            )
            if code not in evidence:
                found = Measurements(self._throughputs, recipe)
                evidence[code] = found, found.nearest(field, code[-1]), Others(self._throughputs, recipe, field)
            measurements, nearest, others = evidence[code]
            rates = column(recipe, field, measurements)
            _fill(table, r, rates)
            self._bound(table, r, recipe, rates, field)
            _widen(table, r, rates, others.distance(recipe, rates.log_rate))
            table.row[r] = nearest
            sentences.write(table, r, recipe)
        return replace(table, sentences=sentences.texts())

    def _bound(self, table: SpeedTable, r: int, recipe: Recipe, found: Column, field: Field) -> None:
        """Half-widths of every answered cluster. How rates of an accelerator scatter is known of MLPerf's code alone."""
        scatter = stretch(found.kind, field.several, field.scatter) if is_reference(recipe) else 1.0
        for level, width in ((0.8, table.width_80), (0.9, table.width_90)):
            by_kind = self._half_widths(recipe, level)
            machines = np.where(found.spread_out & (found.kind != KINDS.index("machines")), by_kind[2], 0)
            width[r] = np.where(found.refusal == 0, scatter * np.hypot(by_kind[found.kind], machines), np.nan)

    def _half_widths(self, recipe: Recipe, level: float) -> Floats:
        """By kind. The narrow ones are errors of MLPerf's code; other code is known no better than with its other networks."""
        widths = self._fitted.widths
        found = np.array([widths.at(calibrated(kind, recipe.year == USUAL_YEAR), level) for kind in KINDS])
        return found if is_reference(recipe) else np.maximum(found, widths.at("network", level))


def _fill(table: SpeedTable, r: int, found: Column) -> None:
    answered = found.refusal == 0
    table.refusal[r], table.kind[r], table.steps[r] = found.refusal, found.kind, found.steps
    rates = IMAGES_PER_EPOCH / np.exp(found.log_rate[answered])
    table.seconds_per_epoch[r, answered, : found.log_rate.shape[1]] = rates
    tiers = np.array([TIERS.index(TIER_OF_KIND[kind]) for kind in KINDS], np.int8)
    table.tier[r] = np.where(answered, tiers[found.kind], -1)


def _widen(table: SpeedTable, r: int, rates: Column, distance: Floats) -> None:
    """Where the code was never measured but others' was, no interval is narrower than from the answer to what they measured."""
    apart = np.flatnonzero((distance > 0) & (rates.kind > KINDS.index("machines")))
    wider = np.maximum(WITHIN * distance[apart] / table.width_80[r, apart], 1)
    table.width_80[r, apart] *= wider
    table.width_90[r, apart] *= wider


def undated(recipe: Recipe) -> Recipe:
    """The recipe with the software that was usual on each accelerator, where the speed model knows software by its year."""
    return replace(recipe, year=USUAL_YEAR) if is_reference(recipe) else recipe


class _Sentences:
    """The distinct sentences of a table and where each is used."""

    def __init__(self, throughputs: tuple[Throughput, ...]) -> None:
        self._rows, self._index = throughputs, dict[tuple[str, int], int]()

    def write(self, table: SpeedTable, r: int, recipe: Recipe) -> None:
        """Notes for every answered cluster of one recipe which sentence holds."""
        answered = np.flatnonzero(table.refusal[r] == 0)
        coded = table.row[r, answered] * len(KINDS) + table.kind[r, answered]
        found, place = np.unique(coded, return_inverse=True)
        texts = {kind: _sentence(recipe, kind) for kind in KINDS}
        numbers = [
            self._index.setdefault((texts[KINDS[code % len(KINDS)]], code // len(KINDS)), len(self._index))
            for code in found.tolist()
        ]
        table.sentence[r, answered] = np.array(numbers, np.int64)[place]

    def texts(self) -> tuple[str, ...]:
        """The sentences in the order of their numbers."""
        return tuple(text.format(row=self._named(row)) for text, row in self._index)

    def _named(self, index: int) -> str:
        if index < 0:
            return "the recipe's own log"
        row = self._rows[index]
        where = f"{row.accelerators} x {row.accelerator}" + (f" in {row.nodes} machines" if row.nodes > 1 else "")
        return ", ".join(filter(None, (row.organisation, row.framework, row.precision, str(row.year), where)))


def _sentence(recipe: Recipe, kind: str) -> str:
    said = FITTED if kind == "transferred" and is_reference(recipe) else SENTENCE[kind]
    return said + USUAL_SOFTWARE * (recipe.year == USUAL_YEAR)


def signature(recipe: Recipe) -> tuple[object, ...]:
    """Recipes that agree in this have the same speeds everywhere."""
    software = recipe.model, recipe.stack, precision_class(recipe.precision), recipe.global_batch_size, recipe.year
    home = recipe.system and (recipe.system.accelerator, recipe.system.accelerators, recipe.system.nodes)
    own = home, tuple(phase.image_size for phase in recipe.phases), tuple(own_rates(recipe))
    return (*software, tool(recipe.framework), *((len(recipe.phases),) if is_reference(recipe) else own))


def _copy(table: SpeedTable, source: int, target: int) -> None:
    for name in ("seconds_per_epoch", "refusal", "tier", "kind", "steps", "width_80", "width_90", "row", "sentence"):
        values = getattr(table, name)
        values[target] = values[source]


def _empty(throughputs: tuple[Throughput, ...], recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
    shape = len(recipes), len(clusters)
    phases = max((len(recipe.phases) for recipe in recipes), default=1)
    return SpeedTable(
        throughputs=throughputs,
        seconds_per_epoch=np.full((*shape, phases), np.nan),
        refusal=np.full(shape, REFUSALS.index("no_throughput"), np.int8),
        tier=np.full(shape, -1, np.int8),
        kind=np.zeros(shape, np.int8),
        steps=np.ones(shape, np.int32),
        width_80=np.full(shape, np.nan, np.float32),
        width_90=np.full(shape, np.nan, np.float32),
        row=np.full(shape, -1, np.int32),
        sentences=(),
        sentence=np.full(shape, -1, np.int32),
    )
