"""Which offers are current at a moment, as functions over the columns of all observations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from costcalc.catalogue.columns import Columns, Int32, Int64
from costcalc.catalogue.confirmation import enough_since
from costcalc.units import Flags, Indices

NONE: Indices = np.zeros(0, np.int64)


class CurrentOffers(Struct, frozen=True, eq=False, weakref=True):
    """The offers current at one moment and not too old, cheapest region first within each group.

    All index the catalogue's columns. `listed` are ordered by instance, group (an offer's key without its region) and rate.
    `rows` are those of them that are first hand, and those of groups that have no first-hand one; `heads` are the positions
    in `rows` where a group starts. `second_hand` are the others of `listed`; `stale` are the rows left out as too old,
    `unconfirmed` those whose rates nobody vouches for, where these are not wanted.
    """

    listed: Indices
    rows: Indices
    heads: Indices
    second_hand: Indices
    stale: Indices
    unconfirmed: Indices


class Marks(NamedTuple):
    """What the flags of all rows say, and when they begin to count, as in `Catalogue`."""

    first_hand: Flags
    ended: Flags
    own: Flags
    counts_from: Int64


def current_between(columns: Columns, marks: Marks, moments: Indices, newest: int, oldest: int) -> CurrentOffers:
    """The offers that count before the moment numbered `newest`. Those seen from the one numbered `oldest` on are fresh, as are
    the user's own machines at any age."""
    rows = _newest_of_each(columns.key, marks.counts_from, moments, newest)
    rows = rows[~marks.ended[rows]]
    fresh = np.full(len(rows), oldest < len(moments))
    if 0 < oldest < len(moments):
        fresh = columns.observed[rows] >= moments[oldest]
    fresh |= marks.own[rows]
    listed = rows[fresh]
    listed = listed[np.lexsort((columns.hourly[listed], columns.group[listed]))]
    return of_listed(columns, marks.first_hand, listed, rows[~fresh])


def of_listed(
    columns: Columns, first_hand: Flags, listed: Indices, stale: Indices, unconfirmed: Indices = NONE
) -> CurrentOffers:
    """These offers, of which some are left out for their age or since nobody vouches for them."""
    away = gives_way(columns, first_hand, listed)
    rows = listed[~away]
    return CurrentOffers(listed, rows, starts(columns.group[rows]), listed[away], stale, unconfirmed)


def confirmed_since(
    columns: Columns,
    providers: Indices,
    vouched: Flags,
    find: Callable[[int, int], CurrentOffers],
    newest: int,
    oldest: int,
) -> Indices:
    """`enough_since` of the offers that are current between these moments."""
    listed = find(newest, oldest).listed
    return enough_since(columns, providers, listed[vouched[listed]])


def gives_way(columns: Columns, first_hand: Flags, rows: Indices) -> Flags:
    """Which of these second-hand rows give way, because their group has a first-hand one."""
    group, first = columns.group[rows], first_hand[rows]
    has_first = np.zeros(int(group.max(initial=-1)) + 1, bool)
    has_first[group[first]] = True
    return has_first[group] & ~first


def _newest_of_each(keys: Int32, counting: Int64, moments: Indices, newest: int) -> Indices:
    """The newest row of each key before a moment. Rows are ordered by key and by when they count: it is the last of its run."""
    rows = np.arange(len(keys))
    if newest < len(moments):
        rows = np.flatnonzero(counting < moments[newest])
    keys = keys[rows]
    last = np.ones(len(rows), bool)
    last[:-1] = keys[1:] != keys[:-1]
    return rows[last]


def starts(groups: NDArray[np.int32]) -> Indices:
    """Where each run of equal numbers begins."""
    if not len(groups):
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
