"""The speed of chips that nobody measured: their data sheets, and what MLPerf's other tasks measured on them.

Each source says ln(rate) of the reference network to a standard deviation that chips known in both ways tell; sources are
weighted by its inverse square. What they disagree by is added to what is left, and nothing is faster than the memory allows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import NormalDist, fmean, median
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import REFERENCE_VENDOR
from costcalc.throughput.fitted_parameters import LEVEL
from costcalc.throughput.reference_model import FULL_NODE, UNDATED, ChipPrior, ReferenceModel, step_overhead
from science.fitting.reference_model import MACHINE, Observation, fit_reference_model

NORMAL, END = NormalDist(), (1 + LEVEL) / 2
BY_RULE = 0.5  # standard deviation in ln(rate) of a sort of source that nobody can tell
FEWEST = 2  # chips that tell it
LEAST_OF_OTHERS = math.log(1.4)
"""Half-width in ln(rate), at 80 %, of a chip of other makers at least, by rule: the code that says how theirs run is years
older."""
BEST_KNOWN = "data sheet, NVIDIA"  # no sort is surer than that of the most chips


class TaskRatio(Struct, frozen=True):
    """How many times as fast as `against` an accelerator was in a task of MLPerf, as many of each working together."""

    task: str
    kind: Literal["image", "other"]
    accelerator: str
    against: str
    ratio: float


class Guess(NamedTuple):
    """ln(images/s) of the reference network by one source; those of one `sort` err alike."""

    log_rate: float
    sort: str
    task: str = ""


class ChipSources(Struct, frozen=True):
    """What is known of a chip's speed beside measured rates of image classifiers. `deviations` are by sort of source."""

    reference: ReferenceModel
    ratios: Sequence[TaskRatio]
    deviations: Mapping[str, float] = field(default_factory=dict)

    def guesses(self, name: str) -> Iterator[Guess]:
        """One by the data sheet, and one for each task in which it was measured, or another part with the same silicon."""
        chip = self._part(name)
        own_maker = "NVIDIA" if chip.vendor == REFERENCE_VENDOR else "others"
        maker = own_maker if chip.vendor in self._makers else "a maker never measured"
        yield Guess(self.by_data_sheet(name), f"data sheet, {maker}")
        for row in self._nearest_ratios(chip):
            sibling = self.by_data_sheet(name) - self.by_data_sheet(row.accelerator)
            yield Guess(
                self.by_data_sheet(row.against) + math.log(row.ratio) + sibling, f"{row.kind}, {own_maker}", row.task
            )

    def _nearest_ratios(self, chip: Accelerator) -> Iterator[TaskRatio]:
        """One of each task, the part's own before those of its siblings."""
        alike = [row for row in self.ratios if silicon(self._part(row.accelerator)) == silicon(chip)]
        usable = [row for row in alike if row.against in self.reference.years and self._has_sheet(row.accelerator)]
        yield from {row.task: row for row in sorted(usable, key=lambda row: row.accelerator == chip.name)}.values()

    def by_data_sheet(self, name: str) -> float:
        """ln(images/s) in a full machine with usual software, whatever its memory allows.

        What other makers' chips gain by their own code is not given to makers that were never measured.
        """
        gained = self.reference.effects.get(("vendor", "other"), 0.0)
        return self._modelled(name) - gained * (self._part(name).vendor not in {*self._makers, REFERENCE_VENDOR})

    def prior(self, name: str) -> ChipPrior | None:
        """What these sources say together, None without a data sheet. Beyond what memory allows it may be wrong by as much."""
        if not self._has_sheet(name):
            return None
        guesses = list(self.guesses(name))
        weights = np.array([self.deviations.get(guess.sort, BY_RULE) ** -2 for guess in guesses])
        rates = np.array([guess.log_rate for guess in guesses])
        mean = float(weights @ rates / weights.sum())
        deviation = math.sqrt(float(1 + weights @ (rates - mean) ** 2) / weights.sum())
        low, middle, high = _below(self.reference.data_sheets.memory_roof(name), mean, deviation)
        slower, shift = max(middle - low, mean - middle), middle - self._modelled(name)
        tasks = tuple(sorted(guess.task for guess in guesses if guess.task))
        least = 0.0 if self._part(name).vendor == REFERENCE_VENDOR else LEAST_OF_OTHERS
        return ChipPrior(round(shift, 4), round(max(slower, least), 4), round(max(high - middle, least), 4), tasks)

    def by_prior(self, name: str, prior: ChipPrior) -> float:
        """ln(images/s) that a prior says."""
        return self._modelled(name) + prior.shift

    def _modelled(self, name: str) -> float:
        software = self.reference.software(name, UNDATED, "")
        return float(self.reference.hardware(name, FULL_NODE, 1).intercept) + software

    def _part(self, name: str) -> Accelerator:
        return self.reference.data_sheets.part(name)

    def _has_sheet(self, name: str) -> bool:
        return self.reference.data_sheets.roofline(name) is not None

    @property
    def _makers(self) -> frozenset[str]:
        """Those of which a chip was measured."""
        return frozenset(self._part(name).vendor for name in self.reference.years)


