"""The packaged, dated prices: offers of providers, machines to buy and free tiers, from the tables shipped with the code."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import blake2b
from importlib.resources.abc import Traversable

from msgspec import Struct

from costcalc.duration.overheads import SPOT_RESTART_HOURS
from costcalc.hardware import Machine
from costcalc.offer import (
    ANY_REGION,
    ENDED,
    STANDS_ALONE,
    SUPERSEDED,
    Offer,
    Payment,
    PurchaseOption,
    RatePart,
    term_hours,
)
from costcalc.units import HOURS_PER_MONTH, HOURS_PER_YEAR
from pricing.packaged.machine_facts import INSTANCE_TYPES, read_machines
from pricing.packaged.networks import CLUSTERS, NETWORKS, read_networks
from pricing.packaged.price_sources import PRICE_SOURCES, Hands, read_hands
from pricing.packaged.providers import PROVIDERS, Billing, find_billing, read_billing
from pricing.packaged.purchases import USD_PER_KWH
from pricing.packaged.tables import Key, Row, Table, amount, choice, day, decimal, machine, optional

OFFERS = Table(
    "offers.csv",
    "provider region instance_type purchase_option term payment offering_class observed_at",
    "hourly_rate upfront recurring_hourly monthly hours_in_month currency parts effective_from source flags",
)
OWNED = Table(
    "owned.csv",
    "machine observed_at",
    "accelerator accelerators accelerator_memory_gib vcpus memory_gib price residual_share lifetime_years power_kw "
    "currency stands_alone source",
)
FREE_TIERS = Table(
    "free_tiers.csv",
    "provider instance_type observed_at",
    "accelerator accelerators accelerator_memory_gib session_hours hours_per_week status source",
)
CHANGES = Table("announced_changes.csv", "provider from_day", "source")
CONCERNED = timedelta(days=180)
"""Before an announced change of a provider's rates, of which the new ones are not known: older rates are too old anyway."""
STATUS_FLAGS = {"offered": (), "ended": (ENDED,)}
NOT_GUARANTEED = "not_guaranteed"
EDITION = (INSTANCE_TYPES, NETWORKS, CLUSTERS, PROVIDERS, PRICE_SOURCES, OFFERS, CHANGES, OWNED, FREE_TIERS)
OWNER = "owned"
PLACES = Decimal("1e-9")
PARTS_TOLERANCE = Decimal("1e-6")  # parts and their sum may each be rounded to billionths


class PackagedPrices(Struct, frozen=True):
    """Every packaged observation, and the digest of the edition that it was read from."""

    offers: tuple[Offer, ...]
    digest: str


class _Facts(Struct, frozen=True):
    machines: Mapping[Key, Machine]
    billing: Mapping[Key, Billing]
    hands: Hands
    changes: Mapping[str, datetime]

    def superseded(self, provider: str, observed_at: datetime) -> tuple[str, ...]:
        """The flag of a rate that its provider announced to change after it was observed."""
        day = self.changes.get(provider)
        return (f"{SUPERSEDED}{day.date()}",) if day and day - CONCERNED <= observed_at < day else ()


def packaged_digest(folder: Traversable | None = None) -> str:
    """A digest of the tables' bytes: equal digests mean equal prices. Raises TableError if one is missing."""
    digest = blake2b(digest_size=16)
    for table in EDITION:
        digest.update(table.content(folder))
    return digest.hexdigest()


def read_packaged(folder: Traversable | None = None) -> PackagedPrices:
    """All packaged prices. Raises TableError, naming file and line, for a table that is damaged."""
    hands, networks = read_hands(folder), read_networks(folder)
    machines = {name: networks.joined(name[0], name[1], machine) for name, machine in read_machines(folder).items()}
    changes = CHANGES.read(lambda row: day(row, "from_day"), folder)
    latest = {provider: moment for (provider, _), moment in sorted(changes.items())}
    facts = _Facts(machines, read_billing(folder), hands, latest)
    others = (*OWNED.read(_owned_offer, folder).values(), *FREE_TIERS.read(_free_offer, folder).values())
    offers = (
        *OFFERS.read(lambda row: _offer(row, facts), folder).values(),
        *(networks.joined_offer(hands.flagged(offer)) for offer in others),
    )
    return PackagedPrices(offers, packaged_digest(folder))


