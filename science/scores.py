"""What `costcalc validate` does: score the estimator, and write the page of the method anew.

What is wrong with the page or the tables is said before anything is scored.
"""

from __future__ import annotations

from pathlib import Path

from science import validation

BEGIN, END = "<!-- validate: begin -->", "<!-- validate: end -->"  # of docs/method.md


class WrongPage(ValueError):
    """The page of the method can't be written to."""


def scores(form: str, into: str | None) -> str:
    """The report as `table` or `json`; it is written into the page `into` as well. Raises WrongPage, and TableError where the
    published results can't be scored against."""
    page = _page(into) if into else ""
    report = validation.validate(validation.load_published())
    if into:
        Path(into).write_text(with_report(page, report.markdown()), "utf-8")
    return report.to_json() if form == "json" else report.text()


def scores_of_tasks() -> str:
    """How far answers about tasks lie off results of organisations that were left out. Raises TableError."""
    from costcalc.evidence import load_evidence
    from costcalc.tasks.evidence import fitted
    from science.validation.replay import replayed
    from science.validation.single_runs import lines
    from science.validation.tasks import judged, left_out, table

    beside, learned = load_evidence(), fitted()
    cases = list(left_out(beside, learned))
    return "\n".join((table(cases, replayed(beside)), *lines(judged(cases), learned.spreads), ""))


def _page(path: str) -> str:
    try:
        page = Path(path).read_text("utf-8")
        with_report(page, "")
    except ValueError as error:
        raise WrongPage(f"--into {path}: {error}") from error
    return page


def with_report(page: str, report: str) -> str:
    """The page with the report between its two markers. Raises ValueError if it lacks one."""
    before, found, rest = page.partition(BEGIN)
    if not found or END not in rest:
        raise ValueError(f"the page needs a line {BEGIN} and, below it, a line {END}")
    return f"{before}{BEGIN}\n{report}{END}{rest.partition(END)[2]}"
