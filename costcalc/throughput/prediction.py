"""One recipe on all clusters: rates, refusals and the kind of evidence, as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costcalc.throughput.cluster_features import Field
from costcalc.throughput.data_sheets import silicon, twin
from costcalc.throughput.fitted_parameters import KINDS
from costcalc.throughput.measurements import Measurements
from costcalc.throughput.memory import most_images
from costcalc.throughput.reference_model import FULL_NODE, REFERENCE_BATCH, Core, Setting, step_overhead
from costcalc.throughput.speed_table import REFUSALS
from costcalc.throughput.steps import SHORTEST_SECONDS, shortest_step
from costcalc.throughput.workloads import Work, code, own_rates, work
from costcalc.training import Recipe
from costcalc.units import Flags, Floats

FEWEST_IMAGES = 8.0  # per accelerator and step; the smallest measured is 15


@dataclass(frozen=True, eq=False)
class Column:
    """By cluster: ln(images/s of all accelerators) in each phase [C, P], code of REFUSALS, code of KINDS, whether many
    machines are modelled on top of that kind, and in how many steps memory makes it take the batch."""

    log_rate: Floats
    refusal: NDArray[np.int8]
    kind: NDArray[np.int8]
    spread_out: Flags
    steps: Floats


def is_reference(recipe: Recipe) -> bool:
    """Whether the core model speaks of this recipe's own code, network and image size."""
    return recipe.stack == "mlperf" and recipe.model == "resnet50" and {p.image_size for p in recipe.phases} == {224}


def column(recipe: Recipe, field: Field, measurements: Measurements) -> Column:
    """The recipe's rates on every cluster; on its own system, and where its code was measured on the very same one, that rate."""
    batch, steps, room = _batch(recipe, field, measurements)
    log_rate, hasty = _waiting(recipe, field, batch, _modelled(recipe, field, batch))
    kind = _kinds(recipe, field, measurements)
    refusal = _refusals(field, np.where(hasty, 0.0, batch), room, np.asarray(np.isfinite(log_rate).all(axis=1)))
    enough = batch >= FEWEST_IMAGES  # a rate measured with a larger batch is not this recipe's
    for c, rates in _measured(recipe, field, measurements, enough & ~(is_reference(recipe) & (refusal == 0))):
        log_rate[c], refusal[c], kind[c] = np.log(rates), 0, KINDS.index("transferred")
    steps[_own(recipe, field)] = 1  # however it held its batch, its rate is that of it
    own = recipe.system.nodes if recipe.system and _anchored(recipe, field.core) and not is_reference(recipe) else 1
    several = field.several & (kind > 1) & (field.nodes != own)
    crowded = (field.total > FULL_NODE) & (kind == KINDS.index("interpolated"))
    return Column(log_rate, refusal, kind, several | crowded, steps)


def _measured(
    recipe: Recipe, field: Field, measurements: Measurements, allowed: Flags
) -> Iterator[tuple[int, list[float]]]:
    """The clusters on which the recipe's code was measured, with its rates there in each phase; last its own system."""
    for c in np.flatnonzero(_exact(field, measurements) & allowed).tolist():
        found = measurements.match(recipe, field.clusters[c])
        if found:
            yield c, [match.images_per_second for match in found]
    for c in _own(recipe, field):
        yield c, own_rates(recipe)


def _own(recipe: Recipe, field: Field) -> list[int]:
    """The clusters like the recipe's own system, where its rates there are the answer."""
    own = recipe.system
    if own is None or not own_rates(recipe) or is_reference(recipe):
        return []
    return field.at.get((own.accelerator, own.accelerators, own.nodes), [])


def _batch(recipe: Recipe, field: Field, measurements: Measurements) -> tuple[Floats, Floats, Floats]:
    """On each cluster images per accelerator and step, how many steps of them make a batch, and what the memory holds: larger
    batches are accumulated."""
    model = field.relative.models.get(recipe.model)
    largest = max((phase.image_size for phase in recipe.phases), default=224)
    seen = 0.0 if is_reference(recipe) else measurements.densest(model, field.core.chips)
    rooms = [most_images(gib, model, largest, recipe.precision, seen) for gib in field.memory.tolist()]
    room = np.array(rooms, np.float64)[field.memory_of]
    wanted = global_batch(recipe) / np.maximum(field.total, 1)
    steps = np.maximum(np.ceil(wanted / np.maximum(room, 1)), 1)
    return wanted / steps, steps, room


def _waiting(recipe: Recipe, field: Field, batch: Floats, log_each: Floats) -> tuple[Floats, Flags]:
    """ln(images/s of all accelerators), no step of many machines being shorter than they wait for one another; and whether
    the step would be shorter than any measured."""
    many = np.flatnonzero(field.several)
    step = np.log(batch[many])[:, None] - log_each[many]
    least = math.log(shortest_step(field.relative.models.get(recipe.model)))
    hasty = np.zeros(len(batch), bool)
    hasty[many] = (step < math.log(SHORTEST_SECONDS)).any(axis=1)
    log_rate = log_each + field.log_total[:, None]
    log_rate[many] -= np.maximum(least - step, 0)
    return log_rate, hasty


