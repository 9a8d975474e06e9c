"""The answer: estimates in order, what was rejected and why, and which prices it stands on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from math import nan
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.catalogue.freshness import NO_RATES, Freshness
from costcalc.convergence.eligibility import BestReached
from costcalc.costing.bills import Bill
from costcalc.machine_limits.limits import Part
from costcalc.money import Component, CostRange, ExchangeRate, money
from costcalc.offer import Gap, Offer, Payment, PurchaseOption
from costcalc.parts import EvidenceNotes, EvidenceTiers, Parts, Sources
from costcalc.picks import PickName, Requirement
from costcalc.programs import RecipeKind
from costcalc.query import Basis, EstimateQuery
from costcalc.training import Code
from costcalc.units import Flags, Floats, Indices


class Rented(NamedTuple):
    """What is rented, from whom, how, and the recipe that runs there."""

    provider: str
    instance_type: str
    accelerator: str
    nodes: int
    purchase_option: PurchaseOption
    recipe: str


def at(path: str) -> Any:
    """A figure of the parts of an estimate."""
    return property(attrgetter(f"parts.{path}"))


class Estimate:
    """Time and cost of training with one recipe on one offer.

    `hours` = `train_hours` + `overhead_hours` of a successful run, or of all runs where the question asks for several;
    `hours_low` and `hours_high` bound their 80 % interval. `retry_hours`, the expected time of further runs after a miss,
    comes on top. `calendar_hours` also counts waiting for sessions and quotas. `epochs` and `success_probability`
    are one run's; `target` and probabilities are fractions. `accelerators` and `images_per_second` are of all `nodes` together.
    A language model by tokens has no `metric` and no `target`, and `tokens_per_second` instead of images.

    Money is in `currency`, rounded once, to cents; the range of a cost also covers changes of spot rates. `hourly_rate` is for
    all machines and not rounded. `break_even_hours` is the use per term above which a commitment costs less than on demand; for
    an owned machine, the use in its life above which it costs less than the cheapest rental on demand.

    `vcpus` are of all nodes, `limited_by` is the part of the machines that limits the speed. `price_age_days` is the time from
    the observation of the rate to `as_of`; `price_first_hand` says whether the provider itself stated it.
    `available` says whether such a machine was free then, None where the provider does not say, and `available_at` since when.

    `code` says whose program has this speed: `unknown` where nobody published a speed of the recipe, None for your own recipes.
    Other people's code takes `usual_hours_low` to `usual_hours_high` for the same training in 8 of 10 cases, which costs
    `usual_cost_low` to `usual_cost_high` by the question's basis; None where nobody knows.

    `energy_kwh` is what the machines and the building around them draw in `hours`, `carbon_kg` the CO2 equivalent that the grid
    of the region emits for it; None where watts or grid are not known.

    `recipe_kind` says how much care the recipe takes; `recipe_command` runs it in a copy of its repository, None where no
    command is known. `runs_here` says whether public code of the recipe runs on such accelerators, None where nobody knows;
    `confirmed` whether the rate is vouched for and fresh, so that picks may come from it. `task` says what is trained and
    `better` which values of the metric are; `epochs_are` what `epochs` counts: those of the data set, or so many samples.

    `pick` has the names of the picks that this estimate is, separated by spaces; None where it is none.
    `offering_class` tells apart offers of a provider that are otherwise alike: a savings plan for any compute or for this type of
    machine.
    """

    __slots__ = ("parts",)

    rank: int = at("candidate.rank")
    frontier: bool = at("candidate.on_frontier")
    provider: str = at("candidate.offer.provider")
    region: str = at("candidate.offer.region")
    instance_type: str = at("candidate.offer.instance_type")
    nodes: int = at("machines.bill.terms.nodes")
    accelerator: str = at("candidate.offer.machine.accelerator")
    accelerators: int = at("machines.accelerators")
    accelerator_memory_gib: float | None = at("candidate.offer.machine.accelerator_memory_gib")
    purchase_option: PurchaseOption = at("candidate.offer.purchase_option")
    term: str | None = at("candidate.offer.term")
    payment: Payment | None = at("candidate.offer.payment")
    model: str = at("query.model")
    dataset: str = at("query.dataset")
    metric: str | None = at("training.metric")
    target: float | None = at("training.target")
    recipe: str = at("recipe.name")
    epochs: float = at("candidate.time.epochs")
    global_batch_size: int | None = at("recipe.global_batch_size")
    precision: str | None = at("recipe.precision")
    images_per_second: float | None = at("training.images_per_second")
    train_hours: float = at("candidate.time.train_hours")
    overhead_hours: float = at("candidate.time.overhead_hours")
    hours: float = at("candidate.time.hours")
    hours_low: float = at("candidate.time.hours_low")
    hours_high: float = at("candidate.time.hours_high")
    retry_hours: float = at("candidate.time.retry_hours")
    calendar_hours: float = at("candidate.calendar_hours")
    success_probability: float | None = at("training.success_probability")
    hourly_rate: Decimal = at("money.hourly_rate")
    effective_cost: Decimal = at("money.effective")
    effective_cost_low: Decimal = at("money.effective_low")
    effective_cost_high: Decimal = at("money.effective_high")
    billed_cost: Decimal = at("money.billed")
    billed_cost_low: Decimal = at("money.billed_low")
    billed_cost_high: Decimal = at("money.billed_high")
    break_even_hours: float | None = at("break_even_hours")
    currency: str = at("machines.currency")
    evidence: EvidenceTiers = at("grounds.tiers")
    components: tuple[Component, ...] = at("money.components")
    sources: Sources = at("sources")
    assumptions: tuple[str, ...] = at("assumptions")
    vcpus: int | None = at("machines.vcpus")
    limited_by: Part = at("grounds.limited_by")
    price_age_days: int = at("machines.age_days")
    price_first_hand: bool = at("machines.first_hand")
    available: bool | None = at("machines.available")
    available_at: datetime | None = at("machines.available_at")
    evidence_notes: EvidenceNotes = at("grounds.notes")
    code: Code | None = at("grounds.code")
    usual_hours_low: float | None = at("usual.low")
    usual_hours_high: float | None = at("usual.high")
    usual_cost_low: Decimal | None = at("money.usual_low")
    usual_cost_high: Decimal | None = at("money.usual_high")
    energy_kwh: float | None = at("energy.kwh")
    carbon_kg: float | None = at("energy.carbon_kg")
    recipe_kind: RecipeKind = at("grounds.recipe_kind")
    recipe_command: str | None = at("grounds.command")
    runs_here: bool | None = at("candidate.runs_here")
    confirmed: bool = at("candidate.confirmed")
    task: str = at("recipe.title")
    better: Literal["higher", "lower"] = at("training.better")
    epochs_are: str = at("recipe.pass_name")
    pick: str | None = at("candidate.pick")
    offering_class: str | None = at("candidate.offer.offering_class")
    tokens_per_second: float | None = at("training.tokens_per_second")

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Estimate) and figures(self) == figures(other)

    def __hash__(self) -> int:
        return hash(figures(self))

    def __repr__(self) -> str:
        named = zip(Estimate.__annotations__, figures(self), strict=True)
        return f"Estimate({', '.join(f'{name}={figure!r}' for name, figure in named)})"

    @property
    def bill(self) -> Bill:
        """The offer and the terms that its costs follow from."""
        return self.parts.machines.bill

    @property
    def on_demand(self) -> Offer | None:
        """The same machine on demand in its currency, None where it can't be had."""
        return self.parts.candidate.on_demand

    @property
    def reached(self) -> float:
        """The target; NaN where there is none."""
        return nan if self.target is None else self.target

    @property
    def rented(self) -> Rented:
        """The machine, from whom and how it is rented, and the recipe."""
        return Rented(*(getattr(self, name) for name in Rented._fields))

    def cost(self, basis: Basis) -> CostRange:
        """The cost with its range, by this basis."""
        paid = self.parts.money
        if basis == "billed":
            return CostRange(paid.billed, paid.billed_low, paid.billed_high)
        return CostRange(paid.effective, paid.effective_low, paid.effective_high)

    def price(self, basis: Basis) -> str:
        """What it costs by this basis, in words."""
        return money(self.cost(basis).cost, self.currency)

    @property
    def is_owned(self) -> bool:
        """Whether the machine is the user's own."""
        return self.purchase_option is PurchaseOption.OWNED

    @property
    def is_rented(self) -> bool:
        """Whether somebody is paid for the machine."""
        return self.purchase_option not in (PurchaseOption.OWNED, PurchaseOption.FREE)


