"""The host: how many images a second the processors of a machine decode and augment.

images/s <= vCPUs x rate of the data pipeline per vCPU. Where a recipe was run on a machine whose processors are known, its
pipeline prepares at least as many images per vCPU as that run took.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import exp, hypot, log, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.hardware import Accelerator
from costcalc.machine_limits.limits import HIGH, NORMAL, InstanceType, Limit, RentedMachines
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import part
from costcalc.throughput.reference_model import is_reference
from costcalc.throughput.workloads import own_rates
from costcalc.training import IMAGES_PER_EPOCH, PipelineAsked
from costcalc.units import Floats

SHARE_OF_CORE = 0.65
"""Of a core by one of its two threads when both are busy: together they do up to 30 % more than one (Marr et al. 2002, Intel
Technology Journal 6/1). A vCPU is such a thread."""
GROWTH = 0.06
"""ln of what newer processors prepare more in a year in whole runs: 83 images/s per vCPU of 2016 and 125 of one of 2023, with
PyTorch's loader. Alone in one thread they decode 0.12 more (arXiv 2605.08731), of which busy machines keep half."""
GROWTH_DEVIATION = 0.05
"""Standard deviation of that, by rule."""
LEAST_WIDTH = 0.4
"""Half-width in ln of a pipeline's rate on another machine at least, by rule: disks, memory and the training itself take their
part, and whole runs are few."""
OWN = "own"
"""The provider of machines of the user's."""
OWN_VCPUS, OWN_VCPUS_WIDTH = sqrt(8 * 16), log(2) / 2
"""vCPUs of an accelerator of such a machine where the question does not say: 8 to 16 in 8 of 10 cases, by rule."""
BASE_YEAR, YEARS_OLDER = 2020, 1
"""Rates are compared as if of processors of that year; a machine's are taken as introduced a year before its accelerators."""


class PipelineRate(Struct, frozen=True):
    """Images per second that one processor, introduced in that year, prepared with a data pipeline from a set of `stored_gb`.

    `own_core`: it had a core to itself. `at_least`: something else was the limit, so that processors can do more. `accelerators`,
    if any are named, are those whose own decoder took part. Rates that are not measured are worked out from others, as the note
    of their line says.
    """

    pipeline: str
    decoder: str
    images_per_second: float
    own_core: bool
    at_least: bool
    accelerators: tuple[str, ...]
    stored_gb: float
    introduced: int
    is_measured: bool
    organisation: str
    source: str

    @property
    def per_vcpu(self) -> float:
        """Images per second of one thread of a busy core."""
        return self.images_per_second * (SHARE_OF_CORE if self.own_core else 1.0)

    @property
    def in_base_year(self) -> float:
        return self.per_vcpu * exp(GROWTH * (BASE_YEAR - self.introduced))


class PipelineOfCode(Struct, frozen=True):
    """The data pipeline of a program: of a stack (and of one framework in it, or of one family), or else of all programs of a
    framework's family."""

    stack: str | None
    framework: str | None
    framework_family: str | None
    pipeline: str
    source: str

    def fits(self, recipe: Recipe) -> bool:
        """Whether the recipe uses this program."""
        code = (recipe.stack, recipe.framework, recipe.framework_family)
        named = (self.stack, self.framework, self.framework_family)
        return all(name in (None, own) for name, own in zip(named, code, strict=True))


class SystemHost(Struct, frozen=True):
    """The processors of a machine on which a published recipe was run."""

    provider: str
    instance_type: str
    vcpus: int
    source: str


class PipelineTables(Struct, frozen=True):
    """What is known of data pipelines: their rates, which program has which, the most particular first, and the processors that
    fed published recipes."""

    rates: tuple[PipelineRate, ...] = ()
    code: tuple[PipelineOfCode, ...] = ()
    hosts: tuple[SystemHost, ...] = ()

    def pipeline_of(self, recipe: Recipe) -> str:
        """The pipeline of a recipe's code; empty if it is not known, as for users' own data."""
        if not recipe.has_known_pipeline:
            return ""
        return next((program.pipeline for program in self.code if program.fits(recipe)), "")


class Feed(NamedTuple):
    """A data pipeline: images per second per vCPU of BASE_YEAR, known to `width_80`, the half-width in ln of its 80 % interval;
    those beside accelerators that decode themselves; the size of the set that it reads; the year of the processors that it was
    measured on, in the mean; what a recipe's own run took per vCPU."""

    pipeline: str
    in_base_year: float
    with_decoder: tuple[tuple[str, float], ...]
    stored_gb: float
    width_80: float
    introduced: float = BASE_YEAR
    own_run: float = 0.0

    def rate(self, accelerator: str, introduced: int | None) -> float:
        """Images per second per vCPU beside this accelerator, which was introduced in this year."""
        years = _processor_year(introduced) - BASE_YEAR
        return max(self.in_base_year * exp(GROWTH * years), dict(self.with_decoder).get(accelerator, 0.0), self.own_run)

    def half_width(self, introduced: int | None) -> float:
        """The half-width in ln of its rate beside an accelerator of this year: wider the further its processors are from those
        measured."""
        years = _processor_year(introduced) - self.introduced
        return hypot(self.width_80, NORMAL.inv_cdf(HIGH) * GROWTH_DEVIATION * years)


