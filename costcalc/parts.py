"""What an estimate is made of: records that estimates share where they rent the same machine or train in the same way."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from costcalc.duration.training_times import TrainingTime
from costcalc.machine_limits.limits import Part
from costcalc.money import Money
from costcalc.offer import Offer, PriceSource
from costcalc.programs import RecipeKind
from costcalc.query import EstimateQuery
from costcalc.recipes import Recipe
from costcalc.rented import Rented
from costcalc.training import Code, Tier


class RankedCandidate(NamedTuple):
    """One offer with one training time on it, and where it stands in the whole answer.

    `row` is the offer's in the catalogue. `calendar_hours` are those of the training time with the waiting that the offer
    imposes. `on_demand` is the same machine on demand, in the same region and currency, None where it can't be had. `pick` has
    the names of the picks that it is, None where it is none.
    """

    row: int
    offer: Offer
    time: TrainingTime
    calendar_hours: float
    rank: int
    on_frontier: bool
    on_demand: Offer | None
    confirmed: bool
    runs_here: bool | None
    pick: str | None


class Training(Struct, frozen=True):
    """How far is trained, how surely one run gets there, and how fast, all machines together. `better` says which values of the
    metric are."""

    metric: str | None
    target: float | None
    better: Literal["higher", "lower"]
    success_probability: float | None
    images_per_second: float | None
    tokens_per_second: float | None


class Energy(Struct, frozen=True):
    """What the machines and the building around them draw, and the CO2 equivalent that the grid emits for it."""

    kwh: float | None
    carbon_kg: float | None


class EvidenceTiers(Struct, frozen=True):
    """How the speed and the accuracy curve of an estimate are known."""

    throughput: Tier
    convergence: Tier


class ThroughputSource(Struct, frozen=True):
    """Where a speed was read, and the year of its software."""

    source: str
    year: int


class ConvergenceSource(Struct, frozen=True):
    """Where an accuracy curve was read."""

    source: str


class Sources(Struct, frozen=True):
    """Where the price, the speed and the accuracy curve of an estimate were read."""

    price: PriceSource
    throughput: ThroughputSource
    convergence: ConvergenceSource


class EvidenceNotes(Struct, frozen=True):
    """One sentence each on what the speed and the accuracy curve of an estimate rest on."""

    throughput: str
    convergence: str


class Grounds(NamedTuple):
    """What an estimate stands on, whatever its target and its price: how its speed and its curve are known, what each rests on,
    in a sentence and by its source, what the speed takes for granted, and over which `network` several machines work, by what
    they are `fed`. Other people's code trains `usual` times as long, from and to; empty where nobody knows."""

    tiers: EvidenceTiers
    notes: EvidenceNotes
    throughput: ThroughputSource
    convergence: ConvergenceSource
    limited_by: Part
    assumptions: tuple[str, ...]
    network: tuple[str, ...]
    fed: tuple[str, ...]
    code: Code | None
    usual: tuple[float, ...]
    recipe_kind: RecipeKind
    command: str | None
    overhead: str


class UsualHours(NamedTuple):
    """The hours that other people's code takes in 8 of 10 cases, None where nobody knows."""

    low: float | None = None
    high: float | None = None


class Parts(Struct, frozen=True, kw_only=True):
    """All parts of an estimate; `assumptions` has a sentence for everything that it takes for granted."""

    query: EstimateQuery
    candidate: RankedCandidate
    machines: Rented
    recipe: Recipe
    training: Training
    usual: UsualHours
    money: Money
    break_even_hours: float | None
    energy: Energy
    grounds: Grounds
    sources: Sources
    assumptions: tuple[str, ...]
