"""What would have been said before each round of MLPerf, with what was published by then: the rates of its systems, and the chips
that nobody had measured.

Ranges are those that the errors of earlier rounds make, so that nothing of a round is known in it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from costcalc.throughput.fitted_parameters import LEVEL
from costcalc.throughput.reference_model import ReferenceModel
from costcalc.training import Throughput
from science.fitting.reference_model import fit_reference_model, is_reference_row, observation
from science.validation.published import Published
from science.validation.scores import Case, half_width

NEW, SEVERAL, ONE = "chips never measured", "several machines of a known chip", "one machine of a known chip"
KINDS = (ONE, SEVERAL, NEW)
BY_RULE: Mapping[str, float] = {ONE: math.log(1.3), SEVERAL: math.log(1.5), NEW: math.log(1.5)}
"""Half of the range in ln before FEWEST errors are known."""
FEWEST = 5


class Forecast(NamedTuple):
    """A rate that a round published: ln(forecast / published), and half of the range that was said."""

    kind: str
    accelerator: str
    error: float
    half_width: float

    @property
    def is_inside(self) -> bool:
        """Whether the published rate lay in it."""
        return abs(self.error) <= self.half_width


@dataclass(frozen=True, slots=True)
class Round:
    """The forecasts of a round, made with the rounds before it."""

    name: str
    published: str
    forecasts: tuple[Forecast, ...]

    def of(self, kind: str) -> tuple[Forecast, ...]:
        """Those of one kind."""
        return tuple(one for one in self.forecasts if one.kind == kind)

    @property
    def new_chips(self) -> dict[str, float]:
        """The median error of each chip that was new."""
        found: dict[str, list[float]] = defaultdict(list)
        for one in self.of(NEW):
            found[one.accelerator].append(one.error)
        return {name: median(errors) for name, errors in sorted(found.items())}


def backtest(published: Published) -> tuple[Round, ...]:
    """Every round but the first."""
    rows = [row for row in published.evidence.throughputs if is_reference_row(row) and row.round]
    rounds = sorted({row.round for row in rows if row.round})
    errors: dict[str, list[Case]] = defaultdict(list)
    found = []
    for name in rounds[1:]:
        before = [row for row in rows if row.round and row.round < name]
        now = [row for row in rows if row.round == name]
        forecasts = tuple(_forecasts(published, before, now, errors))
        for one in forecasts:
            errors[one.kind].append(Case(one.accelerator, name, one.error, math.nan))
        found.append(Round(name, max(row.published or "" for row in now), forecasts))
    return tuple(found)


def _forecasts(
    published: Published, before: Sequence[Throughput], now: Sequence[Throughput], errors: Mapping[str, Sequence[Case]]
) -> Iterator[Forecast]:
    accelerators = published.evidence.accelerators
    observed = [observation(row) for row in before if row.accelerator in accelerators]
    reference = fit_reference_model(observed, accelerators)
    widths = {kind: _half_width(kind, errors.get(kind, ())) for kind in KINDS}
    for row in now:
        seen = observation(row)
        if row.accelerator in accelerators and reference.is_known_or_predicted(row.accelerator):
            kind = _kind(row, reference)
            yield Forecast(kind, row.accelerator, reference.log_rate(seen.setup) - seen.log_rate, widths[kind])


def _kind(row: Throughput, reference: ReferenceModel) -> str:
    if row.accelerator not in reference.years:
        return NEW
    return SEVERAL if row.nodes > 1 else ONE


def _half_width(kind: str, cases: Sequence[Case]) -> float:
    return BY_RULE[kind] if len(cases) < FEWEST else half_width(cases, LEVEL).ln


def inside(rounds: Sequence[Round], kind: str) -> tuple[int, int]:
    """How many forecasts of a kind lay inside their range, and how many there were."""
    all_of_it = [one for each in rounds for one in each.of(kind)]
    return sum(one.is_inside for one in all_of_it), len(all_of_it)


def markdown(rounds: Sequence[Round]) -> str:
    """The table, and a picture of it: the error of rates in the median, round by round."""
    lines = [
        "| round | published | "
        + " | ".join(f"{kind}: n, median error, range, inside" for kind in KINDS)
        + " | new chips |",
        "| --- | --- | " + "--- | " * len(KINDS) + "--- |",
        *(_line(one) for one in rounds),
        "| all | | " + " | ".join("{} of {} inside".format(*inside(rounds, kind)) for kind in KINDS) + " | |",
        "",
        *_picture(rounds),
    ]
    return "\n".join(lines) + "\n"


def _line(one: Round) -> str:
    chips = ", ".join(f"{name} {100 * math.expm1(error):+.0f} %" for name, error in one.new_chips.items())
    return f"| {one.name} | {one.published} | " + " | ".join(_cell(one.of(kind)) for kind in KINDS) + f" | {chips} |"


def _cell(forecasts: Sequence[Forecast]) -> str:
    if not forecasts:
        return ""
    number, within = len(forecasts), sum(one.is_inside for one in forecasts)
    return f"{number}, {100 * _middle(forecasts):.1f} %, x/÷{math.exp(forecasts[0].half_width):.2f}, {within}"


def _middle(forecasts: Sequence[Forecast]) -> float:
    return median(abs(math.expm1(one.error)) for one in forecasts) if forecasts else 0.0


def _picture(rounds: Sequence[Round]) -> Iterator[str]:
    known = [one for one in rounds if one.of(ONE)]
    yield "```mermaid"
    yield "xychart-beta"
    yield '    title "One machine of a known chip: median error of the forecast (bars) and its 80 % range (line), per cent"'
    yield "    x-axis [" + ", ".join(f'"{one.name}"' for one in known) + "]"
    yield '    y-axis "per cent"'
    yield "    bar [" + ", ".join(f"{100 * _middle(one.of(ONE)):.1f}" for one in known) + "]"
    yield "    line [" + ", ".join(f"{100 * math.expm1(one.of(ONE)[0].half_width):.1f}" for one in known) + "]"
    yield "```"
