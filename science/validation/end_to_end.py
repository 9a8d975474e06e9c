"""MLPerf's published minutes against `/cost` as anybody would ask it: model, target, accelerator and count.

`speeds` knows the batch, framework and software year of the run that it predicts; here the engine must choose a recipe.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import KINDS, calibrated, widening
from costcalc.throughput.reference_model import FULL_NODE
from costcalc.training import System, Tier
from science.validation.answered_runs import (
    AnsweredRun,
    AskedRecipes,
    HoldOut,
    RecipeChoice,
    answered_runs,
    recipes_of_any_round,
    recipes_of_its_round,
)
from science.validation.held_out import HeldOut, Learner, equal_system, one_machine, other_count_in_one_machine
from science.validation.published import USUAL_MAKERS, MLPerfRun
from science.validation.regret import Regret, regret
from science.validation.scores import SCORED_LEVELS, Case, half_width
from science.validation.speeds import SMALL

FIRST_ROUND_OF_TODAYS_SCHEDULES = "v1.0"  # 35 epochs where v0.7 took 41
ASKED: Mapping[bool, RecipeChoice] = {True: recipes_of_any_round, False: recipes_of_its_round}
"""Which recipes a question allows: those of any round with software of no year in particular, or of one with its own."""
HOLD_OUT: Mapping[str, HoldOut] = {
    "transferred": lambda run: HeldOut(run.group),
    "interpolated": lambda run: HeldOut(run.group, run.system),
    "machines": lambda run: HeldOut(run.group, run.system),
    "accelerator": lambda run: HeldOut(accelerator=run.system.accelerator),
}
"""What is held out so that an answer rests on this kind of evidence."""

KINDS_ASKED = {calibrated(kind, undated): (kind, recipes) for undated, recipes in ASKED.items() for kind in HOLD_OUT}


class _ByKind(dict[str, list[Case]]):
    """The cases of each kind of evidence, worked out when they are first asked for."""

    def __init__(self, cases: Callable[[str, RecipeChoice], list[Case]]) -> None:
        self._cases = cases

    def __missing__(self, name: str) -> list[Case]:
        kind, recipes = KINDS_ASKED[name]
        return self.setdefault(name, self._cases(kind, recipes))


class EndToEnd:
    """Cases whose evidence of speed is of one kind, and the answers as they come, with intervals from those cases.

    `by_kind` holds the cases by the name that `calibrated` gives a kind of evidence.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.runs = [run for run in learner.runs if run.result.round >= FIRST_ROUND_OF_TODAYS_SCHEDULES]
        self.earlier_runs = [run for run in learner.runs if run.result.round < FIRST_ROUND_OF_TODAYS_SCHEDULES]
        self.by_kind = _ByKind(self._cases)

    def without_organisation(self, runs: Sequence[MLPerfRun], *, any_round: bool) -> list[tuple[AnsweredRun, Case]]:
        """Each run answered without its organisation, by recipes of any round or of its own, with the half-widths that the
        errors of other organisations give its kind of evidence."""
        found = answered_runs(self._learner, runs, lambda run: HeldOut(run.group), ASKED[any_round])
        return [(answered, self._with_half_widths(answered, any_round)) for answered in found]

    def picks(self) -> list[Case]:
        """The recipe that is picked on each system with several published ones, all rates of that system being hidden, beside
        what it took there."""
        choices = choices_of(self._learner.runs)
        asked = [next(iter(runs.values())) for runs in choices.values()]
        found = answered_runs(
            self._learner,
            asked,
            lambda run: HeldOut(system_rates=run.system),
            lambda run: AskedRecipes(tuple(choices[run.system])),
        )
        picked = [replace(one, run=choices[one.run.system][one.estimate.recipe]) for one in found]
        return [self._with_half_widths(one, undated=True) for one in picked]

    def _with_half_widths(self, answered: AnsweredRun, undated: bool) -> Case:
        kinds = list(self._kinds(answered)) or ["accelerator"]
        case = _case(answered, kinds[0], self._baseline_error(answered.run))
        widths = [
            math.hypot(*(self._half_width(kind, undated, level, answered.run.group) for kind in kinds))
            for level in SCORED_LEVELS
        ]
        return replace(case, half_widths=tuple(case.scatter * width for width in widths))

    def _half_width(self, kind: str, undated: bool, level: float, group: str) -> float:
        """As in `fitted.json`, but without the errors of this group: never narrower than with more evidence."""
        with_more_evidence = [self.by_kind[calibrated(known, undated)] for known in KINDS[: KINDS.index(kind) + 1]]
        return max(
            half_width([case for case in cases if case.group != group], level).ln for cases in with_more_evidence
        )

    def _kinds(self, answered: AnsweredRun) -> Iterator[str]:
        """What the speed of a run rests on when its organisation is left out."""
        run, tier = answered.run, answered.estimate.evidence.throughput
        if tier is not Tier.MODELLED:
            yield tier.value
        elif not self._learner.others_ran(run):
            yield "accelerator"
        if (tier is Tier.MODELLED and not run.on_one_machine) or (
            tier is Tier.INTERPOLATED and run.accelerators > FULL_NODE
        ):
            yield "machines"

    def _baseline_error(self, run: MLPerfRun) -> float:
        """That of the first baseline that has data to go by; NaN where none has."""
        baselines = self._learner.baselines
        methods = (baselines.transferred, baselines.interpolated, baselines.machines, baselines.accelerator)
        predicted = next((guess for method in methods if (guess := method(run)) is not None), math.nan)
        return predicted - run.log_seconds

    def _cases(self, kind: str, recipes: RecipeChoice) -> list[Case]:
        """Errors where the evidence of speed is of one kind, made so by holding out more where need be."""
        baseline = getattr(self._learner.baselines, kind)
        runs = [run for run in self.runs if self._eligible(kind, run) and baseline(run) is not None]
        found = answered_runs(self._learner, runs, HOLD_OUT[kind], recipes)
        return [_case(answered, kind, baseline(answered.run) - answered.run.log_seconds) for answered in found]

    def _eligible(self, kind: str, run: MLPerfRun) -> bool:
        """Whether what is left after holding out is evidence of this kind."""
        others_ran = self._learner.others_ran
        if kind == "transferred":
            return others_ran(run, equal_system)
        if kind == "interpolated":
            return run.on_one_machine and others_ran(run, other_count_in_one_machine)
        if kind == "machines":
            return not run.on_one_machine and others_ran(run, one_machine)
        sheet = part(self._learner.published.evidence.accelerators, run.system.accelerator)
        return run.on_one_machine and run.accelerators <= SMALL and sheet.vendor in USUAL_MAKERS