def _below(roof: float, mean: float, deviation: float) -> tuple[float, float, float]:
    """The ends and the middle of the LEVEL interval of a normal number that is known to lie below the roof."""
    under = max(NORMAL.cdf((roof - mean) / deviation), 1e-6)
    low, middle, high = (mean + deviation * NORMAL.inv_cdf(share * under) for share in (1 - END, 0.5, END))
    return low, middle, high


def silicon(part: Accelerator) -> str:
    """One name for parts of one die, however they are sold: nobody knows one of them first."""
    return part.silicon or part.chip


class Missed(NamedTuple):
    """A measured chip as its sources would have had it: `log_rate` is what was measured in the median."""

    name: str
    silicon: str
    log_rate: float
    sources: ChipSources


def missed(
    observed: Sequence[Observation], ratios: Sequence[TaskRatio], accelerators: Mapping[str, Accelerator]
) -> list[Missed]:
    """Every measured chip with its siblings left out of all that is learned, and chips of other makers than the reference's also
    with all of their maker's left out."""
    rates: dict[str, list[float]] = defaultdict(list)
    for row in observed:
        if row.setup.nodes == 1 and row.setup.per_node <= MACHINE:
            rates[row.setup.accelerator].append(row.log_rate - step_overhead(row.setup.batch))
    fits: dict[frozenset[str], ReferenceModel] = {}
    found = []
    for name, logs in rates.items():
        chip = accelerators[name]
        alike = frozenset(one.name for one in accelerators.values() if silicon(one) == silicon(chip))
        maker = frozenset(one.name for one in accelerators.values() if one.vendor == chip.vendor)
        for hidden in {alike, alike if chip.vendor == REFERENCE_VENDOR else maker}:
            kept = [row for row in observed if row.setup.accelerator not in hidden]
            if kept:
                fits.setdefault(hidden, fit_reference_model(kept, accelerators))
                known = [row for row in ratios if row.against not in hidden]
                found.append(Missed(name, silicon(chip), median(logs), ChipSources(fits[hidden], known)))
    return found


def deviations(found: Sequence[Missed], without: str = "") -> dict[str, float]:
    """The standard deviation of each sort of source, parts of one silicon counted once; larger by Student's t where few tell it,
    and never less than that of BEST_KNOWN."""
    from scipy.stats import t as student  # which takes as long to import as all else of `science` together

    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        if one.silicon != without and one.sources.reference.data_sheets.roofline(one.name) is not None:
            for guess in one.sources.guesses(one.name):
                errors[guess.sort][one.silicon].append((one.log_rate - guess.log_rate) ** 2)
    known = {
        sort: round(
            math.sqrt(fmean(map(fmean, many.values()))) * (float(student.ppf(END, len(many))) / NORMAL.inv_cdf(END)), 4
        )
        for sort, many in errors.items()
        if len(many) >= FEWEST
    }
    least = known.get(BEST_KNOWN, BY_RULE)
    return {sort: max(one, least) for sort, one in known.items()}


def chip_priors(
    reference: ReferenceModel, found: Sequence[Missed], ratios: Sequence[TaskRatio], measured: Collection[str]
) -> dict[str, ChipPrior]:
    """The prior of every accelerator whose chip is not among the `measured`, with any network by any code."""
    sources = ChipSources(reference, ratios, deviations(found))
    names = [part.name for part in reference.data_sheets.accelerators.values() if part.chip not in measured]
    return {name: prior for name in names if (prior := sources.prior(name))}


def left_out(found: Sequence[Missed]) -> Iterator[tuple[Missed, ChipPrior]]:
    """What would have been said of each measured chip, the deviations too being those of others."""
    for one in found:
        prior = replace(one.sources, deviations=deviations(found, one.silicon)).prior(one.name)
        if prior:
            yield one, prior
