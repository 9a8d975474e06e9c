"""Offers for tests: one machine, whatever else a test cares about."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Offer, PurchaseOption
from pricing.packaged.networks import packaged_networks
from pricing.store.publish import SourceResult

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
V100 = packaged_networks().joined("aws", "p3.2xlarge", Machine("V100", 1, 16.0, 8, 61.0))
P3 = Offer("aws", "us-east-1", "p3.2xlarge", V100, PurchaseOption.ON_DEMAND, Decimal("3.06"), NOW, "AWS price list")


def offer(rate: str = "3.06", observed_at: datetime = NOW, **changes: Any) -> Offer:
    """A p3.2xlarge at this rate."""
    return replace(P3, hourly_rate=Decimal(rate), observed_at=observed_at, **changes)


def listed(origin: str, *offers: Offer) -> tuple[SourceResult]:
    """What a refresh of one source brings."""
    return (SourceResult(origin, 0.1, offers),)


def many(count: int, rate: str, observed_at: datetime = NOW) -> list[Offer]:
    """That many offers in as many regions."""
    return [offer(rate, observed_at, region=f"region-{number}") for number in range(count)]