def _case(answered: AnsweredRun, kind: str, baseline_error: float) -> Case:
    run = answered.run
    group = run.system.accelerator if kind == "accelerator" else run.group
    wider = widening(np.int8(KINDS.index(kind)), not run.on_one_machine, answered.scatter)
    return Case(run.name, group, answered.error, baseline_error, scatter=float(wider))


def regret_of_picks(runs: Sequence[MLPerfRun], picked: Iterable[str]) -> Regret:
    """The published time of the recipes that `/cost` picks over the shortest, on each system with several published recipes."""
    choices = choices_of(runs)
    system = {run.name: run.system for run in runs}
    return regret(_excess(choices[system[name]], name) for name in picked)


def choices_of(runs: Sequence[MLPerfRun]) -> dict[System, dict[str, MLPerfRun]]:
    """The runs, by name, of each system that had several by today's schedules."""
    by_system: dict[System, dict[str, MLPerfRun]] = defaultdict(dict)
    for run in runs:
        if run.result.round >= FIRST_ROUND_OF_TODAYS_SCHEDULES:
            by_system[run.system][run.name] = run
    return {ran_on: found for ran_on, found in by_system.items() if len(found) > 1}


def _excess(runs: Mapping[str, MLPerfRun], picked: str) -> float:
    """The time of a recipe over the shortest, less one."""
    return math.exp(runs[picked].log_seconds - min(run.log_seconds for run in runs.values())) - 1


def by_tier(answered: Sequence[tuple[AnsweredRun, Case]]) -> dict[str, list[Case]]:
    """The cases by the tier of evidence that the answer's throughput is labelled with, the most frequent first."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for one, case in answered:
        groups[one.estimate.evidence.throughput.value].append(case)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))
