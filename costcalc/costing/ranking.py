"""Order and the frontier of cost and time, on arrays."""

from __future__ import annotations

import numpy as np

from costcalc.units import Flags, Floats, Indices


def first(sort_by: tuple[Floats, ...], count: int) -> Indices:
    """The positions of the `count` smallest in order, ties settled by the later keys, then by position."""
    primary = sort_by[0]
    candidates = np.arange(len(primary))
    if count < len(primary):
        limit = np.partition(primary, count - 1)[count - 1]
        candidates = np.flatnonzero(primary <= limit)
    order = np.lexsort(tuple(key[candidates] for key in reversed(sort_by)))
    return candidates[order[:count]]


def frontier(cost: Floats, hours: Floats) -> Flags:
    """Which points no other beats: none is as good on both cost and time and better on one."""
    order = np.lexsort((cost, hours))
    sorted_cost, sorted_hours = cost[order], hours[order]
    cheapest_before = np.r_[np.inf, np.minimum.accumulate(sorted_cost)[:-1]]
    kept = sorted_cost < cheapest_before
    same = np.r_[False, (sorted_hours[1:] == sorted_hours[:-1]) & (sorted_cost[1:] == sorted_cost[:-1])]
    for position in np.flatnonzero(same):
        kept[position] = kept[position - 1]
    flags = np.zeros(len(cost), bool)
    flags[order] = kept
    return flags