def _processor_year(introduced: int | None) -> int:
    """The year of the processors beside an accelerator introduced in this year."""
    return (introduced or BASE_YEAR) - YEARS_OLDER


def known_feeds(rates: tuple[PipelineRate, ...]) -> dict[str, Feed]:
    """Every pipeline of the table: the geometric mean over organisations, each counted once, and beside accelerators that decode
    themselves what it did at least.

    The width is that of one more organisation's machine: how the organisations of one pipeline differ, pooled over all pipelines,
    and how far their mean is known.
    """
    limited = [rate for rate in rates if not rate.at_least]
    measured = {rate.pipeline for rate in limited if rate.is_measured}
    limited = [rate for rate in limited if rate.is_measured or rate.pipeline not in measured]  # else of decoding alone
    by_organisation = _means(limited)
    usual = {name: fmean(means) for name, means in by_organisation.items()}
    apart = [mean - usual[name] for name, means in by_organisation.items() for mean in means]
    deviation = sqrt(sum(each**2 for each in apart) / max(len(apart) - len(usual), 1))
    return {
        name: Feed(
            name,
            exp(usual[name]),
            tuple((kind, rate.per_vcpu) for rate in rates if rate.pipeline == name for kind in rate.accelerators),
            max(rate.stored_gb for rate in rates if rate.pipeline == name),
            max(NORMAL.inv_cdf(HIGH) * deviation * sqrt(1 + 1 / len(means)), LEAST_WIDTH),
            fmean(rate.introduced for rate in limited if rate.pipeline == name),
        )
        for name, means in by_organisation.items()
    }


def _means(rates: Iterable[PipelineRate]) -> dict[str, list[float]]:
    """By pipeline the mean ln(images/s per vCPU of BASE_YEAR) of each organisation."""
    logs: dict[tuple[str, str], list[float]] = defaultdict(list)
    for rate in rates:
        logs[rate.pipeline, rate.organisation].append(log(rate.in_base_year))
    means: dict[str, list[float]] = defaultdict(list)
    for (pipeline, _), of_organisation in logs.items():
        means[pipeline].append(fmean(of_organisation))
    return dict(means)


def feeds_of(
    recipes: Iterable[Recipe], tables: PipelineTables, pipeline: PipelineAsked, machines: RentedMachines
) -> tuple[Feed | None, ...]:
    """The data pipeline asked for, by default that of each recipe's own code; None if it is not known. A user's own run may have
    been on any of these machines."""
    feeds = known_feeds(tables.rates)
    if pipeline != "recipe":
        return tuple(feeds.get(pipeline) for _ in recipes)
    vcpus = {(provider, name): machine.vcpus for provider, name, machine in machines.types}
    vcpus |= {(host.provider, host.instance_type): host.vcpus for host in tables.hosts}
    return tuple(_own_feed(recipe, feeds.get(tables.pipeline_of(recipe)), vcpus) for recipe in recipes)


def _own_feed(recipe: Recipe, feed: Feed | None, vcpus: Mapping[tuple[str, str], int | None]) -> Feed | None:
    """The pipeline of the recipe's code with what its own run took per vCPU in its fastest phase, where its processors are known.

    MLPerf's speeds are those of the usual code on any machine, not of one run.
    """
    home = recipe.home
    if feed is None or is_reference(recipe):
        return feed
    processors = vcpus.get(home.instance)
    took = max(own_rates(recipe), default=0.0)
    return feed._replace(own_run=took / (processors * home.nodes)) if processors else feed


def assumed_vcpus(kind: InstanceType) -> float | None:
    """The vCPUs of a machine of the user's with accelerators, of which nobody said how many it has."""
    provider, _, machine = kind
    return OWN_VCPUS * machine.accelerators if provider == OWN and machine.accelerators else None


def host_limit(
    feeds: Sequence[Feed | None], accelerators: Mapping[str, Accelerator], machines: RentedMachines
) -> Limit:
    """What the processors of these machines [N] allow recipes [K] with these data pipelines; no limit if the pipeline or the
    number of processors is not known."""
    vcpus = machines.by_type(lambda kind: kind[2].vcpus or assumed_vcpus(kind)) * machines.nodes
    assumed = machines.by_type(lambda kind: OWN_VCPUS_WIDTH * (not kind[2].vcpus and assumed_vcpus(kind) is not None))

    def limit(feed: Feed) -> Floats:
        rate = machines.by_accelerator(lambda name: feed.rate(name, part(accelerators, name).introduced))
        width = machines.by_accelerator(lambda name: feed.half_width(part(accelerators, name).introduced))
        return np.array([IMAGES_PER_EPOCH / (rate * vcpus), np.hypot(width, assumed)])

    of_feed = {feed: limit(feed) if feed else np.zeros((2, len(machines))) for feed in set(feeds)}
    seconds, widths = np.array([of_feed[feed] for feed in feeds]).reshape(len(feeds), 2, len(machines)).swapaxes(0, 1)
    return Limit("host", np.nan_to_num(seconds, nan=0.0), widths)
