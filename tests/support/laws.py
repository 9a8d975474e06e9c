"""How far answered speeds are from breaking a law, over all recipes of a network, accelerators and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from costcalc.evidence.collection import Evidence
from costcalc.hardware import Accelerator, Cluster
from costcalc.recipes import Recipe
from costcalc.throughput import SpeedModel
from costcalc.throughput.fitted_parameters import TRANSFERRED
from costcalc.training import IMAGES_PER_EPOCH, Model
from costcalc.units import Flags, Floats

SHAPES = ((1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (4, 2), (4, 4), *((8, 2**n) for n in range(1, 8)))
"""Accelerators in a machine, and machines."""
LARGER = [(a, b) for a, b in permutations(range(len(SHAPES)), 2) if all(np.less_equal(SHAPES[a], SHAPES[b]))]
DOUBLED = [(a, b) for a, b in LARGER if 2 * np.prod(SHAPES[a]) == np.prod(SHAPES[b])]
EQUAL = 1 + 1e-6  # rates nearer than this


class Speeds(NamedTuple):
    """A network's recipes on every accelerator in every shape: images/s of one accelerator [R, A, S, P], NaN where refused, and
    half the width of the 80 % range of ln(rate) [R, A, S]. `measured` marks counts of an accelerator that somebody measured the
    code with [R, A, S]."""

    model: Model
    recipes: Sequence[Recipe]
    each: Floats
    half_width: Floats
    measured: Flags


def speeds(evidence: Evidence, parts: Sequence[Accelerator], networks: Iterable[Model]) -> Iterator[Speeds]:
    """Those of the networks that have a recipe."""
    clusters = [Cluster(part.name, *shape) for part in parts for shape in SHAPES]
    count = np.array([cluster.total_accelerators for cluster in clusters])[:, None]
    model = SpeedModel(evidence.throughputs, evidence.fitted)
    for network in networks:
        recipes = evidence.recipes_of(network.name)
        if recipes:
            table = model.speeds(recipes, clusters, evidence.recipes_of_larger(network.name))
            shape = len(recipes), len(parts), len(SHAPES)
            each = IMAGES_PER_EPOCH / table.seconds_per_epoch / count
            measured = (table.kind == TRANSFERRED).reshape(shape)
            yield Speeds(network, recipes, each.reshape(*shape, -1), table.width_80.reshape(shape), measured)


def more_than_linear(of: Speeds, _: Sequence[Accelerator]) -> Floats:
    """One among more of them over one among fewer."""
    fewer, more = np.transpose(LARGER)
    return np.asarray(of.each[:, :, more] / of.each[:, :, fewer])


def beyond_the_data_sheet(of: Speeds, parts: Sequence[Accelerator]) -> Floats:
    """Six operations for each multiply-add over the dense peak in 16 bits."""
    peak = np.array([part.dense_16bit_tflops or np.nan for part in parts]) * 1e12
    sides = np.full((len(of.recipes), of.each.shape[-1]), np.nan)
    for row, recipe in zip(sides, of.recipes, strict=True):
        row[: len(recipe.phases)] = [phase.image_size / (of.model.image_size or np.nan) for phase in recipe.phases]
    flop = 6 * (of.model.gmacs or np.nan) * 1e9 * sides**2
    return np.asarray(of.each * flop[:, None, None] / peak[:, None, None])


def slower_with_more_memory(of: Speeds, parts: Sequence[Accelerator]) -> Floats:
    """The rate with less and slower memory over that with more."""
    pairs = [(a, b) for a, b in permutations(range(len(parts)), 2) if parts[b].is_no_worse_than(parts[a])]
    less, more = np.transpose(pairs)
    return np.asarray(of.each[:, less] / of.each[:, more])


def ranges_apart(of: Speeds, _: Sequence[Accelerator]) -> Floats:
    """The near ends of the ranges of a count and of twice as many, one over the other, where not both were measured."""
    one, two = np.transpose(DOUBLED)
    apart = np.abs(np.log(of.each[:, :, two, 0] / of.each[:, :, one, 0]))
    excess = np.exp(apart - of.half_width[:, :, one] - of.half_width[:, :, two])
    return np.where(of.measured[:, :, one] & of.measured[:, :, two], np.nan, excess)


HELD = {
    "an accelerator is faster among more of them": more_than_linear,
    "six operations for each multiply-add are more than the dense peak": beyond_the_data_sheet,
    "the same chip with more memory is slower": slower_with_more_memory,
    "the 80 % ranges of a count and of twice the count lie apart": ranges_apart,
}
"""Laws that the speed model holds, and how far above each of them every place [R, ...] is, 1 being just allowed."""
