"""One recipe on many clusters: how it shares its batch there, and its rates by the fitted models, before any measurement."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from costcalc.recipes import Recipe
from costcalc.throughput.cluster_features import NOWHERE, ClusterFeatures
from costcalc.throughput.data_sheets import twin
from costcalc.throughput.fitted_parameters import ACCELERATOR, NETWORK, STACK, TRANSFERRED
from costcalc.throughput.measurements import Measurements
from costcalc.throughput.memory import most_images, parameters
from costcalc.throughput.reference_model import FULL_NODE, REFERENCE_BATCH, ReferenceModel, Setup, is_reference
from costcalc.throughput.workloads import REFERENCE_SIZE, Implementation, Workload, own_rates, workload
from costcalc.training import Model
from costcalc.units import Flags, Floats, Indices

FEWEST_IMAGES = 8.0  # per accelerator and step; the smallest measured is 15
ANY = Implementation("", "", "")

WAIT_SECONDS = 3.0e-3  # launches and latency that no step of NVIDIA's A100 and H100 pods avoided
NETWORK_BYTES_PER_SECOND = 50e9  # of one accelerator to other machines: InfiniBand NDR, 400 Gb/s
GRADIENT_BYTES = 2  # of one parameter, sent in 16 bits
SHORTEST_SECONDS = 5.0e-3  # the shortest measured, less a tenth: 5.7 ms, NVIDIA's 3,584 H100 in MLPerf v3.0


def on_clusters(recipe: Recipe, features: ClusterFeatures, images_per_gib: float) -> WorkOnClusters:
    """A recipe on these clusters. `images_per_gib` is `densest` for its network and precision."""
    if is_reference(recipe):
        return ReferenceOnClusters(recipe, features, 0.0)
    return WorkOnClusters(recipe, features, images_per_gib)


class WorkOnClusters:
    """A recipe on C clusters, which shares its batch there so: `batch` [C] images per accelerator and step, in `steps` [C] that
    make a whole batch, where the memory has `room` [C]; larger batches are accumulated. P are the phases of the recipe."""

    def __init__(self, recipe: Recipe, features: ClusterFeatures, images_per_gib: float) -> None:
        self.recipe, self.features = recipe, features
        self.model = features.transfer.models.get(recipe.model)
        largest = max((phase.image_size for phase in recipe.phases), default=224)
        self.room = most_images(features.memory_gib, self.model, largest, recipe.precision, images_per_gib)
        wanted = global_batch(recipe) / np.maximum(features.total, 1)
        self.steps: Floats = np.maximum(np.ceil(wanted / np.maximum(self.room, 1)), 1)
        self.batch: Floats = np.minimum(wanted, np.maximum(self.room, 1))

    @cached_property
    def is_anchored(self) -> bool:
        """Whether the recipe's rates on its own system are known, and so is the reference's there."""
        return is_anchored(self.recipe, self.features.reference)

    @cached_property
    def has_few_images(self) -> Flags:
        """Where an accelerator has fewer images in a step [C] than were measured, or than the user's own run had."""
        fewest, own = FEWEST_IMAGES, self.recipe.home.accelerators
        if self.recipe.is_own and own:
            fewest = min(fewest, global_batch(self.recipe) / own)
        return np.asarray(self.batch / fewest < 1)

    @property
    def spread_out(self) -> Flags:
        """Where a batch that nobody published would be shared among more accelerators than it ever was, or than a machine
        holds."""
        published = self.recipe.global_batch_size or self.recipe.is_own
        most = np.inf if published else max(self.recipe.home.accelerators, FULL_NODE)
        return np.asarray(self.features.total > most)

    @cached_property
    def workloads(self) -> list[Workload]:
        """What each phase asks of an accelerator."""
        return [workload(self.recipe, phase.image_size, self.features.transfer.models) for phase in self.recipe.phases]

    @cached_property
    def reference(self) -> Floats:
        """ln(images/s of one accelerator) of the reference network [C], with the recipe's software and cost of small batches."""
        return self._reference_at(self.batch)

    def _reference_at(self, batch: Floats) -> Floats:
        """The same at these images per accelerator and step [C]."""
        return self._by_twin(batch)

    def _by_twin(self, batch: Floats) -> Floats:
        """The same as other networks than the reference are compared with it."""
        slope = self.features.transfer.slope(self.recipe)
        return self.features.rates_by_twin.log_rate(batch, self.recipe.year, self.recipe.framework_family, slope)

    @cached_property
    def modelled(self) -> Floats:
        """ln(images/s of one accelerator) by the fitted models [C, P]; NaN where they say nothing."""
        if not (self.workloads and (self.is_anchored or self.features.transfer.knows(self.recipe.model))):
            return np.full((len(self.batch), len(self.workloads)), np.nan)
        return self._carried_over(self.reference, self.workloads[0], self._shift())

    def _shift(self) -> Floats:
        """What the recipe's network, implementation and image sizes add to ln(rate) [P]: seen on its own system, or learned from
        others."""
        recipe, reference, transfer = self.recipe, self.features.reference_of_chips, self.features.transfer
        if not self.is_anchored:
            return np.array([transfer.software(work) for work in self.workloads])
        own = recipe.home
        batch = global_batch(recipe) / own.accelerators
        name = twin(reference.data_sheets.accelerators, own.accelerator)
        setup = Setup(name, own.accelerators_per_node, own.nodes, batch, recipe.year, recipe.framework_family)
        published = workload(recipe.run_as_published(), self.workloads[0].image_size, transfer.models)
        hardware = transfer.hardware(published, own.accelerator, own.accelerators_per_node)
        rates = np.array(own_rates(recipe))
        otherwise = transfer.software(self.workloads[0]) - transfer.software(published)
        return np.asarray(
            np.log(rates / own.accelerators) - reference.log_rate(setup, transfer.slope(recipe)) - hardware + otherwise
        )

    def _carried_over(self, reference: Floats, first: Workload, shift: Floats) -> Floats:
        """ln(images/s of one accelerator) [C, P] from the reference's rates [C], what the hardware adds to those for the first
        phase, and what the software adds in each [P]."""
        hardware, _ = self.features.transferred(first)
        return np.asarray((reference + hardware)[:, None] + shift)

    def by_anybody(self, plain: bool) -> Floats:
        """ln(images/s of one accelerator) [C, P] of a code of which nothing is known, the middle of all codes, or but that it is
        a plain loop; NaN for networks that nobody measured."""
        if not (self.workloads and self.features.transfer.knows(self.recipe.model)):
            return np.full((len(self.batch), 1), np.nan)
        works = [of_any_code(work, plain) for work in self.workloads]
        shift = np.array([self.features.transfer.software(work) for work in works])
        return self._carried_over(self._by_twin(self.batch), works[0], shift)

    @cached_property
    def peak(self) -> Floats:
        """ln(images/s) at which one accelerator does nothing but multiply and add at its dense 16-bit peak [C, P]; infinite where
        the data sheet does not say. Training takes three forward passes of two operations for each multiply-add."""
        if not (self.model and self.model.gmacs):
            return np.full((1, 1), np.inf)
        usual = self.model.image_size or REFERENCE_SIZE
        sides = np.array([work.image_size / usual for work in self.workloads])
        return np.asarray(self.features.log_peak[:, None] - np.log(3 * 2 * self.model.gmacs * 1e9 * sides**2))

    @property
    def roof(self) -> Floats:
        """ln(images/s of one accelerator) that no code passes [C, P]."""
        return self.peak

    @property
    def own_system(self) -> list[int]:
        """The clusters like the recipe's own system, where its rates there are the answer."""
        if not own_rates(self.recipe) or self.recipe.is_run_otherwise:
            return []
        here: list[int] = self.features.at.get(self.recipe.home.key, NOWHERE).tolist()
        return here

    def measured(self, measurements: Measurements, answered: Flags) -> dict[int, list[float]]:
        """The clusters on which the implementation was measured, with its rates there in each phase; last its own system, on
        which the rate is that of the batch, however it was held. `answered` [C] are those with a modelled rate."""
        recipe, features = self.recipe, self.features
        self.steps[self.own_system] = 1
        if recipe.is_run_otherwise or recipe.teacher:
            return {}
        slope = features.rates_by_twin.slope(features.transfer.slope(recipe))
        asked = measurements.exact & self._takes_measured(answered) & (self.batch > 0)
        rates = {
            c: measurements.rates(recipe, features.clusters[c], self.batch[c], slope[c])
            for c in np.flatnonzero(asked).tolist()
        }
        return {c: rate for c, rate in rates.items() if rate} | dict.fromkeys(self.own_system, own_rates(recipe))

    def _takes_measured(self, answered: Flags) -> Flags:
        """Where a measured rate may stand [C]: one of a larger batch says nothing about less."""
        return np.asarray(~self.has_few_images)

    def unseen_kind(self, chips: Collection[str]) -> Indices:
        """The kind of evidence on clusters [C] whose accelerators were not measured with this code, where `chips` were."""
        return np.where(self.features.with_chip(chips), NETWORK, STACK)

    @property
    def weakest_kind(self) -> int:
        """No evidence of this recipe is surer than this kind."""
        sizes = {phase.image_size for phase in self.recipe.phases}
        if (self.recipe.teacher or len(sizes) > 1) and not own_rates(self.recipe):
            return STACK
        return NETWORK if self.recipe.is_run_otherwise else TRANSFERRED

    def is_exact(self, measurements: Measurements) -> Flags:
        """The clusters that are a system on which this recipe was run [C]."""
        return self.features.equal_to([self.recipe.home.key])

    @property
    def measured_nodes(self) -> int:
        """How many machines its own rates were measured on; one where they were not."""
        return self.recipe.home.nodes if self.is_anchored else 1

    def waiting(self, log_each: Floats) -> tuple[Floats, Flags]:
        """ln(images/s of all accelerators), no step of many machines being shorter than they wait for one another; and whether
        the step would be shorter than any measured."""
        many = np.flatnonzero(self.features.several)
        step = np.log(self.batch[many])[:, None] - log_each[many]
        hasty = np.zeros(len(self.batch), bool)
        hasty[many] = (step < math.log(SHORTEST_SECONDS)).any(axis=1)
        log_rate = log_each + self.features.log_total[:, None]
        log_rate[many] -= np.maximum(self._log_shortest_step - step, 0)
        return log_rate, hasty

    def next_doubling(self, log_each: Floats) -> Floats:
        """What each accelerator would lose of ln(rate) among twice as many at most [C]: they share more, have less of the batch
        each, and no step is shorter."""
        half = np.minimum(global_batch(self.recipe) / np.maximum(2 * self.features.total, 1), self.batch)
        lost = self._sharing() + self.reference - self._reference_at(half)
        waiting = log_each.T.max(axis=0) - lost - np.log(half) + self._log_shortest_step
        return np.asarray(lost + np.where(self.features.networked, np.maximum(waiting, 0), 0))

    def _sharing(self) -> Floats:
        """What a doubling takes off ln(rate) at most, the batch of each accelerator being the same [C]."""
        if not self.workloads:
            return self.features.rates.steepest
        return np.asarray(self.features.rates_by_twin.steepest + self.features.transferred(self.workloads[0])[1])

    @property
    def _log_shortest_step(self) -> float:
        return math.log(shortest_step(self.model))

    def hold_to_measured(self, log_rate: Floats, measured: Iterable[int]) -> None:
        """Makes no accelerator slower than a measured one that is no better off, nor faster than one that is no worse off.

        Of two measured rates the lower one gives way, but to the recipe's own log both. Processors have no accelerators to count,
        so that the rate of many machines says nothing of fewer.
        """
        features = self.features
        own, measured = ([c for c in places if features.total[c]] for places in (self.own_system, measured))
        if not measured:
            return
        rate = log_rate - features.log_total[:, None]
        for c in own:
            _not_faster(rate, c, features.around(c)[1])
        for c in measured:
            no_worse, _ = features.around(c)
            rate[no_worse] = np.fmax(rate[no_worse], rate[c])
        for c in measured:
            _not_faster(rate, c, features.around(c)[1])
        log_rate[:] = rate + features.log_total[:, None]


