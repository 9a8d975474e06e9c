"""The ways in which a question asks recipes to run, and how fast each recipe's code then is on each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from costcalc.convergence.eligibility import ModelRecipes
from costcalc.hardware import Cluster
from costcalc.recipes import Recipe
from costcalc.throughput import REFUSALS, SpeedTable
from costcalc.throughput.data_sheets import part
from costcalc.throughput.own_speeds import with_own_speeds
from costcalc.throughput.processors import with_processor_speeds
from costcalc.training import PipelineAsked, Running, Throughput
from costcalc.units import Flags

if TYPE_CHECKING:
    from costcalc.evidence import Evidence

PORTED = frozenset({"pytorch", "jax"})  # frameworks whose code people port to chips of other vendors


class Way(NamedTuple):
    """How recipes are run: MLPerf's with the software of their own year (`dated`) or with the usual one of each accelerator, and
    which data pipeline feeds them. `own_speeds` are those of the user's own code, from which all others then follow.
    `running` is how the code runs, as each recipe's own did where it says nothing."""

    dated: bool = True
    pipeline: PipelineAsked = "recipe"
    own_speeds: tuple[Throughput, ...] = ()
    running: Running = Running()

    def run(self, recipe: Recipe) -> Recipe:
        """The recipe as it is asked to run; what is known only as it ran stays so."""
        return recipe if recipe.runs_one_way else recipe.run_so(self.running)


USUAL_WAY = Way()


class OwnSpeeds(NamedTuple):
    """What the user measured of the model that a question is about; `everywhere` where all other speeds follow from it."""

    rows: tuple[Throughput, ...]
    everywhere: bool

    @classmethod
    def of(cls, evidence: Evidence, model: str, way: Way) -> OwnSpeeds:
        """The speed that the question names, else those that were stored."""
        return cls(way.own_speeds, True) if way.own_speeds else cls(evidence.own_speeds_of(model), False)

    def replace(self, recipe: Recipe) -> bool:
        """Whether these speeds replace the recipe's own log."""
        return self.everywhere or recipe.home.key in {row.system.key for row in self.rows}


def speeds_of(
    evidence: Evidence,
    recipes: tuple[Recipe, ...],
    of: ModelRecipes,
    clusters: Sequence[Cluster],
    own: OwnSpeeds,
    precision: str | None = None,
) -> SpeedTable:
    """The speeds of these recipes of a model, refused on other vendors' chips, on chips without the precision asked for, and
    between slices of a chip."""
    model = evidence.speed_model
    of_larger = evidence.recipes_of_larger(recipes[0].model) if recipes else ()
    speeds = model.refused(recipes, clusters) if own.everywhere else model.speeds(recipes, clusters, of_larger)
    foreign = _foreign(evidence, recipes, of, clusters)
    if own.rows:
        speeds = with_own_speeds(speeds, model, own.rows, own.everywhere)
        foreign = _other_vendors(evidence, clusters, own) & (own.everywhere | foreign)
    by_batch = np.isin(speeds.refusal, [0, REFUSALS.index("batch_too_small")])  # no other batch would run there
    speeds.refusal[by_batch & foreign] = REFUSALS.index("no_throughput")
    chips = [part(evidence.accelerators, cluster.accelerator) for cluster in clusters]
    slices = [chip.rented_in_slices and each.nodes > 1 for chip, each in zip(chips, clusters, strict=True)]
    speeds.refusal[(speeds.refusal == 0) & np.array(slices, bool)] = REFUSALS.index("no_network")
    speeds.refusal[:, [not evidence.computes_in(precision, cluster.accelerator) for cluster in clusters]] = (
        REFUSALS.index("no_such_precision")
    )
    of_contests = np.array([recipe.code == "contest" for recipe in recipes], bool)[
        :, None
    ]  # all other code is portable
    return with_processor_speeds(speeds, evidence.processors, own.everywhere | foreign & of_contests)


def _other_vendors(evidence: Evidence, clusters: Sequence[Cluster], own: OwnSpeeds) -> Flags:
    """The clusters of vendors [C] on whose chips the user's code was not seen; of the very chips that it was, none is."""
    seen = {row.accelerator for row in own.rows}
    seen_vendors = set(map(evidence.vendor, seen)) if own.everywhere else set()
    return np.array(
        [c.accelerator not in seen and evidence.vendor(c.accelerator) not in seen_vendors for c in clusters], bool
    )


def _foreign(evidence: Evidence, recipes: tuple[Recipe, ...], of: ModelRecipes, clusters: Sequence[Cluster]) -> Flags:
    """Which recipes would run on chips [recipes, clusters] of a vendor that their code was never seen on: PyTorch's FFCV on a
    TPU, say. Ordinary scripts run where their framework is said to, and are ported to chips for which everything must be."""
    names = [cluster.accelerator for cluster in clusters]
    vendors = np.array([evidence.vendor(name) for name in names], str)
    used = [evidence.vendors_of(recipe) for recipe in recipes]
    known = np.array([part(evidence.accelerators, name).predicted_unmeasured for name in names], bool)
    nobodys = known & ~np.isin(vendors, list(frozenset().union(*map(evidence.vendors_of, of.recipes))))
    elsewhere = {seen: ~np.isin(vendors, list(seen)) for seen in set(used)}
    alike = {_program(recipe): recipe for recipe in recipes}
    runs = {one: _runs_or_is_ported(evidence, recipe, names, nobodys) for one, recipe in alike.items()}
    rows = [elsewhere[seen] & ~runs[_program(recipe)] for recipe, seen in zip(recipes, used, strict=True)]
    return np.array(rows, bool).reshape(len(recipes), len(clusters))


def _program(recipe: Recipe) -> tuple[str, str, str]:
    """Recipes that agree in this run on the same chips."""
    return recipe.kind, recipe.stack, recipe.framework_family


def _runs_or_is_ported(evidence: Evidence, recipe: Recipe, accelerators: Sequence[str], nobodys: Flags) -> Flags:
    """Where an ordinary script runs [C], or is ported since nobody's code runs there."""
    if recipe.kind != "ordinary":
        return np.zeros(len(accelerators), bool)
    program = recipe.stack, recipe.framework_family
    runs = {name: evidence.programs.runs(*program, name) is True for name in dict.fromkeys(accelerators)}
    ported = nobodys & (recipe.framework_family in PORTED)
    return np.asarray(ported | np.array([runs[name] for name in accelerators], bool))
