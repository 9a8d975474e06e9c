"""Scores the estimator against published results that it was not fitted to (`costcalc validate`)."""

from science.validation.protocol import experiments, report
from science.validation.published import Published, load_published
from science.validation.report import Report

__all__ = ["Published", "Report", "load_published", "validate"]


def validate(published: Published) -> Report:
    """The estimator scored on every published result we hold, each held out with its group."""
    return report(published, experiments(published))
