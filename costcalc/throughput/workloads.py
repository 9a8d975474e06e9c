"""Other networks, implementations, precisions and image sizes: what is computed, and how fast beside the reference network."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Accelerator
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import part
from costcalc.throughput.reference_model import (
    REFERENCE_GB_PER_S,
    REFERENCE_TFLOPS,
    Doubling,
    Key,
    Term,
    doublings,
    shared,
    total,
)
from costcalc.training import THIRTY_TWO_BIT, Compilation, Model, Throughput
from costcalc.units import Floats

REFERENCE_SIZE, REFERENCE_GMACS, REFERENCE_PARAMETERS_MILLIONS = 224, 4.1, 25.6  # ResNet-50
REFERENCE_ACTIVATIONS_MILLIONS = 11.11  # timm's count for ResNet-50
REFERENCE_GB_PER_TFLOP = 8.0  # moved and computed for ResNet-50 where its roofline stands before anything is fitted
USUAL_MEMORY_SHARE = REFERENCE_GB_PER_TFLOP * REFERENCE_TFLOPS / REFERENCE_GB_PER_S

TF32_SINCE = 2020
"""torch.backends.cudnn.allow_tf32 is true by default (docs.pytorch.org, Numerical accuracy); A100 was the first chip with it."""
SIXTEEN_BIT = frozenset({"amp", "fp16", "bf16"})
FORWARD = 1 / 3  # of a training step's time: the way back does twice the arithmetic
LOGGED_EVALUATION_SHARE = 0.006  # of the elapsed time, median of MLPerf logs that state both rates
SIZE_EXPONENT = 1.6  # images/s falls with the side of the image to this power: less than its area


def training_rate(row: Throughput) -> float:
    """Images per second of training alone: rates that include evaluation are raised by its usual share."""
    return row.images_per_second * (1 + LOGGED_EVALUATION_SHARE * row.includes_evaluation)


def precision_class(precision: str | None) -> str | None:
    """`16bit` for amp, fp16 and bf16; the precision itself otherwise."""
    return "16bit" if precision in SIXTEEN_BIT else precision


def bits(precision: str | None) -> str | None:
    """`32bit` for fp32 and tf32, else as `precision_class`.

    Frameworks make TensorFloat-32 of 32-bit floating point on accelerators that have it.
    """
    return "32bit" if precision in THIRTY_TWO_BIT else precision_class(precision)


def own_rates(recipe: Recipe) -> list[float]:
    """Images per second in each phase on the recipe's own system; empty where nothing is known.

    A mean rate over several image sizes is shared out by what an image of each size costs.
    """
    rates = [phase.images_per_second for phase in recipe.phases if phase.images_per_second]
    if len(rates) == len(recipe.phases) or recipe.is_mlperf or not recipe.images_per_second:
        return rates if len(rates) == len(recipe.phases) else []
    epochs = [phase.to_epoch - phase.from_epoch for phase in recipe.phases]
    costs = [phase.image_size**SIZE_EXPONENT for phase in recipe.phases]
    mean_cost = sum(spent * cost for spent, cost in zip(epochs, costs, strict=True)) / sum(epochs)
    return [recipe.images_per_second * recipe.clock_factor * mean_cost / cost for cost in costs]


GMACS_EXPONENT = 0.7  # images/s falls with multiply-adds to this power: small networks use an accelerator badly
UNSTATED_PRECISION = "16bit"
"""TPUs know no other (cloud.google.com/tpu/docs/bfloat16), accelerators before matrix units are no faster with it, and on those
since most people use it."""


class Implementation(NamedTuple):
    """Whose program: the stack its rates are filed under, the framework's family, and who wrote or entered it."""

    stack: str
    framework_family: str
    organisation: str


class Workload(Struct, frozen=True):
    """What is computed. `parameters` is ln of half of one plus the parameters in units of ResNet-50's: at least -ln 2, for
    sharing next to nothing costs a little too; `gmacs` is ln of the multiply-adds in such units. Both are 0 where unknown.
    `activations` are in such units too, None for convolutions. `plain` is as in `Throughput`."""

    model: str
    family: str
    image_size: int
    precision: str
    implementation: Implementation
    parameters: float = 0.0
    gmacs: float = 0.0
    activations: float | None = None
    compilation: Compilation | None = None
    plain: bool = False

    @property
    def is_convolution(self) -> bool:
        """Whether it is no transformer."""
        return self.activations is None

    @property
    def offset(self) -> float:
        """What image size and multiply-adds alone would make of ln(images/s)."""
        return -SIZE_EXPONENT * math.log(self.image_size / REFERENCE_SIZE) - GMACS_EXPONENT * self.gmacs


