"""What an estimate is made of: records that estimates share where they rent the same machine or train in the same way."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from msgspec import Struct

from costcalc.machine_limits.limits import Part
from costcalc.money import Component
from costcalc.offer import Payment, PriceSource, PurchaseOption
from costcalc.programs import RecipeKind
from costcalc.training import Code, Tier


class Standing(Struct, frozen=True):
    """Where an estimate stands among all, and whether picks may come from it.

    `pick` has the names of the picks that it is, separated by spaces; None where it is none. `runs_here` says whether public code
    of the recipe runs on such accelerators, None where nobody knows; `confirmed` whether the rate is vouched for and fresh.
    """

    rank: int
    on_frontier: bool
    pick: str | None
    confirmed: bool
    runs_here: bool | None


class Machines(Struct, frozen=True):
    """So many machines of one type in a region. `accelerators` and `vcpus` are of all `nodes` together, `memory_gib` of each."""

    provider: str
    region: str
    instance_type: str
    nodes: int
    accelerator: str
    accelerators: int
    accelerator_memory_gib: float | None
    vcpus: int | None
    memory_gib: float | None


class Purchase(Struct, frozen=True):
    """How machines are bought, in which currency they are paid, and who stated the rate, how many days before the moment of
    the question.

    `offering_class` tells apart offers of a provider that are otherwise alike: a savings plan for any compute or for this type of
    machine. `available` says whether such a machine was free then, None where the provider does not say, and `available_at`
    since when.
    """

    option: PurchaseOption
    term: str | None
    payment: Payment | None
    offering_class: str | None
    currency: str
    price: PriceSource
    age_days: int
    first_hand: bool
    available: bool | None
    available_at: datetime | None


class Training(Struct, frozen=True):
    """What is trained, to which target, with which recipe. `epochs` and `success_probability` are one run's.

    `images_per_second` are of all machines together. `better` says which values of the metric are, and `epochs_are` what `epochs`
    counts: those of the data set, or so many samples.
    """

    model: str
    dataset: str
    metric: str | None
    target: float | None
    recipe: str
    epochs: float
    global_batch_size: int | None
    precision: str | None
    images_per_second: float | None
    success_probability: float | None
    task: str
    better: Literal["higher", "lower"]
    epochs_are: str
    tokens_per_second: float | None


class Time(Struct, frozen=True):
    """The hours of an estimate; see `Estimate`."""

    train: float
    overhead: float
    hours: float
    low: float
    high: float
    retry: float
    calendar: float
    usual_low: float | None
    usual_high: float | None


class Money(Struct, frozen=True):
    """What an estimate costs by each basis, rounded, with the ends of its range; the effective rate per hour, not rounded; what
    other people's code costs, by the question's basis; and the lines of its bill."""

    hourly_rate: Decimal
    effective: Decimal
    effective_low: Decimal
    effective_high: Decimal
    billed: Decimal
    billed_low: Decimal
    billed_high: Decimal
    usual_low: Decimal | None
    usual_high: Decimal | None
    components: tuple[Component, ...]


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


class Parts(Struct, frozen=True, kw_only=True):
    """All parts of an estimate; `assumptions` has a sentence for everything that it takes for granted."""

    standing: Standing
    machines: Machines
    purchase: Purchase
    training: Training
    time: Time
    money: Money
    break_even_hours: float | None
    energy: Energy
    grounds: Grounds
    sources: Sources
    assumptions: tuple[str, ...]
