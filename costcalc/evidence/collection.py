"""The evidence as one object, with models found by any of their names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import cached_property
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.convergence.borrowed_curves import lent_curves, with_borrowed_curve
from costcalc.hardware import NOTHING_DRAWN, Accelerator, EnergyTables, Host
from costcalc.interruptions import ObservedInterruptions
from costcalc.machine_limits.known_limits import NOTHING_AROUND, LimitTables
from costcalc.machine_limits.network import Gradients, SystemNetwork
from costcalc.programs import ProgramSupport, Support, UsualScript
from costcalc.recipes import Recipe
from costcalc.throughput.fitted_parameters import FittedParameters
from costcalc.throughput.memory import MeasuredBatch
from costcalc.throughput.processors import Processors
from costcalc.throughput.speed_model import SpeedModel, Speeds
from costcalc.training import Evaluation, Model, Throughput
from costcalc.units import Floats

_IGNORED = re.compile(r"(?<!\d)\.|\.(?!\d)|_|[^\w.]")
_PUBLISHER = re.compile(r"^(?:[\w-]+|[\w.-]+\.[a-z]+)/")
_TAG = re.compile(r"\.[a-z]\w*$", re.IGNORECASE)
_DATA_SET = re.compile(r"[-_](?:in|imagenet)-?\d*k$", re.IGNORECASE)
_USUAL_SIZE = re.compile(r"[-_](?:224|1k)$", re.IGNORECASE)
SAME = "the same network"


def normalised(name: str) -> str:
    """A model's name as it is compared: letters without case, digits, and dots between digits (1.6GF is not 16GF)."""
    return _IGNORED.sub("", name.casefold())


def network_forms(text: str) -> Iterator[str]:
    """A network's name, then what remains of it without what model hubs add: the publisher before it, and behind it the tag of
    its weights, the data set and the image size of 224."""
    yield text
    bare = _PUBLISHER.sub("", text.strip(), count=1)
    for added in (_TAG, _DATA_SET, _USUAL_SIZE):
        yield bare
        bare = added.sub("", bare)
    yield bare


class Schedule(Struct, frozen=True):
    """An interpolated schedule: the curve of a measured recipe at the same fractions of its length, its accuracies shifted
    (fractions, None where the metric was not published) so that it ends where `science.fitting.schedules` says."""

    recipe: str
    shape_of: str
    scheduled_epochs: float
    top1_shift: float
    top5_shift: float | None


