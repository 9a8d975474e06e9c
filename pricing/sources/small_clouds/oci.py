"""Oracle Cloud Infrastructure, on demand and preemptible, from the public price list.

Oracle prices an accelerator-hour with its share of the host: a shape costs its accelerators times that. Which shape holds how
many stands in the packaged machine types and, for newer shapes, below. One price holds in all regions: the region is `any`.
Preemptible capacity costs half (docs.oracle.com, "Preemptible Instances") and comes in the older virtual machines only; the
list doesn't name it, so its rate is flagged `derived`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, convert
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import ANY_REGION, Offer
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import NoFigures, UnknownName, accelerator
from pricing.sources.common.endpoint import Site, address, one_call
from pricing.sources.common.listing import Listing, amount, spot
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected

SOURCE = "Oracle public price list"
GPU_HOUR = "GPU Per Hour"
NO_RENTAL = re.compile(
    "NVIDIA AI Enterprise|Cloud@Customer"
)  # by the same hour: licences, machines on the user's premises
PREEMPTIBLE_SHARE = Decimal("0.5")
PREEMPTIBLE = ("VM.GPU2.", "VM.GPU3.")  # the GPU shapes with a spot price in SkyPilot's catalogue of 2026

# docs.oracle.com/en-us/iaas/Content/Compute/References/computeshapes.htm; the packaged machine types hold the others
NEWER_SHAPES: Mapping[str, Machine] = {
    "BM.GPU.L40S.4": Machine("L40S", 4, 48, 224, 1024),
    "BM.GPU.H200.8": Machine("H200", 8, 141, 224, 3072),
    "BM.GPU.B200.8": Machine("B200", 8, 180, 256, 4096),
}
FORMS = {"Bare Metal": "BM.", "Virtual Machine": "VM."}  # parts that price one of the two only


class Price(Struct):
    """A price by the way of paying it, such as `PAY_AS_YOU_GO`."""

    model: str
    value: Decimal


class Localization(Struct, rename="camel"):
    """The prices in one currency."""

    currency_code: str
    prices: list[Price]


class Part(Struct, rename="camel"):
    """A part of the price list that is sold by the GPU and hour."""

    part_number: str
    display_name: str
    currency_code_localizations: list[Localization]


def offers(document: object, now: datetime) -> Collected:
    """The price list's GPU parts, times the accelerators of each shape."""
    shapes = {**NEWER_SHAPES, **packaged_machines("oci")}
    rows = (row for row in listed("oci", document, "items") if isinstance(row, dict))
    by_gpu = (row for row in rows if row.get("metricName") == GPU_HOUR)
    rentals = [row for row in by_gpu if not NO_RENTAL.search(f"{row.get('displayName')} {row.get('serviceCategory')}")]
    return read_rows("oci", rentals, lambda row: _offers(convert(row, Part), shapes, now))


def _offers(part: Part, shapes: Mapping[str, Machine], now: datetime) -> Iterator[Offer]:
    name = _accelerator(part)
    form = next((prefix for text, prefix in FORMS.items() if text in part.display_name), "")
    holding = {shape: machine for shape, machine in shapes.items() if machine.accelerator == name}
    if not holding:
        raise LeftOut("accelerators in no shape known here left out", part.display_name)
    if all(each.currency_code != "USD" for each in part.currency_code_localizations):
        raise LeftOut("parts without a price in USD left out", part.display_name)
    in_dollars = (each.prices for each in part.currency_code_localizations if each.currency_code == "USD")
    prices = [price.value for price in next(in_dollars, ()) if price.model == "PAY_AS_YOU_GO"]
    hourly, listing = amount(prices[-1]), Listing("oci", f"{SOURCE}: {part.part_number}", now)
    for shape, machine in holding.items():
        if shape.startswith(form):
            offer = listing.offer(ANY_REGION, shape, filled(machine), hourly * machine.accelerators)
            yield offer
            if shape.startswith(PREEMPTIBLE):
                yield replace(spot(offer, offer.hourly_rate * PREEMPTIBLE_SHARE), flags=("derived",))


def _accelerator(part: Part) -> str:
    """By part number, else by name: new parts come under new numbers."""
    try:
        return accelerator("oci", part.part_number)
    except UnknownName as unknown:
        if isinstance(unknown, NoFigures):
            raise
        return accelerator("oci", part.display_name)


SPEC = Site("oci", address("COSTCALC_OCI_URL", "https://apexapps.oracle.com")).spec(
    one_call("/pls/apex/cetools/api/v1/products/", offers, currencyCode="USD"),
    label="Oracle Cloud Infrastructure",
    rates="on demand and preemptible",
    cannot_see="annual and monthly universal credits, negotiated rates, block storage, and whether a region has a shape",
)
