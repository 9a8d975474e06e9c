"""Proof: the estimator scored against published results that it was not fitted to."""

from costcalc.evidence import load_evidence
from costcalc.validation.protocol import validate
from costcalc.validation.report import Report, inserted
from costcalc.validation.worked_example import worked_example

__all__ = ["Report", "documented", "require_markers", "validate"]

EXAMPLE, SCORES = "example", "validate"


def require_markers(page: str) -> None:
    """Raises ValueError naming the first marker that the page of the method lacks, before anything is scored."""
    for section in (EXAMPLE, SCORES):
        inserted(page, section, "")


def documented(page: str, report: Report) -> str:
    """The page of the method with its table and worked example written anew. Raises ValueError where it lacks a marker."""
    page = inserted(page, EXAMPLE, worked_example(load_evidence().fitted))
    return inserted(page, SCORES, report.markdown())
