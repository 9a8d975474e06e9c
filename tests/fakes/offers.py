"""Offers made up for tests: one with sensible defaults, and strategies for all kinds of them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.money import from_nanos
from costcalc.offer import Offer, Payment, PurchaseOption, RatePart, term_hours

DAY = datetime(2024, 1, 1, tzinfo=UTC)
V100 = Machine("V100", 1, 16.0, 8, 61.0)
MACHINES = {"one": V100, "eight": Machine("V100", 8, 16.0), "plain": Machine("Xeon", 0, None, 64, 256.0)}
METERED = (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)
COMMITTED = (PurchaseOption.RESERVED, PurchaseOption.SAVINGS_PLAN, PurchaseOption.COMMITTED_USE)

UNMETERED = {"billing_increment_seconds": 1, "minimum_seconds": 0}  # all that a catalogue keeps of them without a meter


def offer(**changes: Any) -> Offer:
    """An hour of one V100 on demand at 3 dollars, billed by the second, but for what is changed."""
    usual = {
        "provider": "acme",
        "region": "here",
        "instance_type": "one",
        "machine": V100,
        "purchase_option": PurchaseOption.ON_DEMAND,
        "hourly_rate": Decimal(3),
        "observed_at": DAY,
        "source": "a price list",
        "billing_increment_seconds": 1,
        "minimum_seconds": 60,
    }
    return Offer(**{**usual, **changes})


def reserved(**changes: Any) -> Offer:
    """A year of one V100 for 1,752 dollars at once and 1 dollar an hour: 1.20 an hour."""
    usual = {
        **UNMETERED,
        "purchase_option": PurchaseOption.RESERVED,
        "term": "1y",
        "payment": Payment.PARTIAL_UPFRONT,
        "upfront": Decimal(1752),
        "recurring_hourly": Decimal(1),
        "hourly_rate": Decimal("1.2"),
    }
    return offer(**{**usual, **changes})


def monthly(**changes: Any) -> Offer:
    """A month of one V100 for 730 dollars."""
    usual = {
        **UNMETERED,
        "purchase_option": PurchaseOption.MONTHLY,
        "term": "1mo",
        "hourly_rate": Decimal(1),
        "monthly": Decimal(730),
    }
    return offer(**{**usual, **changes})


def owned(**changes: Any) -> Offer:
    """A machine of 26,280 dollars that lives three years and draws 10 cents an hour."""
    usual = {
        **UNMETERED,
        "provider": "owned",
        "purchase_option": PurchaseOption.OWNED,
        "term": "3y",
        "upfront": Decimal(26280),
        "recurring_hourly": Decimal("0.1"),
        "hourly_rate": Decimal("1.1"),
    }
    return offer(**{**usual, **changes})


amounts = st.integers(1, 10**12).map(from_nanos)
moments = st.integers(0, 2000).map(lambda days: DAY + timedelta(days=days))
names = st.fixed_dictionaries(
    {
        "provider": st.sampled_from(["acme", "bolt"]),
        "region": st.sampled_from(["here", "there", "far"]),
        "instance_type": st.sampled_from(sorted(MACHINES)),
        "observed_at": moments,
        "source": st.sampled_from(["a price list", "an API"]),
        "flags": st.sampled_from([(), ("rounded",), ("rounded", "promotion")]),
        "effective_from": st.none() | moments,
        "currency": st.sampled_from(["USD", "EUR"]),
    }
)
meters = st.fixed_dictionaries(
    {
        "billing_increment_seconds": st.sampled_from([1, 60, 3600]),
        "minimum_seconds": st.sampled_from([0, 60, 3600]),
    }
)


@st.composite
def metered_offers(draw: st.DrawFn) -> Offer:
    parts = draw(st.just([]) | st.lists(amounts, min_size=2, max_size=3))
    rates = tuple(RatePart(f"part {number}", rate) for number, rate in enumerate(parts))
    rate = sum(parts, Decimal(0)) or draw(amounts)
    return _named(draw, purchase_option=draw(st.sampled_from(METERED)), hourly_rate=rate, parts=rates, **draw(meters))


@st.composite
def committed_offers(draw: st.DrawFn) -> Offer:
    term = draw(st.sampled_from(["1mo", "6mo", "1y", "3y", "14d"]))
    known = {"upfront": draw(amounts | st.just(Decimal(0))), "recurring_hourly": draw(amounts)}
    rate = known["upfront"] / term_hours(term) + known["recurring_hourly"]
    if draw(st.booleans()):
        known, rate = {}, draw(amounts)
    option, payment = draw(st.sampled_from(COMMITTED)), draw(st.none() | st.sampled_from(Payment))
    kind = draw(st.sampled_from([None, "standard", "convertible"]))
    return _named(
        draw, purchase_option=option, hourly_rate=rate, term=term, payment=payment, offering_class=kind, **known
    )


@st.composite
def rented_offers(draw: st.DrawFn) -> Offer:
    month, amount = draw(st.sampled_from([720, 730])), draw(amounts)
    return _named(
        draw,
        purchase_option=PurchaseOption.MONTHLY,
        hourly_rate=amount / month,
        monthly=amount,
        hours_in_month=month,
        term=draw(st.sampled_from([None, "1mo", "3mo", "1y", "14d"])),
    )


@st.composite
def block_offers(draw: st.DrawFn) -> Offer:
    term = draw(st.sampled_from([None, "1d", "14d"]))
    seller = draw(st.sampled_from(["acme", "aws"]))
    block = _named(draw, purchase_option=PurchaseOption.CAPACITY_BLOCK, hourly_rate=draw(amounts), term=term)
    return replace(block, provider=seller)


@st.composite
def owned_offers(draw: st.DrawFn) -> Offer:
    price, running = draw(amounts), draw(amounts)
    rate = from_nanos(int(price / 26280 * 10**9) + 1) + running
    known = {"upfront": price, "recurring_hourly": running, "term": "3y"}
    return _named(draw, purchase_option=PurchaseOption.OWNED, hourly_rate=rate, **known)


@st.composite
def free_offers(draw: st.DrawFn) -> Offer:
    quota = draw(meters) | {
        "session_hours": draw(st.none() | st.just(12.0)),
        "hours_per_week": draw(st.none() | st.just(30.0)),
    }
    return _named(draw, purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0), **quota)


def _named(draw: st.DrawFn, **facts: Any) -> Offer:
    named = draw(names)
    return offer(**{**UNMETERED, **named, "machine": MACHINES[named["instance_type"]], **facts})


all_offers = st.one_of(
    metered_offers(), committed_offers(), rented_offers(), block_offers(), owned_offers(), free_offers()
)
