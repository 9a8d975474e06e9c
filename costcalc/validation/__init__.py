"""Offline: scores the estimator against published results that it was not fitted to (`costcalc validate`)."""

from costcalc.validation.protocol import experiments, report
from costcalc.validation.published import Published, load_published
from costcalc.validation.report import Report

__all__ = ["Published", "Report", "load_published", "validate"]


def validate(published: Published) -> Report:
    """The estimator scored on every published result we hold, each held out with its group."""
    return report(published, experiments(published))
