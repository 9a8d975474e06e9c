"""Proof: the estimator scored against published results that it was not fitted to."""

from costcalc.validation.protocol import validate
from costcalc.validation.report import Report, inserted

__all__ = ["Report", "inserted", "validate"]
