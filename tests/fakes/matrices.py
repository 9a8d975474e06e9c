"""A training matrix of made-up recipes on made-up clusters."""

import numpy as np

from costcalc.convergence.eligibility import ModelRecipes
from costcalc.duration.training_matrix import NOWHERE, OfferedCluster, TrainingMatrix
from costcalc.throughput import REFUSALS, SpeedTable
from costcalc.throughput.fitted_parameters import ElapsedTime, HalfWidth

WIDTH, OWN_WIDTH = 0.1, 0.03


def matrix(recipes, seconds, nodes=(1,), own=None, speed_row=None, refusals=None) -> TrainingMatrix:
    """Recipes on one cluster of four accelerators a machine for each of `nodes`; `seconds` [phase][row of speeds][cluster] is per
    epoch, infinite where refused."""
    seconds = tuple(np.array(phase, float) for phase in seconds)
    shape = seconds[0].shape
    codes = np.where(np.isinf(seconds[0]), REFUSALS.index("no_throughput"), 0) if refusals is None else refusals
    speeds = SpeedTable(
        throughputs=(),
        seconds_per_epoch=np.zeros((*shape, 0)),
        refusal=np.array(codes, np.int8),
        tier=np.zeros(shape, np.int8),
        kind=np.zeros(shape, np.int8),
        steps=np.ones(shape, np.int32),
        width_80=np.full(shape, WIDTH, np.float32),
        row=np.full(shape, -1, np.int32),
        sentences=(),
    )
    return TrainingMatrix(
        recipes=ModelRecipes(tuple(recipes), 0.07),
        clusters=tuple(OfferedCluster(0, 4, count) for count in nodes),
        speeds=speeds,
        speed_row=np.array(range(len(recipes)) if speed_row is None else speed_row, np.int64),
        seconds_per_epoch=seconds,
        own_cluster=np.array([NOWHERE] * len(recipes) if own is None else own, np.int64),
        refusals={},
        elapsed_time=ElapsedTime(0.5, 0.75),
        widths={"own": HalfWidth(OWN_WIDTH, by_rule=False)},
    )
