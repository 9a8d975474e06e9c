"""How long published weights are trained on one's own images where nobody says how long."""

from __future__ import annotations

from math import inf

BATCH = 512
STEPS = ((20_000, 500), (500_000, 10_000), (inf, 20_000))
"""Below so many images, so many steps: the schedule of Big Transfer (Kolesnikov et al., 2020, https://arxiv.org/abs/1912.11370,
section 3.3), which its authors used for all data sets."""


def usual_steps(images: int) -> int:
    """The steps for so many images."""
    return next(steps for below, steps in STEPS if images < below)


def usual_epochs(images: int) -> float:
    """The passes over so many images that these steps are, to a tenth."""
    return max(round(usual_steps(images) * BATCH / images, 1), 0.1)
