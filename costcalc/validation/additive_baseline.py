"""The plain method for a network on a measured card: ln(rate) = an effect of the network + an effect of the system."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from costcalc.fitting.transfer import Ratio
from costcalc.throughput.rates import bits, training_rate
from costcalc.units import Floats


def additive(found: Iterable[Ratio], cell: Callable[[Ratio], Hashable]) -> dict[str, float]:
    """By row ln of measured over predicted, from the other cells of the same code and bits; without the rows of which
    network or system is not tied to them."""
    tables: dict[Hashable, list[Ratio]] = defaultdict(list)
    for item in found:
        tables[item.workload.implementation, bits(item.row.precision)].append(item)
    return {name: error for table in tables.values() for name, error in _errors(table, cell)}


def _errors(table: Sequence[Ratio], cell: Callable[[Ratio], Hashable]) -> list[tuple[str, float]]:
    design = np.hstack(
        [_indicators([_network(item) for item in table]), _indicators([_system(item) for item in table])]
    )
    rates = np.array([math.log(training_rate(item.row) / item.row.accelerators) for item in table])
    cells = [cell(item) for item in table]
    errors = []
    for each in dict.fromkeys(cells):
        held = np.array([other == each for other in cells])
        errors += _left_out(design, rates, held)
    return [(table[row].row.name, error) for row, error in errors]


def _left_out(design: Floats, rates: Floats, held: NDArray[np.bool_]) -> list[tuple[int, float]]:
    """The errors of the held rows whose effects the others determine."""
    inverse = np.linalg.pinv(design[~held])
    tied = np.isclose(design @ inverse @ design[~held], design).all(axis=1)
    errors = rates - design @ inverse @ rates[~held]
    return [(int(row), float(errors[row])) for row in np.flatnonzero(held & tied)]


def _indicators(names: Sequence[Hashable]) -> Floats:
    place = {name: column for column, name in enumerate(dict.fromkeys(names))}
    return np.eye(len(place))[[place[name] for name in names]]


def _network(item: Ratio) -> Hashable:
    return item.workload.model, item.workload.image_size


def _system(item: Ratio) -> Hashable:
    return item.row.accelerator, item.row.accelerators, item.row.nodes
