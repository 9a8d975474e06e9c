"""`/launch`: the machines of the best estimate that a launcher can rent, what to expect of the run, and what its file allows:
after how long it is stopped, and what a machine may cost an hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from api.questions.asked import query_of
from api.questions.errors import BadParameters, NotFound
from api.questions.links import narrowed
from api.questions.schemas.training import LayoutSchema, TrainingSchema, schema
from api.questions.suggestions import many
from api.questions.values import Values, taken
from api.reports.left_out import left_out
from api.reports.paging import OfQuery
from api.service import Service
from costcalc.answers import Answer, Estimate, Rented
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.rentals import discount_fraction
from costcalc.hardware import Accelerator, counted
from costcalc.offer import PurchaseOption
from costcalc.parameters import Param
from costcalc.query import ANY, EstimateQuery, parameters_of
from costcalc.recipes import Recipe
from costcalc.throughput.provenance import RUN_OTHERWISE
from pricing.packaged.starts import (
    BY_THE_HOUR,
    TITLES,
    Launcher,
    LaunchName,
    Start,
    launchable_providers,
    name_of,
    start_on,
)

DEARER = Decimal("1.1")
"""How much dearer than the rate here a machine may always be: rates move by some per cent."""
LONGER, PREPARING_HOURS = 2, 1
"""Without a limit by the user, a run hangs after this multiple of the upper end of its range, and this long to prepare."""
MORE = 1.5
"""How many times the hours and the cost of the first machine one may take that stands in for it."""
ROUNDED = Decimal("1.0001")
"""Rates are rounded up for launchers, by less than this."""


class Limits(Struct, frozen=True):
    """The limits of one run, which `hours` end, in a file whose `first` machine others may stand in for.

    They keep the user's budget and time, which are for all runs asked about. Rates are of all machines, in `query.currency`.
    """

    query: EstimateQuery
    first: Estimate
    hours: float

    @classmethod
    def of(cls, first: Estimate, query: EstimateQuery) -> Limits:
        """The limits by the first machine: when budget or time is spent, or when a run hangs."""
        hours = LONGER * first.hours_high / query.runs + PREPARING_HOURS
        if query.max_hours is not None:
            hours = min(hours, query.max_hours / query.runs)
        if query.max_cost is not None:
            lasting = query.max_cost / Decimal(first.hours_high)
            rate = max(first.hourly_rate, min(_usual_highest(first), lasting))
            hours = min(hours, float(query.max_cost / query.runs / (rate * ROUNDED)))
        return cls(query, first, hours)

    def highest_rate(self, each: Estimate) -> Decimal:
        """The rate beyond which it shall not be rented: what the upper end of its cost allows; with a budget less, so that the
        budget lasts."""
        usual = _usual_highest(each)
        if self.query.max_cost is None:
            return usual
        return min(usual, self.query.max_cost / self.query.runs / Decimal(self.hours) / ROUNDED)

    def suit(self, each: Estimate) -> bool:
        """Whether another machine may stand in for the first: it takes not much more, and the limits leave it enough."""
        takes_more = each.hours > MORE * self.first.hours or float(each.billed_cost) > MORE * float(
            self.first.billed_cost
        )
        ends = each.hours_high / self.query.runs <= max(self.hours, self.first.hours_high / self.query.runs)
        return not takes_more and ends and each.hourly_rate <= self.highest_rate(each)


def _usual_highest(each: Estimate) -> Decimal:
    dearer = each.billed_cost_high / each.billed_cost if each.billed_cost else DEARER
    return each.hourly_rate * max(DEARER, dearer)


MOST_SEARCHED = 1000


class LaunchParameters(Struct):
    """What a launch file asks beside its training."""

    # fmt: off
    to: Annotated[Launcher, Param("launcher that rents the machines", "layout", "skypilot", use="everyday")]
    purchase: Annotated[tuple[PurchaseOption, ...], Param(
        "purchase option; default on_demand",
        "purchase", "spot", words=BY_THE_HOUR, use="everyday")] = ()
    run: Annotated[str, Param(
        "command that trains; otherwise the recipe's own code, where it starts",
        "layout", "python train.py", "command", use="everyday")] = ""
    data: Annotated[str, Param(
        "where ImageNet lies: a bucket, or a path or volume of the machine",
        "layout", "s3://my-bucket/imagenet")] = ""
    checkpoints: Annotated[str, Param(
        "where checkpoints are kept, so that a spot run goes on: a bucket, or a path or volume of the machine",
        "layout", "s3://my-runs")] = ""
    limit: Annotated[int, Param(
        "maximum number of machines to try in turn, with SkyPilot; default 5",
        "page", 5, low=1, high=20, use="usual")] = 5
    # fmt: on


LaunchSchema = schema(
    TrainingSchema,
    LaunchParameters,
    without={*parameters_of("own", "owned"), "term", "payment", "offset", *LayoutSchema().fields} - {"token"},
)
"""Launchers rent by the hour, and are told list rates in dollars, whatever currency and discounts are asked for."""

LAUNCHED = frozenset(LaunchSchema().fields) - {"limit"}
"""The parameters of a question that the one about its launch file takes alike."""


class Launchable(Struct, frozen=True):
    """An estimate, and what the launcher calls its machine."""

    estimate: Estimate
    name: LaunchName


@dataclass(frozen=True)
class LaunchReport(OfQuery):
    """One question, the launcher that rents its answer, the command to run there, and where data set and checkpoints lie.

    The machine is the one that the verdict begins with. Where its code is not known to start there, and no command is given, it
    is the one that the verdict's last line names.
    """

    launcher: Launcher
    command: str
    data: str = ""
    checkpoints: str = ""

    @property
    def title(self) -> str:
        """What the launcher calls itself."""
        return TITLES[self.launcher]

    def machines(self) -> tuple[Launchable, ...]:
        """The first, then others that may stand in for it, in order, and train alike; at most `query.limit`."""
        first, like = self._first, self._like(self._first.estimate)
        alike = (each for each in self._others if self._like(each.estimate) == like and self.limits.suit(each.estimate))
        machines = {(each.estimate.rented, each.estimate.region): each for each in (*alike, first)}
        return (first, *(each for each in machines.values() if each != first))[: self.query.limit]

    @property
    def trains_nothing(self) -> str:
        """Why the file trains nothing; empty where it trains."""
        first = self._first.estimate
        if self.command or self.start(first.rented):
            return ""
        if self.query.method:
            why = no_language_script(self.query, first, self.service.evidence.accelerators)
            return f"This file trains nothing: {why}. Ask again with run=" if why else ""
        machine = counted(first.accelerators, first.accelerator)
        return f"This file trains nothing: how {first.recipe} starts on {machine} is not known. Ask again with run="

    def dollars(self, amount: Decimal) -> Decimal:
        """An amount in the question's currency."""
        exchange = self._answer.exchange
        return amount / exchange.per_usd if exchange else amount

    def listed_dollars(self, each: Estimate, amount: Decimal) -> Decimal:
        """An amount in the question's currency by the provider's list, without discounts."""
        return self.dollars(amount) / (1 - discount_fraction(self.query, each.provider, each.purchase_option))

    def passed_over(self) -> Estimate | None:
        """What the verdict begins with, if this launcher rents it and its code does not start there."""
        lead = self._answer.lead if self._answer.picks else None
        rents = lead and name_of(self.launcher, lead.rented)
        return lead if rents and lead != self._first.estimate else None

    @cached_property
    def limits(self) -> Limits:
        """After how long the run is stopped, and what its machines may cost an hour."""
        return Limits.of(self._first.estimate, self.query)

    def start(self, machine: Rented) -> Start | None:
        """How the recipe's code starts on these machines; None if unknown or if a command was given."""
        return start_on(self.launcher, machine, self._accelerators)

    @property
    def _accelerators(self) -> Mapping[str, Accelerator]:
        """The accelerators on which code may start; none if a command was given."""
        return {} if self.command else self.service.evidence.accelerators

    def recipe(self, estimate: Estimate) -> Recipe | None:
        """The recipe of an estimate, None where it is a task's or the user's own word."""
        recipes = self.service.evidence_for(self.query).recipes_of(self.query.model)
        return next((each for each in recipes if each.name == estimate.recipe), None)

    def _like(self, each: Estimate) -> tuple[object, ...]:
        """What another machine must have in common to stand in; the script of a recipe's code counts the accelerators."""
        start = self.start(each.rented)
        script = (start.commit, each.accelerators) if start else ()
        return each.recipe, each.nodes, each.purchase_option, each.confirmed, each.runs_here, script

    @cached_property
    def _answer(self) -> Answer:
        return self.ask()

    @cached_property
    def _first(self) -> Launchable:
        """The verdict's machine; if the launcher rents none of the picks, the first that it rents. Raises NotFound."""
        first = self._picked or next(iter(self._others), None)
        if first is None:
            rentable = self.service.answer(self._rentable, self.catalogue)
            rents = (
                f"{self.title} rents none of the machines of {many(rentable.count, 'estimate')}: allow more machines"
            )
            raise NotFound(rents if rentable.count else f"no estimate remains: {left_out(rentable)}", "to")
        return first

    @cached_property
    def _picked(self) -> Launchable | None:
        return first_launched(self.launcher, self._answer, self._accelerators) if self._answer.picks else None

    @cached_property
    def _others(self) -> list[Launchable]:
        """All that the launcher rents: the best, then those with a confirmed rate, by the question's order."""
        answer = self.service.answer(replace(self._rentable, limit=MOST_SEARCHED), self.catalogue)
        others = sorted(answer.estimates, key=lambda each: not (each.confirmed and each.runs_here))
        named = ((each, name_of(self.launcher, each.rented)) for each in (*answer.best, *others))
        return [Launchable(each, name) for each, name in named if name]

    @property
    def question(self) -> EstimateQuery:
        """The question that the first machine alone answers."""
        return narrowed(self.query, self._first.estimate)

    @property
    def _rentable(self) -> EstimateQuery:
        """The question about what the launcher rents: as the first machine is bought, from its clouds. Raises NotFound."""
        rented = launchable_providers(self.launcher)
        providers = tuple(name for name in self.query.provider if name in rented) or rented
        if self.query.provider and not set(self.query.provider) & set(rented):
            raise NotFound(f"files for {self.title} are written for {', '.join(rented)}: name one of these", "provider")
        bought = self._picked.estimate.purchase_option if self._picked else PurchaseOption.ON_DEMAND
        return replace(self.query, provider=providers, purchase=self.query.purchase or (bought,))


