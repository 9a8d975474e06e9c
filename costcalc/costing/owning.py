"""Machines that the user owns: what one costs by the hour, and from how much use on that is less than renting.

An hour costs price x (1 - resale share) / (8,760 x years x use) + kW x price of a kWh x PUE: what the machine loses in value is
paid upfront, its electricity by the hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

import numpy as np
from msgspec import Struct

from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.costing.bills import Bill, paid_off_hours
from costcalc.costing.candidates import Candidates
from costcalc.hardware import Machine
from costcalc.offer import OWN, WATTS, Offer, PurchaseOption, RatePart
from costcalc.query import EstimateQuery, OwnMachine
from costcalc.units import HOURS_PER_YEAR

PROVIDER, REGION = "own", "any"
BILLIONTH = Decimal("1e-9")
WATTS_PER_KILOWATT = 1000
PRICE_UNKNOWN = "no purchase price of it is known"
ON_DEMAND = OPTIONS.index(PurchaseOption.ON_DEMAND)


class Purchase(Struct, frozen=True):
    """What a whole machine was bought for, in the currency of the question, its watts, and where and when both were read."""

    price: Decimal
    watts: Decimal
    observed_at: datetime
    source: str


class Electricity(Struct, frozen=True):
    """The price of a kWh in the currency of the question, and how many kWh the building takes for each of the machine."""

    per_kwh: Decimal
    pue: Decimal


def owned_offer(query: EstimateQuery, machine: Machine, bought: Purchase, electricity: Electricity) -> Offer:
    """The rate of a machine that the user owns, its electricity in parts."""
    loss, parts = bought.price * (1 - query.own_resale), tuple(_electricity(bought.watts, electricity))
    hourly = sum((part.hourly for part in parts), Decimal(0))
    return Offer(
        *(PROVIDER, REGION, OwnMachine(machine.accelerators, machine.accelerator).name, machine, PurchaseOption.OWNED),
        hourly_rate=(loss / (query.own_years * HOURS_PER_YEAR) + hourly).quantize(BILLIONTH),
        observed_at=bought.observed_at,
        source=bought.source,
        term=f"{query.own_years}y",
        upfront=loss.quantize(BILLIONTH),
        recurring_hourly=hourly,
        currency=query.currency,
        parts=parts,
        flags=(OWN, f"{WATTS}{bought.watts * electricity.pue:f}"),
    )


def _electricity(watts: Decimal, electricity: Electricity) -> Iterator[RatePart]:
    hourly = watts / WATTS_PER_KILOWATT * electricity.per_kwh
    yield RatePart(f"electricity of {watts:,.0f} W at {electricity.per_kwh:.4g} a kWh", hourly.quantize(BILLIONTH))
    if electricity.pue > 1:
        building = hourly * (electricity.pue - 1)
        yield RatePart(
            f"electricity of the building at PUE {electricity.pue.normalize():f}", building.quantize(BILLIONTH)
        )


def cheapest_rental(catalogue: Catalogue, candidates: Candidates) -> Decimal | None:
    """What the same training costs where it costs least on demand, among what picks may come from where there is any; None where
    nothing can be rented so."""
    on_demand = catalogue.columns.option.take(candidates.row) == ON_DEMAND
    positions = next(filter(len, (some.nonzero()[0] for some in (on_demand & candidates.pickable, on_demand))), None)
    if positions is None:
        return None
    return Decimal(repr(float(candidates.cost[candidates.order("cost", catalogue).first(positions, 1)[0]])))


def own_candidates(catalogue: Catalogue, candidates: Candidates) -> list[int]:
    """The position of the cheapest candidate on each of the user's own machines."""
    mine = np.flatnonzero(catalogue.own[candidates.row])
    order = candidates.order("cost", catalogue).sorted(mine)
    _, each = np.unique(candidates.row[order], return_index=True)
    found: list[int] = order[np.sort(each)].tolist()
    return found


def owning_pays_from(bill: Bill, rented_cost: Decimal | None, hours: Decimal) -> Decimal | None:
    """Hours of the machine's use in its life from which on owning it costs less than renting for the same work, training that
    takes `hours` on it costing `rented_cost` elsewhere. None where its electricity alone costs as much."""
    rented_hourly = None if rented_cost is None else rented_cost / hours
    return paid_off_hours(bill.tariff, rented_hourly, bill.factor)