figures = attrgetter(*Estimate.__annotations__)
"""All figures of an estimate, in one order."""


class Pick(Struct, frozen=True):
    """An estimate to act on, and one sentence that says why it is picked."""

    name: PickName
    reason: str
    estimate: Estimate


class Folded(Struct, frozen=True):
    """How many estimates picks don't come from, each under the first that holds: its rate is not confirmed, its recipe is none
    among which `recipes=best` chooses, no public code of it is known to run there, it is spot or a capacity block, or else a
    commitment or a monthly rental."""

    unconfirmed: int = 0
    other_recipes: int = 0
    other_code: int = 0
    spot: int = 0
    commitments: int = 0


NOTHING_FOLDED = Folded()


class Missed(NamedTuple):
    """A recipe that reaches the target too seldom, and the chance that a run of it does."""

    recipe: str
    chance: float


class Ranges(NamedTuple):
    """Both ends of 80 % ranges as columns: of hours on the calendar, and of costs. Where there is waiting, its range is not
    known and the ends are the hours themselves."""

    hours_low: Floats
    hours_high: Floats
    cost_low: Floats
    cost_high: Floats


class Overview(Struct, frozen=True):
    """Estimates of a question as columns of equal length, in the question's order, in floats: for charts and counts.

    `rank` is that among all of them, `position` where the candidate stands, `row` the offer's in the catalogue. Hours are those
    of the calendar. Costs are by the question's basis and in its currency. There are `every` of them, of which very many are not
    all here.
    """

    rank: Indices
    position: Indices
    row: Indices
    nodes: Indices
    hours: Floats
    cost: Floats
    on_frontier: Flags
    every: int