def global_batch(recipe: Recipe) -> float:
    """The recipe's batch; an unknown one is taken as 256 images on each accelerator of its own system, or of eight."""
    own = recipe.system.accelerators if recipe.system and recipe.system.accelerators else FULL_NODE
    return recipe.global_batch_size or REFERENCE_BATCH * own


def _refusals(field: Field, batch: Floats, room: Floats, answered: Flags) -> NDArray[np.int8]:
    refusal = np.where(answered & field.known, 0, REFUSALS.index("no_throughput"))
    for reason, wrong in (
        ("does_not_fit_memory", room < 1),
        ("batch_too_small", batch < FEWEST_IMAGES),
        ("no_network", ~field.networked),
    ):
        refusal[wrong & (refusal == 0)] = REFUSALS.index(reason)
    return refusal.astype(np.int8)


def _modelled(recipe: Recipe, field: Field, batch: Floats) -> Floats:
    if is_reference(recipe):
        return field.log_rate(np.minimum(batch, field.largest_batch), recipe.year, recipe.framework)[:, None]
    steeper = field.relative.slope(recipe.model)
    reference = field.twins.log_rate(batch, recipe.year, recipe.framework, steeper)[:, None]
    works = _works(recipe, field)
    if not works or not (_anchored(recipe, field.core) or field.relative.knows(recipe.model)):
        return np.full((len(batch), len(works)), np.nan)
    return np.asarray(reference + field.hardware(works[0])[:, None] + _shift(recipe, works, field)[None, :])


def _shift(recipe: Recipe, works: list[Work], field: Field) -> Floats:
    """What the recipe's network, code and image sizes add to ln(rate): seen on its own system, or learned from others."""
    own = recipe.system
    if own is None or not _anchored(recipe, field.core):
        return np.array([field.relative.software(work) for work in works])
    batch = global_batch(recipe) / own.accelerators
    setting = Setting(twin(own.accelerator), own.accelerators_per_node, own.nodes, batch, recipe.year, recipe.framework)
    steeper = field.relative.slope(recipe.model) * step_overhead(batch)
    hardware = field.relative.hardware(works[0], own.accelerator, own.accelerators_per_node)
    rates = np.array(own_rates(recipe))
    return np.asarray(np.log(rates / own.accelerators) - field.core.log_rate(setting) - steeper - hardware)


def _anchored(recipe: Recipe, core: Core) -> bool:
    own = recipe.system
    return bool(own_rates(recipe)) and own is not None and own.accelerators > 0 and core.knows(own.accelerator)


def _works(recipe: Recipe, field: Field) -> list[Work]:
    return [work(recipe, phase.image_size, field.relative.models) for phase in recipe.phases]


def _exact(field: Field, measurements: Measurements) -> Flags:
    return field.equal_to({(cell.accelerator, cell.accelerators, cell.nodes) for cell in measurements.cells})


def _kinds(recipe: Recipe, field: Field, measurements: Measurements) -> NDArray[np.int8]:
    """The nearest thing to each cluster that was measured with this recipe's code."""
    alone = {cell.accelerator for cell in measurements.cells if cell.nodes == 1}
    seen = {cell.accelerator for cell in measurements.cells}
    own = recipe.system
    if own and _anchored(recipe, field.core):
        seen.add(own.accelerator)
        alone |= {own.accelerator} if own.nodes == 1 else set()
    one_node = ~field.several & field.with_any(alone)
    same = field.equal_to([(own.accelerator, own.accelerators, own.nodes)] if own else [])
    alike = field.familiar & is_reference(recipe)
    foreign = np.where(_related(recipe, field, seen), KINDS.index("network"), KINDS.index("stack"))
    unseen = np.where(alike, KINDS.index("accelerator"), foreign)
    elsewhere = np.where(field.with_any(seen), KINDS.index("machines"), unseen)
    kind = np.where(one_node, KINDS.index("interpolated"), elsewhere)
    exact = same | (_exact(field, measurements) if is_reference(recipe) else False)
    found = np.where(exact, KINDS.index("transferred"), kind).astype(np.int8)
    guessed = len({phase.image_size for phase in recipe.phases}) > 1 and not own_rates(recipe)
    return np.maximum(found, KINDS.index("stack")) if guessed else found


def _related(recipe: Recipe, field: Field, seen: set[str]) -> Flags:
    """The clusters whose chip the code was measured on with another network or precision, or with another memory; of a
    network that the code was never measured with, none."""
    chips = field.relative.chips_of.get(code(recipe), frozenset()) | {silicon(name) for name in seen} if seen else ()
    return field.with_any(name for name in field.of_accelerator if silicon(name) in chips)
