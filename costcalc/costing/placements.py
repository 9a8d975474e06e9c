"""Which offers a question allows, and on which sites each can be used: rows and sites, not yet times or costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costcalc.catalogue.catalogue import OPTIONS, Catalogue, View
from costcalc.duration.training_matrix import Plan
from costcalc.offers import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.throughput import REFUSALS
from costcalc.units import Flags, Indices

STALE_PRICE, NO_MATCHING_OFFER, NO_MATCHING_CLUSTER = "stale_price", "no_matching_offer", "no_matching_cluster"
FREE = OPTIONS.index(PurchaseOption.FREE)
Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Placements:
    """One entry per offer and site it can be used as: `row` of the catalogue, `site` of the plan."""

    row: Indices
    site: Indices
    unplaced: dict[str, int]


def allowed_rows(catalogue: Catalogue, view: View, query: EstimateQuery) -> Indices:
    """The current offers that pass the filters; only the cheapest region of each unless all are asked for."""
    every = query.regions == "all" or bool(query.region)
    rows = view.rows if every else view.rows[view.heads]
    rows = passing(catalogue, query, rows)
    if query.region and query.regions == "cheapest":
        groups = catalogue.columns.group[rows]
        rows = rows[np.r_[True, groups[1:] != groups[:-1]]] if len(rows) else rows
    return rows


def passing(catalogue: Catalogue, query: EstimateQuery, rows: Indices) -> Indices:
    """Those of these rows that the filters on offers let through."""
    columns, words = catalogue.columns, catalogue.vocabulary
    payments = tuple(payment.value for payment in query.payment)
    tests: list[tuple[tuple[str, ...], Codes, tuple[str, ...]]] = [
        (query.region, columns.region, words.regions),
        (query.term, columns.term, words.terms),
        (payments, columns.payment, words.payments),
        (query.purchase, columns.option, OPTIONS),
        (query.provider, columns.instance, tuple(provider for provider, _, _ in words.instances)),
        (query.instance_type, columns.instance, tuple(name for _, name, _ in words.instances)),
        (query.accelerator, columns.instance, tuple(machine.accelerator for *_, machine in words.instances)),
    ]
    for wanted, codes, meanings in tests:
        if wanted:
            rows = rows[_member(meanings, wanted)[codes[rows]]]
    return rows


def _member(meanings: Iterable[str], wanted: Iterable[str]) -> Flags:
    folded = {word.casefold() for word in wanted}
    return np.array([meaning.casefold() in folded for meaning in meanings], bool)


def used_sites(plan: Plan, placed: Placements) -> Flags:
    """The sites that some offer can be used as."""
    return _among(placed.site, len(plan.sites))


def idle(plan: Plan, query: EstimateQuery, placed: Placements, usable: Flags, ran: Indices) -> dict[str, int]:
    """The offers on none of whose sites any of the usable recipes ran, counted by reason.

    `ran` are the sites on which some did. Of an offer's sites the one with the fewest machines gives the reason.
    """
    if not usable.any() or not len(placed.row):
        return {}
    answered = _among(placed.row[_among(ran, len(plan.sites))[placed.site]], placed.row.max() + 1)
    left = np.flatnonzero(~answered[placed.row])
    _, first = np.unique(placed.row[left], return_index=True)
    return dict(Counter(_why(plan, query, usable)[placed.site[left[first]]].tolist())) if len(left) else {}


def _among(chosen: Indices, size: int) -> Flags:
    flags = np.zeros(size, bool)
    flags[chosen] = True
    return flags


def _why(plan: Plan, query: EstimateQuery, usable: Flags) -> NDArray[np.str_]:
    """Why none of the usable recipes ran on each site, if none did."""
    if query.evidence == "measured":
        return np.full(len(plan.sites), "not_measured")
    free = usable & ~plan.tied
    if not free.any():
        return np.full(len(plan.sites), "own_system_only")
    return np.asarray(np.array(REFUSALS)[plan.speeds.refusal[plan.kind[free]].max(axis=0)])


def placements(catalogue: Catalogue, plan: Plan, view: View, query: EstimateQuery) -> Placements:
    """Every site on which each allowed offer can be used; offers without any, and those too old, are counted by reason."""
    rows, stale = allowed_rows(catalogue, view, query), passing(catalogue, query, view.stale)
    instances, free = catalogue.columns.instance[rows], catalogue.columns.option[rows] == FREE
    found_rows, found_sites = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    anywhere = np.zeros(len(rows), bool)
    for nodes, site_of_instance in plan.site_of_instances(catalogue).items():
        sites = site_of_instance[instances]
        here = (sites >= 0) & ~(free & (nodes > 1))  # a free tier lends each of us one machine
        anywhere |= here
        found_rows.append(rows[here])
        found_sites.append(sites[here])
    unplaced = _reasons(catalogue, plan, instances[~anywhere])
    unplaced |= {STALE_PRICE: len(stale), NO_MATCHING_OFFER: int(not len(rows) and not len(stale))}
    return Placements(np.concatenate(found_rows), np.concatenate(found_sites), unplaced)


def _reasons(catalogue: Catalogue, plan: Plan, instances: Codes) -> dict[str, int]:
    if not plan.recipes:
        return {}  # no speed is missing: there is nothing to run
    by_shape = Counter(catalogue.shape_of_instance[instances].tolist())
    counted: Counter[str] = Counter()
    for shape, count in by_shape.items():
        counted[plan.refused.get(catalogue.shapes[shape], NO_MATCHING_CLUSTER)] += count
    return dict(counted)