def _offer(row: Row, facts: _Facts) -> Offer:
    name = provider, instance_type = row.text("provider"), row.text("instance_type")
    if name not in facts.machines:
        raise ValueError(f"{' '.join(name)} is not in instance_types.csv")
    flags = tuple(flag for flag in (row.maybe("flags") or "").split(";") if flag)
    source = row.text("source")
    if term := row.maybe("term"):
        term_hours(term)  # raises ValueError for one that cannot be read
    return Offer(
        *(provider, row.text("region"), instance_type, facts.machines[name]),
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
        flags=(*flags, *facts.hands.flags(source), *facts.superseded(provider, day(row, "observed_at"))),
        **find_billing(facts.billing, *name).terms,
    )


def _parts(row: Row) -> tuple[RatePart, ...]:
    """`Cloud TPU v2-8=6.50;host n1-standard-4=0.19` as named parts, which add up to the hourly rate."""
    pairs = (part.rpartition("=") for part in (row.maybe("parts") or "").split(";") if part)
    shares = tuple(RatePart(name, decimal(rate, "parts")) for name, _, rate in pairs)
    if shares and abs(sum(share.hourly for share in shares) - amount(row, "hourly_rate")) > PARTS_TOLERANCE:
        raise ValueError(f"the parts {row.text('parts')} do not add up to the hourly_rate {row.text('hourly_rate')}")
    return shares


def _owned_offer(row: Row) -> Offer:
    """A row of `owned.csv`: what a machine loses in value over its life is paid upfront, its electricity by the hour.

    Cost of an hour = price x (1 - residual share) / (8,760 x years x utilization) + kW x price of a kWh x PUE. A machine at home
    or in an office needs no cooling of its own: PUE 1. One that stands alone has no network to be joined by. Raises ValueError.
    """
    share, years = amount(row, "residual_share"), row.integer("lifetime_years")
    if share >= 1 or years < 1:
        raise ValueError(f"a machine keeps {share} of its price after {years} years: write a share below 1, and years")
    loss = amount(row, "price") * (1 - share)
    per_kwh = USD_PER_KWH["household"]
    running = amount(row, "power_kw") * per_kwh
    return Offer(
        *(OWNER, ANY_REGION, row.text("machine"), machine(row), PurchaseOption.OWNED),
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


def _free_offer(row: Row) -> Offer:
    """A row of `free_tiers.csv`: sessions end, weekly quotas run out, and nobody guarantees a machine. An empty `hours_per_week`
    means that no quota is published. Raises ValueError.

    From the day of a row with the status `ended` on, nobody can have the machine any more.
    """
    status = row.text("status")
    if status not in STATUS_FLAGS:
        raise ValueError(f"status {status!r} is neither offered nor ended")
    memory_gib = row.maybe_number("accelerator_memory_gib")
    machine = Machine(row.text("accelerator"), row.integer("accelerators"), memory_gib)
    return Offer(
        *(row.text("provider"), ANY_REGION, row.text("instance_type"), machine, PurchaseOption.FREE),
        hourly_rate=Decimal(0),
        observed_at=day(row, "observed_at"),
        source=row.text("source"),
        flags=(NOT_GUARANTEED, *STATUS_FLAGS[status]),
        session_hours=_hours(row, "session_hours", SPOT_RESTART_HOURS),
        hours_per_week=_hours(row, "hours_per_week"),
    )


def _hours(row: Row, column: str, restart: float = 0.0) -> float | None:
    """Hours of a week, more than it takes to `restart`."""
    hours = row.maybe_number(column)
    if hours is not None and not 0 < hours <= 168:
        raise ValueError(f"{column} {hours:g} is no number of hours in a week")
    if hours is not None and hours <= restart:
        minutes = f"{restart * 60:.0f} min"
        raise ValueError(f"{column} {hours:g}: write more than the {minutes} that each session takes to restart")
    return hours
