"""Offers as new rows of the book, with digests of an offer and its rate; machines and gaps as rows of the store."""

from __future__ import annotations

import json
from datetime import datetime
from hashlib import blake2b

from costcalc.money import to_nanos
from costcalc.offer import Gap, Offer
from pricing.offer_flags import CIRCUMSTANCES
from pricing.store.book import DIGEST_BYTES, Entry

_OFFER_KEY = ("provider", "region", "instance_type", "purchase_option", "term", "payment", "offering_class")
KEY_COLUMNS = (*_OFFER_KEY, "currency")
MACHINE_COLUMNS = ("accelerator", "accelerators", "accelerator_memory_gib", "vcpus", "memory_gib")


def entry(origin: str, offer: Offer) -> Entry:
    """The offer as a new row. An unchanged rate with a new publication date is no new rate; one that is announced for a day that
    lies ahead stands beside the present one."""
    ahead = offer.announced_for
    key = (*offer.key, ahead.isoformat()) if ahead else offer.key
    return Entry(origin, offer, _digest(*key), _digest(*_rate(offer)))


def machine_row(offer: Offer) -> dict[str, object]:
    """The row in `machines` of the machine that this offer rents."""
    facts = {column: getattr(offer.machine, column) for column in MACHINE_COLUMNS}
    return {"provider": offer.provider, "instance_type": offer.instance_type, **facts}


def write_gaps(gaps: tuple[Gap, ...]) -> str:
    """The gaps as the text a snapshot keeps."""
    return json.dumps([(gap.source, gap.reason, gap.since.isoformat() if gap.since else None) for gap in gaps])


def read_gaps(text: str) -> tuple[Gap, ...]:
    """The gaps that `write_gaps` wrote."""
    gaps = json.loads(text)
    return tuple(Gap(source, reason, since and datetime.fromisoformat(since)) for source, reason, since in gaps)


def _rate(offer: Offer) -> tuple[str, ...]:
    """All that would make the offer a new rate if it changed."""
    amounts = ["" if amount is None else str(to_nanos(amount)) for amount in offer.amounts]
    flags = [flag for flag in offer.flags if flag.partition("=")[0] not in CIRCUMSTANCES]
    terms = f"{offer.hours_in_month} {offer.billing_increment_seconds} {offer.minimum_seconds}"
    quota = f"{offer.session_hours} {offer.hours_per_week}"
    parts = [f"{part.name}={to_nanos(part.hourly)}" for part in offer.parts]
    return (offer.source, offer.currency, *amounts, terms, quota, ";".join(parts), *flags)


def _digest(*texts: str) -> bytes:
    return blake2b("\x1f".join(texts).encode(), digest_size=DIGEST_BYTES).digest()
