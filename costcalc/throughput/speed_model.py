"""Speeds of all recipes of a model on a list of clusters, worked out once when the evidence is loaded."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, partial
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from costcalc.hardware import Accelerator, Cluster
from costcalc.recipes import Recipe
from costcalc.throughput.cluster_features import ClusterFeatures, halved_and_doubled
from costcalc.throughput.fitted_parameters import (
    CODE,
    KINDS,
    MACHINES,
    TRANSFERRED,
    FittedParameters,
    HalfWidth,
    Sort,
    widening,
)
from costcalc.throughput.measurements import AnybodysRates, Measurements
from costcalc.throughput.memory import densest
from costcalc.throughput.prediction import REFUSALS, Codes, Prediction, carried_over, predict, same_work
from costcalc.throughput.provenance import BESIDE_LARGER, OF_PROCESSOR, fewer_than_anybody, never_measured, notes
from costcalc.throughput.reference_model import UNDATED, ChipPrior, is_reference
from costcalc.throughput.work_on_clusters import is_anchored
from costcalc.throughput.workloads import FORWARD, bits, own_rates, precision_class, workload
from costcalc.training import Throughput, Tier
from costcalc.units import Flags, Floats, Indices

TIERS = (Tier.MEASURED, Tier.TRANSFERRED, Tier.INTERPOLATED, Tier.MODELLED)

COLUMNS = (
    *("seconds_per_epoch", "refusal", "tier", "kind", "steps", "beside_larger"),
    *("width_80", "width_faster", "row", "usual_low", "usual_high"),
)
"""The arrays of a `SpeedTable`."""
Numbers = NDArray[np.int32]
HalfWidths = NDArray[np.float32]

TIER_OF_KIND = {
    "transferred": Tier.TRANSFERRED,
    "interpolated": Tier.INTERPOLATED,
    "machines": Tier.MODELLED,
    "accelerator": Tier.MODELLED,
    "network": Tier.MODELLED,
    "stack": Tier.MODELLED,
    "code": Tier.MODELLED,
}
TIER_CODES = np.array([TIERS.index(TIER_OF_KIND[kind]) for kind in KINDS], np.int8)
PROCESSOR = len(KINDS)  # code of the speeds of processors, which follow from `costcalc.throughput.processors`
DATED_SCATTER = 0.8  # of software of one year, by rule: an accelerator's entries differ by it too
MARGIN = 1.05  # what other implementations reached lies inside the interval by so much


class SpeedTable(Struct, frozen=True):
    """R recipes x C clusters, P the most phases of any recipe.

    `seconds_per_epoch` [R, C, P] is training alone (no evaluation, no start-up) in the order of `recipe.phases`; NaN where
    refused or where a recipe has fewer phases. `refusal` indexes REFUSALS (0 = answered), `tier` indexes TIERS (the weakest
    phase; -1 where refused), `kind` the sort of evidence whose out-of-group errors make the widths. `steps` says in how many
    steps its memory makes each accelerator take its share of a batch, `beside_larger` whether rates of larger networks raised it
    (`Prediction`). The 80 % interval reaches from seconds x exp(-`width_faster`) to seconds x exp(`width_80`), the former
    being less only where the data sheet allows no more. `row` indexes `throughputs`, the measurement that stands nearest; -1
    where there is none, or where the speed follows from the recipe's own log, as `anchored` [R] says.

    Other people's code takes seconds x exp(`usual_low`) to seconds x exp(`usual_high`) in 8 of 10 cases, NaN where nobody knows.
    """

    throughputs: tuple[Throughput, ...]
    seconds_per_epoch: Floats
    refusal: Codes
    tier: Codes
    kind: Codes
    steps: Numbers
    beside_larger: Codes
    width_80: HalfWidths
    width_faster: HalfWidths
    row: Numbers
    usual_low: HalfWidths
    usual_high: HalfWidths
    recipes: tuple[Recipe, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    anchored: tuple[bool, ...] = ()
    of_transformer: bool = False
    widths: Mapping[str, HalfWidth] = field(default_factory=dict)
    priors: Mapping[str, ChipPrior] = field(default_factory=dict)

    def source(self, recipe: int, cluster: int) -> Throughput | None:
        """The measurement behind a pair, None where the speed is modelled from many."""
        row = int(self.row[recipe, cluster])
        return self.throughputs[row] if row >= 0 else None

    def notes(self, recipe: int, cluster: int) -> tuple[str, ...]:
        """What the speed of a pair rests on, in a sentence, and what else was assumed about it."""
        if self.tier[recipe, cluster] < 0:
            return ()
        if self.kind[recipe, cluster] == PROCESSOR:
            return OF_PROCESSOR
        one, kind = self.recipes[recipe], int(self.kind[recipe, cluster])
        base, is_measured = self.source(recipe, cluster), TIERS[self.tier[recipe, cluster]] is Tier.MEASURED
        sort = _sort(one, self.of_transformer)
        width = self.widths["own"] if is_measured else sort.half_width(self.widths, KINDS[kind])
        larger = BESIDE_LARGER[int(self.beside_larger[recipe, cluster])]
        chip = never_measured(self.clusters[cluster].accelerator, self.priors)
        fewer = fewer_than_anybody(one, self.clusters[cluster], self.throughputs)
        return (*notes(one, self.clusters[cluster], kind, base, self.anchored[recipe], width), *chip, *larger, *fewer)

    def of(self, clusters: Indices) -> SpeedTable:
        """The values for only these clusters, in this order."""
        columns = {name: getattr(self, name)[:, clusters] for name in COLUMNS}
        return replace(self, clusters=tuple(map(self.clusters.__getitem__, clusters.tolist())), **columns)

    def copy(self, source: int, target: int) -> None:
        """Gives one recipe the speeds of another."""
        for name in COLUMNS:
            values = getattr(self, name)
            values[target] = values[source]


Table = TypeVar("Table", bound=SpeedTable)


def empty_table(
    of: type[Table],
    throughputs: tuple[Throughput, ...],
    recipes: Sequence[Recipe],
    clusters: Sequence[Cluster],
    phases: int = 1,
    **others: Any,
) -> Table:
    """A table in which everything is refused for want of a speed, with `others` of its fields."""
    shape = len(recipes), len(clusters)
    usual = {"recipes": tuple(recipes), "clusters": tuple(clusters), "anchored": (False,) * len(recipes)}
    return of(
        throughputs=throughputs,
        seconds_per_epoch=np.full((*shape, phases), np.nan),
        refusal=np.full(shape, REFUSALS.index("no_throughput"), np.int8),
        tier=np.full(shape, -1, np.int8),
        kind=np.zeros(shape, np.int8),
        steps=np.ones(shape, np.int32),
        beside_larger=np.zeros(shape, np.int8),
        width_80=np.full(shape, np.nan, np.float32),
        width_faster=np.full(shape, np.nan, np.float32),
        row=np.full(shape, -1, np.int32),
        usual_low=np.full(shape, np.nan, np.float32),
        usual_high=np.full(shape, np.nan, np.float32),
        **usual | others,
    )


class Speeds(Protocol):
    """What says how fast recipes train."""

    def speeds(
        self, recipes: Sequence[Recipe], clusters: Sequence[Cluster], of_larger: Sequence[Recipe] = ()
    ) -> SpeedTable:
        """One table for recipes of one model; every pair is answered or refused with its reason."""
        ...

    def refused(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """The table of these recipes before any speed is known."""
        ...


class SpeedModel:
    """Answers how fast a recipe trains on a cluster, from the measurements and the models fitted to them."""

    def __init__(self, throughputs: Sequence[Throughput], fitted: FittedParameters) -> None:
        self._throughputs = tuple(throughputs)
        self._fitted = fitted
        self._of_model: dict[str, dict[int, Throughput]] = defaultdict(dict)
        for number, row in enumerate(self._throughputs):
            self._of_model[row.model][number] = row
        self._by_kind = cache(partial(_by_kind, fitted.widths))

    def speeds(
        self, recipes: Sequence[Recipe], clusters: Sequence[Cluster], of_larger: Sequence[Recipe] = ()
    ) -> SpeedTable:
        """One table for recipes of one model; every pair is answered or refused with its reason.

        `of_larger` are the recipes of larger networks of its series: with the same code, these are no faster. What is answered of
        a cluster does not depend on the others asked about: all that the laws hold it to is worked out beside it.
        """
        rows = self._of_model.get(recipes[0].model, {}) if recipes else {}
        beside = self._measured(rows.values(), recipes, clusters), *map(halved_and_doubled, clusters)
        place = {one: number for number, one in enumerate(dict.fromkeys((*chain.from_iterable(beside), *clusters)))}
        table = self.refused(recipes, tuple(place))
        features = ClusterFeatures(table.clusters, self._fitted.reference, self._fitted.transfer)
        evidence = _Evidence(rows, features)
        floors = self._floors({same_work(recipe) for recipe in recipes}, of_larger, features)
        first: dict[tuple[object, ...], int] = {}
        for r, recipe in enumerate(recipes):
            same = first.setdefault(signature(recipe), r)
            if same != r:
                table.copy(same, r)
                continue
            self._fill(table, r, recipe, evidence, floors.get(same_work(recipe), -np.inf))
        return table.of(np.array([place[cluster] for cluster in clusters], np.int64))

    def _measured(
        self, rows: Iterable[Throughput], recipes: Iterable[Recipe], clusters: Iterable[Cluster]
    ) -> Iterator[Cluster]:
        """Where these rates were measured and these recipes were run, of the chips that these clusters have."""
        part = self._fitted.reference.data_sheets.part
        chips = {part(cluster.accelerator).chip for cluster in clusters}
        for one in chain((row.system for row in rows), (recipe.system for recipe in recipes)):
            if one and part(one.accelerator).chip in chips:
                yield Cluster(one.accelerator, one.accelerators_per_node, one.nodes)

    def refused(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """The table of these recipes before any speed is known."""
        phases = max((len(recipe.phases) for recipe in recipes), default=1)
        return empty_table(
            SpeedTable,
            self._throughputs,
            recipes,
            clusters,
            phases,
            anchored=tuple(map(self._is_from_own_log, recipes)),
            of_transformer=bool(recipes) and self._is_transformer(recipes[0]),
            widths=self._fitted.widths,
            priors=self._fitted.reference.priors,
        )

    def _floors(
        self, works: Set[object], of_larger: Sequence[Recipe], features: ClusterFeatures
    ) -> dict[object, Floats]:
        """What larger networks reach with the same code: ln(images/s of one accelerator) [C, P]."""
        models = {one.model for one in of_larger}
        evidence = {model: _Evidence(self._of_model.get(model, {}), features) for model in models}
        floors: dict[object, Floats] = {}
        for one in {signature(one): one for one in of_larger if same_work(one) in works}.values():
            _, images_per_gib = evidence[one.model].anybodys(one)
            reached = carried_over(one, features, images_per_gib)
            floors[same_work(one)] = np.maximum(floors.get(same_work(one), -np.inf), reached)
        return floors

    def _fill(self, table: SpeedTable, r: int, recipe: Recipe, evidence: _Evidence, of_larger: Floats | float) -> None:
        measurements, nearest = evidence.measurements(recipe)
        anybodys, images_per_gib = evidence.anybodys(recipe)
        found = predict(recipe, evidence.features, measurements, images_per_gib, of_larger)
        answered = found.refusal == 0
        measured = measurements.exact & (found.kind == TRANSFERRED)
        table.row[r] = np.where(self._is_from_own_log(recipe) & ~measured, -1, nearest)
        table.refusal[r], table.kind[r], table.steps[r] = found.refusal, found.kind, found.steps
        table.beside_larger[r] = found.beside_larger
        log_rate = found.log_rate[answered]
        if recipe.teacher:
            log_rate = -np.logaddexp(-log_rate, -self._of_teacher(recipe, evidence.features)[answered])
        table.seconds_per_epoch[r, answered, : log_rate.shape[1]] = recipe.samples_per_epoch / np.exp(log_rate)
        table.tier[r] = np.where(answered, TIER_CODES[found.kind], -1)
        by_others = evidence.timed_alike(recipe) & (found.kind > MACHINES) & answered & ~found.spread_out
        table.tier[r, by_others] = TIERS.index(Tier.INTERPOLATED)
        features, known = evidence.features, self._half_widths(recipe, found, evidence.features)
        table.width_80[r] = np.where(answered, np.hypot(known, features.slower), np.nan)
        distance = anybodys.distance(recipe, found.log_rate)
        apart = np.flatnonzero((distance > 0) & (found.kind > MACHINES))
        table.width_80[r, apart] *= np.maximum(MARGIN * distance[apart] / table.width_80[r, apart], 1)
        _overlap(table.width_80[r], found, features)
        one_sided = np.hypot(known, features.faster) * (features.slower > 0) + table.width_80[r] * (
            features.slower == 0
        )
        table.width_faster[r] = np.minimum(np.minimum(one_sided, table.width_80[r]), np.maximum(found.headroom, 0))
        of_codes = self._by_kind(_sort(recipe, self._is_transformer(recipe)))[CODE]
        width = _with_machines(found, of_codes, self._fitted.widths["machines"].ln)
        table.usual_low[r] = np.maximum(found.other_code - width, -found.headroom)
        table.usual_high[r] = np.fmax(found.other_code, found.plain_code) + width

    def _of_teacher(self, recipe: Recipe, features: ClusterFeatures) -> Floats:
        """ln(images/s) [C, P] at which the recipe's teacher, with the same code, looks at images."""
        teacher = replace(recipe, model=str(recipe.teacher), teacher=None)
        _, images_per_gib = _Evidence(self._of_model.get(teacher.model, {}), features).anybodys(teacher)
        trained = carried_over(teacher, features, images_per_gib) + features.log_total[:, None]
        return np.asarray(trained - math.log(FORWARD))

    def _is_from_own_log(self, recipe: Recipe) -> bool:
        return is_anchored(recipe, self._fitted.reference) and not is_reference(recipe)

    def _is_transformer(self, recipe: Recipe) -> bool:
        model = self._fitted.transfer.models.get(recipe.model)
        return model is not None and model.is_transformer

    def _half_widths(self, recipe: Recipe, found: Prediction, features: ClusterFeatures) -> Floats:
        """By cluster. Of MLPerf's implementations alone it is known how the rates of an accelerator scatter."""
        sort = _sort(recipe, self._is_transformer(recipe))
        by_kind = self._by_kind(sort)
        of_chip = features.scatter if sort.undated else np.maximum(features.scatter, DATED_SCATTER)
        scatter = widening(found.kind, features.several, of_chip) if sort.reference else 1.0
        transfer, of_compiling = self._fitted.transfer, 0.0
        if not (recipe.compilation or sort.reference) and recipe.phases:  # nobody says whether it is compiled
            first = workload(recipe, recipe.phases[0].image_size, transfer.models)
            of_compiling = abs(transfer.of_compiling(first))
        of_code = of_compiling * (found.kind > MACHINES)
        known = scatter * _with_machines(found, by_kind[found.kind], by_kind[MACHINES])
        model = transfer.models.get(recipe.model)
        of_network = (model and model.speed_width) or 0.0
        return np.asarray(np.maximum(np.hypot(np.hypot(known, of_code), of_network), found.least_width))


