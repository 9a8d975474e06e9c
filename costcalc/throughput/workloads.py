"""What is computed, whoever computes it where: a network at an image size, in a precision, by somebody's implementation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from costcalc.throughput.rates import SIZE_EXPONENT, precision_class
from costcalc.throughput.step_limits import REFERENCE_GMACS, REFERENCE_PARAMETERS_MILLIONS, REFERENCE_SIZE
from costcalc.training import Model, Recipe, Throughput

GMACS_EXPONENT = 0.7  # images/s falls with multiply-adds to this power: small networks use an accelerator badly
UNSTATED_PRECISION = "16bit"
"""TPUs know no other (cloud.google.com/tpu/docs/bfloat16), accelerators before matrix units are no faster with it, and on those
since most people use it."""


class Implementation(NamedTuple):
    """Whose program: the stack its rates are filed under, the framework's family, and who wrote or entered it."""

    stack: str
    framework_family: str
    organisation: str


@dataclass(frozen=True, slots=True)
class Workload:
    """What is computed. `parameters` is ln of half of one plus the parameters in units of ResNet-50's: at least -ln 2, for
    sharing next to nothing costs a little too; `gmacs` is ln of the multiply-adds in such units. Both are 0 where unknown."""

    model: str
    family: str
    image_size: int
    precision: str
    implementation: Implementation
    parameters: float = 0.0
    gmacs: float = 0.0

    @property
    def offset(self) -> float:
        """What image size and multiply-adds alone would make of ln(images/s)."""
        return -SIZE_EXPONENT * math.log(self.image_size / REFERENCE_SIZE) - GMACS_EXPONENT * self.gmacs


def workload(of: Throughput | Recipe, image_size: int, models: Mapping[str, Model]) -> Workload:
    """What a measured row or a recipe computes at an image size; a model that is not listed is a family of its own."""
    model = models.get(of.model)
    millions = (model and model.parameters_millions) or REFERENCE_PARAMETERS_MILLIONS
    return Workload(
        of.model,
        model.family if model else of.model,
        image_size,
        precision_class(of.precision) or UNSTATED_PRECISION,
        implementation(of),
        math.log1p(millions / REFERENCE_PARAMETERS_MILLIONS) - math.log(2),
        math.log(((model and model.gmacs) or REFERENCE_GMACS) / REFERENCE_GMACS),
    )


def implementation(of: Throughput | Recipe) -> Implementation:
    """Whose program a row or a recipe is: MLPerf's stack holds several, of one maker even."""
    return Implementation(of.stack, of.framework_family, of.organisation)