def first_launched(launcher: Launcher, answer: Answer, accelerators: Mapping[str, Accelerator]) -> Launchable | None:
    """What the launcher rents: what the verdict begins with, if its code starts there; else the best whose code does; else what
    the verdict begins with, or the best. None where it rents none of them."""
    lead = answer.lead if name_of(launcher, answer.lead.rented) else None
    starts = lead and start_on(launcher, lead.rented, accelerators)
    chosen = lead if starts else answer.first_that(lambda each: bool(start_on(launcher, each, accelerators)))
    chosen = chosen or lead or answer.first_that(lambda each: bool(name_of(launcher, each)))
    name = name_of(launcher, chosen.rented) if chosen else None
    return Launchable(chosen, name) if chosen and name else None


def left_to_set(estimate: Estimate, query: EstimateQuery) -> str:
    """`fp32 (amp)`: how the question has the recipe's code run, which its published script does not; empty where it does."""
    told = (each for each in estimate.assumptions if each.startswith(RUN_OTHERWISE))
    if not (query.precision or query.compilation):
        return ""
    return next(told, "").removeprefix(RUN_OTHERWISE).partition(". ")[0]


def no_language_script(query: EstimateQuery, on: Estimate, accelerators: Mapping[str, Accelerator]) -> str:
    """Why no script trains a language model on these machines; empty where one does."""
    if query.model == ANY:
        return "model=any names no weights and no configuration"
    if query.stack == "tuned":
        return "the script that costcalc writes is plain, and stack=tuned is not"
    chip = accelerators.get(on.accelerator)
    is_tried = chip is not None and chip.vendor == "NVIDIA"
    return "" if is_tried else f"the script that costcalc writes is for NVIDIA's chips, not for {on.accelerator}"


def launchers(estimate: Estimate) -> list[Launcher]:
    """The launchers that rent an estimate's machines as it buys them."""
    return [launcher for launcher in TITLES if name_of(launcher, estimate.rented)]


def launch_report(service: Service, catalogue: Catalogue, values: Values) -> LaunchReport:
    """The report that parsed parameters of `/launch` ask for."""
    file = taken(LaunchParameters, values)
    places = {"data": file.data, "checkpoints": file.checkpoints}
    if wrong := {name: [why] for name, place in places.items() if (why := _not_mounted(place, file.to))}:
        raise BadParameters(wrong)
    query = query_of(values, purchase=file.purchase, limit=file.limit)
    return LaunchReport(service, catalogue, query, file.to, file.run, file.data, file.checkpoints)


def _not_mounted(place: str, launcher: Launcher) -> str:
    """Why the launcher can't give a machine this place; empty where it can."""
    if launcher == "dstack" and "://" in place:
        return "dstack mounts its volumes, no buckets: name a volume, or a path of the machine, such as /mnt/data"
    if launcher == "skypilot" and place and "://" not in place and not place.startswith("/"):
        return f"write a bucket, such as s3://{place}, or a path, such as /mnt/{place}"
    return ""
