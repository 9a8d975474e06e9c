"""The packaged, dated prices: offers of providers, owned machines and free tiers, from the tables shipped with the code."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from hashlib import blake2b
from importlib.resources.abc import Traversable

from msgspec import Struct

from costcalc.hardware import Machine
from costcalc.offers import Offer, Payment, PurchaseOption, RatePart, term_hours
from costcalc.units import HOURS_PER_MONTH
from pricing.packaged.free_tiers import FREE_TIERS, free_offer
from pricing.packaged.machine_facts import INSTANCE_TYPES, read_machines
from pricing.packaged.networks import CLUSTERS, NETWORKS, read_networks
from pricing.packaged.owned import OWNED, owned_offer
from pricing.packaged.price_sources import PRICE_SOURCES, Hands, read_hands
from pricing.packaged.providers import PROVIDERS, Billing, find_billing, read_billing
from pricing.packaged.tables import Key, Row, Table, amount, choice, day, decimal, optional

OFFERS = Table(
    "offers.csv",
    "provider region instance_type purchase_option term payment offering_class observed_at",
    "hourly_rate upfront recurring_hourly monthly hours_in_month currency parts effective_from source flags",
)
EDITION = (INSTANCE_TYPES, NETWORKS, CLUSTERS, PROVIDERS, PRICE_SOURCES, OFFERS, OWNED, FREE_TIERS)
PARTS_TOLERANCE = Decimal("1e-6")  # parts and their sum may each be rounded to billionths


class PackagedPrices(Struct, frozen=True):
    """Every packaged observation, and the digest of the edition that it was read from."""

    offers: tuple[Offer, ...]
    digest: str


class _Facts(Struct, frozen=True):
    machines: Mapping[Key, Machine]
    billing: Mapping[Key, Billing]
    hands: Hands


def packaged_digest(folder: Traversable | None = None) -> str:
    """A digest of the tables' bytes: equal digests mean equal prices. Raises PackagedTableError if one is missing."""
    digest = blake2b(digest_size=16)
    for table in EDITION:
        digest.update(table.content(folder))
    return digest.hexdigest()


def read_packaged(folder: Traversable | None = None) -> PackagedPrices:
    """All packaged prices. Raises PackagedTableError, naming file and line, for a table that is damaged."""
    hands, networks = read_hands(folder), read_networks(folder)
    machines = {name: networks.joined(name[0], name[1], machine) for name, machine in read_machines(folder).items()}
    facts = _Facts(machines, read_billing(folder), hands)
    others = (*OWNED.read(owned_offer, folder).values(), *FREE_TIERS.read(free_offer, folder).values())
    offers = (
        *OFFERS.read(lambda row: _offer(row, facts), folder).values(),
        *(networks.known_of(hands.flagged(offer)) for offer in others),
    )
    return PackagedPrices(offers, packaged_digest(folder))


def _offer(row: Row, facts: _Facts) -> Offer:
    name = (row.text("provider"), row.text("instance_type"))
    if name not in facts.machines:
        raise ValueError(f"{' '.join(name)} is not in instance_types.csv")
    billing = find_billing(facts.billing, *name)
    flags = tuple(flag for flag in (row.maybe("flags") or "").split(";") if flag)
    source = row.text("source")
    if term := row.maybe("term"):
        term_hours(term)  # raises ValueError for one that cannot be read
    return Offer(
        provider=name[0],
        region=row.text("region"),
        instance_type=name[1],
        machine=facts.machines[name],
        purchase_option=choice(PurchaseOption, row, "purchase_option"),
        hourly_rate=amount(row, "hourly_rate"),
        observed_at=day(row, "observed_at"),
        source=source,
        term=term,
        payment=optional(row, "payment", lambda cells, column: choice(Payment, cells, column)),
        offering_class=row.maybe("offering_class"),
        upfront=optional(row, "upfront", amount),
        recurring_hourly=optional(row, "recurring_hourly", amount),
        monthly=optional(row, "monthly", amount),
        hours_in_month=row.maybe_integer("hours_in_month") or HOURS_PER_MONTH,
        currency=row.text("currency"),
        parts=_parts(row),
        effective_from=optional(row, "effective_from", day),
        flags=(*flags, *facts.hands.flags(source)),
        billing_increment_seconds=billing.increment_seconds,
        minimum_seconds=billing.minimum_seconds,
    )


def _parts(row: Row) -> tuple[RatePart, ...]:
    """`Cloud TPU v2-8=6.50;host n1-standard-4=0.19` as named parts, which add up to the hourly rate."""
    pairs = (part.rpartition("=") for part in (row.maybe("parts") or "").split(";") if part)
    shares = tuple(RatePart(name, decimal(rate, "parts")) for name, _, rate in pairs)
    if shares and abs(sum(share.hourly for share in shares) - amount(row, "hourly_rate")) > PARTS_TOLERANCE:
        raise ValueError(f"the parts {row.text('parts')} do not add up to the hourly_rate {row.text('hourly_rate')}")
    return shares
