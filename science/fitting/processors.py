"""Fits what all processors have in common: how they share out arithmetic and the numbers that pass through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares

from costcalc.throughput.processors import LAW, ProcessorLaw, Processors, ProcessorSpeed
from costcalc.units import Floats


def fitted_law(processors: Processors, rates: Sequence[ProcessorSpeed]) -> ProcessorLaw:
    """The law from which ln of these rates errs least in the square, each processor counted once."""
    times = Counter(rate.processor for rate in rates)
    weights = np.array([times[rate.processor] ** -0.5 for rate in rates])

    def errors(logs: Floats) -> Floats:
        law = ProcessorLaw(*np.exp(logs).tolist())
        return weights * [processors.error(rate, law) for rate in rates]

    solution = least_squares(errors, np.log([LAW.arithmetic, LAW.passes]))
    return ProcessorLaw(*np.exp(solution.x).tolist())
