"""Proof: the estimator scored against published results that it was not fitted to."""

from costcalc.evidence import load_evidence
from costcalc.validation.example import worked_example
from costcalc.validation.protocol import validate
from costcalc.validation.report import Report, inserted

__all__ = ["Report", "documented", "validate"]


def documented(page: str, report: Report) -> str:
    """The page of the method with its table and worked example written anew. Raises ValueError where it lacks a marker."""
    page = inserted(page, "example", worked_example(load_evidence().fitted))
    return inserted(page, "validate", report.markdown())
