"""The plain methods that ours must beat: medians, straight lines and a roofline, as one would do on a first afternoon."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from costcalc.hardware import Accelerator
from costcalc.training import IMAGES_PER_EPOCH
from costcalc.validation.mlperf import Run
from costcalc.validation.published import ReferencePoint

OMITTED = 1.014  # elapsed time over epochs x images / logged rate
STEP_FACTOR, STEP_SECONDS, RUN_SECONDS = 1.137, 0.003, 1.6
TFLOP_PER_IMAGE, GB_PER_IMAGE = 0.0395, 0.322


class Plain:
    """Predicted ln(seconds) by the plain method of each tier; None where it has nothing to go by."""

    def __init__(
        self, runs: Sequence[Run], points: Sequence[ReferencePoint], accelerators: Mapping[str, Accelerator]
    ) -> None:
        self._runs, self._chips = runs, accelerators
        ordered = sorted(points, key=lambda point: point.batch)
        self._batches, self._epochs = [p.batch for p in ordered], [p.epochs for p in ordered]

    def own(self, run: Run) -> float | None:
        """Its own logged rate."""
        return None if run.log_rate is None else self._seconds(run, run.log_rate)

    def transferred(self, run: Run) -> float | None:
        """The median rate of other organisations' equal systems."""
        return self._median(run, lambda other: other.cell == run.cell)

    def interpolated(self, run: Run) -> float | None:
        """The median rate per accelerator of other counts in one machine."""
        return self._median(run, lambda other: other.result.nodes == 1 and other.total != run.total)

    def machines(self, run: Run) -> float | None:
        """One machine's rate, each step 13.7 % and 3 ms longer, 1.6 s a run."""
        rate = self._rate(run, lambda other: other.result.nodes == 1)
        if rate is None:
            return None
        step = run.setup.batch / math.exp(rate) * STEP_FACTOR + STEP_SECONDS
        steps = self._reference(run) * IMAGES_PER_EPOCH / (run.result.batch or 1)
        return math.log(steps * step + RUN_SECONDS)

    def accelerator(self, run: Run) -> float | None:
        """The roofline through compute and bandwidth alone."""
        chip = self._chips[run.result.accelerator]
        if not chip.dense_16bit_tflops or not chip.memory_bandwidth_gb_per_s:
            return None
        cost = TFLOP_PER_IMAGE / chip.dense_16bit_tflops + GB_PER_IMAGE / chip.memory_bandwidth_gb_per_s
        return self._seconds(run, -math.log(cost))

    def earlier(self, run: Run, recipes: Collection[str]) -> float | None:
        """The median rate per accelerator of earlier rounds, one machine with one, many with many."""
        several = run.result.nodes > 1
        found = [
            other.log_rate
            for other in self._runs
            if other.log_rate is not None
            and other.result.recipe in recipes
            and other.result.accelerator == run.result.accelerator
            and (other.result.nodes > 1) == several
        ]
        return self._seconds(run, float(np.median(found))) if found else None

    def _median(self, run: Run, test: Callable[[Run], bool]) -> float | None:
        rate = self._rate(run, test)
        return None if rate is None else self._seconds(run, rate)

    def _rate(self, run: Run, test: Callable[[Run], bool]) -> float | None:
        same = [o for o in self._runs if o.group != run.group and o.result.accelerator == run.result.accelerator]
        found = [other.log_rate for other in same if other.log_rate is not None and test(other)]
        return float(np.median(found)) if found else None

    def _reference(self, run: Run) -> float:
        return float(np.interp(run.result.batch or 0, self._batches, self._epochs))

    def _seconds(self, run: Run, log_rate: float) -> float:
        rate = math.exp(log_rate) * run.total
        return math.log(self._reference(run) * IMAGES_PER_EPOCH / rate * OMITTED)
