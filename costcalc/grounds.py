"""What an estimate rests on, whatever its target and price: how its speed and curve are known."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from costcalc.assumptions import (
    NETWORK_OF_TASK,
    SCHEDULE_ALONE,
    SCHEDULE_AND_CODE,
    SCHEDULE_AND_OWN_CODE,
    SCHEDULE_OF_RECORD,
    SCHEDULE_OF_TASK,
    accumulated,
    curve_note,
    fed,
    overhead,
    rewritten,
    whose_code,
)
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTime
from costcalc.hardware import Machine
from costcalc.machine_limits.limits import PARTS, InstanceType
from costcalc.parts import ConvergenceSource, EvidenceNotes, EvidenceTiers, Grounds, ThroughputSource
from costcalc.throughput import TIERS
from costcalc.throughput.fitted_parameters import CODE as OF_OTHER_CODE
from costcalc.throughput.speed_model import PROCESSOR
from costcalc.training import Tier

LOGGED = "Speed as logged on this very system."
FITTED_LATER = "Speeds are fitted to everything published, including results later than the requested date."


def grounds(matrix: TrainingMatrix, time: TrainingTime, kind: InstanceType, with_overheads: bool) -> Grounds:
    """The grounds of a training time on a cluster of such machines."""
    number, cluster, logged, *_ = time
    row, recipe = int(matrix.speed_row[number]), matrix.recipes.recipes[number]
    tier = Tier.MEASURED if logged else TIERS[int(matrix.speeds.tier[row, cluster])]
    is_others = matrix.speeds.kind[row, cluster] == OF_OTHER_CODE  # nobody published a speed of its own
    code = "own" if _is_own(matrix, number, cluster) else "unknown" if is_others else recipe.code
    machines = matrix.clusters[cluster]
    feed, rewriting = matrix.feeds[row], float(matrix.rewriting_hours[number])
    notes = (LOGGED,) if logged else matrix.speeds.notes(row, cluster)
    is_modelled = recipe.is_interpolated or recipe.has_borrowed_curve
    return Grounds(
        tiers=EvidenceTiers(tier, Tier.INTERPOLATED if is_modelled else Tier.MEASURED),
        notes=EvidenceNotes(notes[0], curve_note(recipe)),
        throughput=ThroughputSource(recipe.source, recipe.year)
        if logged
        else _speed_source(matrix, number, cluster, tier),
        convergence=ConvergenceSource(recipe.source),
        limited_by="accelerator" if logged else PARTS[int(matrix.limited.limited_by[row, cluster])],
        assumptions=(*notes, *([] if logged else _modelled(matrix, number, cluster)), *whose_code(code, recipe)),
        network=() if logged else tuple(_network(matrix, number, cluster, kind[2])),
        fed=(
            *((rewritten(feed, rewriting),) if with_overheads and feed and rewriting else ()),
            *(() if logged else fed(matrix.limit_tables, feed, kind, machines.nodes)),
        ),
        code=code,
        usual=() if isnan(matrix.usual.low[row, cluster]) else tuple(float(end[row, cluster]) for end in matrix.usual),
        recipe_kind=recipe.kind,
        command=recipe.command.on(machines.accelerators, machines.nodes) if recipe.command else None,
        overhead=overhead(recipe),
    )


def _modelled(matrix: TrainingMatrix, number: int, cluster: int) -> Iterator[str]:
    """How a run that nobody logged is split over machines and steps, what its speed was fitted to, and what it takes over from
    the recipe."""
    machines, recipe = matrix.clusters[cluster], matrix.recipes.recipes[number]
    steps, batch = int(matrix.speeds.steps[matrix.speed_row[number], cluster]), float(matrix.global_batch[number])
    yield from accumulated(recipe, batch, steps, machines.accelerators * machines.nodes)
    if matrix.is_past:
        yield FITTED_LATER
    if recipe.is_own:
        return
    if recipe.is_closed:
        yield SCHEDULE_OF_RECORD if recipe.code == "contest" else SCHEDULE_OF_TASK
    elif _is_own(matrix, number, cluster):
        yield SCHEDULE_AND_OWN_CODE
    else:
        yield SCHEDULE_ALONE if matrix.usual_code[number] else SCHEDULE_AND_CODE


def _network(matrix: TrainingMatrix, recipe: int, cluster: int, machine: Machine) -> Iterator[str]:
    """The network between several machines, for a run that was not logged on them."""
    rate, overlap = machine.network_gbits_per_second, matrix.fitted.overlap
    if matrix.clusters[cluster].nodes == 1:
        return
    if matrix.recipes.recipes[recipe].is_closed:
        yield NETWORK_OF_TASK
    elif rate is None:
        yield "The speed of these machines' network was not published; it is assumed to be InfiniBand class."
    else:
        yield (
            f"The machines exchange gradients at {overlap.reached:.0%} of {rate:,g} Gb/s each, {overlap.hidden:.0%} of it hidden "
            "behind the backward pass, as in published clusters; the range runs from all of it hidden to none."
        )


def _is_own(matrix: TrainingMatrix, recipe: int, cluster: int) -> bool:
    """Whether the user's own code makes the speed."""
    source = matrix.speeds.source(int(matrix.speed_row[recipe]), cluster)
    return source is not None and source.is_own


def _speed_source(matrix: TrainingMatrix, number: int, cluster: int, tier: Tier) -> ThroughputSource:
    """Where a speed was read, or what it was carried over from: no source states a modelled one."""
    row, recipe = int(matrix.speed_row[number]), matrix.recipes.recipes[number]
    if matrix.speeds.kind[row, cluster] == PROCESSOR:
        return ThroughputSource("carried over from rates of other processors", recipe.year)
    near = matrix.speeds.source(row, cluster) or recipe
    if tier in (Tier.MEASURED, Tier.TRANSFERRED):
        return ThroughputSource(near.source, near.year)
    if near is recipe and not matrix.speeds.anchored[row]:
        return ThroughputSource("carried over from other codes and networks", recipe.year)
    return ThroughputSource(f"carried over from {near.source}", near.year)
