"""One recipe on all clusters: rates, refusals and the kind of evidence, as arrays."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from costcalc.recipes import OwnRecipe, Recipe
from costcalc.throughput.cluster_features import NOWHERE, ClusterFeatures
from costcalc.throughput.data_sheets import twin
from costcalc.throughput.fitted_parameters import KINDS
from costcalc.throughput.measurements import Measurements
from costcalc.throughput.memory import most_images, parameters
from costcalc.throughput.reference_model import FULL_NODE, REFERENCE_BATCH, ReferenceModel, Setup, is_reference
from costcalc.throughput.workloads import REFERENCE_SIZE, Implementation, Workload, implementation, own_rates, workload
from costcalc.training import Model
from costcalc.units import Flags, Floats

REFUSALS = (
    "",
    "no_throughput",
    "does_not_fit_memory",
    "no_network",
    "batch_too_small",
    "beyond_any_cluster",
    "no_such_precision",
)

Codes = NDArray[np.int8]
FEWEST_IMAGES = 8.0  # per accelerator and step; the smallest measured is 15
RAISED, LOWER = 1, 2
EQUAL = 1e-6  # ln(rates) nearer than this
TRANSFERRED, INTERPOLATED, MACHINES, ACCELERATOR, NETWORK, STACK, CODE = range(len(KINDS))

ANY = Implementation("", "", "")

WAIT_SECONDS = 3.0e-3  # launches and latency that no step of NVIDIA's A100 and H100 pods avoided
NETWORK_BYTES_PER_SECOND = 50e9  # of one accelerator to other machines: InfiniBand NDR, 400 Gb/s
GRADIENT_BYTES = 2  # of one parameter, sent in 16 bits
UNKNOWN_OF_DOUBLING = 0.5  # of what twice as many accelerators would lose
SHORTEST_SECONDS = 5.0e-3  # the shortest measured, less a tenth: 5.7 ms, NVIDIA's 3,584 H100 in MLPerf v3.0


class Prediction(Struct, frozen=True, eq=False):
    """By cluster: ln(images/s of all accelerators) in each phase [C, P], code of REFUSALS, code of KINDS, whether many
    machines are modelled on top of that kind, in how many steps memory makes each accelerator take its share of a batch, and what
    half the width of the range of ln(rate) is at least.

    `beside_larger` is RAISED where the rate is that of a larger network, which came out faster, and LOWER where what was
    measured of this one is slower all the same. `other_code` is ln of how many times longer the middle of all codes takes,
    `plain_code` the middle of plain loops, NaN where nothing is known, and `headroom` ln of how many times faster the data sheet
    would allow it to be, 0 at least.
    """

    log_rate: Floats
    refusal: Codes
    kind: Codes
    spread_out: Flags
    steps: Floats
    least_width: Floats
    beside_larger: Codes
    other_code: Floats
    plain_code: Floats
    headroom: Floats


def predict(
    recipe: Recipe,
    features: ClusterFeatures,
    measurements: Measurements,
    images_per_gib: float,
    of_larger: Floats | float = -np.inf,
) -> Prediction:
    """The recipe's rates on every cluster.

    A measured rate stands: that of its own log on its own system, and that of its implementation on that very cluster. No other
    rate falls below `of_larger` [C, P], which is `carried_over` from larger networks of its series with the same code.
    `images_per_gib` is `densest` for the recipe's network and precision.
    """
    batch, steps, room = _batch(recipe, features, images_per_gib)
    reference, peak = _reference(recipe, features, batch), _peak(recipe, features)
    own_each = np.minimum(_modelled(recipe, features, reference), peak)
    log_each = np.maximum(own_each, of_larger)
    modelled, hasty = _waiting(recipe, features, batch, log_each)
    kind = _kinds(recipe, features, measurements)
    enough = batch / _fewest_images(recipe)
    answered = np.isfinite(modelled).all(axis=1) & features.predictable
    refusal = _refusals(features, np.where(hasty | _spread_out(recipe, features), 0.0, enough), room, answered)
    is_asked = (enough >= 1) & ~(
        is_reference(recipe) & (refusal == 0)
    )  # a rate of a larger batch says nothing about less
    log_rate, measured = modelled.copy(), dict(_measured(recipe, features, measurements, np.where(is_asked, batch, 0)))
    for c, rates in measured.items():
        log_rate[c], refusal[c], kind[c] = np.log(rates), 0, TRANSFERRED
    own = _own_system(recipe, features)
    _hold_to_measured(log_rate, features, measured, own)
    steps[own] = 1  # however it held its batch, its rate is that of it
    slower = _next_doubling(recipe, features, batch, reference, log_each)
    final_each = log_rate - features.log_total[:, None]
    roof = np.minimum(peak, features.log_roof[:, None]) if is_reference(recipe) else peak
    return Prediction(
        log_rate,
        refusal,
        kind,
        _beyond_measured(recipe, features, kind),
        steps,
        least_width=np.where(kind == TRANSFERRED, 0, UNKNOWN_OF_DOUBLING * np.fmax(slower, 0)),
        beside_larger=_beside_larger(own_each, final_each, of_larger, (modelled - log_rate > EQUAL)),
        other_code=(final_each - _anybodys(recipe, features, batch, reference, plain=False)).mean(axis=1),
        plain_code=(final_each - _anybodys(recipe, features, batch, reference, plain=True)).mean(axis=1),
        headroom=(roof - final_each).min(axis=1),
    )


def _beyond_measured(recipe: Recipe, features: ClusterFeatures, kind: Codes) -> Flags:
    """Where many machines are modelled on top of what was measured on fewer."""
    measured_nodes = 1
    if recipe.system and is_anchored(recipe, features.reference) and not is_reference(recipe):
        measured_nodes = recipe.system.nodes
    several = features.several & (kind > INTERPOLATED) & (features.nodes != measured_nodes)
    return np.asarray(several | ((features.total > FULL_NODE) & (kind == INTERPOLATED)))


def _beside_larger(own_each: Floats, final_each: Floats, of_larger: Floats | float, held_down: Flags) -> Codes:
    """RAISED where the modelled rate was below that of a larger network, LOWER where a measurement holds it below."""
    lower = (held_down & (final_each < of_larger - EQUAL)).any(axis=1)
    raised = (own_each < of_larger).any(axis=1)
    return np.where(lower, LOWER, RAISED * raised).astype(np.int8)


def carried_over(recipe: Recipe, features: ClusterFeatures, images_per_gib: float) -> Floats:
    """ln(images/s of one accelerator) [C, P] by the fitted models alone, no measurement of the very same cluster considered;
    minus infinity where they say nothing."""
    batch, _, _ = _batch(recipe, features, images_per_gib)
    modelled = _modelled(recipe, features, _reference(recipe, features, batch))
    return np.nan_to_num(np.minimum(modelled, _peak(recipe, features)), nan=-np.inf)


def same_work(recipe: Recipe) -> tuple[object, ...]:
    """Of recipes that agree in this the one with the larger network of a series never takes less time."""
    sizes = tuple(phase.image_size for phase in recipe.phases)
    return recipe.stack, recipe.precision, recipe.global_batch_size, recipe.teacher, sizes


def global_batch(recipe: Recipe) -> float:
    """The recipe's batch; an unknown one is taken as 256 images on each accelerator of its own system, or of eight."""
    own = recipe.system.accelerators if recipe.system and recipe.system.accelerators else FULL_NODE
    return recipe.global_batch_size or REFERENCE_BATCH * own


