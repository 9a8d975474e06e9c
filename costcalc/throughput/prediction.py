"""One recipe on all clusters: rates, refusals and the kind of evidence, as arrays."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from costcalc.recipes import Recipe
from costcalc.throughput.cluster_features import ClusterFeatures
from costcalc.throughput.fitted_parameters import CODE, INTERPOLATED, MACHINES, TRANSFERRED
from costcalc.throughput.measurements import Measurements
from costcalc.throughput.reference_model import FULL_NODE
from costcalc.throughput.work_on_clusters import WorkOnClusters, on_clusters
from costcalc.throughput.workloads import implementation
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
RAISED, LOWER = 1, 2
EQUAL = 1e-6  # ln(rates) nearer than this
UNKNOWN_OF_DOUBLING = 0.5  # of what twice as many accelerators would lose


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
    work = on_clusters(recipe, features, images_per_gib)
    own_each = np.minimum(work.modelled, work.peak)
    log_each = np.maximum(own_each, of_larger)
    modelled, hasty = work.waiting(log_each)
    refusal, kind = _refusals(work, modelled, hasty), _kinds(work, measurements)
    log_rate = modelled.copy()
    measured = dict(work.measured(measurements, refusal == 0))
    for c, rates in measured.items():
        log_rate[c], refusal[c], kind[c] = np.log(rates), 0, TRANSFERRED
    work.hold_to_measured(log_rate, measured)
    final_each = log_rate - features.log_total[:, None]
    return Prediction(
        log_rate,
        refusal,
        kind,
        _beyond_measured(work, kind),
        work.steps,
        least_width=np.where(kind == TRANSFERRED, 0, UNKNOWN_OF_DOUBLING * np.fmax(work.next_doubling(log_each), 0)),
        beside_larger=_beside_larger(own_each, final_each, of_larger, (modelled - log_rate > EQUAL)),
        other_code=(final_each - work.by_anybody(plain=False)).mean(axis=1),
        plain_code=(final_each - work.by_anybody(plain=True)).mean(axis=1),
        headroom=(work.roof - final_each).min(axis=1),
    )


def carried_over(recipe: Recipe, features: ClusterFeatures, images_per_gib: float) -> Floats:
    """ln(images/s of one accelerator) [C, P] by the fitted models alone, no measurement of the very same cluster considered;
    minus infinity where they say nothing."""
    work = on_clusters(recipe, features, images_per_gib)
    return np.nan_to_num(np.minimum(work.modelled, work.peak), nan=-np.inf)


def same_work(recipe: Recipe) -> tuple[object, ...]:
    """Of recipes that agree in this the one with the larger network of a series never takes less time."""
    sizes = tuple(phase.image_size for phase in recipe.phases)
    return recipe.stack, recipe.precision, recipe.global_batch_size, recipe.teacher, sizes


def _refusals(work: WorkOnClusters, modelled: Floats, hasty: Flags) -> Codes:
    """The first reason that holds, in this order."""
    answered = np.isfinite(modelled).all(axis=1) & work.features.predictable
    refusal = np.where(answered, 0, REFUSALS.index("no_throughput"))
    for reason, wrong in (
        ("does_not_fit_memory", work.room < 1),
        ("batch_too_small", hasty | work.spread_out | work.has_few_images),
        ("no_network", ~work.features.networked),
    ):
        refusal[wrong & (refusal == 0)] = REFUSALS.index(reason)
    return refusal.astype(np.int8)


def _kinds(work: WorkOnClusters, measurements: Measurements) -> Codes:
    """The nearest thing to each cluster that was measured with this recipe's implementation, as codes of KINDS."""
    recipe, features, home = work.recipe, work.features, work.recipe.home
    own = {home.accelerator} if work.is_anchored else set()
    anywhere = measurements.anywhere | own
    in_one_machine = measurements.in_one_machine | (own if home.nodes == 1 else set())
    chips_of_code = features.transfer.chips_of.get(implementation(recipe), frozenset())
    chips = {features.reference.data_sheets.part(name).chip for name in anywhere}
    if anywhere:
        chips |= chips_of_code
    elsewhere = np.where(features.with_any(anywhere), MACHINES, work.unseen_kind(chips))
    kind = np.where(~features.several & features.with_any(in_one_machine), INTERPOLATED, elsewhere)
    kind = np.where(work.is_exact(measurements), TRANSFERRED, kind).astype(np.int8)
    return np.maximum(kind, np.int8(work.weakest_kind if anywhere or chips_of_code else CODE))


def _beyond_measured(work: WorkOnClusters, kind: Codes) -> Flags:
    """Where many machines are modelled on top of what was measured on fewer."""
    features = work.features
    several = features.several & (kind > INTERPOLATED) & (features.nodes != work.measured_nodes)
    return np.asarray(several | ((features.total > FULL_NODE) & (kind == INTERPOLATED)))


def _beside_larger(own_each: Floats, final_each: Floats, of_larger: Floats | float, held_down: Flags) -> Codes:
    """RAISED where the modelled rate was below that of a larger network, LOWER where a measurement holds it below."""
    lower = (held_down & (final_each < of_larger - EQUAL)).any(axis=1)
    raised = (own_each < of_larger).any(axis=1)
    return np.where(lower, LOWER, RAISED * raised).astype(np.int8)
