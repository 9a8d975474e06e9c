"""What picks should meet: a rate that is vouched for and fresh, machines that one can rent for this run, code that runs there."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes
from costcalc.evidence import Evidence
from costcalc.offers import COMMITMENTS, PurchaseOption
from costcalc.picks import SURE
from costcalc.query import EstimateQuery
from costcalc.units import SECONDS_PER_DAY, Flags, Indices

FRESH_DAYS = {PurchaseOption.ON_DEMAND: 90, PurchaseOption.SPOT: 14, PurchaseOption.CAPACITY_BLOCK: 14}
LONGER_FRESH_DAYS = 180


def are_confirmed(catalogue: Catalogue, row: Indices, as_of: datetime) -> Flags:
    """Which rates are vouched for and fresh at `as_of`."""
    columns = catalogue.columns
    days = (int(as_of.timestamp()) - columns.observed[row]) // SECONDS_PER_DAY
    fresh = np.array([FRESH_DAYS.get(option, LONGER_FRESH_DAYS) for option in OPTIONS])[columns.option[row]]
    return np.asarray(catalogue.own[row] | (catalogue.first_hand[row] & (days <= fresh)))


def are_rentable(catalogue: Catalogue, row: Indices, query: EstimateQuery) -> Flags:
    """Which offers one can have for this run alone: on demand, or as the question says; by effective cost, which other work
    shares, commitments and monthly rentals too. The asker's own machines always."""
    if query.purchase:
        return np.ones(len(row), bool)
    shared = {*COMMITMENTS, PurchaseOption.MONTHLY} if query.basis == "effective" else set()
    allowed = np.array([option in {PurchaseOption.ON_DEMAND, *shared} for option in OPTIONS])
    return np.asarray(allowed[catalogue.columns.option[row]] | catalogue.own[row])


def run_here(matrix: TrainingMatrix, times: TrainingTimes, catalogue: Catalogue, evidence: Evidence) -> Flags:
    """Which training times rest on public code that runs on the accelerator."""
    recipes, known = matrix.recipes.recipes, evidence.accelerators
    machines = [catalogue.shapes[cluster.shape][0] for cluster in matrix.clusters]
    nvidia = np.array([name in known and known[name].vendor == "NVIDIA" for name in machines], bool)
    portable = np.array([each.framework_family == "pytorch" or matrix.recipes.is_own for each in recipes], bool)
    public = np.array([not each.is_mlperf for each in recipes], bool)
    runs = were_logged(matrix, times, catalogue) | (portable[times.recipe] & nvidia[times.cluster])
    return np.asarray(runs & public[times.recipe])


def are_sure(matrix: TrainingMatrix, times: TrainingTimes, catalogue: Catalogue) -> Flags:
    """Which training times are of a recipe that was logged on that accelerator, and reach the target in most runs."""
    return were_logged(matrix, times, catalogue) & (times.success_probability >= SURE)


def were_logged(matrix: TrainingMatrix, times: TrainingTimes, catalogue: Catalogue) -> Flags:
    """Which training times are of a recipe that somebody ran on that accelerator."""
    chips = np.array([each.system.accelerator if each.system else "" for each in matrix.recipes.recipes], str)
    machines = np.array([catalogue.shapes[cluster.shape][0] for cluster in matrix.clusters], str)
    same = chips[times.recipe] == machines[times.cluster]
    return np.asarray(times.logged | (same & ~matrix.recipes.is_interpolated[times.recipe]))