def _batch(recipe: Recipe, features: ClusterFeatures, images_per_gib: float) -> tuple[Floats, Floats, Floats]:
    """On each cluster images per accelerator and step, how many steps of them make a batch, and what the memory holds: larger
    batches are accumulated."""
    model = features.transfer.models.get(recipe.model)
    largest = max((phase.image_size for phase in recipe.phases), default=224)
    seen = 0.0 if is_reference(recipe) else images_per_gib
    room = most_images(features.memory_gib, model, largest, recipe.precision, seen)
    wanted = global_batch(recipe) / np.maximum(features.total, 1)
    steps = np.maximum(np.ceil(wanted / np.maximum(room, 1)), 1)
    return np.minimum(wanted, np.maximum(room, 1)), steps, room


def _waiting(recipe: Recipe, features: ClusterFeatures, batch: Floats, log_each: Floats) -> tuple[Floats, Flags]:
    """ln(images/s of all accelerators), no step of many machines being shorter than they wait for one another; and whether
    the step would be shorter than any measured."""
    many, least = np.flatnonzero(features.several), _log_least_step(recipe, features)
    step = np.log(batch[many])[:, None] - log_each[many]
    hasty = np.zeros(len(batch), bool)
    hasty[many] = (step < math.log(SHORTEST_SECONDS)).any(axis=1)
    log_rate = log_each + features.log_total[:, None]
    log_rate[many] -= np.maximum(least - step, 0)
    return log_rate, hasty


