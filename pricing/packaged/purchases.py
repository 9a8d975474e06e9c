"""What accelerators and whole machines were sold for, and the watts they draw: `purchases.csv`, source and date in each row."""

from __future__ import annotations

from datetime import UTC, datetime, time
from decimal import Decimal
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from costcalc.costing.owning import PRICE_UNKNOWN, Electricity, Purchase
from costcalc.hardware import USUAL_PUE, Accelerator
from costcalc.query import EstimateQuery, OwnMachine, Place
from pricing.packaged.tables import Row, Table, amount, day

PURCHASES = Table("purchases.csv", "accelerator accelerators sold_as observed_at", "price watts host source")


class Host(Struct, frozen=True):
    """The machine around cards that are bought alone: US dollars and watts, set by hand."""

    price: Decimal
    watts: Decimal


HOSTS = {"tower": Host(Decimal(1200), Decimal(200)), "server": Host(Decimal(8000), Decimal(500))}
"""A desktop for GeForce and Quadro cards, a rack server for those without fans. Give `own_price` and `own_watts` where yours is
another."""
USD_PER_KWH: dict[Place, Decimal] = {"household": Decimal("0.15"), "data_center": Decimal("0.08")}
"""Averages of the United States: households in 2022, industry in 2023 (eia.gov, Electric Power Annual)."""
PUE: dict[Place, Decimal] = {"household": Decimal(1), "data_center": Decimal(repr(USUAL_PUE))}
"""A machine at home needs no cooling of its own."""


class SoldFor(Struct, frozen=True):
    """What so many accelerators were sold for in US dollars: alone where they need a `host`, else as a machine, `sold_as`."""

    accelerator: str
    accelerators: int
    sold_as: str
    price: Decimal
    watts: Decimal
    host: str | None
    observed_at: datetime
    source: str

    def machine(self, count: int) -> SoldFor:
        """A whole machine of `count` accelerators."""
        if self.host is None:
            return self
        around = HOSTS[self.host]
        host = f"{around.price:,f} USD and {around.watts:f} W for the {self.host} around it"
        return replace(
            self,
            accelerators=count,
            sold_as=f"{self.sold_as} in a {self.host}",
            price=self.price * count + around.price,
            watts=self.watts * count + around.watts,
            host=None,
            source=f"{count} x {self.sold_as} at {self.price:,f} USD: {self.source}; {host}",
        )


def bought(own: OwnMachine, chip: Accelerator, query: EstimateQuery, as_of: datetime, per_usd: Decimal) -> Purchase:
    """What the user's machine of these chips cost and draws: as the question says, else as last sold by then. A
    price that nobody knows is 0. Money is in the question's currency, of which one US dollar is `per_usd`. Raises LookupError
    where nobody knows its watts, or if it was not yet on sale."""
    if as_of.date() < chip.on_sale_from:
        raise LookupError(f"no {chip.name} was on sale before {chip.on_sale_from}: give a later as_of")
    sold, price, watts = _sold_by(own, as_of), query.own_price, query.own_watts or _watts(own, chip)
    if watts is None:
        raise LookupError(f"no watts of {own.accelerator} are known: give own_watts, those of the whole machine")
    if price is None and sold is not None:
        return Purchase(sold.price * per_usd, watts, sold.observed_at, sold.source)
    today = datetime.combine(as_of.date(), time(), UTC)
    source = PRICE_UNKNOWN if price is None else "your own price" if price else "already paid for"
    return Purchase(price or Decimal(0), watts, today, source)


def electricity(query: EstimateQuery, per_usd: Decimal) -> Electricity:
    """The price of a kWh where the user's machines stand, in the question's currency, and how many the building takes for
    each."""
    per_kwh, pue = query.electricity, query.pue
    return Electricity(
        USD_PER_KWH[per_kwh] * per_usd if isinstance(per_kwh, str) else Decimal(repr(per_kwh)),
        PUE[pue] if isinstance(pue, str) else Decimal(repr(pue)),
    )


def _sold_by(own: OwnMachine, as_of: datetime) -> SoldFor | None:
    """What such a machine was last sold for by then: as a whole machine, else as cards; None if nobody says."""
    sales = [
        purchase
        for purchase in _purchases()
        if purchase.accelerator == own.accelerator and purchase.observed_at <= as_of
    ]
    whole = [sale for sale in sales if sale.host is None and sale.accelerators == own.accelerators]
    alone = [sale for sale in sales if sale.host is not None]
    last = max(whole or alone, key=lambda each: each.observed_at, default=None)
    return last and last.machine(own.accelerators)


def _watts(own: OwnMachine, chip: Accelerator) -> Decimal | None:
    """The watts of such a machine, whenever it was sold; else by its data sheet, in a tower."""
    sold = _sold_by(own, datetime.max.replace(tzinfo=UTC))
    if sold is not None or chip.power_watts is None:
        return sold.watts if sold else None
    return Decimal(repr(chip.power_watts)) * own.accelerators + HOSTS["tower"].watts


@cache
def _purchases() -> tuple[SoldFor, ...]:
    return tuple(PURCHASES.read(_sold_for).values())


def _sold_for(row: Row) -> SoldFor:
    host = row.maybe("host")
    if host is not None and host not in HOSTS:
        raise ValueError(f"host {host!r} is unknown: write tower or server, or nothing for a whole machine")
    return SoldFor(
        accelerator=row.text("accelerator"),
        accelerators=row.integer("accelerators"),
        sold_as=row.text("sold_as"),
        price=amount(row, "price"),
        watts=amount(row, "watts"),
        host=host,
        observed_at=day(row, "observed_at"),
        source=row.text("source"),
    )
