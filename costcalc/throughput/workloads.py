"""What is computed, whoever computes it where: a network at an image size, in a precision, by somebody's code."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from costcalc.throughput.rates import precision_class
from costcalc.throughput.reference_model import tool
from costcalc.training import Model, Recipe, Throughput

SIZE_EXPONENT = 1.6  # images/s falls with the side of the image to this power: less than its area
GMACS_EXPONENT = 0.7  # and with the network's multiply-adds to this: small networks use an accelerator badly
REFERENCE_SIZE, REFERENCE_GMACS, REFERENCE_PARAMETERS = 224, 4.1, 25.6
UNSAID = "16bit"
FAMILY = re.compile(r"(?:se_)?([a-z]+?)v?(?=\d|_|$)")


class Code(NamedTuple):
    """Whose program: the stack its rates are filed under, the framework's family, and who wrote or entered it."""

    stack: str
    framework: str
    organisation: str


@dataclass(frozen=True, slots=True)
class Work:
    """What is computed. `parameters` is ln of half of one plus the parameters in units of ResNet-50's: at least -ln 2, for
    sharing next to nothing costs a little too; `gmacs` is ln of the multiply-adds in such units. Both are 0 where unknown."""

    model: str
    image_size: int
    precision: str
    code: Code
    parameters: float = 0.0
    gmacs: float = 0.0

    @property
    def family(self) -> str:
        """The letters that the network's name begins with: vgg of vgg16_bn, resnext of se_resnext50_32x4d."""
        return family(self.model)

    @property
    def offset(self) -> float:
        """What image size and multiply-adds alone would make of ln(images/s)."""
        return -SIZE_EXPONENT * math.log(self.image_size / REFERENCE_SIZE) - GMACS_EXPONENT * self.gmacs


def work(done: Throughput | Recipe, image_size: int, models: Mapping[str, Model]) -> Work:
    """What a row or a recipe computes at an image size.

    A precision nobody stated is taken as 16 bits: TPUs know no other (cloud.google.com/tpu/docs/bfloat16), the chips before
    matrix units are no faster with it, and on those since most people use it.
    """
    model = models.get(done.model)
    return Work(
        done.model,
        image_size,
        precision_class(done.precision) or UNSAID,
        code(done),
        math.log1p(((model and model.parameters_millions) or REFERENCE_PARAMETERS) / REFERENCE_PARAMETERS)
        - math.log(2),
        math.log(((model and model.gmacs) or REFERENCE_GMACS) / REFERENCE_GMACS),
    )


def code(done: Throughput | Recipe) -> Code:
    """Whose program a row or a recipe is: MLPerf's stack holds several, of one maker even."""
    return Code(done.stack, tool(done.framework), done.organisation)


@lru_cache(maxsize=1024)
def family(model: str) -> str:
    """The letters that the name of a network begins with."""
    found = FAMILY.match(model)
    return found[1] if found else model


def own_rates(recipe: Recipe) -> list[float]:
    """Images per second in each phase on the recipe's own system. A mean over several image sizes is shared out by them; empty
    where nothing is known."""
    rates = [phase.images_per_second for phase in recipe.phases if phase.images_per_second]
    if len(rates) == len(recipe.phases) or recipe.is_mlperf or not recipe.images_per_second:
        return rates if len(rates) == len(recipe.phases) else []
    epochs = [phase.to_epoch - phase.from_epoch for phase in recipe.phases]
    each = [phase.image_size**SIZE_EXPONENT for phase in recipe.phases]
    mean = sum(spent * effort for spent, effort in zip(epochs, each, strict=True)) / sum(epochs)
    return [recipe.images_per_second * recipe.clock_factor * mean / effort for effort in each]
