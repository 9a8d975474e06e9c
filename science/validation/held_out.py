"""What is held out of the evidence, and what can be learned from MLPerf's other runs: rates, epochs and elapsed time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from msgspec import Struct

from costcalc.throughput.fitted_parameters import ElapsedTime
from costcalc.throughput.reference_model import ReferenceModel
from costcalc.training import IMAGES_PER_EPOCH, System
from science.fitting.elapsed_time import fit_elapsed_time
from science.fitting.reference_model import Observation, fit_reference_model, is_reference_row, observation
from science.fitting.schedules import OutOfRange
from science.validation.baselines import Baselines
from science.validation.convergence.epochs import BatchCurve
from science.validation.published import MLPerfRun, Published, mlperf_runs

Test = Callable[[MLPerfRun, MLPerfRun], bool]


class HeldOut(Struct, frozen=True):
    """What a prediction must not know: the group of an organisation, a system, an accelerator; nothing by default.

    Of `system_rates` the rates are held out, but not the recipes.
    """

    group: str | None = None
    system: System | None = None
    accelerator: str | None = None
    system_rates: System | None = None

    def hides_recipe(self, group: str, system: System) -> bool:
        """Whether a recipe that this group ran on this system is held out."""
        return group == self.group or system == self.system or system.accelerator == self.accelerator

    def hides_rate(self, group: str, system: System) -> bool:
        """Whether a rate that this group measured on this system is held out."""
        return self.hides_recipe(group, system) or system == self.system_rates


class Learner:
    """MLPerf's runs, the observed rates with the group of each organisation, the baselines, and fits without held-out data."""

    def __init__(self, published: Published) -> None:
        self.published = published
        accelerators = published.evidence.accelerators
        rows = [
            row for row in published.evidence.throughputs if is_reference_row(row) and row.accelerator in accelerators
        ]
        self.observations = [(observation(row), published.organisation(row.organisation)) for row in rows]
        self.runs = tuple(mlperf_runs(published))
        self.baselines = Baselines(self.runs, published.reference_points, accelerators)
        self.elapsed_time = lru_cache(maxsize=None)(self._elapsed_time)
        self.epochs = lru_cache(maxsize=None)(self._epochs)
        self.reference_model = lru_cache(maxsize=None)(self._reference_model)

    def _reference_model(self, held_out: HeldOut) -> ReferenceModel:
        """The reference model learned from every rate that is not held out. Raises ValueError if none is left."""
        kept = [observed for observed, group in self.observations if not held_out.hides_rate(group, _system(observed))]
        return fit_reference_model(kept, self.published.evidence.accelerators)

    def _elapsed_time(self, without: str | None) -> ElapsedTime:
        """The law of elapsed time, learned from the steady logs of all groups but one; of all for None."""
        logged = [
            (run, run.result.epochs, run.log_rate)
            for run in self.runs
            if run.group != without and run.steady and run.log_rate and run.result.epochs
        ]
        training = [
            epochs * IMAGES_PER_EPOCH / math.exp(log_rate) / run.accelerators for run, epochs, log_rate in logged
        ]
        return fit_elapsed_time(np.array(training), np.array([run.result.minutes * 60 for run, _, _ in logged]))

    def _epochs(self, family: str, batch: float, without: str) -> float | None:
        """Epochs at a global batch in a recipe family, learned from all groups but one; for LARS also from MLPerf's reference
        points beyond the largest batch. None where no neighbouring batch was measured."""
        others = [run for run in self.runs if run.family == family and run.group != without]
        points = [(float(run.global_batch_size), run.result.epochs) for run in others if run.result.epochs]
        largest = max((known for known, _ in points), default=0.0)
        if "lars" in family:
            references = self.published.reference_points
            points += [(p.global_batch_size, p.epochs_mean) for p in references if p.global_batch_size > largest]
        try:
            return BatchCurve.through(points).at(batch)
        except (OutOfRange, ValueError):
            return None

    def log_seconds(self, run: MLPerfRun, log_rate: float, epochs: float | None = None) -> float | None:
        """Predicted ln(seconds) of a run at ln(images/s of one accelerator), without its group's epochs unless some are given.

        None where the epochs are unknown.
        """
        needed = epochs or self.epochs(run.family, float(run.global_batch_size), run.group)
        if needed is None:
            return None
        training = needed * IMAGES_PER_EPOCH / math.exp(log_rate) / run.accelerators
        return math.log(self.elapsed_time(run.group).seconds(training))

    def others_ran(self, run: MLPerfRun, test: Test = lambda *_: True) -> bool:
        """Whether a logged run of another group on the same accelerator passes `test(other, run)`."""
        return any(
            other.log_rate is not None
            and other.group != run.group
            and other.system.accelerator == run.system.accelerator
            and test(other, run)
            for other in self.runs
        )


def _system(observed: Observation) -> System:
    setup = observed.setup
    return System(setup.accelerator, setup.per_node * setup.nodes, setup.nodes)


def equal_system(other: MLPerfRun, run: MLPerfRun) -> bool:
    """Whether two runs had the same accelerator, as many of them, in as many machines."""
    return other.system == run.system


def other_count_in_one_machine(other: MLPerfRun, run: MLPerfRun) -> bool:
    """Whether the other run had one machine with another number of accelerators."""
    return other.on_one_machine and other.accelerators != run.accelerators


def one_machine(other: MLPerfRun, _: MLPerfRun) -> bool:
    """Whether the other run had one machine."""
    return other.on_one_machine