class Options(Protocol):
    """All estimates of a question, of which an answer has a few: others are made exact when somebody looks."""

    def estimates(self, positions: Sequence[int]) -> tuple[Estimate, ...]:
        """The candidates at these positions, exactly."""

    def first_that(self, fits: Callable[[Rented], bool]) -> Estimate | None:
        """The best that picks may come from and that fits."""


class BreakEven(Struct, frozen=True):
    """A rental, its effective cost for the training, and the hours of use in an owned machine's life above which owning
    costs less; None where its electricity alone costs as much."""

    rank: int
    provider: str
    region: str
    instance_type: str
    nodes: int
    purchase_option: PurchaseOption
    term: str | None
    payment: Payment | None
    rented_cost: Decimal
    break_even_hours: float | None


class OwnedMachine(Struct, frozen=True):
    """A machine that you own, at its rank among the estimates, and when it costs less than each rental that is shown."""

    estimate: Estimate
    break_even: tuple[BreakEven, ...]


class PriceBasis(Struct, frozen=True):
    """The snapshot of prices that an answer was computed from, and when the offers current at `as_of` were observed."""

    snapshot: str
    as_of: datetime
    oldest_observed_at: datetime | None
    newest_observed_at: datetime | None
    gaps: tuple[Gap, ...] = ()


class Hint(Struct, frozen=True):
    """A change to a question that found little: as it is written (`max_price_age=900`, `without provider`), the number of
    estimates it brings, both in a sentence, and the changed question as a query string."""

    change: str
    count: int
    sentence: str
    query_string: str


class Step(Struct, frozen=True):
    """What to do next, in a sentence that begins with the command, or else the link, that does it; `estimate` is the one whose
    figures these give. A link without a host is one of costcalc's own."""

    text: str
    command: str | None = None
    link: str | None = None
    estimate: Estimate | None = None


