"""Which offers a question allows, and the clusters that each can be rented for: neither hours nor costs yet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costcalc.catalogue.catalogue import OPTIONS, Catalogue, CurrentOffers, OfferFilter
from costcalc.duration.training_matrix import NOWHERE, TrainingMatrix
from costcalc.offers import PurchaseOption
from costcalc.units import Flags, Indices

STALE_PRICE, NO_MATCHING_OFFER, NO_MATCHING_CLUSTER = "stale_price", "no_matching_offer", "no_matching_cluster"
FREE = OPTIONS.index(PurchaseOption.FREE)


@dataclass(frozen=True, eq=False)
class AllowedOffers:
    """One entry per offer and cluster that it can be rented for: `row` of the catalogue, `cluster` of the training matrix.

    `rejections` counts by reason the offers of which no cluster can be rented, and those too old. `clusters` flags which of the
    matrix's C clusters some offer can be rented for.
    """

    row: Indices
    cluster: Indices
    clusters: Flags
    rejections: dict[str, int]


def allowed_offers(
    catalogue: Catalogue, matrix: TrainingMatrix, current: CurrentOffers, wanted: OfferFilter
) -> AllowedOffers:
    """Every current offer that passes the filter with every cluster of the matrix that it can be rented for."""
    rows, stale = catalogue.allowed_rows(current, wanted), catalogue.passing_rows(current.stale, wanted)
    instances, free = catalogue.columns.instance[rows], catalogue.columns.option[rows] == FREE
    found_rows, found_clusters = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    anywhere = np.zeros(len(rows), bool)
    for nodes, cluster_of_instance in matrix.clusters_of_instances(catalogue).items():
        clusters = cluster_of_instance[instances]
        here = (clusters != NOWHERE) & ~(free & (nodes > 1))  # a free tier lends each of us one machine
        anywhere |= here
        found_rows.append(rows[here])
        found_clusters.append(clusters[here])
    rejections = _without_cluster(catalogue, matrix, instances[~anywhere])
    rejections |= {STALE_PRICE: len(stale), NO_MATCHING_OFFER: int(not len(rows) and not len(stale))}
    cluster = np.concatenate(found_clusters)
    in_use = np.bincount(cluster, minlength=len(matrix.clusters)) > 0
    return AllowedOffers(np.concatenate(found_rows), cluster, in_use, rejections)


def _without_cluster(
    catalogue: Catalogue, matrix: TrainingMatrix, instances: NDArray[np.integer[Any]]
) -> dict[str, int]:
    """How many offers of these instance types no cluster stands for, by reason."""
    if not matrix.recipes.recipes:
        return {}  # no speed is missing: there is nothing to run
    by_shape = Counter(catalogue.shape_of_instance[instances].tolist())
    counted: Counter[str] = Counter()
    for shape, count in by_shape.items():
        counted[matrix.refusals.get(catalogue.shapes[shape], NO_MATCHING_CLUSTER)] += count
    return dict(counted)
