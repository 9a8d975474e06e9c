"""What is rented: an offer's machines under one customer's terms, their power, and the assumptions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from math import exp
from typing import NamedTuple

from msgspec import Struct

from costcalc import rate_moves
from costcalc.catalogue.catalogue import ANNOUNCED_DAYS
from costcalc.costing.bills import Bill, Terms
from costcalc.costing.owning import WATTS_PER_KILOWATT
from costcalc.costing.rentals import discount_fraction
from costcalc.costing.storage_and_egress import Market
from costcalc.duration import overheads
from costcalc.hardware import MACHINE_SHARE, USUAL_PUE, DataCenters, EnergyTables, GridCarbon
from costcalc.interruptions import MEASURED, RISK_OF_SHARE, RISKS, UNKNOWN, ObservedInterruptions, Place
from costcalc.memory import Few
from costcalc.money import ExchangeRate, money
from costcalc.offer import (
    AVAILABLE,
    COMMITMENTS,
    OLD_DAYS,
    OWN,
    SUPERSEDED,
    WATTS,
    YOURS,
    Offer,
    PriceSource,
    PurchaseOption,
    drawn_watts,
    superseded_from,
)
from costcalc.query import EstimateQuery
from costcalc.units import in_words

RESTART_MINUTES = overheads.SPOT_RESTART_HOURS * 60
FREE_TIER = "Free tier: "
FROM_YOUR_SHEET = "The rate is what your own price sheet says."
ROUNDING_ASSUMED = (
    "How this provider rounds time up is not known: whole hours are billed here, and the low end of the range is by "
    "the second."
)
AS_ANNOUNCED = ", as was announced"
CENTS = Decimal("0.01")
LEAST_CHANGE = 0.005  # in ln: less is 0 %
INTERRUPTIONS_LEFT_OUT = "Spot: interruptions, like start-up, are left out; waiting for capacity is not counted."
OWN_ENERGY = "Energy: as in your machine's electricity bill. Carbon: your local grid is not known."


class Power(NamedTuple):
    """What machines and the building around them draw, what the grid emits for each kWh, None where nobody knows, and where both
    come from."""

    kilowatts: float | None
    kg_per_kwh: float | None
    note: str


class Rented(NamedTuple):
    """So many machines of an offer as a customer rents them at some age of its rate, whatever is trained there and for how long.

    `accelerators`, `vcpus` and `power` are those of all of them. The rate was `stated`, and is so many days old; `available` says
    whether such a machine was free then, None where the provider does not say, and `available_at` since when. Of the sentences,
    `price` is about the rate and the interruptions of spot machines, `moves_known` about whose moves are known, `changed` about
    how such rates changed since it was seen, `number` about how many machines there are, and `exchange` about currencies,
    storage and egress.
    """

    bill: Bill
    accelerators: int
    vcpus: int | None
    currency: str
    stated: PriceSource
    age_days: int
    first_hand: bool
    available: bool | None
    available_at: datetime | None
    power: Power
    price: tuple[str, ...]
    moves_known: str
    changed: str
    number: tuple[str, ...]
    exchange: tuple[str, ...]


class Renting(Struct, frozen=True):
    """How machines are rented for a question. `announced` says what the offer in a row of the catalogue will soon cost, if that
    was stated by a moment. `shared` has what questions of equal terms have in common, by row of the catalogue, number of machines
    and age of the rate in days."""

    query: EstimateQuery
    market: Market
    as_of: datetime
    interruptions: Mapping[Place, ObservedInterruptions]
    energy: EnergyTables
    announced: Callable[[int, datetime], Offer | None]
    shared: Few[tuple[int, int, int], Rented]

    def rented(self, rows: Iterable[int], offers: Sequence[Offer], nodes: Iterable[int]) -> list[Rented]:
        """This many machines of the offers in these rows."""
        ages = [(self.as_of - offer.observed_at).days for offer in offers]
        wanted = zip(rows, nodes, ages, offers, strict=True)
        arguments = [((row, many, age), (row, offer, many, age)) for row, many, age, offer in wanted]
        return self.shared.recall_all(self._rented, arguments)

    def _rented(self, row: int, offer: Offer, nodes: int, age_days: int) -> Rented:
        market, query = self.market, self.query
        is_spot, price = offer.purchase_option is PurchaseOption.SPOT, [*of_price(query, offer, age_days)]
        if soon := self.announced(row, self.as_of):
            price.append(in_future(soon))
        if changed := superseded(offer, self.as_of):
            price.append(changed)
        if self._rounding_assumed(offer):
            price.append(ROUNDING_ASSUMED)
        if is_spot:
            observed = self.interruptions.get((offer.provider, offer.instance_type, offer.region))
            price.append(INTERRUPTIONS_LEFT_OUT if query.overheads == "none" else interruptions(offer, observed))
        vcpus, bill = offer.machine.vcpus, self.bill(offer, nodes)
        return Rented(
            bill=bill,
            accelerators=offer.machine.accelerators * nodes,
            vcpus=vcpus and vcpus * nodes,
            currency=query.currency,
            stated=PriceSource(offer.source, offer.observed_at),
            age_days=age_days,
            first_hand=offer.first_hand,
            available=offer.available,
            available_at=offer.available_at,
            power=power(self.energy, offer, nodes, self.as_of.year),
            price=tuple(price),
            moves_known=moves_known(offer),
            changed=changed_since(bill, age_days),
            number=tuple(why_so_many(query, offer, nodes)),
            exchange=(*converted(query.currency, offer, market.exchange), *market.rates.notes(query, offer.provider)),
        )

    def _rounding_assumed(self, offer: Offer) -> bool:
        is_metered = offer.purchase_option in (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)
        return is_metered and offer.provider in self.market.whole_hours_assumed

    def bill(self, offer: Offer, nodes: int) -> Bill:
        """The bill of this many machines of an offer."""
        query, exchange = self.query, self.market.exchange
        own = 1 - discount_fraction(query, offer.provider, offer.purchase_option)
        into = exchange[query.currency].per_usd / exchange[offer.currency].per_usd
        moves = self.market.moves.at(self.as_of).of_offer(offer)
        terms = Terms(nodes, own, Decimal(repr(query.utilization)), into, self._rounding_assumed(offer), moves)
        return Bill(offer, terms, self.market.storage_and_egress(query, offer.provider))


def power(tables: EnergyTables, offer: Offer, nodes: int, year: int) -> Power:
    """The power of so many machines of an offer, on the grid of the nearest year."""
    if (own_watts := drawn_watts(offer.flags)) is not None:
        return Power(own_watts / WATTS_PER_KILOWATT * nodes, None, OWN_ENERGY)
    machine = offer.machine
    watts, center = tables.watts.get(machine.accelerator), tables.data_centers.get(offer.provider)
    if watts is None:
        return Power(None, None, f"Energy: the power of {machine.accelerator} was not published.")
    pue = center.pue if center else USUAL_PUE
    grids = tables.grids.get((offer.provider, offer.region), ())
    grid = min(grids, key=lambda each: abs((each.year or year) - year), default=None)
    kilowatts = machine.accelerators * watts * MACHINE_SHARE * pue / WATTS_PER_KILOWATT * nodes
    return Power(kilowatts, grid.kg_co2e_per_kwh if grid else None, drawn(machine.accelerator, watts, center, grid))


def superseded(offer: Offer, as_of: datetime) -> str:
    """That the provider announced other rates, which are not known; nothing where it did not, or for a later month."""
    day = superseded_from(offer.flags)
    if day is None or (day - as_of).days > ANNOUNCED_DAYS:
        return ""
    return f"{'Since' if day <= as_of else 'From'} {day.date()} other rates hold{AS_ANNOUNCED}."


def in_future(soon: Offer) -> str:
    """What the machine will cost, and who knew when."""
    rate = f"{money(soon.hourly_rate.quantize(CENTS), soon.currency)} an hour"
    day = soon.announced_for or soon.observed_at
    return f"From {day.date()} one machine costs {rate}{AS_ANNOUNCED} on {soon.observed_at.date()}."


def of_price(query: EstimateQuery, offer: Offer, age_days: int) -> Iterator[str]:
    """The assumptions behind the price."""
    if YOURS in offer.flags:
        yield FROM_YOUR_SHEET
    if age_days > OLD_DAYS:
        yield f"The price was last seen on {offer.observed_at.date()}, {age_days} days before the requested date."
    if offer.purchase_option in COMMITMENTS:
        yield f"Billed cost is the whole {offer.term} commitment; effective cost is this run's share of it."
    if offer.purchase_option is PurchaseOption.MONTHLY:
        yield f"Billed by whole months of {offer.hours_in_month} hours; effective cost is this run's share."
    if offer.purchase_option is PurchaseOption.OWNED:
        yield (
            f"Owned: billed cost is the machine's loss in value over its {offer.term} life (price less residual value) plus this "
            "run's electricity; effective cost is the run's share of both."
        )
    if query.utilization == 0:
        yield "No other work uses the rest of a commitment, rental or owned machine, so this run bears the whole cost."
    elif query.utilization < 1:
        yield f"Other work uses {query.utilization:.0%} of the rest of a commitment or rental."
    flags = [
        flag for flag in offer.flags if flag not in (AVAILABLE, OWN, YOURS) and not flag.startswith((WATTS, SUPERSEDED))
    ]
    if flags:
        yield f"Price flags: {', '.join(flags).replace('_', ' ')}."


def interruptions(offer: Offer, observed: ObservedInterruptions | None) -> str:
    """How often a spot machine is assumed to be interrupted, and on whose word."""
    risk = RISKS[RISK_OF_SHARE[observed.share]] if observed else UNKNOWN
    return (
        f"Spot: {_whose_word(observed, offer.region)} one interruption per machine in {_hours(risk.usual)}, in "
        f"{_hours(risk.pessimistic)} for the high end; checkpoints at Young's interval, {overheads.CHECKPOINT_SECONDS} s each, "
        f"{RESTART_MINUTES:.0f} min to restart; waiting for capacity is not counted."
    )


def _whose_word(observed: ObservedInterruptions | None, region: str) -> str:
    if observed is None:
        return "no figure for interruptions of such machines there is published, so by assumption"
    share = observed.share.replace(">", "more than ").replace("<", "less than ").replace("-", " to ").replace("%", " %")
    month = f"{observed.observed_on:%B %Y}"
    statement = f"the provider interrupted {share} of its {observed.instance_type} in {region} in the month to {month},"
    if RISKS[RISK_OF_SHARE[observed.share]] is MEASURED:
        return f"{statement} with no upper bound; V100 machines in the same band, measured in 2023, had"
    return f"{statement} which is"


def _hours(between: float) -> str:
    return f"{between:,.0f} h" if between >= 10 else f"{between:.1f} h"


def why_so_many(query: EstimateQuery, offer: Offer, nodes: int) -> Iterator[str]:
    """Why this number of machines is offered though nobody asked for it."""
    if nodes == 1 or query.nodes or query.accelerators:
        return
    if offer.purchase_option is PurchaseOption.CAPACITY_BLOCK:
        most, which = offer.machine.most_in_block, "one capacity block has"
    else:
        most, which = offer.machine.most_machines, "anybody can rent together without a capacity block"
    if nodes <= most:
        yield (
            f"{nodes} machines: offered in powers of two up to {most}, the most that {which}; nodes= sets another number."
        )
    else:
        yield f"{nodes} machines: as many as a published run used of this type."


def moves_known(offer: Offer) -> str:
    """What the range of a rate rests on."""
    if offer.purchase_option is not PurchaseOption.SPOT:
        largest = "the largest" if rate_moves.is_hyperscaler(offer.provider) else "smaller"
        return f"8 in 10 rates of {largest} clouds moved no further in that time."
    if of := rate_moves.generation(offer.provider, offer.machine.accelerator):
        return f"8 in 10 of Google's {of} rates move no further in that time."
    return (
        f"nobody has recorded how far {offer.provider}'s {offer.machine.accelerator} rates move, so this range takes the widest "
        f"moves known, those of {rate_moves.WIDEST} at Google."
    )


def changed_since(bill: Bill, age_days: int) -> str:
    """By how much rates such as this one have changed since it was seen; empty where hardly, or not long ago."""
    change = bill.terms.moves.expected_after(age_days) if age_days > OLD_DAYS else 0.0
    if abs(change) < LEAST_CHANGE:
        return ""
    rate = money(bill.offer.hourly_rate.quantize(CENTS), bill.offer.currency)
    by_now = f"{abs(exp(change) - 1):.0%} {'higher' if change > 0 else 'lower'} by now on average"
    return f"{rate} an hour was seen {age_days} days ago; such rates are {by_now.replace('%', ' %')}."


def of_moves(rented: Rented, moved: rate_moves.Width) -> tuple[str, ...]:
    """How far a rate is assumed to move until the end of the run, and by how much such rates have changed since it was seen."""
    ends = f"{exp(-moved.fall):.2f} to {exp(moved.rise):.2f} times that of {rented.stated.observed_at.date()}"
    begins = "Spot: the" if rented.bill.offer.purchase_option is PurchaseOption.SPOT else "The"
    also = f"{begins} cost range also allows for the rate ending at {ends}: {rented.moves_known}"
    return (also, rented.changed) if rented.changed else (also,)


def free_tier(offer: Offer, hours: float, calendar_hours: float) -> tuple[str, str]:
    """How long so many hours of work take on the calendar of a free tier, and what that assumes."""
    session = f"sessions of at most {offer.session_hours:g} h" if offer.session_hours else "sessions of unknown length"
    week = f"at {offer.hours_per_week:g} h a week" if offer.hours_per_week else "without a published weekly quota"
    work, calendar = in_words(hours), in_words(calendar_hours)
    waits = "" if calendar == work else f" take {calendar}"
    return (
        f"{FREE_TIER}{work} of work{waits} {week}, in {session}.",
        f"Free tiers are not guaranteed and their quotas may change; each session takes {RESTART_MINUTES:.0f} min to restart.",
    )


def converted(wanted: str, offer: Offer, exchange: Mapping[str, ExchangeRate]) -> Iterator[str]:
    """The exchange rates between the currency of an offer and the one asked for."""
    codes = [code for code in (offer.currency, wanted) if code != "USD"] if offer.currency != wanted else []
    for rate in map(exchange.__getitem__, codes):
        what = "Quoted in" if rate.currency == offer.currency else "Converted to"
        yield f"{what} {rate.currency}: {round(rate.per_usd, 6).normalize():f} per USD on {rate.date} ({rate.source})."


def drawn(accelerator: str, watts: float, center: DataCenters | None, grid: GridCarbon | None) -> str:
    """How the energy of a training is worked out, and what is emitted for it."""
    building = f"{center.pue:g} of {center.provider} ({center.year})" if center else f"{USUAL_PUE:g}, the usual one"
    energy = (
        f"Energy: {watts:,.0f} W from {accelerator}'s data sheet, times {MACHINE_SHARE:g} for the rest of the machine (measured "
        f"on H100), times PUE {building}."
    )
    if grid is None:
        return f"{energy} Carbon: no figure for the local grid is known."
    when = f"in {grid.year}" if grid.year else "in a year that is not stated"
    return f"{energy} Carbon: {grid.kg_co2e_per_kwh:.3g} kg CO2e a kWh, the grid's average {when} ({grid.source})."
