"""Vast.ai: a marketplace of hosts, on demand and interruptible.

Needs no permission: the search answers anybody, with some 64 rows a query; COSTCALC_VAST_API_KEY lifts that. Asked are
verified hosts with 1, 2, 4 and 8 accelerators that can be rented now.
Cannot see: traffic, which each host prices, and how long a host stays. A machine here is a number of accelerators in a
country, at its cheapest host: `dph_total`, the machine with the default disk. Interruptible is the lowest bid that runs now,
plus that disk; it ends when somebody bids more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Gap, Offer, PurchaseOption, RatePart
from pricing.offer_flags import MARKETPLACE
from pricing.packaged.billing import billing
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, spot
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Collected, Environment, SchemaChanged, SourceError, SourceSpec

SOURCE = "Vast.ai API bundles: cheapest verified host"
SITE = Site("vast", "COSTCALC_VAST_URL", "https://console.vast.ai", "COSTCALC_VAST_API_KEY", key_is_optional=True)
PATH = "/api/v0/bundles/"
SPELLINGS = "vast-ai"  # the scheme of its names in accelerator_names.csv
COUNTS = (1, 2, 4, 8)
LIMIT = 3000
ANONYMOUS_ROWS = 64  # the most that a caller without a key was given, 2026
MIB_IN_GIB = 1024
COUNTRY = re.compile(r"(?:^|,)\s*([A-Z]{2})\b")  # "Texas, US", "Sweden, SE, EU"


@dataclass(frozen=True, slots=True)
class Vast:
    """The source: one search for each number of accelerators."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """The cheapest host for each machine and country. Raises SourceError."""
        found: dict[Any, Any] = {}
        gaps = []
        for count in COUNTS:
            rows = self._search(count)
            found |= {row.get("id"): row for row in rows if isinstance(row, dict)}
            if len(rows) == ANONYMOUS_ROWS and not self.api.headers:
                capped = (
                    f"only {ANONYMOUS_ROWS} machines of {count} accelerators were listed: set COSTCALC_VAST_API_KEY"
                )
                gaps.append(Gap("vast", capped))
        if not found:
            raise SourceError("vast: the list of offers is empty")
        collected = offers(list(found.values()), now)
        return Collected(collected.offers, (*collected.gaps, *gaps))

    def _search(self, count: int) -> list[Any]:
        is_true = {"eq": True}
        wanted = {"verified": is_true, "rentable": is_true, "rented": {"eq": False}, "num_gpus": {"eq": count}}
        document = self.api.post(PATH, {**wanted, "type": "on-demand", "order": [["score", "desc"]], "limit": LIMIT})
        if isinstance(document, dict) and document.get("offers") == []:
            return []
        return listed("vast", document, "offers")


def offers(rows: list[Any], now: datetime) -> Collected:
    """The cheapest of the hosts that offer the same machine in the same country."""
    if not all(isinstance(row, dict) for row in rows):
        raise SchemaChanged("vast: offers are no objects any more")
    return read_rows("vast", rows, lambda row: _offers(row, now))


def _offers(row: Mapping[str, Any], now: datetime) -> Iterator[Offer]:
    count = int(row["num_gpus"])
    memory_gib = float(row["gpu_ram"]) / MIB_IN_GIB
    name = accelerator(SPELLINGS, row["gpu_name"], memory_gib) if count else None
    if name is None:
        return
    total = amount(row["dph_total"])
    base = maybe_amount(row.get("dph_base"))
    offer = Offer(
        *("vast", _region(row.get("geolocation")), f"{count}x {name}", filled(Machine(name, count))),
        purchase_option=PurchaseOption.ON_DEMAND,
        hourly_rate=total,
        observed_at=now,
        source=SOURCE,
        parts=_parts(total, base),
        flags=(MARKETPLACE,),
    )
    yield billing("vast").of(offer)
    if bid := maybe_amount(row.get("min_bid")):
        yield billing("vast").of(spot(offer, bid + (total - base if base else 0)))


def _parts(total: Decimal, base: Decimal | None) -> tuple[RatePart, ...]:
    return (RatePart("machine", base), RatePart("disk", total - base)) if base and base < total else ()


def _region(place: str | None) -> str:
    """The country's code, lower case."""
    found = COUNTRY.search(place or "")
    return found[1].lower() if found else UNSPECIFIED


def _build(environment: Environment, http: Http) -> Vast:
    return Vast(SITE.open(environment, http))


SPEC = SourceSpec("vast", "Vast.ai", _build, SITE.settings, SITE.secrets)