class Evidence(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """Everything measured that the engine may use, and what was fitted to it. `version` changes with any byte of the tables.

    `interruptions` of spot machines are ordered by date, `networks` are those between the machines of published systems.
    `limit_tables` are those of the machines around accelerators, `processors` those that train without any. `device_speeds` were
    timed by this project on one device each: answers know them, but of what is fitted only how plain loops run on such silicon.
    `own_speeds` are the user's own measurements, the newest last. `energy` says what machines draw and their grids emit,
    `largest_batches` which batches somebody tried on which memory, `support` on which chips frameworks run, `usual_scripts` what
    most people run.
    `is_past` says that this is what was known on a past day; `later` are then the recipes that were published after it.
    `of_own_run` says that its one recipe is a user's own run. `make_speeds` makes of it what says how fast recipes
    train, and `make_curve` gives recipes whose work follows from all others theirs.
    """

    accelerators: Mapping[str, Accelerator]
    models: Mapping[str, Model]
    recipes: tuple[Recipe, ...]
    throughputs: tuple[Throughput, ...]
    schedules: tuple[Schedule, ...]
    fitted: FittedParameters
    version: str
    interruptions: tuple[ObservedInterruptions, ...] = ()
    networks: tuple[SystemNetwork, ...] = ()
    limit_tables: LimitTables = NOTHING_AROUND
    energy: EnergyTables = NOTHING_DRAWN
    largest_batches: tuple[MeasuredBatch, ...] = ()
    support: tuple[Support, ...] = ()
    usual_scripts: tuple[UsualScript, ...] = ()
    processors: Processors = field(default_factory=Processors)
    device_speeds: tuple[Throughput, ...] = ()
    own_speeds: tuple[Throughput, ...] = ()
    is_past: bool = False
    later: tuple[Recipe, ...] = ()
    of_own_run: bool = False
    make_speeds: Callable[[Evidence], Speeds] = lambda evidence: SpeedModel(
        (*evidence.throughputs, *evidence.device_speeds), evidence.fitted
    )

    make_curve: Callable[[Evidence, Recipe], Recipe] | None = None

    @cached_property
    def speed_model(self) -> Speeds:
        """The law of how fast recipes train."""
        return self.make_speeds(self)

    @cached_property
    def programs(self) -> ProgramSupport:
        """On which accelerators the programs of recipes run."""
        logged: dict[tuple[str, str], set[tuple[str, Host]]] = defaultdict(set)
        ran: tuple[Recipe | Throughput, ...] = (*self.recipes, *self.later, *self.throughputs)
        for run in ran:
            if run.system and run.system.accelerator in self.accelerators:
                chip = self.accelerators[run.system.accelerator]
                logged[run.stack, run.framework_family].add((chip.chip, chip.host))
        return ProgramSupport(self.support, self.accelerators, logged)

    @cached_property
    def gradients(self) -> Gradients:
        """What several machines exchange, and over which networks published systems did."""
        return Gradients(self.models, self.networks)

    @cached_property
    def _days(self) -> list[date]:
        """The days on which something was published or measured, in order."""
        rows = (*self.throughputs, *self.device_speeds, *self.own_speeds)
        return sorted({recipe.known_on for recipe in self.recipes} | {row.known_on for row in rows})

    @cached_property
    def last_published(self) -> date:
        """The day of the last publication that anything may be fitted to."""
        whole = (recipe for recipe in self.recipes if not recipe.epochs_width)
        return max((row.known_on for rows in (whole, self.throughputs) for row in rows), default=date.min)

    def last_publication(self, day: date) -> date:
        """The last day up to this one on which something was published: what is known does not change until the next."""
        earlier = bisect_right(self._days, day)
        return self._days[earlier - 1] if earlier else date.min

    def known_on(self, day: date) -> Evidence:
        """The evidence published by this day; fitted parameters stay as they are."""
        if not self._days or day >= self._days[-1]:
            return self
        return replace(
            self,
            recipes=tuple(recipe for recipe in self.recipes if recipe.known_on <= day),
            throughputs=tuple(row for row in self.throughputs if row.known_on <= day),
            device_speeds=tuple(row for row in self.device_speeds if row.known_on <= day),
            own_speeds=tuple(row for row in self.own_speeds if row.known_on <= day),
            is_past=self.last_published > day,
            later=tuple(recipe for recipe in self.recipes if recipe.known_on > day),
        )

    @cached_property
    def _by_alias(self) -> dict[str, Model]:
        return {normalised(name): model for model in self.models.values() for name in (*model.aliases, model.name)}

    @cached_property
    def interpolated(self) -> tuple[Recipe, ...]:
        """Schedules between the measured lengths of a family, which nobody ran."""
        named = {recipe.name: recipe for recipe in self.recipes}
        schedules = (schedule for schedule in self.schedules if schedule.shape_of in named)
        return tuple(stretched(named[schedule.shape_of], schedule) for schedule in schedules)

    @cached_property
    def in_16_bits(self) -> tuple[Recipe, ...]:
        """Scripts published in 32 bits as people run them today."""
        return tuple(filter(None, (recipe.in_16_bits() for recipe in self.recipes)))

    @cached_property
    def _by_model(self) -> dict[str, tuple[Recipe, ...]]:
        every = (*self.recipes, *self.interpolated, *self.in_16_bits)
        ordered = sorted(every, key=lambda recipe: (recipe.model, recipe.name))
        return {model: tuple(group) for model, group in groupby(ordered, key=lambda recipe: recipe.model)}

    def find_model(self, text: str) -> Model | None:
        """The model of that name or alias, however it is spelt and wherever it is published; None if there is none."""
        forms = map(normalised, network_forms(text))
        return next((self._by_alias[form] for form in forms if form in self._by_alias), None)

    def recipes_of(self, model: str) -> tuple[Recipe, ...]:
        """The recipes that train the model of this exact name, interpolated schedules included, by name."""
        return self._by_model.get(model, ())

    def own_speeds_of(self, model: str) -> tuple[Throughput, ...]:
        """What the user measured of the network of this exact name, the newest last."""
        return tuple(row for row in self.own_speeds if row.model == model)

    def with_curve(self, recipe: Recipe) -> Recipe:
        """A recipe that borrows its curve, or whose work follows from others', with it; any other as it is."""
        if self.make_curve:
            return self.make_curve(self, recipe)
        borrows = recipe.schedule_shape and not recipe.is_log
        return with_borrowed_curve(recipe, self._lent_curves) if borrows else recipe

    @cached_property
    def _lent_curves(self) -> dict[str, Floats]:
        return lent_curves(self.recipes)

    @cached_property
    def suggested(self) -> dict[str, str]:
        """Every name of every model, with the name to suggest for it. A model without recipes gives way to the same network with
        some."""
        suggestions = {}
        for model in self.models.values():
            same = (other for other, likeness in self.alike(model.name) if likeness == SAME)
            with_recipes = model.name if self.recipes_of(model.name) else next(same, model.name)
            suggestions.update(dict.fromkeys((model.name, *model.aliases), with_recipes))
        return suggestions

    def alike(self, name: str) -> Iterator[tuple[str, str]]:
        """The models with recipes that are nearest to this one, each with its relation: the same network under another name, else
        the one of its family with the nearest number of parameters."""
        model = self.models[name]
        size = model.parameters_millions
        trained = [other for other in self.models.values() if other is not model and self.recipes_of(other.name)]
        same = [other for other in trained if size and _network(other) == _network(model)]
        if same:
            yield from ((other.name, SAME) for other in same)
            return
        family = [other for other in trained if other.family == model.family]
        if family:
            nearest = min(family, key=lambda other: abs((other.parameters_millions or 0) - (size or 0)))
            yield nearest.name, "the nearest of its family"

    def recipes_of_larger(self, model: str) -> tuple[Recipe, ...]:
        """The recipes that train larger networks of the model's series."""
        larger = [other.name for other in self.models.values() if other.is_larger_than(self.models[model])]
        return tuple(recipe for name in larger for recipe in self.recipes_of(name))

    def later_recipes_of(self, model: str) -> tuple[Recipe, ...]:
        """The recipes of the model of this exact name that were published after the day asked about."""
        return tuple(recipe for recipe in self.later if recipe.model == model)

    def vendor(self, accelerator: str) -> str:
        """The maker of an accelerator or a processor; the name itself if that is unknown."""
        chip = self.accelerators.get(accelerator) or self.processors.named.get(accelerator)
        return chip.vendor if chip else accelerator

    def computes_in(self, precision: str | None, accelerator: str) -> bool:
        """Whether an accelerator computes in it, as far as is known."""
        chip = self.accelerators.get(accelerator)
        return chip is None or chip.computes_in(precision)

    def vendors_of(self, recipe: Recipe) -> frozenset[str]:
        """The vendors on whose chips a recipe's code was seen to run. If nobody says where it ran, the one on whose chips most
        code of its framework ran: other vendors' chips need a port, which code elsewhere does not make."""
        framework = recipe.framework_family
        if seen := self._vendors.get((recipe.stack, framework)):
            return frozenset(seen)
        alike: Counter[str] = Counter()
        for (_, name), vendors in self._vendors.items():
            alike.update(vendors if framework in (name, "other") else ())
        return frozenset(vendor for vendor, _ in alike.most_common(1))

    @cached_property
    def _vendors(self) -> dict[tuple[str, str], Counter[str]]:
        seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for recipe in self.recipes:
            if recipe.system:
                seen[recipe.stack, recipe.framework_family][self.vendor(recipe.system.accelerator)] += 1
        for row in self.throughputs:
            seen[row.stack, row.framework_family][self.vendor(row.accelerator)] += 1
        return dict(seen)


def _network(model: Model) -> tuple[float | None, ...]:
    """What two models have in common if they are one network."""
    return model.parameters_millions, model.gmacs, model.image_size


def stretched(measured: Recipe, schedule: Schedule) -> Recipe:
    """The recipe of an interpolated schedule, `measured` being the one whose shape it has."""
    stretch = schedule.scheduled_epochs / (measured.scheduled_epochs or schedule.scheduled_epochs)
    phases = (
        replace(phase, from_epoch=phase.from_epoch * stretch, to_epoch=phase.to_epoch * stretch)
        for phase in measured.phases
    )
    evaluations = (
        Evaluation(
            point.epochs * stretch,
            None if point.hours is None else point.hours * stretch,
            _shifted(point.top1, schedule.top1_shift),
            _shifted(point.top5, schedule.top5_shift),
        )
        for point in measured.evaluations
    )
    return replace(
        measured,
        name=schedule.recipe,
        scheduled_epochs=schedule.scheduled_epochs,
        phases=tuple(phases),
        evaluations=tuple(evaluations),
        is_interpolated=True,
        command=None,
        note=f"interpolated between measured schedules of this family; curve shape of {measured.name}",
    )


def _shifted(accuracy: float | None, shift: float | None) -> float | None:
    return None if accuracy is None or shift is None else accuracy + shift
