"""What picks should meet beside a confirmed rate and code that runs there: machines that one can rent for this run."""

from __future__ import annotations

import numpy as np

from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes
from costcalc.offers import COMMITMENTS, PurchaseOption
from costcalc.picks import SURE
from costcalc.query import EstimateQuery
from costcalc.units import Flags, Indices


def are_rentable(catalogue: Catalogue, row: Indices, query: EstimateQuery) -> Flags:
    """Which offers one can have for this run alone: on demand, or as the question says; by effective cost, which other work
    shares, commitments and monthly rentals too. The asker's own machines always."""
    if query.purchase:
        return np.ones(len(row), bool)
    shared = {*COMMITMENTS, PurchaseOption.MONTHLY} if query.basis == "effective" else set()
    allowed = np.array([option in {PurchaseOption.ON_DEMAND, *shared} for option in OPTIONS])
    return np.asarray(allowed[catalogue.columns.option[row]] | catalogue.own[row])


def are_sure(matrix: TrainingMatrix, times: TrainingTimes, catalogue: Catalogue) -> Flags:
    """Which training times are of code that was logged on that accelerator, and reach the target in most runs."""
    return were_logged(matrix, times, catalogue) & (times.success_probability >= SURE)


def were_logged(matrix: TrainingMatrix, times: TrainingTimes, catalogue: Catalogue) -> Flags:
    """Which training times are of code that was logged on that accelerator."""
    chips = np.array([each.system.accelerator if each.system else "" for each in matrix.recipes.recipes], str)
    machines = np.array([catalogue.shapes[cluster.shape][0] for cluster in matrix.clusters], str)
    same = chips[times.recipe] == machines[times.cluster]
    return np.asarray(times.logged | same)
