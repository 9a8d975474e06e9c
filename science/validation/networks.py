"""How well the speed of a network is told without timing its training: `python -m science.validation.networks`.

Each network is left out in turn: its speed follows from its speed of inference on the same card, or from its size alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np

from costcalc.evidence import Evidence, load_evidence
from costcalc.evidence.hub import HubNetwork
from costcalc.evidence.parsing import hub_networks
from costcalc.throughput.workloads import REFERENCE_GMACS
from costcalc.units import Floats
from science.fitting.hub import inferred_speed

LEVEL = 0.8


def by_inference(networks: Sequence[HubNetwork]) -> list[float]:
    """ln of the training speed that inference tells over the timed one, of images of one size."""
    timed = [one for one in networks if one.images_per_second and one.rate_size == one.inference_size]
    return [math.log(inferred_speed(one, networks) / (one.images_per_second or math.nan)) for one in timed]


def by_size(evidence: Evidence) -> tuple[Floats, Floats]:
    """The law of size, as `own_runs.by_word` has it, and ln of the told over the measured speed of each network left out."""
    gmacs, effects = np.array(list(_sizes(evidence))).T
    x = np.column_stack([np.ones(len(gmacs)), np.log(gmacs / REFERENCE_GMACS)])
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    law = np.linalg.lstsq(x, effects, rcond=None)[0]
    return law, (hat @ effects - effects) / (1 - np.diag(hat))


def half_width(errors: Sequence[float] | Floats) -> float:
    """The half-width that holds LEVEL of these errors."""
    return float(np.quantile(np.abs(errors), LEVEL))


def _sizes(evidence: Evidence) -> Iterator[tuple[float, float]]:
    """Multiply-adds of each network with a measured speed, and what it adds to ln(images/s)."""
    effects = evidence.fitted.transfer.effects
    for model in evidence.models.values():
        if model.gmacs and ("model", model.name) in effects:
            yield model.gmacs, effects["model", model.name] + effects.get(("family", model.family), 0.0)


def main() -> None:
    """Prints both scores."""
    inference = by_inference(hub_networks())
    law, size = by_size(load_evidence())
    for name, errors in (("speed of inference on the same card", inference), ("size alone", size)):
        middle, wide = math.expm1(median(map(abs, errors))), math.exp(half_width(errors))
        print(f"{name}: {len(errors)} networks, median error {middle:.1%}, 80 % within x/÷{wide:.2f}")
    print(f"size: ln(images/s) changes by {law[0]:.3f} + {law[1]:.3f} ln(GMACs / {REFERENCE_GMACS})")


if __name__ == "__main__":
    main()
