"""Processors: what they train without an accelerator, predicted from what others measured of processors."""

from __future__ import annotations

from dataclasses import replace
from math import log
from statistics import median

from costcalc.throughput.processors import Processors, ProcessorSpeed
from science.fitting.processors import fitted_law
from science.validation.scores import Case


def organisations_left_out(processors: Processors) -> list[Case]:
    """Each measured rate, all of its organisation being held out. The baseline is the median rate of a core and GHz of the
    others, whatever they trained."""
    cases = []
    for rate in processors.rates:
        others = tuple(other for other in processors.rates if other.organisation != rate.organisation)
        known = replace(processors, rates=others)
        usual = median(_pace(processors, other) for other in others)
        error = processors.error(rate, fitted_law(known, others))
        cases.append(Case(rate.name, rate.organisation, error, log(_pace(processors, rate) / usual)))
    return cases


def _pace(processors: Processors, rate: ProcessorSpeed) -> float:
    """Images per second of a core and GHz."""
    return rate.images_per_second / (rate.cores * rate.nodes * processors.named[rate.processor].ghz)
