"""The report of `costcalc validate`: one row per experiment, as text, Markdown or JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import to_builtins

from science.validation.backtest import Round
from science.validation.backtest import markdown as by_round
from science.validation.convergence.chances import Brier
from science.validation.convergence.own_runs import Reliability
from science.validation.regret import Regret
from science.validation.scores import Coverage, Score
from science.validation.spot_rates import SpotCoverage

HEADINGS = (
    "experiment", "n", "baseline, %", "ours, %", "ours/baseline", "asked for", "median, %", "p90, %", "bias, %",
    "80 %: x/÷", "inside (95 % of it)", "90 %: x/÷", "inside (95 % of it)",
)  # fmt: skip
ON_THE_PAGE = ("experiment", "n", "baseline, %", "ours, %", "median, %", "bias, %", "80 %: x/÷", "inside (95 % of it)")
TOGETHER = ("all ", "own run, ", "watched run, ")  # how families of chances begin that hold others
SPOT = "Spot rates: the share inside the 80 % range (95 % of it), below and above."
ROUNDS = "Rates of each round of MLPerf, forecast with the rounds before it:"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the estimator was scored on. `evidence` and `splits` are digests of the tables and of the frozen groups;
    `regrets` are by what was chosen."""

    evidence: str
    splits: str
    scores: tuple[Score, ...]
    regrets: dict[str, Regret]
    chances: tuple[Brier, ...]
    reliability: Mapping[str, tuple[Reliability, ...]] = field(default_factory=dict)
    spot: tuple[SpotCoverage, ...] = ()
    rounds: tuple[Round, ...] = ()

    def to_json(self) -> str:
        """All figures: errors as fractions, half-widths in ln(time)."""
        return json.dumps(to_builtins(self), indent=2)

    def text(self) -> str:
        """For a terminal: columns padded with spaces."""
        rows = [HEADINGS, *map(_cells, self.scores)]
        first, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join([name.ljust(first), *map(str.rjust, figures, others)]).rstrip() for name, *figures in rows]
        text = "\n".join([*lines, "", *self._remarks()]) + "\n"
        return text + (f"\n{ROUNDS}\n\n{by_round(self.rounds)}" if self.rounds else "")

    def markdown(self) -> str:
        """For docs/method.md: its columns, and of chances only those of many codes and organisations together."""
        ruler = ("---", *["---:"] * (len(ON_THE_PAGE) - 1))
        shown = [HEADINGS.index(heading) for heading in ON_THE_PAGE]
        cells = ([row[column] for column in shown] for row in map(_cells, self.scores))
        rows = ["| " + " | ".join(row) + " |" for row in (ON_THE_PAGE, ruler, *cells)]
        text = "\n".join([*rows, "", *(f"- {remark}" for remark in self._remarks(TOGETHER))]) + "\n"
        return text + (f"\n{ROUNDS}\n\n{by_round(self.rounds)}" if self.rounds else "")

    def _remarks(self, families: tuple[str, ...] = ("",)) -> list[str]:
        remarks = [
            f"Selection regret, {name}: mean {_percent(regret.mean)}, worst {_percent(regret.worst)}, {regret.choices} choices."
            for name, regret in self.regrets.items()
        ]
        remarks += [
            f"Chance of success, {one.family}: said {one.said:.3f}, reached {one.reached:.3f}, Brier score {one.score:.4f} "
            f"({one.baseline:.4f} by the share of others), {one.chances} chances of {one.runs} runs."
            for one in self.chances
            if one.family.startswith(families)
        ]
        remarks += [
            f"Said and reached (chances), {kind}: "
            + ", ".join(f"{one.said:.2f} and {one.reached:.2f} ({one.chances})" for one in bins)
            + "."
            for kind, bins in self.reliability.items()
        ]
        remarks += [SPOT] if self.spot else []
        remarks += [
            f"Spot rates after {days} days, {what}: "
            + "; ".join(_spot(one) for one in self.spot if (one.what, one.days) == (what, days))
            + "."
            for what, days in dict.fromkeys((one.what, one.days) for one in self.spot)
        ]
        return [*remarks, f"Evidence {self.evidence}; frozen groups {self.splits}."]


def _cells(score: Score) -> tuple[str, ...]:
    share = f"{score.mape / score.baseline_mape:.2f}"
    compared = [_figure(score.baseline_mape), _figure(score.mape), share, _asked_for(score)]
    errors = [_figure(score.median), _figure(score.p90), f"{100 * score.bias:+.1f}"]
    spreads = [cell for coverage in score.coverage for cell in _coverage(coverage)]
    return (score.experiment, str(score.cases), *compared, *errors, *spreads)


def _asked_for(score: Score) -> str:
    if score.goal is None:
        return ""
    return f"{_percent(score.goal.mape)} or {score.goal.share:.2f}" + " !" * (not score.reached)


def _coverage(found: Coverage) -> tuple[str, str]:
    inside = f"{found.observed:.2f} ({found.low:.2f}-{found.high:.2f})"
    width = f"{math.exp(found.half_width):.3f}" + " by rule" * found.by_rule
    return width, inside if found.good else inside + " !"


def _spot(found: SpotCoverage) -> str:
    inside = f"{found.inside:.2f} ({found.low:.2f}-{found.high:.2f}){' !' * (not found.good)}"
    return f"{found.generation} {inside}, {found.below:.2f} and {found.above:.2f}"


def _percent(share: float) -> str:
    return f"{_figure(share)} %"


def _figure(share: float) -> str:
    return f"{100 * share:.1f}"
