"""Speeds of all recipes of a model on a list of clusters, worked out once when the evidence is loaded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from costcalc.hardware import Cluster
from costcalc.throughput.cluster_features import ClusterFeatures
from costcalc.throughput.fitted_parameters import KINDS, FittedParameters, HalfWidth, calibrated, widening
from costcalc.throughput.measurements import AnybodysRates, Measurements
from costcalc.throughput.prediction import MACHINES, REFUSALS, TRANSFERRED, Codes, Prediction, densest, predict
from costcalc.throughput.reference_model import UNDATED, is_reference
from costcalc.throughput.workloads import bits, own_rates, precision_class
from costcalc.training import IMAGES_PER_EPOCH, Recipe, Throughput, Tier
from costcalc.units import Floats, Indices

TIERS = (Tier.MEASURED, Tier.TRANSFERRED, Tier.INTERPOLATED, Tier.MODELLED)

Numbers = NDArray[np.int32]
HalfWidths = NDArray[np.float32]

TIER_OF_KIND = {
    "transferred": Tier.TRANSFERRED,
    "interpolated": Tier.INTERPOLATED,
    "machines": Tier.MODELLED,
    "accelerator": Tier.MODELLED,
    "network": Tier.MODELLED,
    "stack": Tier.MODELLED,
}
TIER_CODES = np.array([TIERS.index(TIER_OF_KIND[kind]) for kind in KINDS], np.int8)
SENTENCES = {
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
UNLOGGED = "Nobody published a speed of this code: it is carried over, by data sheets and ratios, from other codes and networks."
WIDE_BY_RULE = "The range is wide by rule: too few results are known to measure how far such estimates err."
FITTED = (
    "Speed fitted to all published ones of this accelerator; nearest, of this count: {row}."  # MLPerf's, where measured
)
UNDATED_SOFTWARE = (
    "Software of no year in particular: the middle of what was published; software=recipe takes its own year's."
)

MARGIN = 1.05  # what other implementations reached lies inside the interval by so much


@dataclass(frozen=True, slots=True)
class SpeedTable:
    """R recipes x C clusters, P the most phases of any recipe.

    `seconds_per_epoch` [R, C, P] is training alone (no evaluation, no start-up) in the order of `recipe.phases`; NaN where
    refused or where a recipe has fewer phases. `refusal` indexes REFUSALS (0 = answered), `tier` indexes TIERS (the weakest
    phase; -1 where refused), `kind` the sort of evidence whose out-of-group errors make the widths. `steps` says in how many
    steps its memory makes each accelerator take its share of a batch. `width_80` is the half-width in ln(seconds) of the 80 %
    interval: seconds x exp(+-width). `row` indexes `throughputs`, the measurement that stands nearest; -1 where there is none.
    `sentences` [R] are those of each kind of evidence, the first with a place for that measurement; `logged` [R] says whether the
    recipe's own log has speeds.
    """

    throughputs: tuple[Throughput, ...]
    seconds_per_epoch: Floats
    refusal: Codes
    tier: Codes
    kind: Codes
    steps: Numbers
    width_80: HalfWidths
    row: Numbers
    sentences: tuple[tuple[tuple[str, ...], ...], ...]
    logged: tuple[bool, ...] = ()

    def source(self, recipe: int, cluster: int) -> Throughput | None:
        """The measurement behind a pair, None where the speed is modelled from many."""
        row = int(self.row[recipe, cluster])
        return self.throughputs[row] if row >= 0 else None

    def notes(self, recipe: int, cluster: int) -> tuple[str, ...]:
        """What the speed of a pair rests on, in a sentence, and what else was assumed about it."""
        if self.tier[recipe, cluster] < 0:
            return ()
        first, *further = self.sentences[recipe][self.kind[recipe, cluster]]
        measured = self.source(recipe, cluster)
        if not measured and not self.logged[recipe]:
            return (UNLOGGED, *further)
        return (first.format(row=_named(measured) if measured else "the recipe's own log"), *further)

    def of(self, clusters: Indices) -> SpeedTable:
        """The same of these clusters alone, in this order."""
        return replace(self, **{name: getattr(self, name)[:, clusters] for name in COLUMNS})

    def copy(self, source: int, target: int) -> None:
        """Gives one recipe the speeds of another."""
        for name in COLUMNS:
            values = getattr(self, name)
            values[target] = values[source]


def _named(row: Throughput) -> str:
    """A measurement in words: who, with what, when and where."""
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


class SpeedModel:
    """Answers how fast a recipe trains on a cluster, from the measurements and the models fitted to them."""

    def __init__(self, throughputs: Sequence[Throughput], fitted: FittedParameters) -> None:
        self._throughputs = tuple(throughputs)
        self._fitted = fitted
        self._of_model: dict[str, dict[int, Throughput]] = defaultdict(dict)
        for number, row in enumerate(self._throughputs):
            self._of_model[row.model][number] = row
        self._widths_by_kind = {undated: _by_kind(fitted.widths, undated) for undated in (False, True)}

    def speeds(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """One table for recipes of one model; every pair is answered or refused with its reason."""
        features = ClusterFeatures(clusters, self._fitted.reference, self._fitted.transfer)
        phases = max((len(recipe.phases) for recipe in recipes), default=1)
        table = empty_table(self._throughputs, len(recipes), len(clusters), phases)
        rows = self._of_model.get(recipes[0].model, {}) if recipes else {}
        evidence = _Evidence(rows, features)
        first: dict[tuple[object, ...], int] = {}
        for r, recipe in enumerate(recipes):
            same = first.setdefault(signature(recipe), r)
            if same != r:
                table.copy(same, r)
                continue
            self._fill(table, r, recipe, evidence)
        sentences = tuple(_sentences(recipe, self._fitted.widths) for recipe in recipes)
        return replace(table, sentences=sentences, logged=tuple(bool(own_rates(recipe)) for recipe in recipes))

    def _fill(self, table: SpeedTable, r: int, recipe: Recipe, evidence: _Evidence) -> None:
        measurements, table.row[r] = evidence.measurements(recipe)
        anybodys, images_per_gib = evidence.anybodys(recipe)
        found = predict(recipe, evidence.features, measurements, images_per_gib)
        answered = found.refusal == 0
        table.refusal[r], table.kind[r], table.steps[r] = found.refusal, found.kind, found.steps
        table.seconds_per_epoch[r, answered, : found.log_rate.shape[1]] = IMAGES_PER_EPOCH / np.exp(
            found.log_rate[answered]
        )
        table.tier[r] = np.where(answered, TIER_CODES[found.kind], -1)
        table.width_80[r] = np.where(answered, self._half_widths(recipe, found, evidence.features), np.nan)
        _widen(table, r, found, anybodys.distance(recipe, found.log_rate))
        _overlap(table.width_80[r], found, evidence.features)

    def _half_widths(self, recipe: Recipe, found: Prediction, features: ClusterFeatures) -> Floats:
        """By cluster. The narrow ones are errors of MLPerf's implementations, the only ones of which it is known how the rates
        of an accelerator scatter; others are known no better than with their other networks."""
        by_kind = self._widths_by_kind[recipe.year == UNDATED]
        scatter: Floats | float = 1.0
        if is_reference(recipe):
            scatter = widening(found.kind, features.several, features.scatter)
        else:
            by_kind = np.maximum(by_kind, self._fitted.widths["network"].ln)
        machines = np.where(found.spread_out & (found.kind != MACHINES), by_kind[MACHINES], 0)
        return np.maximum(scatter * np.hypot(by_kind[found.kind], machines), found.least_width)


def _by_kind(widths: Mapping[str, HalfWidth], undated: bool) -> Floats:
    return np.array([widths[calibrated(kind, undated)].ln for kind in KINDS])


def _widen(table: SpeedTable, r: int, found: Prediction, distance: Floats) -> None:
    """If only other implementations were measured on a cluster, widens the interval until it covers their median rate."""
    apart = np.flatnonzero((distance > 0) & (found.kind > MACHINES))
    table.width_80[r, apart] *= np.maximum(MARGIN * distance[apart] / table.width_80[r, apart], 1)


def _overlap(width: HalfWidths, found: Prediction, features: ClusterFeatures) -> None:
    """Widens the ranges of a count and of twice as many until they touch, but not those of measured rates."""
    each = (found.log_rate - features.log_total[:, None]).T
    one, two = features.doubled
    apart = np.abs(each[:, one] - each[:, two]).max(axis=0, initial=0) - width[one] - width[two]
    gaps = np.flatnonzero(apart > 0)
    wider, measured = width.copy(), found.kind == TRANSFERRED
    for here, there in ((one[gaps], two[gaps]), (two[gaps], one[gaps])):
        share = np.where(measured[there], 1, 1 / 2) * ~measured[here]
        np.maximum.at(wider, here, width[here] + share * apart[gaps])
    width[:] = wider


class _Evidence:
    """What was measured of one model, gathered once for all recipes that share an implementation or a precision."""

    def __init__(self, rows: Mapping[int, Throughput], features: ClusterFeatures) -> None:
        self.features = features
        self._rows = rows
        self._of_stack: dict[tuple[str, str | None], dict[int, Throughput]] = defaultdict(dict)
        for number, row in rows.items():
            self._of_stack[row.stack, precision_class(row.precision)][number] = row
        self._of_implementation: dict[tuple[str, str | None, int], tuple[Measurements, Indices]] = {}
        self._of_precision: dict[str | None, tuple[AnybodysRates, float]] = {}

    def measurements(self, recipe: Recipe) -> tuple[Measurements, Indices]:
        """What the recipe's implementation and precision made, and the row nearest to each cluster [C]."""
        year = recipe.year if is_reference(recipe) else UNDATED
        key = recipe.stack, precision_class(recipe.precision), year
        if key not in self._of_implementation:
            found = Measurements(self._of_stack.get(key[:2], {}), self.features)
            self._of_implementation[key] = found, found.nearest(year)
        return self._of_implementation[key]

    def anybodys(self, recipe: Recipe) -> tuple[AnybodysRates, float]:
        """What anybody's implementation made in the recipe's precision, and the most images that memory was seen to hold."""
        key = bits(recipe.precision)
        if key not in self._of_precision:
            rows = [row for row in self._rows.values() if bits(row.precision) == key]
            model = self.features.transfer.models.get(recipe.model)
            images_per_gib = densest(rows, model, self.features.reference.data_sheets.accelerators)
            self._of_precision[key] = AnybodysRates(rows, self.features), images_per_gib
        return self._of_precision[key]