def workload(of: Throughput | Recipe, image_size: int, models: Mapping[str, Model]) -> Workload:
    """What a measured row or a recipe computes at an image size; a model that is not listed is a family of its own."""
    model = models.get(of.model)
    millions = (model and model.parameters_millions) or REFERENCE_PARAMETERS_MILLIONS
    activations = model.activations_millions if model and model.is_transformer else None
    return Workload(
        _timed(of.model, models),
        model.family if model else of.model,
        image_size,
        precision_class(of.precision) or UNSTATED_PRECISION,
        implementation(of),
        math.log1p(millions / REFERENCE_PARAMETERS_MILLIONS) - math.log(2),
        math.log(((model and model.gmacs) or REFERENCE_GMACS) / REFERENCE_GMACS),
        None if activations is None else activations / REFERENCE_ACTIVATIONS_MILLIONS,
        of.compilation,
        of.plain,
    )


def _timed(name: str, models: Mapping[str, Model]) -> str:
    """The network whose rates stand for this one's: usually itself."""
    model = models.get(name)
    return (model and model.speed_of) or name


def implementation(of: Throughput | Recipe) -> Implementation:
    """Whose program a row or a recipe is: MLPerf's stack holds several, of one maker even."""
    return Implementation(of.stack, of.framework_family, of.organisation)


class Transfer(Struct, frozen=True, dict=True):
    """Effects on ln(rate) relative to the reference model's rate on the same cluster."""

    models: Mapping[str, Model]
    accelerators: Mapping[str, Accelerator]
    effects: Mapping[Key, float]

    def knows(self, model: str) -> bool:
        """Whether any rate of the network was measured, or of one of the same operations."""
        return ("model", _timed(model, self.models)) in self.effects

    @cached_property
    def chips_of(self) -> Mapping[Implementation, frozenset[str]]:
        """The chips, whatever their memory, on which an implementation was measured with any network."""
        chips: dict[Implementation, set[str]] = defaultdict(set)
        for key in self.effects:
            if key[0] == "chip" and len(key) > 2:
                chips[Implementation(*key[2:5])].add(key[1])
        return {implementation: frozenset(names) for implementation, names in chips.items()}

    def software(self, workload: Workload) -> float:
        """The part of ln(rate / reference rate) that the network, its image size, precision and implementation make."""
        return total(self.effects, software_terms(workload)) + workload.offset

    def of_compiling(self, workload: Workload) -> float:
        """What compiled code adds to ln(rate), and eager code takes off it."""
        return self.effects.get(compiling(workload), 0.0)

    def hardware(self, workload: Workload, accelerator: str, per_node: int) -> float:
        """The part that changes with the accelerator and the count in a machine."""
        [by_doublings] = self.by_doublings(workload, [accelerator], per_node)
        return float(shared(by_doublings, per_node))

    def balance(self, workload: Workload, accelerator: str) -> float:
        """What the chip's balance of arithmetic and memory bandwidth adds to `Workload.offset`; 0 for convolutions.

        A transformer takes the time of its multiply-adds and of moving its activations, ResNet-50 that of its own (the roofline
        of Williams, Waterman and Patterson 2009, its two times added up).
        """
        if workload.activations is None:
            return 0.0
        memory = self.memory_share(accelerator)
        longer = (math.exp(workload.gmacs) + memory * workload.activations) / (1 + memory)
        return GMACS_EXPONENT * workload.gmacs - math.log(longer)

    def memory_share(self, accelerator: str) -> float:
        """The seconds that ResNet-50 moves data on this chip for each second that it computes."""
        return self._memory_shares.get(accelerator, USUAL_MEMORY_SHARE)

    @cached_property
    def _memory_shares(self) -> Mapping[str, float]:
        """That of each chip, with the slowest memory sold, under its name and those of its accelerators."""
        found: dict[str, float] = {}
        for accelerator in self.accelerators.values():
            if accelerator.dense_16bit_tflops and accelerator.memory_bandwidth_gb_per_s and accelerator.device_memory:
                share = REFERENCE_GB_PER_TFLOP * accelerator.dense_16bit_tflops / accelerator.memory_bandwidth_gb_per_s
                found[accelerator.chip] = max(share, found.get(accelerator.chip, 0.0))
        return found | {
            accelerator.name: found[accelerator.chip]
            for accelerator in self.accelerators.values()
            if accelerator.chip in found
        }

    def by_doublings(self, workload: Workload, accelerators: Sequence[str], most: int) -> Floats:
        """That part for 1, 2, 4, ... of each accelerator in a machine, up to `most` [accelerators, counts].

        A doubling makes none of them faster.
        """
        every = {peers: total(self.effects, sharing_terms(workload, peers)) for peers in (False, True)}
        sizes = [size for size, _ in doublings(most)]
        alone, steps = np.zeros((len(accelerators), 1)), np.zeros((len(accelerators), 1 + len(sizes)))
        for number, name in enumerate(accelerators):
            chip = part(self.accelerators, name)
            done = as_multiplied(workload, chip)
            terms = itertools.chain(hardware_terms(done, chip, self.memory_share(name)), silicon_terms(done, chip))
            otherwise = self.software(done) - self.software(workload) if done is not workload else 0.0
            alone[number] = self.balance(workload, name) + total(self.effects, terms) + otherwise
            steps[number, 1:] = every[chip.peer_to_peer]
            for size in self._sizes.get(chip.chip, frozenset()).intersection(sizes):
                steps[number, 1 + sizes.index(size)] += total(self.effects, size_terms(workload, chip, size))
        return np.asarray(alone + np.minimum(steps, 0.0).cumsum(axis=1))

    @cached_property
    def _sizes(self) -> Mapping[str, frozenset[str]]:
        """In which numbers each chip was measured in a machine: no other doubling has an effect of its own."""
        counted = [key for key in self.effects if key[0] == "count" and len(key) > 3]
        sizes: dict[str, set[str]] = defaultdict(set)
        for key in counted:
            sizes[key[2] if key[1] == "parameters" else key[1]].add(key[-1])
        return {chip: frozenset(found) for chip, found in sizes.items()}

    def slope(self, of: Throughput | Recipe) -> float:
        """What the network and its precision add to the reference's cost of small batches: the factor of `step_overhead`."""
        return total(self.effects, batch_terms(of))