def _log_least_step(recipe: Recipe, features: ClusterFeatures) -> float:
    return math.log(shortest_step(features.transfer.models.get(recipe.model)))


def _next_doubling(
    recipe: Recipe, features: ClusterFeatures, batch: Floats, reference: Floats, log_each: Floats
) -> Floats:
    """What each accelerator would lose of ln(rate) among twice as many at most [C]: they share more, have less of the batch each,
    and no step is shorter."""
    half = np.minimum(global_batch(recipe) / np.maximum(2 * features.total, 1), batch)
    sharing = features.rates.steepest
    if not is_reference(recipe) and recipe.phases:
        first = workload(recipe, recipe.phases[0].image_size, features.transfer.models)
        sharing = features.rates_by_twin.steepest + features.transferred(first)[1]
    lost = sharing + reference - _reference(recipe, features, half)
    waiting = log_each.T.max(axis=0) - lost - np.log(half) + _log_least_step(recipe, features)
    return np.asarray(lost + np.where(features.networked, np.maximum(waiting, 0), 0))


def _spread_out(recipe: Recipe, features: ClusterFeatures) -> Flags:
    """Where a batch that nobody published would be shared among more accelerators than it ever was, or than a machine holds."""
    if recipe.global_batch_size or is_reference(recipe) or isinstance(recipe, OwnRecipe):
        return np.zeros(len(features.total), bool)
    own = recipe.system.accelerators if recipe.system else 0
    return np.asarray(features.total > max(own, FULL_NODE))


def _fewest_images(recipe: Recipe) -> float:
    """Per accelerator and step: as few as were measured, or as the user's own run had."""
    if isinstance(recipe, OwnRecipe) and recipe.system:
        return min(FEWEST_IMAGES, global_batch(recipe) / recipe.system.accelerators)
    return FEWEST_IMAGES


def _refusals(features: ClusterFeatures, enough: Floats, room: Floats, answered: Flags) -> Codes:
    """The first reason that holds, in this order; `enough` is the batch in units of the fewest images that a rate holds for."""
    refusal = np.where(answered, 0, REFUSALS.index("no_throughput"))
    for reason, wrong in (
        ("does_not_fit_memory", room < 1),
        ("batch_too_small", enough < 1),
        ("no_network", ~features.networked),
    ):
        refusal[wrong & (refusal == 0)] = REFUSALS.index(reason)
    return refusal.astype(np.int8)


def _modelled(recipe: Recipe, features: ClusterFeatures, reference: Floats) -> Floats:
    """ln(images/s of one accelerator) by the fitted models [C, P], one phase for the reference; NaN where they say nothing."""
    if is_reference(recipe):
        return reference[:, None]
    workloads = [workload(recipe, phase.image_size, features.transfer.models) for phase in recipe.phases]
    known = is_anchored(recipe, features.reference) or features.transfer.knows(recipe.model)
    if not (workloads and known):
        return np.full((len(reference), len(workloads)), np.nan)
    return _carried_over(features, reference, workloads[0], _shift(recipe, workloads, features))


def _carried_over(features: ClusterFeatures, reference: Floats, first: Workload, shift: Floats) -> Floats:
    """ln(images/s of one accelerator) [C, P] from the reference's rates [C], what the hardware adds to those for the first phase,
    and what the software adds in each [P]."""
    hardware, _ = features.transferred(first)
    return np.asarray((reference + hardware)[:, None] + shift)