class ReferenceOnClusters(WorkOnClusters):
    """MLPerf's usual code with the network that all others are compared with. It has one phase, and its speeds are fitted."""

    @property
    def spread_out(self) -> Flags:
        """Nowhere: any batch of it was published."""
        return np.zeros(len(self.batch), bool)

    @cached_property
    def workloads(self) -> list[Workload]:
        """That of its first phase: its rates hold for the whole run."""
        return super().workloads[:1]

    def _reference_at(self, batch: Floats) -> Floats:
        held = np.minimum(batch, self.features.largest_batch)
        return self.features.rates.log_rate(held, self.recipe.year, self.recipe.framework_family)

    @cached_property
    def modelled(self) -> Floats:
        """ln(images/s of one accelerator) of the fitted reference [C, 1]."""
        return np.asarray(self.reference[:, None])

    @property
    def roof(self) -> Floats:
        """No more than the memory's bandwidth allows either."""
        return np.asarray(np.minimum(self.peak, self.features.log_roof[:, None]))

    def _takes_measured(self, answered: Flags) -> Flags:
        """Only where no fitted rate stands."""
        return super()._takes_measured(answered) & ~answered

    def unseen_kind(self, chips: Collection[str]) -> Indices:
        """The same, but that accelerators like those that were measured are known better."""
        return np.where(self.features.resembles, ACCELERATOR, super().unseen_kind(chips))

    @property
    def weakest_kind(self) -> int:
        """The surest: its rates are fitted to its own results."""
        return TRANSFERRED

    def is_exact(self, measurements: Measurements) -> Flags:
        """Those on which anybody ran it, too."""
        return super().is_exact(measurements) | measurements.exact

    @property
    def own_system(self) -> list[int]:
        """None: its own rate is one of those that the reference is fitted to."""
        return []

    @property
    def measured_nodes(self) -> int:
        """One: what many machines take is fitted."""
        return 1

    def _sharing(self) -> Floats:
        return self.features.rates.steepest


def _not_faster(rate: Floats, than: int, those: Indices) -> None:
    rate[those] = np.fmin(rate[those], rate[than])


def is_anchored(recipe: Recipe, reference: ReferenceModel) -> bool:
    """Whether the recipe's rates on its own system are known, and so is the reference's there."""
    own = recipe.home
    return bool(own_rates(recipe)) and own.accelerators > 0 and reference.knows(own.accelerator)


def global_batch(recipe: Recipe) -> float:
    """The recipe's batch; an unknown one is taken as 256 images on each accelerator of its own system, or of eight."""
    return recipe.global_batch_size or REFERENCE_BATCH * (recipe.home.accelerators or FULL_NODE)


def of_any_code(workload: Workload, plain: bool = False) -> Workload:
    """This work done by code about which nothing is known, or but that it is a plain loop."""
    return replace(workload, implementation=ANY, compilation=None, plain=plain)


def shortest_step(model: Model | None) -> float:
    """Seconds below which no step on several machines goes: waiting, and the ring all-reduce of the gradients.

    A ring sends each gradient twice (Patarasuk and Yuan 2009).
    """
    return WAIT_SECONDS + 2 * parameters(model) * GRADIENT_BYTES / NETWORK_BYTES_PER_SECOND