def batch_terms(of: Throughput | Recipe) -> Iterator[Term]:
    """Effects on the cost of small batches: in 32 bits, where images take longer, what each step costs is fewer of them."""
    yield ("batch", of.model), 1.0, 0.3
    if of.precision in THIRTY_TWO_BIT:
        yield ("batch", "32bit"), 1.0, 0.3


def software_terms(workload: Workload) -> Iterator[Term]:
    """Effects of network, precision and implementation.

    These prior deviations and those below maximise the marginal likelihood of all rows, rounded.
    """
    implementation, family, precision = workload.implementation, workload.family, workload.precision
    yield ("family", family), 1.0, 0.7
    yield ("family", family, precision), 1.0, 0.11
    yield ("model", workload.model), 1.0, 0.26
    yield ("model", workload.model, precision), 1.0, 0.09
    yield ("precision", precision), 1.0, 1.0
    yield ("stack", implementation.stack), 1.0, 0.16
    yield ("stack", implementation.stack, precision), 1.0, 0.11
    yield ("implementation", *implementation), 1.0, 0.09
    yield ("implementation", *implementation, family, precision), 1.0, 0.08
    if workload.compilation:
        yield compiling(workload), SIGNS[workload.compilation], 0.3
    if _gains_less(workload):
        yield ("plain",), 1.0, 0.2


def _gains_less(workload: Workload) -> bool:
    """Plain loops gain less by 16 bits than tuned code does, as their convolutions wait for memory and for Python."""
    return workload.plain and workload.is_convolution and workload.precision == "16bit"


def compiling(workload: Workload) -> Key:
    """The effect of code that is compiled: transformers gain more, most of their operations being small."""
    return "compiled", "convolutions" if workload.activations is None else "transformers"


SIGNS: Mapping[Compilation | None, float] = {"compiled": 1.0, None: 0.0, "eager": -1.0}
"""How often the effect counts; code of which it is not known stands between."""