def of_any_code(workload: Workload, plain: bool = False) -> Workload:
    """This work done by code about which nothing is known, or but that it is a plain loop."""
    return replace(workload, implementation=ANY, compilation=None, plain=plain)


def _anybodys(recipe: Recipe, features: ClusterFeatures, batch: Floats, reference: Floats, plain: bool) -> Floats:
    """The same of a code of which nothing is known: the middle of all codes, or of plain loops; NaN for networks that nobody
    measured."""
    transfer = features.transfer
    phases = recipe.phases[: 1 if is_reference(recipe) else None]
    if not (phases and transfer.knows(recipe.model)):
        return np.full((len(batch), 1), np.nan)
    workloads = [of_any_code(workload(recipe, phase.image_size, transfer.models), plain) for phase in phases]
    shift = np.array([transfer.software(each) for each in workloads])
    by_twin = _by_twin(recipe, features, batch) if is_reference(recipe) else reference
    return _carried_over(features, by_twin, workloads[0], shift)


def _reference(recipe: Recipe, features: ClusterFeatures, batch: Floats) -> Floats:
    """ln(images/s of one accelerator) of the reference network [C], with the recipe's software and cost of small batches."""
    if is_reference(recipe):
        held = np.minimum(batch, features.largest_batch)
        return features.rates.log_rate(held, recipe.year, recipe.framework_family)
    return _by_twin(recipe, features, batch)


def _by_twin(recipe: Recipe, features: ClusterFeatures, batch: Floats) -> Floats:
    """The same where another network runs."""
    slope = features.transfer.slope(recipe)
    return features.rates_by_twin.log_rate(batch, recipe.year, recipe.framework_family, slope)


def _peak(recipe: Recipe, features: ClusterFeatures) -> Floats:
    """ln(images/s) at which one accelerator does nothing but multiply and add at its dense 16-bit peak [C, P]; infinite where the
    data sheet does not say. Training takes three forward passes of two operations for each multiply-add."""
    model = features.transfer.models.get(recipe.model)
    if not (model and model.gmacs):
        return np.full((1, 1), np.inf)
    sides = np.array([phase.image_size / (model.image_size or REFERENCE_SIZE) for phase in recipe.phases])
    columns = 1 if is_reference(recipe) else len(sides)
    return np.asarray(features.log_peak[:, None] - np.log(3 * 2 * model.gmacs * 1e9 * sides[:columns] ** 2))


def _shift(recipe: Recipe, workloads: list[Workload], features: ClusterFeatures) -> Floats:
    """What the recipe's network, implementation and image sizes add to ln(rate) [P]: seen on its own system, or learned from
    others."""
    own, reference, transfer = recipe.system, features.reference_of_chips, features.transfer
    if own is None or not is_anchored(recipe, reference):
        return np.array([transfer.software(each) for each in workloads])
    batch = global_batch(recipe) / own.accelerators
    name = twin(reference.data_sheets.accelerators, own.accelerator)
    setup = Setup(name, own.accelerators_per_node, own.nodes, batch, recipe.year, recipe.framework_family)
    published = workload(recipe.run_as_published(), workloads[0].image_size, transfer.models)
    hardware = transfer.hardware(published, own.accelerator, own.accelerators_per_node)
    rates = np.array(own_rates(recipe))
    otherwise = transfer.software(workloads[0]) - transfer.software(published)
    return np.asarray(
        np.log(rates / own.accelerators) - reference.log_rate(setup, transfer.slope(recipe)) - hardware + otherwise
    )


def is_anchored(recipe: Recipe, reference: ReferenceModel) -> bool:
    """Whether the recipe's rates on its own system are known, and so is the reference's there."""
    own = recipe.system
    return bool(own_rates(recipe)) and own is not None and own.accelerators > 0 and reference.knows(own.accelerator)


