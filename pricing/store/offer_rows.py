"""Offers and gaps as rows of the store and back: money in billionths, digests that identify an offer and its rate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from costcalc.hardware import Machine
from costcalc.money import from_nanos, to_nanos
from costcalc.offers import Gap, Offer, Payment, PurchaseOption, RatePart
from pricing.offer_flags import CIRCUMSTANCES

RATE_COLUMNS = (
    *("hourly_nanos", "upfront_nanos", "recurring_nanos", "monthly_nanos", "hours_in_month", "currency"),
    *("parts", "billing_increment_seconds", "minimum_seconds", "session_hours", "hours_per_week"),
)
KEY_COLUMNS = (
    *("provider", "region", "instance_type", "purchase_option", "term", "payment", "offering_class"),
    "currency",
)
MACHINE_COLUMNS = ("accelerator", "accelerators", "accelerator_memory_gib", "vcpus", "memory_gib")


class Sighting(NamedTuple):
    """The moment at which an observation was seen again with the same rate; `flags` if they had changed."""

    observation_id: int
    seen_at: datetime
    flags: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """An offer with what identifies it (`offer_digest`) and what would make it a new rate (`rate_digest`)."""

    offer: Offer
    offer_digest: bytes
    rate_digest: bytes

    def row(self) -> dict[str, Any]:
        """Its row in `observations`, without the columns that the store fills."""
        return {**_row(self.offer), "offer_digest": self.offer_digest, "rate_digest": self.rate_digest}


def observation(offer: Offer) -> Observation:
    """The offer with its digests. An unchanged rate with a new publication date is no new rate."""
    row = _row(offer)
    rate = (repr(row[column]) for column in RATE_COLUMNS)
    flags = (flag for flag in offer.flags if flag.partition("=")[0] not in CIRCUMSTANCES)
    return Observation(offer, _digest(*offer.key), _digest(offer.source, *rate, *flags))


def machine_row(offer: Offer) -> dict[str, Any]:
    """The row in `machines` of the machine that this offer rents."""
    facts = {column: getattr(offer.machine, column) for column in MACHINE_COLUMNS}
    return {"provider": offer.provider, "instance_type": offer.instance_type, **facts}


def to_offer(row: Any, machine: Machine, again: Sighting | None = None) -> Offer:
    """The offer of a row of `observations`, with the moment and flags of the sighting `again` if there is one."""
    flags = row.flags if again is None or again.flags is None else again.flags
    return Offer(
        provider=row.provider,
        region=row.region,
        instance_type=row.instance_type,
        machine=machine,
        purchase_option=PurchaseOption(row.purchase_option),
        hourly_rate=from_nanos(row.hourly_nanos),
        observed_at=again.seen_at if again else row.observed_at,
        source=row.source,
        term=row.term,
        payment=Payment(row.payment) if row.payment else None,
        offering_class=row.offering_class,
        upfront=_maybe_amount(row.upfront_nanos),
        recurring_hourly=_maybe_amount(row.recurring_nanos),
        monthly=_maybe_amount(row.monthly_nanos),
        hours_in_month=row.hours_in_month,
        currency=row.currency,
        parts=_parts(row.parts),
        effective_from=row.effective_from,
        flags=tuple(flags.split(";")) if flags else (),
        billing_increment_seconds=row.billing_increment_seconds,
        minimum_seconds=row.minimum_seconds,
        session_hours=row.session_hours,
        hours_per_week=row.hours_per_week,
    )


def key_of(row: Any) -> tuple[str, ...]:
    """The offer key of a row of `observations`, as `Offer.key` gives it, and the currency."""
    return tuple(getattr(row, name) or "" for name in KEY_COLUMNS)


def write_gaps(gaps: tuple[Gap, ...]) -> str:
    """The gaps as the text a snapshot keeps."""
    entries = [(gap.source, gap.reason, gap.since.isoformat() if gap.since else None) for gap in gaps]
    return json.dumps(entries)


def read_gaps(text: str) -> tuple[Gap, ...]:
    """The gaps that `write_gaps` wrote."""
    return tuple(
        Gap(source, reason, datetime.fromisoformat(since) if since else None)
        for source, reason, since in json.loads(text)
    )


def _row(offer: Offer) -> dict[str, Any]:
    return {
        "provider": offer.provider,
        "region": offer.region,
        "instance_type": offer.instance_type,
        "purchase_option": offer.purchase_option.value,
        "term": offer.term,
        "payment": offer.payment.value if offer.payment else None,
        "offering_class": offer.offering_class,
        "hourly_nanos": to_nanos(offer.hourly_rate),
        "upfront_nanos": None if offer.upfront is None else to_nanos(offer.upfront),
        "recurring_nanos": None if offer.recurring_hourly is None else to_nanos(offer.recurring_hourly),
        "monthly_nanos": None if offer.monthly is None else to_nanos(offer.monthly),
        "hours_in_month": offer.hours_in_month,
        "currency": offer.currency,
        "parts": ";".join(f"{part.name}={to_nanos(part.hourly)}" for part in offer.parts),
        "effective_from": offer.effective_from,
        "observed_at": offer.observed_at,
        "source": offer.source,
        "flags": ";".join(offer.flags),
        "billing_increment_seconds": offer.billing_increment_seconds,
        "minimum_seconds": offer.minimum_seconds,
        "session_hours": None if offer.session_hours is None else float(offer.session_hours),
        "hours_per_week": None if offer.hours_per_week is None else float(offer.hours_per_week),
    }


def _digest(*texts: str) -> bytes:
    return blake2b("\x1f".join(texts).encode(), digest_size=16).digest()


def _maybe_amount(nanos: int | None) -> Any:
    return None if nanos is None else from_nanos(nanos)


def _parts(text: str) -> tuple[RatePart, ...]:
    pairs = (part.rpartition("=") for part in text.split(";") if part)
    return tuple(RatePart(name, from_nanos(int(nanos))) for name, _, nanos in pairs)
