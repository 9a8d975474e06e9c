"""What is paid in addition to machines on request: storage of the data set, and egress from the cloud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from costcalc.money import US_DOLLAR, ExchangeRate
from costcalc.query import EstimateQuery
from costcalc.rate_moves import NONE_KNOWN, RateMoves
from costcalc.units import HOURS_PER_MONTH

STORAGE, EGRESS = "storage", "egress"
NAMES = {STORAGE: "data set storage", EGRESS: "data egress"}
UNITS = {STORAGE: "GB-months", EGRESS: "GB"}


class StorageOrEgressRate(Struct, frozen=True):
    """A provider's list rate in US dollars per GB-month of storage, or per GB that leaves, of what is `above` so many GB; `what`
    names this tier."""

    provider: str
    item: str
    above: Decimal
    usd_per_unit: Decimal
    what: str
    source: str
    observed_on: date


class StorageOrEgress(Struct, frozen=True):
    """A line of a bill beside the machines: `quantity` once and `quantity_hourly` for each hour, at a rate in the requested
    currency that no discount lowers."""

    name: str
    unit: str
    rate: Decimal
    quantity: Decimal = Decimal(0)
    quantity_hourly: Decimal = Decimal(0)

    def units(self, hours: Decimal) -> Decimal:
        """The quantity that a run of these hours uses."""
        return self.quantity + self.quantity_hourly * hours if self.quantity_hourly else self.quantity


class StorageAndEgressRates(Struct, frozen=True, eq=False, weakref=True):
    """The list rates of storage and egress by provider and item: the tiers of each, the first one first."""

    known: Mapping[tuple[str, str], Sequence[StorageOrEgressRate]]

    @classmethod
    def of(cls, rates: Iterable[StorageOrEgressRate]) -> StorageAndEgressRates:
        """These rates, in any order."""
        known: dict[tuple[str, str], list[StorageOrEgressRate]] = {}
        for rate in sorted(rates, key=lambda rate: rate.above):
            known.setdefault((rate.provider, rate.item), []).append(rate)
        return cls(known)

    def _tiers(self, provider: str, item: str, amount: Decimal) -> Iterator[tuple[StorageOrEgressRate, Decimal]]:
        """Each tier that an amount reaches, and how much of it lies there."""
        tiers = self.known.get((provider, item), ())
        ends = (*(each.above for each in tiers[1:]), amount)
        for tier, end in zip(tiers, ends, strict=False):
            if amount > tier.above:
                yield tier, min(amount, end) - tier.above

    def storage_and_egress(
        self, query: EstimateQuery, provider: str, exchange: Mapping[str, ExchangeRate]
    ) -> Iterator[StorageOrEgress]:
        """The lines that the question asks for and that have a rate: the user's own, else the provider's."""
        for item, amount, own in requested(query):
            if own is not None:
                yield _line(item, NAMES[item], own, amount)
                continue
            for tier, part in self._tiers(provider, item, amount):
                name = f"{NAMES[item]} above {tier.above:,f} GB" if tier.above else NAMES[item]
                yield _line(item, name, tier.usd_per_unit * exchange[query.currency].per_usd, part)

    def notes(self, query: EstimateQuery, provider: str) -> Iterator[str]:
        """The source of each rate, and which unknown rates are left out."""
        for item, amount, own in requested(query):
            tiers = [tier for tier, _ in self._tiers(provider, item, amount)]
            quantity = f"{NAMES[item].capitalize()} of {amount:f} GB"
            if own is not None:
                yield f"{quantity} at the own rate of {own:f} {query.currency} per {UNITS[item].removesuffix('s')}."
            elif tiers:
                yield f"{quantity} at {'; at '.join(map(_in_words, tiers))}; free allowances not deducted."
            else:
                yield f"{quantity} is left out: no rate of {provider} is known; give one as {item}_rate=."


def _line(item: str, name: str, rate: Decimal, amount: Decimal) -> StorageOrEgress:
    once, hourly = (Decimal(0), amount / HOURS_PER_MONTH) if item == STORAGE else (amount, Decimal(0))
    return StorageOrEgress(name, UNITS[item], rate, once, hourly)


def _in_words(tier: StorageOrEgressRate) -> str:
    unit = UNITS[tier.item].removesuffix("s")
    return f"{tier.usd_per_unit:f} USD per {unit}: {tier.what} ({tier.source}, {tier.observed_on})"


NO_RATES = StorageAndEgressRates({})


class Market(Struct, frozen=True):
    """What prices are converted with and completed by: units of each currency per US dollar, by ISO code, the list rates of
    storage and egress, the providers that are assumed to bill whole hours, as nobody found out, and how far rates move."""

    exchange: Mapping[str, ExchangeRate] = field(default_factory=dict)
    rates: StorageAndEgressRates = NO_RATES
    whole_hours_assumed: frozenset[str] = frozenset()
    moves: RateMoves = NONE_KNOWN

    def __post_init__(self) -> None:
        force_setattr(self, "exchange", {**self.exchange, "USD": US_DOLLAR})

    def storage_and_egress(self, query: EstimateQuery, provider: str) -> tuple[StorageOrEgress, ...]:
        """What this provider charges beside machines, in the requested currency."""
        return tuple(self.rates.storage_and_egress(query, provider, self.exchange))


def requested(query: EstimateQuery) -> Iterator[tuple[str, Decimal, Decimal | None]]:
    """Item, gigabytes and the user's own rate, if any, of the storage and egress requested."""
    if query.storage_gb:
        yield STORAGE, query.storage_gb, query.storage_rate
    if query.egress_gb:
        yield EGRESS, query.egress_gb, query.egress_rate
