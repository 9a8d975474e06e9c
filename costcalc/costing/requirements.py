"""What picks need besides a confirmed rate and code that runs there: machines that can be rented for this run."""

from __future__ import annotations

import numpy as np

from costcalc.catalogue.catalogue import OPTIONS
from costcalc.catalogue.confirmation import Rates
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes
from costcalc.offers import BY_THE_TERM, COMMITMENTS, PurchaseOption
from costcalc.picks import SURE
from costcalc.query import EstimateQuery
from costcalc.units import Flags


def are_rentable(rates: Rates, query: EstimateQuery) -> Flags:
    """Which offers one can have for this run alone: on demand, or as the question says, but no commitment beside on demand. By
    effective cost, which other work shares, commitments and monthly rentals too. The user's own machines always."""
    asked = {*query.purchase} or {PurchaseOption.ON_DEMAND}
    if query.basis == "effective":
        asked |= set() if query.purchase else BY_THE_TERM
    elif PurchaseOption.ON_DEMAND in asked:
        asked -= COMMITMENTS
    allowed = np.array([option in asked for option in OPTIONS])
    return np.asarray(allowed.take(rates.option) | rates.own)


def are_sure(matrix: TrainingMatrix, times: TrainingTimes) -> Flags:
    """Which training times are of code that was logged on that accelerator, and reach the target in most runs."""
    logged = times.logged | matrix.runs.were_logged(times.recipe, times.cluster)
    return np.asarray(logged & (times.success_probability >= SURE))
