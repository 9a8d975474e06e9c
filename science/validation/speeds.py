"""MLPerf's published minutes against predictions that never saw the system, its organisation or its accelerator.

The predictions know batch, framework and year of the run; `end_to_end` asks as people do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from science.fitting.reference_model import fit_reference_model, observation
from science.validation.held_out import HeldOut, Learner, equal_system, one_machine, other_count_in_one_machine
from science.validation.published import USUAL_MAKERS, MLPerfRun
from science.validation.scores import Case

SMALL = 16  # most accelerators of one machine


def own_system(learner: Learner, *, own_epochs: bool) -> list[Case]:
    """Each run at its own logged rate, for its own epochs or for those that other organisations needed."""
    return _complete(
        _case(
            run,
            learner.log_seconds(run, run.log_rate, run.result.epochs if own_epochs else None),
            learner.baselines.own(run),
        )
        for run in learner.runs
        if run.steady and run.log_rate is not None
    )


def same_system(learner: Learner) -> list[Case]:
    """The organisation is held out; others ran the same accelerator and count."""
    runs = [run for run in learner.runs if learner.others_ran(run, equal_system)]
    return _cases(learner, runs, lambda run: HeldOut(run.group), learner.baselines.transferred)


def other_count(learner: Learner) -> list[Case]:
    """The organisation and the system are held out; others ran another count of the accelerator in one machine."""
    runs = [run for run in learner.runs if run.on_one_machine and learner.others_ran(run, other_count_in_one_machine)]
    return _cases(learner, runs, lambda run: HeldOut(run.group, run.system), learner.baselines.interpolated)


def many_machines(learner: Learner) -> list[Case]:
    """The organisation and the system, several machines, are held out; others ran the accelerator in one machine."""
    runs = [run for run in learner.runs if not run.on_one_machine and learner.others_ran(run, one_machine)]
    return _cases(learner, runs, lambda run: HeldOut(run.group, run.system), learner.baselines.machines)


def unseen_accelerator(learner: Learner) -> list[Case]:
    """One machine of an accelerator that is held out altogether."""
    accelerators = learner.published.evidence.accelerators
    sheets = learner.reference_model(HeldOut()).data_sheets
    runs = [
        run
        for run in learner.runs
        if run.on_one_machine
        and run.accelerators <= SMALL
        and accelerators[run.system.accelerator].vendor in USUAL_MAKERS
        and sheets.roofline(run.system.accelerator) is not None
    ]
    return _cases(learner, runs, lambda run: HeldOut(accelerator=run.system.accelerator), learner.baselines.accelerator)


def later_rounds(learner: Learner) -> list[Case]:
    """Rounds v3.0 and later, learned from v2.1 and before, on accelerators that were known then."""
    published = learner.published
    rounds = published.groups["round"]
    old = dict.fromkeys(run.name for run in learner.runs if rounds.get(run.result.round) == "fit")
    rows = [published.throughputs[name] for name in old if name in published.throughputs]
    reference = fit_reference_model([observation(row) for row in rows], published.evidence.accelerators)
    known = {row.accelerator for row in rows}
    later = [run for run in learner.runs if rounds.get(run.result.round) == "test" and run.system.accelerator in known]
    return _complete(
        _case(run, learner.log_seconds(run, reference.log_rate(run.setup)), learner.baselines.earlier(run, old))
        for run in later
    )


def _cases(
    learner: Learner,
    runs: Sequence[MLPerfRun],
    hold_out: Callable[[MLPerfRun], HeldOut],
    baseline: Callable[[MLPerfRun], float | None],
) -> list[Case]:
    """Each run predicted without what is held out for it; grouped by the accelerator if that is held out."""
    held_out_together: dict[HeldOut, list[MLPerfRun]] = defaultdict(list)
    for run in runs:
        held_out_together[hold_out(run)].append(run)
    cases = []
    for held_out, members in held_out_together.items():
        reference = learner.reference_model(held_out)
        for run in members:
            predicted = learner.log_seconds(run, reference.log_rate(run.setup))
            cases.append(_case(run, predicted, baseline(run), held_out.accelerator))
    return _complete(cases)


def _case(run: MLPerfRun, predicted: float | None, baseline: float | None, group: str | None = None) -> Case | None:
    if predicted is None or baseline is None:
        return None
    return Case(run.name, group or run.group, predicted - run.log_seconds, baseline - run.log_seconds)


def _complete(cases: Iterable[Case | None]) -> list[Case]:
    """The cases that both the estimator and the baseline could predict."""
    return [case for case in cases if case is not None]
