"""Which recipe can run where and how fast: worked out once per model and catalogue, before any target is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.chance import INTERPOLATION_SIGMA, SEED_SIGMA
from costcalc.convergence.curves import Curves, Reach
from costcalc.throughput import FittedParameters, SpeedTable
from costcalc.training import IMAGES_PER_EPOCH, Metric, Recipe
from costcalc.units import SECONDS_PER_HOUR, Flags, Floats, Indices

Shape = tuple[str, int]
ANY_INSTANCE = NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Site:
    """Machines of one shape in some number, with `accelerators` in each; `instance` is the code of an instance type on which
    a recipe was itself run, ANY_INSTANCE for all others of the shape."""

    shape: int
    accelerators: int
    nodes: int
    instance: int = ANY_INSTANCE


@dataclass(frozen=True, eq=False)
class Plan:
    """One model's R recipes on S sites. Recipes that run equally fast everywhere share one of K kinds.

    `seconds` holds for each phase [K, S] seconds of training per epoch, infinite where no speed is known, 0 beyond the last
    phase. `home` [R] is the site on which a recipe's own log was written, NOWHERE if that can't be rented. `speeds` is the
    table of the K kinds on the S sites; `refused` says why nothing runs on the shapes of machines that became no site.
    """

    recipes: tuple[Recipe, ...]
    kind: Indices
    home: Indices
    sites: tuple[Site, ...]
    speeds: SpeedTable
    seconds: tuple[Floats, ...]
    refused: dict[Shape, str]
    fitted: FittedParameters

    @cached_property
    def curves(self) -> dict[Metric, Curves]:
        """The recipes' accuracy curves by metric."""
        return {metric: Curves(self.recipes, metric) for metric in Metric}

    @cached_property
    def interpolated(self) -> Flags:
        """Schedules that nobody ran."""
        return np.array([recipe.is_interpolated for recipe in self.recipes], bool)

    @cached_property
    def runs_published(self) -> Floats:
        """How many runs each recipe's end accuracy rests on."""
        return np.array([recipe.runs for recipe in self.recipes], float)

    @cached_property
    def years(self) -> Indices:
        """The year of each recipe."""
        return np.array([recipe.year for recipe in self.recipes], np.int64)

    @cached_property
    def alike(self) -> Indices:
        """How many recipes are of each recipe's kind."""
        return np.bincount(self.kind)[self.kind] if len(self.kind) else self.kind

    @cached_property
    def is_mlperf(self) -> Flags:
        """Recipes whose schedule ends at one target."""
        return ~np.isnan(self.tuned_to)

    @cached_property
    def tuned_to(self) -> Floats:
        """That target, NaN for the other recipes."""
        return np.array([recipe.tuned_to or np.nan for recipe in self.recipes], float)

    @cached_property
    def mean_top1(self) -> Floats:
        """The mean end accuracy over all published runs, NaN where only one run's curve is known."""
        return np.array([np.nan if recipe.mean_top1 is None else recipe.mean_top1 for recipe in self.recipes], float)

    @cached_property
    def sigma(self) -> dict[Metric, Floats]:
        """Seed noise of each recipe's end accuracy by metric, doubled where it was never measured."""
        known = np.where(self.is_mlperf, 1.0, 2.0)
        return {m: np.hypot(known * SEED_SIGMA[m], self.interpolated * INTERPOLATION_SIGMA[m]) for m in Metric}

    @cached_property
    def clock(self) -> Floats:
        """What to multiply training alone with to have each recipe's own clock."""
        return np.array([recipe.clock_factor for recipe in self.recipes], float)

    @cached_property
    def length_width(self) -> Floats:
        """Half-width in ln(epochs), at 80 %, of the length of an interpolated schedule; 0 for a measured one."""
        return np.where(self.interpolated, self.fitted.widths.at("length", 0.8), 0.0)

    @cached_property
    def _seconds_to_power(self) -> Floats:
        """Seconds per epoch to the power by which evaluation and warm-up grow with a run of MLPerf's [K, S]."""
        return np.asarray(self.seconds[0] ** self.fitted.elapsed_time.power)

    @cached_property
    def evaluation_included(self) -> Flags:
        """Whether each recipe's clock counts evaluation."""
        return np.array([recipe.counts_evaluation for recipe in self.recipes], bool)

    @cached_property
    def own_rates(self) -> Floats:
        """Images per second of each recipe on its own system, NaN where unknown."""
        return np.array([recipe.images_per_second or np.nan for recipe in self.recipes], float)

    def replayed_hours(self, reach: Reach) -> Floats:
        """Hours on each recipe's own system: as logged, or its epochs at its mean rate; NaN where neither is known."""
        at_mean_rate = reach.epochs * IMAGES_PER_EPOCH / self.own_rates / SECONDS_PER_HOUR
        return np.where(np.isnan(reach.own_hours), at_mean_rate, reach.own_hours)

    def hours(self, epochs: Floats, recipes: Indices, sites: Indices) -> Floats:
        """Hours of training of these recipes [r], for `epochs` of all R, on these sites [s]; infinite where refused.

        MLPerf's hold its evaluation and warm-up, `ElapsedTime`: a power of the time is one of the epochs by one of the
        seconds per epoch.
        """
        spent = self.phase_epochs(np.nan_to_num(epochs))[recipes] / SECONDS_PER_HOUR
        kind = self.kind[recipes]
        every = len(sites) == len(self.sites)
        hours = spent[:, :1] * (self.seconds[0] if every else self.seconds[0][:, sites])[kind]
        for phase in range(1, len(self.seconds)):
            longer = np.flatnonzero(spent[:, phase])
            later = self.seconds[phase][kind[longer]]
            hours[longer] += spent[longer, phase, None] * (later if every else later[:, sites])
        mlperf = np.flatnonzero(self.is_mlperf[recipes])
        factor, power = self.fitted.elapsed_time
        beside = factor * epochs[recipes[mlperf]] ** power / SECONDS_PER_HOUR
        powers = self._seconds_to_power if every else self._seconds_to_power[:, sites]
        hours[mlperf] += beside[:, None] * powers[kind[mlperf]]
        hours[self.tied[recipes]] = np.inf
        return hours

    @cached_property
    def nodes(self) -> Indices:
        """Machines of each site."""
        return np.array([site.nodes for site in self.sites], np.int64)

    @cached_property
    def accelerators(self) -> Indices:
        """Accelerators of each site, over all machines."""
        return np.array([site.accelerators * site.nodes for site in self.sites], np.int64)

    @cached_property
    def tied(self) -> Flags:
        """Recipes that answer on their own system only: those whose optimizer's steps cost more than the ones that speeds were
        measured with, and MLPerf's open division, which may change image sizes and network without logging it."""
        return np.array([r.expensive_optimizer or r.division == "open" for r in self.recipes], bool)

    @cached_property
    def phase_starts(self) -> Floats:
        """The epoch at which each phase of each recipe starts [R, P]; infinite beyond the last."""
        starts = np.full((len(self.recipes), len(self.seconds)), np.inf)
        for r, recipe in enumerate(self.recipes):
            starts[r, : len(recipe.phases)] = [phase.from_epoch for phase in recipe.phases]
        return starts

    def phase_epochs(self, epochs: Floats) -> Floats:
        """Epochs spent in each phase [R, P] when each recipe runs for `epochs` [R]."""
        ends = np.c_[self.phase_starts[:, 1:], np.full(len(self.recipes), np.inf)]
        return np.maximum(np.minimum(epochs[:, None], ends) - self.phase_starts, 0)

    def site_of_instances(self, catalogue: Catalogue) -> dict[int, Indices]:
        """By number of machines: for each instance code the site of that many of it, -1 where nothing is known to run."""
        found = {}
        for nodes in sorted({site.nodes for site in self.sites}):
            by_shape = np.full(len(catalogue.shapes), -1)
            here = [(position, site) for position, site in enumerate(self.sites) if site.nodes == nodes]
            for position, site in here:
                if site.instance == ANY_INSTANCE:
                    by_shape[site.shape] = position
            found[nodes] = by_shape[catalogue.shape_of_instance]
            for position, site in here:
                if site.instance != ANY_INSTANCE:
                    found[nodes][site.instance] = position
        return found
