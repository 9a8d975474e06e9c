"""MLPerf's published minutes against predictions that never saw the system, its organisation or its accelerator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np

from costcalc.fitting.elapsed_time import fit_elapsed_time
from costcalc.fitting.reference_model import Observation, fit_reference_model, is_reference_row, observation
from costcalc.fitting.schedules import OutOfRange
from costcalc.throughput.fitted_parameters import ElapsedTime
from costcalc.throughput.reference_model import ReferenceModel
from costcalc.training import IMAGES_PER_EPOCH
from costcalc.validation.baselines import Plain
from costcalc.validation.batch_epochs import BatchCurve
from costcalc.validation.mlperf import Cell, Run, published_runs
from costcalc.validation.published import Published
from costcalc.validation.scores import Case

SMALL = 16


class Systems:
    """The runs, the observations to learn from, and the predictions for each kind of evidence."""

    def __init__(self, published: Published) -> None:
        self.published = published
        chips = published.evidence.accelerators
        rows = [row for row in published.evidence.throughputs if is_reference_row(row) and row.accelerator in chips]
        self.seen = [(observation(row), published.organisation(row.organisation)) for row in rows]
        self.runs = published_runs(published)
        self.plain = Plain(self.runs, published.reference_points, chips)
        self.elapsed_time = lru_cache(maxsize=None)(self._elapsed_time)
        self.epochs = lru_cache(maxsize=None)(self._epochs)

    def reference(self, keep: Callable[[Observation, str], bool]) -> ReferenceModel:
        """The reference model learned from the observations to keep."""
        kept = [seen for seen, group in self.seen if keep(seen, group)]
        return fit_reference_model(kept, self.published.evidence.accelerators)

    @staticmethod
    def cell(seen: Observation) -> Cell:
        """The system that an observation is of."""
        where = seen.setup
        return where.accelerator, where.per_node * where.nodes, where.nodes

    def _elapsed_time(self, without: str) -> ElapsedTime:
        logged = [
            run for run in self.runs if run.group != without and run.steady and run.log_rate and run.result.epochs
        ]
        train = [
            (run.result.epochs or 0) * IMAGES_PER_EPOCH / math.exp(run.log_rate or 0) / run.total for run in logged
        ]
        return fit_elapsed_time(np.array(train), np.array([run.result.minutes * 60 for run in logged]))

    def _epochs(self, family: str, batch: float, without: str) -> float | None:
        """Epochs at a batch in a family, as other organisations and MLPerf's reference points have them; None if refused."""
        others = [r for r in self.runs if r.family == family and r.group != without and r.result.epochs]
        points = [(float(r.result.batch or 0), float(r.result.epochs or 0)) for r in others]
        largest = max((known for known, _ in points), default=0.0)
        if "lars" in family:
            points += [(p.batch, p.epochs) for p in self.published.reference_points if p.batch > largest]
        try:
            return BatchCurve.through(points).at(batch)
        except (OutOfRange, ValueError):
            return None

    def seconds(self, run: Run, log_rate: float, epochs: float | None = None) -> float | None:
        """Predicted ln(seconds) of a run at a rate; the epochs are other organisations' unless given."""
        needed = epochs or self.epochs(run.family, float(run.result.batch or 0), run.group)
        if needed is None:
            return None
        train = needed * IMAGES_PER_EPOCH / math.exp(log_rate) / run.total
        return math.log(self.elapsed_time(run.group).seconds(train))

    def own(self, own_curve: bool) -> list[Case]:
        """Own system: its logged rate; epochs from its own curve, or from other organisations."""
        cases = []
        for run in self.runs:
            if run.steady and run.log_rate is not None:
                guess = self.seconds(run, run.log_rate, run.result.epochs if own_curve else None)
                cases.append(self._case(run, guess, self.plain.own(run)))
        return _answered(cases)

    def transferred(self) -> list[Case]:
        """Same accelerator and count, other organisations."""
        chosen = [run for run in self.runs if self.others(run, lambda o, run: o.cell == run.cell)]
        return self._held_out(chosen, lambda run: (run.group,), self.plain.transferred)

    def interpolated(self) -> list[Case]:
        """One machine with a count that nobody measured; the accelerator's other counts, other organisations."""
        chosen = [
            run
            for run in self.runs
            if run.result.nodes == 1 and self.others(run, lambda o, run: o.result.nodes == 1 and o.total != run.total)
        ]
        return self._held_out(chosen, lambda run: (run.group, run.cell), self.plain.interpolated)

    def machines(self) -> list[Case]:
        """Many machines, none of whose number was measured; the accelerator in one machine, other organisations."""
        chosen = [
            run for run in self.runs if run.result.nodes > 1 and self.others(run, lambda o, _: o.result.nodes == 1)
        ]
        return self._held_out(chosen, lambda run: (run.group, run.cell), self.plain.machines)

    def accelerator(self) -> list[Case]:
        """One machine of an accelerator that nobody measured: everything about it is held out."""
        chips = self.published.evidence.accelerators
        chosen = [
            run
            for run in self.runs
            if run.result.nodes == 1
            and run.total <= SMALL
            and self.reference_of_all.data_sheets.roofline(run.result.accelerator) is not None
            and chips[run.result.accelerator].predicted_unmeasured
        ]
        cases = []
        for name in sorted({run.result.accelerator for run in chosen}):
            reference = self.reference(lambda seen, _, name=name: seen.setup.accelerator != name)  # type: ignore[misc]
            for run in (run for run in chosen if run.result.accelerator == name):
                guess = self.seconds(run, reference.log_rate(run.setup))
                cases.append(self._case(run, guess, self.plain.accelerator(run), name))
        return _answered(cases)

    def later_rounds(self) -> list[Case]:
        """Rounds v3.0 and later, learned from v2.1 and before; accelerators that were known then."""
        rounds = self.published.groups["round"]
        old = {run.result.recipe for run in self.runs if rounds.get(run.result.round) == "fit"}
        rows = [self.published.throughputs[name] for name in old if name in self.published.throughputs]
        reference = fit_reference_model([observation(row) for row in rows], self.published.evidence.accelerators)
        known = {row.accelerator for row in rows}
        chosen = [r for r in self.runs if rounds.get(r.result.round) == "test" and r.result.accelerator in known]
        cases = [
            self._case(r, self.seconds(r, reference.log_rate(r.setup)), self.plain.earlier(r, old)) for r in chosen
        ]
        return _answered(cases)

    @property
    def reference_of_all(self) -> ReferenceModel:
        """The reference model learned from everything."""
        return self.reference(lambda *_: True)

    def others(self, run: Run, test: Callable[[Run, Run], bool]) -> bool:
        """Whether another organisation's logged run on this accelerator passes the test beside this one."""
        same = (o for o in self.runs if o.group != run.group and o.result.accelerator == run.result.accelerator)
        return any(other.log_rate is not None and test(other, run) for other in same)

    def _held_out(
        self, chosen: Sequence[Run], key: Callable[[Run], tuple[object, ...]], plain: Callable[[Run], float | None]
    ) -> list[Case]:
        cases = []
        for held in sorted({key(run) for run in chosen}, key=str):
            reference = self.reference(lambda seen, group, held=held: group != held[0] and self.cell(seen) not in held)  # type: ignore[misc]
            for run in (run for run in chosen if key(run) == held):
                cases.append(self._case(run, self.seconds(run, reference.log_rate(run.setup)), plain(run)))
        return _answered(cases)

    def _case(self, run: Run, guess: float | None, plain: float | None, group: str = "") -> Case | None:
        if guess is None or plain is None:
            return None
        return Case(run.result.recipe, group or run.group, guess - run.log_seconds, plain - run.log_seconds)


def _answered(cases: Iterable[Case | None]) -> list[Case]:
    return [case for case in cases if case is not None]