def _with_machines(found: Prediction, width: Floats | float, machines: float) -> Floats:
    """The half-width by cluster, with that of many machines where those are modelled on top."""
    return np.hypot(width, np.where(found.spread_out & (found.kind != MACHINES), machines, 0))


def _sort(recipe: Recipe, of_transformer: bool) -> Sort:
    return Sort(recipe.year == UNDATED, is_reference(recipe), of_transformer, recipe.is_own)


def _by_kind(widths: Mapping[str, HalfWidth], sort: Sort) -> Floats:
    return np.array([sort.half_width(widths, kind).ln for kind in KINDS])


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
        self._of_precision: dict[tuple[str | None, bool], tuple[AnybodysRates, float]] = {}

    def measurements(self, recipe: Recipe) -> tuple[Measurements, Indices]:
        """What the recipe's implementation and precision made, and the row nearest to each cluster [C]: of other precisions or
        codes where there is none."""
        year = recipe.year if is_reference(recipe) else UNDATED
        key = recipe.stack, precision_class(recipe.precision), year
        if key not in self._of_implementation:
            own = self._of_stack.get(key[:2], {})
            found = Measurements(own, self.features)
            near = found if own else Measurements(self._alike(recipe), self.features)
            self._of_implementation[key] = found, near.nearest(year)
        return self._of_implementation[key]

    def _alike(self, recipe: Recipe) -> Mapping[int, Throughput]:
        """The rows of its stack, else of its precision, else all."""
        rows = self._rows.items()
        alike = {number: row for number, row in rows if row.stack == recipe.stack}
        return alike or {n: row for n, row in rows if bits(row.precision) == bits(recipe.precision)} or self._rows

    def timed_alike(self, recipe: Recipe) -> Flags:
        """The clusters [C] with a die on which some plain loop trained the network of this one in its bits."""
        sheets, rows = self.features.reference.data_sheets, self._rows.values() if recipe.plain else ()
        alike = [row for row in rows if row.plain and bits(row.precision) == bits(recipe.precision)]
        dies = {_die(sheets.part(row.accelerator)) for row in alike}
        return self.features.with_any(name for name, chip in sheets.accelerators.items() if _die(chip) in dies)

    def anybodys(self, recipe: Recipe) -> tuple[AnybodysRates, float]:
        """What anybody's implementation made in the recipe's precision, beside a plain loop other plain loops alone, and the most
        images that memory was seen to hold."""
        key = bits(recipe.precision), recipe.plain
        if key not in self._of_precision:
            rows = [row for row in self._rows.values() if bits(row.precision) == key[0]]
            alike = [row for row in rows if row.plain or not recipe.plain]
            model = self.features.transfer.models.get(recipe.model)
            images_per_gib = densest(rows, model, self.features.reference.data_sheets.accelerators)
            self._of_precision[key] = AnybodysRates(alike, self.features), images_per_gib
        return self._of_precision[key]


def _die(chip: Accelerator) -> str:
    return chip.silicon or chip.chip


def undated(recipe: Recipe) -> Recipe:
    """The recipe with the software that was usual on each accelerator, where the speed model knows software by its year."""
    return replace(recipe, year=UNDATED) if is_reference(recipe) or recipe.is_closed else recipe


def signature(recipe: Recipe) -> tuple[object, ...]:
    """Recipes that agree in this have the same speeds everywhere."""
    software = recipe.model, recipe.stack, precision_class(recipe.precision), recipe.global_batch_size, recipe.year
    if recipe.is_closed:
        return (
            *software,
            recipe.tuned_to,
            recipe.home.accelerators,
            recipe.framework_family,
            recipe.published if recipe.year else None,
        )
    own = (
        recipe.home.key,
        recipe.samples_per_epoch,
        tuple(phase.image_size for phase in recipe.phases),
        tuple(own_rates(recipe)),
    )
    how = recipe.framework_family, recipe.running, recipe.as_published, recipe.teacher
    return (*software, *how, *((len(recipe.phases),) if is_reference(recipe) else own))
