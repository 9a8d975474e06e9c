"""A whole AWS listing set straight: doubles removed, and what stands above on demand flagged or left out, by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise

from msgspec.structs import replace

from costcalc.offer import Gap, Offer, Payment, PurchaseOption
from pricing.checks import ROUNDING, UPFRONT_FIRST, shortened, terms_in_words
from pricing.sources.common.rows import flag_dear_spot
from pricing.sources.source import Collected

LONG_AGO = datetime.min.replace(tzinfo=UTC)


def publishable(offers: Iterable[Offer]) -> tuple[tuple[Offer, ...], tuple[Gap, ...]]:
    """The offers to publish, and a gap for commitments left out because they cost more than on demand.

    AWS does list such: on-demand rates of P4 and P5 fell in June 2025, reservations' did not. Only a ladder of payments
    that is in order by itself is trimmed; any other is left for the checks to leave out.
    """
    current = newest(offers)
    plain = (each for each in current if each.purchase_option is PurchaseOption.ON_DEMAND)
    on_demand = {_region_and_type(each): each.hourly_rate for each in plain}
    dear = set()
    for ladder in _ladders(current):
        is_in_order = all(first.hourly_rate <= later.hourly_rate + ROUNDING for first, later in pairwise(ladder))
        limit = on_demand.get(_region_and_type(ladder[0]))
        if is_in_order and limit is not None:
            dear |= {id(each) for each in ladder if each.hourly_rate > limit + ROUNDING}
    kept, names = flag_dear_spot(each for each in current if id(each) not in dear), []
    for each in (each for each in current if id(each) in dear):
        names.append(f"{each.instance_type} in {each.region} {terms_in_words(each)}")
    return kept, (Gap("aws", f"left out, dearer than on demand: {shortened(names)}"),) if names else ()


def settled(collected: Collected, unknown: set[str]) -> Collected:
    """The offers to publish, with gaps for those left out and for the `unknown` types, of which nobody says what they hold.

    Nothing follows from the absence of either.
    """
    kept, left_out = publishable(collected.offers)
    dear = {each.key for each in collected.offers} - {each.key for each in kept}
    apart = frozenset(unknown | {instance_type for _, _, instance_type, *_ in dear})
    nameless = f"left out, no table names their accelerators: {', '.join(sorted(unknown))}"
    gaps = (*collected.gaps, *left_out, *((Gap("aws", nameless),) if unknown else ()))
    return replace(collected, offers=kept, gaps=gaps, whole=tuple(scope.without(apart) for scope in collected.whole))


def newest(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Each offer's latest effective rates, each once."""
    rates: dict[tuple[str, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        rates[offer.key].append(offer)
    standing: list[Offer] = []
    for same in rates.values():
        last = max(each.effective_from or LONG_AGO for each in same)
        latest = [each for each in same if (each.effective_from or LONG_AGO) == last]
        standing += {(each.hourly_rate, each.upfront): each for each in latest}.values()
    return tuple(standing)


def _ladders(offers: Iterable[Offer]) -> Iterable[list[Offer]]:
    """Offers that differ in payment only, the earliest payment first."""
    ladders: dict[tuple[str | None, ...], list[Offer]] = defaultdict(list)
    for each in offers:
        if each.payment:
            key = (*_region_and_type(each), each.purchase_option, each.term, each.offering_class)
            ladders[key].append(each)

    def step(offer: Offer) -> int:
        return UPFRONT_FIRST.index(offer.payment or Payment.NO_UPFRONT)

    return [sorted(ladder, key=step) for ladder in ladders.values()]


def _region_and_type(offer: Offer) -> tuple[str, str]:
    return offer.region, offer.instance_type
