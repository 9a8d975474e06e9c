"""Processors: what they train without an accelerator, and what a vCPU prepares with a data pipeline, predicted from what others
measured."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import NormalDist, median

from msgspec.structs import replace

from costcalc.machine_limits.host import PipelineRate, known_feeds
from costcalc.throughput.processors import Processors, ProcessorSpeed
from science.fitting.processors import fitted_law
from science.validation.scores import SCORED_LEVELS, Case

NORMAL = NormalDist()


def sources_left_out(rates: Sequence[PipelineRate]) -> list[Case]:
    """Each measured rate that the processors themselves limit, all of its organisation being held out; those of pipelines that
    nobody else measured are missing. The baseline is the median of all other pipelines' rates.

    All are of processors of one year, as the engine compares them; the intervals are those that it answers with.
    """
    limited = [rate for rate in rates if not rate.at_least]
    cases = []
    for number, rate in enumerate(limited):
        others = tuple(other for other in limited if other.organisation != rate.organisation)
        feed = known_feeds(others).get(rate.pipeline)
        if feed and rate.is_measured:
            usual = median(other.in_base_year for other in others if other.pipeline != rate.pipeline)
            widths = tuple(
                feed.width_80 * NORMAL.inv_cdf((1 + level) / 2) / NORMAL.inv_cdf(0.9) for level in SCORED_LEVELS
            )
            error, baseline_error = (log(rate.in_base_year / predicted) for predicted in (feed.in_base_year, usual))
            cases.append(Case(f"{rate.pipeline} {number}", rate.organisation, error, baseline_error, widths))
    return cases


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
