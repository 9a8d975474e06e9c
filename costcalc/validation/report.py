"""The report of `costcalc validate`: one row a tier, as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from costcalc.validation.regret import Brier, Regret
from costcalc.validation.scores import Coverage, Score

HEADINGS = (
    "tier", "n", "plain", "ours", "ours/plain", "asked for", "median", "p90", "bias",
    "80 %: x/÷", "inside (95 % of it)", "90 %: x/÷", "inside (95 % of it)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the estimator was scored on. `evidence` and `splits` say of which tables and groups."""

    evidence: str
    splits: str
    scores: tuple[Score, ...]
    regrets: dict[str, Regret]
    brier: Brier

    def to_json(self) -> str:
        """All figures, errors as fractions, widths in ln(time)."""
        return json.dumps(asdict(self), indent=2)

    def text(self) -> str:
        """For a terminal: columns padded with spaces."""
        rows = [list(HEADINGS), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
        lines = [
            "  ".join(_aligned(cell, width, place) for place, (cell, width) in enumerate(zip(r, widths, strict=True)))
            for r in rows
        ]
        return "\n".join([*(line.rstrip() for line in lines), "", *self._remarks()]) + "\n"

    def markdown(self) -> str:
        """For docs/method.md."""
        rows = [
            _piped(HEADINGS),
            _piped(["---", *["---:"] * (len(HEADINGS) - 1)]),
            *(_piped(row) for row in self._rows()),
        ]
        return "\n".join([*rows, "", *(f"- {remark}" for remark in self._remarks())]) + "\n"

    def _rows(self) -> list[list[str]]:
        return [_cells(score) for score in self.scores]

    def _remarks(self) -> list[str]:
        remarks = [
            f"Selection regret, {name}: mean {_percent(regret.mean)}, worst {_percent(regret.worst)}, {regret.choices} choices."
            for name, regret in self.regrets.items()
        ]
        brier = self.brier
        remarks.append(
            f"Brier score of the chance of success: {brier.score:.4f} over {brier.runs} runs "
            f"({brier.oracle:.4f} for one who knows each system's own share)."
        )
        return [*remarks, f"Evidence {self.evidence}; frozen groups {self.splits[:12]}."]


def inserted(page: str, section: str, text: str) -> str:
    """The page with the text between the two markers of a section. Raises ValueError if it has none."""
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    if begin not in page or end not in page[page.find(begin) :]:
        raise ValueError(f"the page needs a line {begin} and, below it, a line {end}")
    before, rest = page.split(begin, 1)
    return f"{before}{begin}\n{text}{end}{rest.split(end, 1)[1]}"


def _cells(score: Score) -> list[str]:
    share = f"{score.mape / score.plain_mape:.2f}"
    compared = [_percent(score.plain_mape), _percent(score.mape), share, _asked(score)]
    spreads = [cell for coverage in score.coverage for cell in _coverage(coverage)]
    errors = [_percent(score.median), _percent(score.p90), f"{100 * score.bias:+.1f} %"]
    return [score.tier, str(score.cases), *compared, *errors, *spreads]


def _asked(score: Score) -> str:
    if score.goal is None:
        return ""
    return f"{_percent(score.goal.mape)} or {score.goal.share:.2f}" + " !" * (not score.reached)


def _coverage(found: Coverage) -> tuple[str, str]:
    inside = f"{found.observed:.2f} ({found.low:.2f}-{found.high:.2f})"
    return f"{np.exp(found.half_width):.3f}", inside if found.good else inside + " !"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _aligned(cell: str, width: int, place: int) -> str:
    return cell.ljust(width) if place == 0 else cell.rjust(width)


def _piped(cells: Iterable[str] | Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