class Answer(Struct, frozen=True, dict=True):
    """All that an edge needs to render; no edge computes.

    `count` is the number of estimates before limit and offset, `picks` are those to act on, of which the verdict begins with the
    one that is `named_first`; `missed` says what they lack where no estimate has it; `widened`
    up to how many days old rates of a kind are confirmed where too few are fresh. The `estimates` are a page of the list that
    begins with the picks, each once; what else picks may come from follows in the question's order, then the rest. `best_at`
    says where the `best` stand among the `options`: they are made when somebody looks, which JSON does not.
    `unconfirmed` is the cheapest whose rate is not confirmed; `rivals` are the cheapest of each machine, kind of accelerators,
    cloud and of two ways to buy that the question names beside that of the `lead`, None where there is no estimate. `ordinary` is
    the machine of the `lead` with an ordinary loop of today, `as_published` with the script that most people run on its chips as
    it was published, None where no such script reaches the target; `ordinary_missed` is the one that people begin with, where it
    does so too seldom. `likeliest` is the recipe that reaches it most often, where none does so surely enough. `free` has the
    free tiers that take least time on the calendar, at most three, which `count` and the ranks of `estimates` leave out; it is
    empty where the question asks for free tiers, which are estimates then. `owned` has the machines that the user owns.

    `freshness` is that of the rates that the question allows. `rejections` says how many were left out, by reason, and
    `rejection_units` whether they are recipes, offers or runs, a run being one recipe on one offer and number of machines.

    `hints` are for a person to whom nothing or little was found; the engine itself gives none.

    `exchange` is the rate of the requested currency, None for US dollars; `quoted_exchange` has the rates of the other currencies
    that offers are quoted in.
    """

    query: EstimateQuery
    prices: PriceBasis
    count: int
    estimates: tuple[Estimate, ...]
    rejections: dict[str, int]
    best_reached: BestReached | None
    freshness: Freshness = NO_RATES
    picks: tuple[Pick, ...] = ()
    named_first: PickName | None = None
    missed: tuple[Requirement, ...] = ()
    widened: Mapping[PurchaseOption, float] = field(default_factory=dict)
    options: Options | None = None
    best_at: tuple[int, ...] = ()
    unconfirmed: Estimate | None = None
    rivals: Mapping[str, Estimate | None] = field(default_factory=dict)
    ordinary: Estimate | None = None
    as_published: Estimate | None = None
    ordinary_missed: Missed | None = None
    likeliest: Missed | None = None
    folded: Folded = NOTHING_FOLDED
    verdict: tuple[str, ...] = ()
    next: Step | None = None
    free: tuple[Estimate, ...] = ()
    owned: tuple[OwnedMachine, ...] = ()
    rejection_units: dict[str, str] = field(default_factory=dict)
    exchange: ExchangeRate | None = None
    quoted_exchange: tuple[ExchangeRate, ...] = ()
    hints: tuple[Hint, ...] = ()

    @cached_property
    def best(self) -> tuple[Estimate, ...]:
        """The picks and a few runners-up, without repeating equal machines."""
        return self.options.estimates(self.best_at) if self.options else ()

    def first_that(self, fits: Callable[[Rented], bool]) -> Estimate | None:
        """The best that picks may come from and that fits; None where there is none."""
        return self.options.first_that(fits) if self.options else None

    @cached_property
    def lead(self) -> Estimate:
        """What to act on, with which the verdict begins: the cheapest of the user's own machines, else the pick that is named
        first. Raises StopIteration if there is neither."""
        return self._owned_or(self.named_first)

    @cached_property
    def first(self) -> Estimate:
        """The first in the question's order: the cheapest of the user's own machines, else the pick asked for, the cheapest or
        the fastest. Raises StopIteration if there is neither."""
        by_order: PickName = "fastest" if self.query.sort == "time" else "cheapest"
        return self._owned_or(self.named_first if self.query.pick else by_order)

    def _owned_or(self, name: PickName | None) -> Estimate:
        if self.owned:
            return min((each.estimate for each in self.owned), key=lambda each: each.cost(self.query.basis).cost)
        return next(pick.estimate for pick in self.picks if pick.name == name)

    @cached_property
    def picked(self) -> Mapping[PickName, Estimate]:
        """The picks by name, the cheapest first."""
        return {pick.name: pick.estimate for pick in self.picks}

    @cached_property
    def basis(self) -> Basis:
        """The basis by which costs are compared. A user's own machine outlasts the run, which bears its share of it."""
        return "effective" if self.lead.is_owned else self.query.basis

    def with_best(self) -> Answer:
        """This answer with `best` among its estimates, by rank."""
        by_rank = {each.rank: each for each in (*self.estimates, *self.best)}
        return replace(self, estimates=tuple(by_rank[rank] for rank in sorted(by_rank)))
