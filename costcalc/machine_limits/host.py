"""The host: how many images a second the processors of a machine decode and augment.

images/s <= vCPUs x rate of the data pipeline per vCPU. Where a recipe was run on a machine whose processors are known, its
pipeline prepares at least as many images per vCPU as that run took.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import exp, log, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np

from costcalc.machine_limits.limits import HIGH, NORMAL, InstanceType, Limit, RentedMachines
from costcalc.throughput.reference_model import is_reference
from costcalc.throughput.workloads import own_rates
from costcalc.training import IMAGES_PER_EPOCH, PipelineAsked, Recipe
from costcalc.units import Floats

SHARE_OF_CORE = 0.65
"""Of a core by one of its two threads when both are busy: together they do up to 30 % more than one (Marr et al. 2002, Intel
Technology Journal 6/1). A vCPU is such a thread."""


@dataclass(frozen=True, slots=True)
class PipelineRate:
    """Images per second that one processor prepared with a data pipeline, from a set of `stored_gb`.

    `own_core`: the processor had a core to itself. `at_least`: something else was the limit, so that the processors can do more.
    `accelerators`, if any are named, are those whose own decoder took part.
    """

    pipeline: str
    decoder: str
    images_per_second: float
    own_core: bool
    at_least: bool
    accelerators: tuple[str, ...]
    stored_gb: float
    source: str

    @property
    def per_vcpu(self) -> float:
        """Images per second of one thread of a busy core."""
        return self.images_per_second * (SHARE_OF_CORE if self.own_core else 1.0)


@dataclass(frozen=True, slots=True)
class PipelineOfCode:
    """The data pipeline of a program: of a stack (and of one framework in it, or of one family), or else of all programs of a
    framework's family."""

    stack: str | None
    framework: str | None
    framework_family: str | None
    pipeline: str
    source: str

    def fits(self, recipe: Recipe) -> bool:
        """Whether the recipe is of this program."""
        code = (recipe.stack, recipe.framework, recipe.framework_family)
        named = (self.stack, self.framework, self.framework_family)
        return all(one in (None, own) for one, own in zip(named, code, strict=True))


@dataclass(frozen=True, slots=True)
class PipelineTables:
    """What is known of data pipelines: their rates, and which program has which, the most particular first."""

    rates: tuple[PipelineRate, ...] = ()
    code: tuple[PipelineOfCode, ...] = ()

    def pipeline_of(self, recipe: Recipe) -> str:
        """The pipeline of a recipe's code, empty where it is not known."""
        return next((one.pipeline for one in self.code if one.fits(recipe)), "")


class Feed(NamedTuple):
    """A data pipeline: images per second per vCPU, and beside accelerators that decode themselves, known to `width_80`, the
    half-width in ln of its 80 % interval; the size of the set that it reads; and what a recipe's own run took per vCPU."""

    pipeline: str
    per_vcpu: float
    with_decoder: tuple[tuple[str, float], ...]
    stored_gb: float
    width_80: float
    own_run: float = 0.0

    def rate(self, accelerator: str) -> float:
        """Images per second per vCPU beside this accelerator."""
        return max(self.per_vcpu, dict(self.with_decoder).get(accelerator, 0.0), self.own_run)


@lru_cache(maxsize=8)
def known_feeds(rates: tuple[PipelineRate, ...]) -> dict[str, Feed]:
    """Every pipeline of the table: the geometric mean of its rates, and beside accelerators that decode themselves what it did at
    least. How the rates of one pipeline scatter over processors, pooled over all pipelines, makes the width."""
    of_pipeline: dict[str, list[PipelineRate]] = defaultdict(list)
    for rate in rates:
        of_pipeline[rate.pipeline].append(rate)
    usual = {
        name: fmean(log(rate.per_vcpu) for rate in found if not rate.at_least) for name, found in of_pipeline.items()
    }
    apart = [log(rate.per_vcpu) - usual[rate.pipeline] for rate in rates if not rate.at_least]
    deviation = sqrt(sum(each**2 for each in apart) / max(len(apart) - len(usual), 1))
    return {
        name: Feed(
            name,
            exp(usual[name]),
            tuple((accelerator, rate.per_vcpu) for rate in found for accelerator in rate.accelerators),
            max(rate.stored_gb for rate in found),
            NORMAL.inv_cdf(HIGH) * deviation,
        )
        for name, found in of_pipeline.items()
    }


def feeds_of(
    recipes: Iterable[Recipe], tables: PipelineTables, asked: PipelineAsked, machines: RentedMachines
) -> tuple[Feed | None, ...]:
    """The data pipeline that is asked for, that of each recipe's own code by default; None where it is not known."""
    feeds = known_feeds(tables.rates)
    if asked != "recipe":
        return tuple(feeds.get(asked) for _ in recipes)
    vcpus = {(provider, name): machine.vcpus for provider, name, machine in machines.types}
    return tuple(_own_feed(recipe, feeds.get(tables.pipeline_of(recipe)), vcpus) for recipe in recipes)


def _own_feed(recipe: Recipe, feed: Feed | None, vcpus: Mapping[tuple[str, str], int | None]) -> Feed | None:
    """The pipeline of the recipe's code with what its own run took per vCPU in its fastest phase, where its processors are known.

    MLPerf's speeds are those of the usual code on any machine, not of one run.
    """
    home = recipe.system
    if feed is None or is_reference(recipe) or home is None or home.provider is None or home.instance_type is None:
        return feed
    processors = vcpus.get((home.provider, home.instance_type))
    took = max(own_rates(recipe), default=0.0)
    return feed._replace(own_run=took / (processors * home.nodes)) if processors else feed


def host_limit(feeds: Sequence[Feed | None], machines: RentedMachines) -> Limit:
    """What the processors of these machines [N] leave of recipes [K] with these data pipelines; nothing is limited where the
    pipeline or the number of processors is not known."""
    vcpus = machines.each(lambda kind: kind[2].vcpus) * machines.nodes
    seconds = np.zeros((len(feeds), len(machines)))
    seconds_of: dict[Feed | None, Floats] = {None: np.zeros(len(machines))}
    for k, feed in enumerate(feeds):
        if feed and feed not in seconds_of:
            seconds_of[feed] = IMAGES_PER_EPOCH / (machines.each(partial(_rate, feed)) * vcpus)
        seconds[k] = seconds_of[feed]
    return Limit(
        "host", np.nan_to_num(seconds, nan=0.0), np.array([[feed.width_80 if feed else 0.0] for feed in feeds])
    )


def _rate(feed: Feed, kind: InstanceType) -> float:
    return feed.rate(kind[2].accelerator)