def _measured(
    recipe: Recipe, features: ClusterFeatures, measurements: Measurements, batch: Floats
) -> Iterator[tuple[int, list[float]]]:
    """The clusters on which the implementation was measured, with its rates there in each phase; last its own system.

    `batch` is that of each accelerator [C], 0 where no measurement is asked for.
    """
    if recipe.is_run_otherwise or recipe.teacher:
        return
    slope = features.rates_by_twin.slope(features.transfer.slope(recipe))
    for c in np.flatnonzero(measurements.exact & (batch > 0)).tolist():
        rates = measurements.rates(recipe, features.clusters[c], batch[c], slope[c])
        if rates:
            yield c, rates
    for c in _own_system(recipe, features):
        yield c, own_rates(recipe)


def _hold_to_measured(
    log_rate: Floats, features: ClusterFeatures, measured: Collection[int], own: Iterable[int]
) -> None:
    """Makes no accelerator slower than a measured one that is no better off, nor faster than one that is no worse off.

    Of two measured rates the lower one gives way, but to the recipe's own log both. Processors have no accelerators to count, so
    that the rate of many machines says nothing of fewer.
    """
    own, measured = ([c for c in found if features.total[c]] for found in (own, measured))
    if not measured:
        return
    each = log_rate - features.log_total[:, None]
    for c in own:
        _, no_better = features.around(c)
        each[no_better] = np.fmin(each[no_better], each[c])
    for c in measured:
        no_worse, _ = features.around(c)
        each[no_worse] = np.fmax(each[no_worse], each[c])
    for c in measured:
        _, no_better = features.around(c)
        each[no_better] = np.fmin(each[no_better], each[c])
    log_rate[:] = each + features.log_total[:, None]


def _own_system(recipe: Recipe, features: ClusterFeatures) -> list[int]:
    """The clusters like the recipe's own system, where its rates there are the answer."""
    own = recipe.system
    if own is None or not own_rates(recipe) or is_reference(recipe) or recipe.is_run_otherwise:
        return []
    here: list[int] = features.at.get((own.accelerator, own.accelerators, own.nodes), NOWHERE).tolist()
    return here


def _kinds(recipe: Recipe, features: ClusterFeatures, measurements: Measurements) -> Codes:
    """The nearest thing to each cluster that was measured with this recipe's implementation, as codes of KINDS."""
    in_one_machine, anywhere = set(measurements.in_one_machine), set(measurements.anywhere)
    own = recipe.system
    if own and is_anchored(recipe, features.reference):
        anywhere.add(own.accelerator)
        in_one_machine |= {own.accelerator} if own.nodes == 1 else set()
    chips = {features.reference.data_sheets.part(name).chip for name in anywhere}
    if anywhere:
        chips |= features.transfer.chips_of.get(implementation(recipe), frozenset())
    unseen = np.where(features.with_chip(chips), NETWORK, STACK)
    if is_reference(recipe):
        unseen = np.where(features.resembles, ACCELERATOR, unseen)
    elsewhere = np.where(features.with_any(anywhere), MACHINES, unseen)
    kind = np.where(~features.several & features.with_any(in_one_machine), INTERPOLATED, elsewhere)
    exact = features.equal_to([(own.accelerator, own.accelerators, own.nodes)] if own else [])
    if is_reference(recipe):
        exact |= measurements.exact
    kind = np.where(exact, TRANSFERRED, kind).astype(np.int8)
    guessed = (recipe.teacher or len({phase.image_size for phase in recipe.phases}) > 1) and not own_rates(recipe)
    weakest = STACK if guessed else NETWORK if recipe.is_run_otherwise and not is_reference(recipe) else TRANSFERRED
    if not (anywhere or is_reference(recipe) or implementation(recipe) in features.transfer.chips_of):
        weakest = CODE
    return np.maximum(kind, np.int8(weakest))


def shortest_step(model: Model | None) -> float:
    """Seconds below which no step on several machines goes: waiting, and the ring all-reduce of the gradients.

    A ring sends each gradient twice (Patarasuk and Yuan 2009).
    """
    return WAIT_SECONDS + 2 * parameters(model) * GRADIENT_BYTES / NETWORK_BYTES_PER_SECOND
