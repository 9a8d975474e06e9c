"""Machines to buy, as offers: what a machine loses in value over its life is paid upfront, its electricity by the hour.

Cost of an hour = price x (1 - residual share) / (8,760 x years x utilization) + kW x price of a kWh x PUE. A machine at home or
in an office needs no cooling of its own: PUE 1.
"""

from __future__ import annotations

from decimal import Decimal

from costcalc.offers import ANY_REGION, STANDS_ALONE, Offer, PurchaseOption
from costcalc.units import HOURS_PER_YEAR
from pricing.packaged.purchases import USD_PER_KWH
from pricing.packaged.tables import Row, Table, amount, day, machine

PROVIDER = "owned"
OWNED = Table(
    "owned.csv",
    "machine observed_at",
    "accelerator accelerators accelerator_memory_gib vcpus memory_gib price residual_share lifetime_years power_kw "
    "currency stands_alone source",
)
PLACES = Decimal("1e-9")


def owned_offer(row: Row) -> Offer:
    """A row of `owned.csv`; one that stands alone has no network to be joined by. Raises ValueError."""
    share, years = amount(row, "residual_share"), row.integer("lifetime_years")
    if share >= 1 or years < 1:
        raise ValueError(f"a machine keeps {share} of its price after {years} years: write a share below 1, and years")
    loss = amount(row, "price") * (1 - share)
    per_kwh = USD_PER_KWH["household"]
    running = amount(row, "power_kw") * per_kwh
    return Offer(
        *(PROVIDER, ANY_REGION, row.text("machine"), machine(row), PurchaseOption.OWNED),
        hourly_rate=(loss / (years * HOURS_PER_YEAR) + running).quantize(PLACES),
        observed_at=day(row, "observed_at"),
        source=row.text("source"),
        term=f"{years}y",
        upfront=loss,
        recurring_hourly=running,
        currency=row.text("currency"),
        flags=(
            *([] if row.is_blank("stands_alone") else [STANDS_ALONE]),
            *(f"price={row.text('price')}", f"residual_share={share}", f"usd_per_kwh={per_kwh}"),
        ),
    )
