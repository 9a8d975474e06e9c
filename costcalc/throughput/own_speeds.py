"""The user's own measured speeds, which take the place of published ones where they were measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from costcalc.hardware import Cluster
from costcalc.recipes import Recipe
from costcalc.throughput.speed_model import COLUMNS, TIERS, Speeds, SpeedTable
from costcalc.throughput.workloads import REFERENCE_SIZE, SIZE_EXPONENT
from costcalc.training import YOUR_CODE, OwnSpeed, Throughput, Tier
from costcalc.units import Indices

NOT_MEASURED = -1
OWN = "your own code"


def with_own_speeds(
    speeds: SpeedTable, model: Speeds, own: Sequence[Throughput], everywhere: bool = False
) -> SpeedTable:
    """The same speeds [R, C], but on accelerators that the user measured those of the user's code: as measured on the very
    machine, carried over to other numbers of them. `everywhere` carries them over to all other accelerators too."""
    nearest = _nearest(speeds.clusters, own, everywhere)
    speeds = replace(speeds, throughputs=(*speeds.throughputs, *own))
    for number in np.unique(nearest[nearest != NOT_MEASURED]).tolist():
        row, where = own[number], np.flatnonzero(nearest == number)
        clusters = [speeds.clusters[c] for c in where.tolist()]
        mine = model.speeds([with_own_code(recipe, row) for recipe in speeds.recipes], clusters)
        for name in COLUMNS:
            getattr(speeds, name)[:, where] = getattr(mine, name)
        speeds.row[:, where] = len(speeds.throughputs) - len(own) + number
        _mark_measured(speeds, row, where)
    return speeds


def asked_speed(asked: OwnSpeed, model: str, year: int) -> Throughput:
    """The speed that a question names, as a measurement of its model at the usual size of images."""
    return Throughput(
        name=OWN,
        model=model,
        image_size=REFERENCE_SIZE,
        accelerator=asked.accelerator,
        accelerators=asked.accelerators,
        framework=OWN,
        framework_family=OWN,
        stack=OWN,
        images_per_second=asked.images_per_second,
        data="real",
        organisation=YOUR_CODE,
        year=year,
        source="the speed in your question",
        code="own",
    )


def with_own_code(recipe: Recipe, own: Throughput) -> Recipe:
    """The recipe as the user's code runs it on the machine where its speed was measured; images of other sizes take time in
    proportion to SIZE_EXPONENT."""
    phases = (
        replace(phase, images_per_second=own.images_per_second * (own.image_size / phase.image_size) ** SIZE_EXPONENT)
        for phase in recipe.phases
    )
    return replace(
        recipe,
        stack=own.stack,
        framework_family=own.framework_family,
        precision=own.precision or recipe.precision,
        system=own.system,
        phases=tuple(phases),
        year=own.year,
    )


def _nearest(clusters: Sequence[Cluster], own: Sequence[Throughput], everywhere: bool) -> Indices:
    """For each cluster the measurement on the most similar number of its accelerators, the last of equal ones; NOT_MEASURED on
    other accelerators, unless those count too, behind its own."""
    nearest = np.full(len(clusters), NOT_MEASURED, np.int64)
    for c, cluster in enumerate(clusters):
        distances = [
            (
                row.accelerator != cluster.accelerator,
                abs(math.log(max(cluster.total_accelerators, 1) / max(row.accelerators, 1))),
                -number,
            )
            for number, row in enumerate(own)
            if everywhere or row.accelerator == cluster.accelerator
        ]
        if distances:
            nearest[c] = -min(distances)[-1]
    return nearest


def _mark_measured(speeds: SpeedTable, row: Throughput, where: Indices) -> None:
    """On the very machine a speed is known as well as that of a run that is repeated."""
    for c in where.tolist():
        cluster = speeds.clusters[c]
        if (cluster.accelerator, cluster.total_accelerators, cluster.nodes) == (
            row.accelerator,
            row.accelerators,
            row.nodes,
        ):
            speeds.tier[:, c] = TIERS.index(Tier.MEASURED)
            speeds.width_80[:, c] = speeds.width_faster[:, c] = speeds.widths["own"].ln
