"""Networks that timm publishes by name: each as a network, its speed on one card, and how its published weights were trained."""

from __future__ import annotations

import math

from msgspec import Struct

from costcalc.fields import filled
from costcalc.recipes import Recipe
from costcalc.throughput.workloads import REFERENCE_GMACS
from costcalc.training import Evaluation, Model, Phase, Throughput

CARD, YEAR, LIBRARY = "RTX 3090", 2022, "timm"
USUAL_BATCH = 256
BENCHMARK = "PyTorch 1.12, timm, channels last"
INFERRED_WIDTH = 0.2
"""Half-width in ln(images/s), at 80 %, of a training speed that is read from the card's speed of inference: `science.networks`
scores it with each network left out."""
SIZE_LAW, SIZE_WIDTH = (-0.310, 0.244), 0.610
"""What a network of which the size alone is known adds to ln(images/s), constant and per ln of its multiply-adds in units of
ResNet-50's, and the half-width at 80 %: of 835 networks, each left out (`python -m science.validation.networks`)."""


def effect_of_size(gmacs: float) -> float:
    """What so many multiply-adds (1e9) of a network add to ln(images/s)."""
    constant, slope = SIZE_LAW
    return constant + slope * math.log(gmacs / REFERENCE_GMACS)


class HubNetwork(Struct, frozen=True):
    """A network and how fast it is on one RTX 3090: in training, in images/s of `rate_size` pixels a side and batches of `batch`,
    and in inference with the software named; None where nobody timed that. Where neither was timed, its size tells."""

    model: str
    family: str
    parameters_millions: float
    gmacs: float
    activations_millions: float | None
    image_size: int
    rate_size: int | None
    batch: int | None
    images_per_second: float | None
    inference_size: int | None
    inference_images_per_second: float | None
    inference_software: str | None
    source: str
    aliases: tuple[str, ...] = ()

    @property
    def is_timed(self) -> bool:
        """Whether its training was timed."""
        return self.images_per_second is not None

    def as_model(self) -> Model:
        untimed = INFERRED_WIDTH if self.inference_images_per_second else SIZE_WIDTH
        width = 0.0 if self.is_timed else untimed
        return filled(Model, self, as_usual=("series", "speed_of"), name=self.model, speed_width=width)

    def as_throughput(self, otherwise: float = 0.0) -> Throughput:
        """Its speed on the card; images/s of the size of its inference `otherwise`, where its training was not timed."""
        size = self.rate_size or self.inference_size or self.image_size
        return Throughput(
            name=f"{LIBRARY}-{self.model}-rtx-3090-x1-{size}px".replace("_", "-"),
            model=self.model,
            image_size=size,
            accelerator=CARD,
            accelerators=1,
            precision="amp",
            framework=BENCHMARK,
            framework_family="pytorch",
            stack=LIBRARY,
            global_batch_size=self.batch or USUAL_BATCH,
            images_per_second=self.images_per_second or otherwise,
            data="synthetic",
            organisation=LIBRARY,
            year=YEAR,
            source=self.source,
            compilation="eager",
            plain=True,
        )


class HubRecipe(Struct, frozen=True):
    """Published weights: after how many epochs of images of which size a network ended at which accuracies (fractions). They were
    measured on images of the `evaluated_size` where it was not trained on such. `teacher` is the network whose answers it was
    trained on. Names of a `recipe` begin with the library. `epochs_width` is the half-width in ln(epochs), at 80 %, where nobody
    published the epochs: they are those of its family, in the middle, then."""

    recipe: str
    model: str
    organisation: str
    global_batch_size: int | None
    epochs: float
    image_size: int
    evaluated_size: int | None
    top1: float
    top5: float
    teacher: str | None
    year: int
    published: str | None
    source: str
    epochs_width: float | None = None

    def as_recipe(self) -> Recipe:
        """The recipe as the library's script runs it."""
        library = self.recipe.partition("-")[0]
        return Recipe(
            name=self.recipe,
            model=self.model,
            organisation=library,
            family=self.recipe,
            framework=f"PyTorch, {library}",
            framework_family="pytorch",
            stack=library,
            precision="amp",
            global_batch_size=self.global_batch_size,
            scheduled_epochs=self.epochs,
            runs=1,
            is_log=False,
            year=self.year,
            source=self.source,
            note=f"the accuracy of the weights that {self.organisation} published; the system is not stated with it",
            phases=(Phase(self.image_size, 0.0, self.epochs),),
            evaluations=(Evaluation(self.epochs, None, self.top1, self.top5),),
            published=self.published,
            evaluated_size=self.evaluated_size,
            teacher=self.teacher,
            epochs_width=self.epochs_width or 0.0,
        )
