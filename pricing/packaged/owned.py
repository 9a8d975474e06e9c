"""Machines one can buy, as offers: what a machine loses over its life is paid upfront, its electricity by the hour.

Cost of an hour = price x (1 - residual share) / (8,760 x years x utilization) + kW x price of a kWh x PUE. A machine at home or
in an office needs no cooling of its own: PUE 1.
"""

from __future__ import annotations

from decimal import Decimal

from costcalc.evidence.tables import Row
from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from costcalc.units import HOURS_PER_YEAR
from pricing.packaged.cells import amount, day
from pricing.packaged.names import ANY_REGION

PROVIDER = "owned"
HEADER = (
    "machine,accelerator,accelerators,accelerator_memory_gib,vcpus,memory_gib,price,residual_share,lifetime_years,"
    "power_kw,currency,observed_at,source"
)
KEY = "machine,observed_at"
USD_PER_KWH = Decimal("0.15")
PLACES = Decimal("1e-9")


def owned_offer(row: Row) -> Offer:
    """A row of `owned.csv`. Raises ValueError."""
    share, years = amount(row, "residual_share"), row.integer("lifetime_years")
    if share >= 1 or years < 1:
        raise ValueError(f"a machine keeps {share} of its price after {years} years: write a share below 1, and years")
    loss = amount(row, "price") * (1 - share)
    running = amount(row, "power_kw") * USD_PER_KWH
    return Offer(
        *(PROVIDER, ANY_REGION, row.text("machine"), machine(row), PurchaseOption.OWNED),
        hourly_rate=(loss / (years * HOURS_PER_YEAR) + running).quantize(PLACES),
        observed_at=day(row, "observed_at"),
        source=row.text("source"),
        term=f"{years}y",
        upfront=loss,
        recurring_hourly=running,
        currency=row.text("currency"),
        flags=(f"price={row.text('price')}", f"residual_share={share}", f"usd_per_kwh={USD_PER_KWH}"),
    )


def machine(row: Row) -> Machine:
    """What the machine of a row holds."""
    return Machine(
        row.text("accelerator"),
        row.integer("accelerators"),
        row.maybe_number("accelerator_memory_gib"),
        row.maybe_integer("vcpus"),
        row.maybe_number("memory_gib"),
    )