def hardware_terms(workload: Workload, accelerator: Accelerator, memory_share: float) -> Iterator[Term]:
    """Effects that change with the chip, whatever its memory; `memory_share` as in `Transfer`.

    Without matrix units 32 bits are no slower than the data sheet's figure, so what precision adds is taken back. Cards with
    matrix units of half the rate are nearly as fast as with the whole: the roofline makes too much of their arithmetic.
    Where everything is compiled, code of which that is not known, or that is eager elsewhere, is so too; MLPerf's is the measure.
    Transformers have two effects more: they gain less on chips that compute much for each byte than `Transfer.balance` promises.
    """
    chip = accelerator.chip
    yield ("chip", chip), 1.0, 0.16
    yield ("chip", chip, *workload.implementation, workload.precision), 1.0, 0.06
    if accelerator.always_compiled and workload.compilation != "compiled" and workload.implementation.stack != "mlperf":
        yield compiling(workload), SIGNS["compiled"] - SIGNS[workload.compilation], 0.3
    if accelerator.half_rate:
        yield ("half rate",), math.log((1 + memory_share) / (1 / 2 + memory_share)), 0.5
    if _gains_less(workload):
        yield ("plain", "chip"), math.log((accelerator.dense_16bit_tflops or REFERENCE_TFLOPS) / REFERENCE_TFLOPS), 0.2
    if workload.activations is not None:
        yield ("transformers", chip), 1.0, 0.1
        yield ("transformers", "balance"), math.log(memory_share), 0.2
    if not accelerator.matrix_units or _is_bf16_all_the_same(workload.precision, accelerator):
        yield ("precision", workload.precision), -1.0, 1.0
    if _is_bf16_all_the_same(workload.precision, accelerator):
        yield ("precision", "16bit"), 1.0, 1.0


def silicon_terms(workload: Workload, accelerator: Accelerator) -> Iterator[Term]:
    """Effects of plain loops on a die that this project timed them on: of the kind of network, of its family and its own."""
    if workload.plain and accelerator.silicon:
        on = accelerator.silicon, workload.precision
        yield ("loop", "convolutions" if workload.is_convolution else "transformers", *on), 1.0, 0.3
        yield ("loop", "family", workload.family, *on), 1.0, 0.25
        yield ("loop", "model", workload.model, *on), 1.0, 0.3


def as_multiplied(workload: Workload, accelerator: Accelerator) -> Workload:
    """The work as the chip does it: PyTorch multiplies 32-bit convolutions in TF32 where the chip can, as NVIDIA's since 2020."""
    has_tf32 = (
        accelerator.vendor == "NVIDIA" and accelerator.matrix_units and (accelerator.introduced or 0) >= TF32_SINCE
    )
    if workload.plain and workload.is_convolution and workload.precision == "fp32" and has_tf32:
        return replace(workload, precision="tf32")
    return workload


def _is_bf16_all_the_same(precision: str, accelerator: Accelerator) -> bool:
    """TPUs multiply 32-bit numbers in bf16 (cloud.google.com/tpu/docs/bfloat16)."""
    return precision in THIRTY_TWO_BIT and accelerator.vendor == "Google"


def count_steps(workload: Workload, accelerator: Accelerator, per_node: int) -> Iterator[Doubling]:
    """What sharing gradients costs, by doublings of the accelerators in a machine."""
    every = [*sharing_terms(workload, accelerator.peer_to_peer)]
    for size, share in doublings(per_node):
        yield Doubling(share, [*every, *size_terms(workload, accelerator, size)])


def sharing_terms(workload: Workload, peer_to_peer: bool) -> Iterator[Term]:
    """What any doubling costs: more where there are more gradients to share in the time that a step takes."""
    yield ("count", workload.family), 1.0, 0.12
    yield ("count", "model", workload.model), 1.0, 0.06
    yield ("count", "parameters"), workload.parameters, 0.09
    if not peer_to_peer:
        yield ("no peers",), 1.0, 0.12
        yield ("no peers", "parameters"), workload.parameters, 0.2


def size_terms(workload: Workload, accelerator: Accelerator, size: str) -> Iterator[Term]:
    """What the doubling to this number of accelerators costs besides."""
    yield ("count", "parameters", accelerator.chip, size), workload.parameters, 0.08
    yield ("count", accelerator.chip, *workload.implementation, workload.precision, size), 1.0, 0.1
