"""A training matrix of made-up recipes on made-up clusters."""

import numpy as np
from msgspec.structs import replace

from costcalc.convergence.eligibility import ModelRecipes
from costcalc.duration.offered_clusters import NOWHERE, OfferedCluster
from costcalc.duration.running import Runs, Usual
from costcalc.duration.training_matrix import TrainingMatrix, UsualCode
from costcalc.hardware import Cluster
from costcalc.machine_limits.known_limits import NOTHING_AROUND
from costcalc.machine_limits.limits import slowest
from costcalc.programs import ProgramSupport
from costcalc.throughput import REFUSALS, SpeedTable
from costcalc.throughput.fitted_parameters import USUAL_OVERLAP, ElapsedTime, HalfWidth, unfitted
from costcalc.throughput.speed_model import TIERS
from costcalc.training import Tier

WIDTH, OWN_WIDTH = 0.1, 0.03
INSTANCES = 9  # at most so many instance types, all of one shape, are in the catalogues that such a matrix goes with


def matrix(recipes, seconds, nodes=(1,), own=None, speed_row=None, refusals=None, limits=()) -> TrainingMatrix:
    """Recipes on one cluster of four accelerators a machine for each of `nodes`; `seconds` [phase][row of speeds][cluster] is per
    epoch, infinite where refused."""
    seconds = tuple(np.array(phase, float) for phase in seconds)
    shape = seconds[0].shape
    codes = np.where(np.isinf(seconds[0]), REFUSALS.index("no_throughput"), 0) if refusals is None else refusals
    speeds = SpeedTable(
        throughputs=(),
        seconds_per_epoch=np.zeros((*shape, 0)),
        refusal=np.array(codes, np.int8),
        tier=np.full(shape, TIERS.index(Tier.TRANSFERRED), np.int8),
        kind=np.zeros(shape, np.int8),
        steps=np.ones(shape, np.int32),
        beside_larger=np.zeros(shape, np.int8),
        width_80=np.full(shape, WIDTH, np.float32),
        width_faster=np.full(shape, WIDTH, np.float32),
        row=np.full(shape, -1, np.int32),
        usual_low=np.full(shape, np.nan, np.float32),
        usual_high=np.full(shape, np.nan, np.float32),
    )
    return TrainingMatrix(
        recipes=ModelRecipes(tuple(recipes), 0.07),
        clusters=tuple(OfferedCluster(0, 4, count) for count in nodes),
        clusters_of_instances={count: np.full(INSTANCES, place) for place, count in enumerate(nodes)},
        in_blocks_alone={},
        speeds=speeds,
        speed_row=np.array(range(len(recipes)) if speed_row is None else speed_row, np.int64),
        limited=slowest(seconds, speeds.width_80, limits),
        own_cluster=np.array([NOWHERE] * len(recipes) if own is None else own, np.int64),
        feeds=(None,) * shape[0],
        limit_tables=NOTHING_AROUND,
        refusals={},
        fitted=replace(
            unfitted({}),
            elapsed_time=ElapsedTime(0.5, 0.75),
            overlap=USUAL_OVERLAP,
            widths={"own": HalfWidth(OWN_WIDTH, by_rule=False)},
        ),
        usual=UsualCode(*np.full((2, *shape), np.nan)),
        most_run=Usual.of((), recipes, [""] * len(nodes)),
        runs=Runs.of(ProgramSupport((), {}, {}), recipes, [Cluster("", 4, count) for count in nodes], {}),
    )