def undated(recipe: Recipe) -> Recipe:
    """The recipe with the software that was usual on each accelerator, where the speed model knows software by its year."""
    return replace(recipe, year=UNDATED) if is_reference(recipe) else recipe


def signature(recipe: Recipe) -> tuple[object, ...]:
    """Recipes that agree in this have the same speeds everywhere."""
    software = recipe.model, recipe.stack, precision_class(recipe.precision), recipe.global_batch_size, recipe.year
    home = recipe.system and (recipe.system.accelerator, recipe.system.accelerators, recipe.system.nodes)
    own = home, tuple(phase.image_size for phase in recipe.phases), tuple(own_rates(recipe))
    return (*software, recipe.framework_family, *((len(recipe.phases),) if is_reference(recipe) else own))


def _sentences(recipe: Recipe, widths: Mapping[str, HalfWidth]) -> tuple[tuple[str, ...], ...]:
    """What is said of a speed of each kind of evidence: first what it rests on, `{row}` being the nearest measurement."""
    said = {**SENTENCES, "transferred": FITTED} if is_reference(recipe) else SENTENCES
    unknown_year = recipe.year == UNDATED
    software = (UNDATED_SOFTWARE,) * unknown_year
    return tuple(
        (said[kind], *software, *(WIDE_BY_RULE,) * widths[calibrated(kind, unknown_year)].by_rule) for kind in KINDS
    )
