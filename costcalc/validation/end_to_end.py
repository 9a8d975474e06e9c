"""MLPerf's published minutes against `/cost` as anybody would ask it: model, target, accelerator and count.

`systems` is told the batch, framework and software year of the system it predicts; here the engine must choose a recipe.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import KINDS, calibrated, widening
from costcalc.throughput.reference_model import FULL_NODE
from costcalc.training import Tier
from costcalc.validation.held_out import Answered, Held, Patterns, answers, of_any_round, of_its_round
from costcalc.validation.mlperf import Cell, Run
from costcalc.validation.regret import Regret
from costcalc.validation.scores import SCORED, Case, half_width
from costcalc.validation.speeds import SMALL, Systems

TODAYS_RULES = "v1.0"  # the first round with today's schedules: 35 epochs where v0.7 took 41
USUAL = True
WAYS: tuple[tuple[bool, Patterns], ...] = ((USUAL, of_any_round), (not USUAL, of_its_round))


class Product:
    """Cases by kind of evidence, whether the question names a round or not, and what they make of single answers."""

    def __init__(self, systems: Systems) -> None:
        self.systems = systems
        self.runs = [run for run in systems.runs if run.result.round >= TODAYS_RULES]
        self.before = [run for run in systems.runs if run.result.round < TODAYS_RULES]
        self.by_kind = {
            calibrated(kind, usual): self._cases(kind, patterns) for usual, patterns in WAYS for kind in KINDS[:4]
        }

    def natural(self, runs: Sequence[Run], usual: bool) -> list[tuple[Answered, Case]]:
        """Each run asked about with its organisation left out and nothing else, with the width that the errors of other
        organisations give its kind of evidence."""
        patterns = dict(WAYS)[usual]
        found = answers(self.systems, runs, lambda run: Held(run.group), patterns)
        return [(one, self._with_width(one, usual)) for one in found]

    def _with_width(self, one: Answered, usual: bool) -> Case:
        kinds = list(self._kinds(one))
        widths = [[self._width(kind, usual, level, one.run.group) for kind in kinds] for level in SCORED]
        case = self._case(one, kinds[0], self._plain(one.run))
        return replace(case, widths=tuple(case.scatter * math.hypot(*width) for width in widths))

    def _case(self, one: Answered, kind: str, plain: float) -> Case:
        group = one.run.result.accelerator if kind == "accelerator" else one.run.group
        wider = widening(np.int8(KINDS.index(kind)), one.run.result.nodes > 1, one.scatter)
        return Case(one.run.result.recipe, group, one.error, plain, scatter=float(wider))

    def _width(self, kind: str, usual: bool, level: float, group: str) -> float:
        """As in `fitted.json`, but without the errors of this group: never narrower than with more evidence."""
        more = [self.by_kind[calibrated(known, usual)] for known in KINDS[: KINDS.index(kind) + 1]]
        return max(half_width([case for case in cases if case.group != group], level) for cases in more)

    def _kinds(self, one: Answered) -> Iterator[str]:
        """What the speed of a system rests on when its organisation is left out."""
        run, label = one.run, one.estimate.evidence.throughput
        if label is not Tier.MODELLED:
            yield label.value
        elif not self.systems.others(run, lambda *_: True):
            yield "accelerator"
        if (label is Tier.MODELLED and run.result.nodes > 1) or (label is Tier.INTERPOLATED and run.total > FULL_NODE):
            yield "machines"

    def _plain(self, run: Run) -> float:
        plain = self.systems.plain
        tried = (plain.transferred(run), plain.interpolated(run), plain.machines(run), plain.accelerator(run))
        return next((guess - run.log_seconds for guess in tried if guess is not None), math.nan)

    def _cases(self, kind: str, patterns: Patterns) -> list[Case]:
        """Errors where the evidence of speed is of one kind, made so by holding out more where need be."""
        plain = getattr(self.systems.plain, kind)
        chosen = [run for run in self.runs if self._eligible(kind, run) and plain(run) is not None]
        found = answers(self.systems, chosen, HOLD[kind], patterns)
        return [self._case(one, kind, plain(one.run) - one.run.log_seconds) for one in found]

    def _eligible(self, kind: str, run: Run) -> bool:
        one_machine = run.result.nodes == 1
        if kind == "accelerator":
            chip = part(self.systems.published.evidence.accelerators, run.result.accelerator)
            return one_machine and run.total <= SMALL and chip.predicted_unmeasured
        tests: Mapping[str, Callable[[Run, Run], bool]] = {
            "transferred": lambda other, run: other.cell == run.cell,
            "interpolated": lambda other, run: other.result.nodes == 1 and other.total != run.total,
            "machines": lambda other, run: other.result.nodes == 1,
        }
        fits = kind == "transferred" or one_machine == (kind == "interpolated")
        return fits and self.systems.others(run, tests[kind])


HOLD: Mapping[str, Callable[[Run], Held]] = {
    "transferred": lambda run: Held(run.group),
    "interpolated": lambda run: Held(run.group, run.cell),
    "machines": lambda run: Held(run.group, run.cell),
    "accelerator": lambda run: Held(accelerator=run.result.accelerator),
}


def regret_of_picks(systems: Systems) -> Regret:
    """On each accelerator and count with several published recipes: the published time of the one that `/cost` picks among
    them, nobody's rate there being known, over the shortest."""
    cells: dict[Cell, dict[str, Run]] = defaultdict(dict)
    for run in systems.runs:
        if run.result.round >= TODAYS_RULES:
            cells[run.cell][run.result.recipe] = run
    several = {cell: known for cell, known in cells.items() if len(known) > 1}
    firsts = [next(iter(known.values())) for known in several.values()]
    picks = answers(systems, firsts, lambda run: Held(rates_of=run.cell), lambda run: tuple(several[run.cell]))
    costs = [_regret(several[pick.run.cell], pick.estimate.recipe) for pick in picks]
    return Regret(len(costs), sum(costs) / len(costs), max(costs))


def _regret(known: Mapping[str, Run], picked: str) -> float:
    return math.exp(known[picked].log_seconds - min(run.log_seconds for run in known.values())) - 1


def by_accelerator(found: Sequence[tuple[Answered, Case]], fewest: int = 12) -> dict[str, list[Case]]:
    """The cases of each accelerator that has enough of them; the rest together."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for one, case in found:
        groups[one.run.result.accelerator].append(case)
    rest = [case for cases in groups.values() if len(cases) < fewest for case in cases]
    return {name: cases for name, cases in sorted(groups.items()) if len(cases) >= fewest} | {"others": rest}


def by_label(found: Sequence[tuple[Answered, Case]]) -> dict[str, list[Case]]:
    """The cases by the label of the answer's throughput."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for one, case in found:
        groups[one.estimate.evidence.throughput.value].append(case)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))
