"""Oracle Cloud Infrastructure: on demand and preemptible, from the public price list.

Needs no permission. Oracle prices an accelerator-hour with its share of the host; which shape holds how many is our table
(docs.oracle.com, "Compute Shapes"). One price holds in all regions: the region is `any`. Preemptible capacity costs half
(docs.oracle.com, "Preemptible Instances") and comes in the older virtual machines only; the list doesn't name it, so that
its rate is flagged `derived`.
Cannot see: annual and monthly universal credits, negotiated rates, block storage, and whether a region has the shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.packaged.billing import Billing
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import ANY_REGION, accelerator
from pricing.sources.common.amounts import amount
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected, Environment, SourceSpec

SOURCE = "Oracle public price list"
SITE = Site("oci", "COSTCALC_OCI_URL", "https://apexapps.oracle.com")
PATH = "/pls/apex/cetools/api/v1/products/"
GPU_HOUR = "GPU Per Hour"
PREEMPTIBLE_SHARE = Decimal("0.5")
PREEMPTIBLE = ("VM.GPU2.", "VM.GPU3.")  # the GPU shapes with a spot price in SkyPilot's catalogue of 2026
BARE_METAL, VIRTUAL = Billing(1, 3600), Billing(1, 60)  # Oracle's announcement of per-second billing

# docs.oracle.com/en-us/iaas/Content/Compute/References/computeshapes.htm; the packaged machine types hold the older ones
NEWER_SHAPES: Mapping[str, Machine] = {
    "BM.GPU.L40S.4": Machine("L40S", 4, 48, 224, 1024),
    "BM.GPU.H200.8": Machine("H200", 8, 141, 224, 3072),
    "BM.GPU.B200.8": Machine("B200", 8, 180, 256, 4096),
    "BM.GPU.MI300X.8": Machine("MI300X", 8, 192, 224, 2048),
}
FORMS = {"Bare Metal": "BM.", "Virtual Machine": "VM."}  # parts that price one of the two only


@dataclass(frozen=True, slots=True)
class Oci:
    """The source: one call lists everything."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every GPU shape whose part is priced. Raises SourceError."""
        return offers(self.api.get(PATH, currencyCode="USD"), now)


def offers(document: Any, now: datetime) -> Collected:
    """The price list's GPU parts, times the accelerators of each shape."""
    parts = [part for part in listed("oci", document, "items") if part["metricName"] == GPU_HOUR]
    shapes = {**NEWER_SHAPES, **packaged_machines("oci")}
    return read_rows("oci", parts, lambda part: _offers(part, shapes, now))


def _offers(part: Mapping[str, Any], shapes: Mapping[str, Machine], now: datetime) -> Iterator[Offer]:
    name = _accelerator(part)
    form = next((prefix for text, prefix in FORMS.items() if text in part["displayName"]), "")
    holding = {shape: machine for shape, machine in shapes.items() if machine.accelerator == name}
    if name and not holding:
        raise LeftOut("accelerators in no shape known here left out", part["displayName"])
    hourly = _price(part)
    for shape, machine in holding.items():
        if not shape.startswith(form):
            continue
        offer = Offer(
            *("oci", ANY_REGION, shape, filled(machine), PurchaseOption.ON_DEMAND),
            hourly_rate=hourly * machine.accelerators,
            observed_at=now,
            source=f"{SOURCE}: {part['partNumber']}",
        )
        yield from map(_metered, (offer, *_preemptible(offer)))


def _accelerator(part: Mapping[str, Any]) -> str | None:
    """By part number, else by name: new parts come under new numbers."""
    try:
        return accelerator("oci", part["partNumber"])
    except LookupError:
        return accelerator("oci", part["displayName"])


def _price(part: Mapping[str, Any]) -> Decimal:
    """Pay as you go, in US dollars."""
    for prices in part["currencyCodeLocalizations"]:
        if prices["currencyCode"] == "USD":
            found = [price["value"] for price in prices["prices"] if price["model"] == "PAY_AS_YOU_GO"]
            return amount(found[-1])
    raise LeftOut("parts without a price in USD left out", part["displayName"])


def _preemptible(offer: Offer) -> Iterator[Offer]:
    if offer.instance_type.startswith(PREEMPTIBLE):
        half = offer.hourly_rate * PREEMPTIBLE_SHARE
        yield replace(offer, purchase_option=PurchaseOption.SPOT, hourly_rate=half, flags=("derived",))


def _metered(offer: Offer) -> Offer:
    return (VIRTUAL if offer.instance_type.startswith("VM.") else BARE_METAL).of(offer)


def _build(environment: Environment, http: Http) -> Oci:
    return Oci(SITE.open(environment, http))


SPEC = SourceSpec("oci", "Oracle Cloud Infrastructure", _build, SITE.settings, SITE.secrets)
