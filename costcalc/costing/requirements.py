"""What picks need, as marks: a machine that can be rented for this run at a confirmed rate, and code that runs there."""

from __future__ import annotations

import numpy as np

from costcalc.catalogue.catalogue import OPTIONS, SCARCITY, Catalogue
from costcalc.catalogue.columns import Int8
from costcalc.costing.rentals import CAPACITY_BLOCK, SPOT, AllowedOffers
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTimes
from costcalc.offer import BY_THE_TERM, COMMITMENTS, PurchaseOption
from costcalc.picks import CONFIRMED, IN_STOCK, MOVING, RENTABLE, SURE, VOUCHED
from costcalc.query import EstimateQuery
from costcalc.units import Flags


def offer_marks(catalogue: Catalogue, offers: AllowedOffers, confirmed: Flags, query: EstimateQuery) -> Int8:
    """The marks of allowed offers, of which these are `confirmed`: all but that of their code."""
    option, in_stock = offers.option, catalogue.scarcity.take(offers.row) != SCARCITY[False]
    marks = RENTABLE * are_rentable(offers, query) + CONFIRMED * confirmed + IN_STOCK * in_stock
    marks += VOUCHED * (catalogue.vouched.take(offers.row) | offers.own)
    return np.asarray(marks + MOVING * ((option == SPOT) | (option == CAPACITY_BLOCK)), np.int8)


def are_rentable(offers: AllowedOffers, query: EstimateQuery) -> Flags:
    """Which offers one can have for this run alone: on demand, or as the question says, but no commitment beside on demand. By
    effective cost, which other work shares, commitments and monthly rentals too. The user's own machines always."""
    asked = {*query.purchase} or {PurchaseOption.ON_DEMAND}
    if query.basis == "effective":
        asked |= set() if query.purchase else BY_THE_TERM
    elif PurchaseOption.ON_DEMAND in asked:
        asked -= COMMITMENTS
    allowed = np.array([option in asked for option in OPTIONS])
    return np.asarray(allowed.take(offers.option) | offers.own)


def are_sure(matrix: TrainingMatrix, times: TrainingTimes) -> Flags:
    """Which training times are of code that was logged on that accelerator, and reach the target in most runs."""
    logged = times.logged | matrix.runs.were_logged(times.recipe, times.cluster)
    return np.asarray(logged & (times.success_probability >= SURE))
