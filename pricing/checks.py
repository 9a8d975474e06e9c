"""Rules that a source's offers must meet before publication; offers that break one are left out and named.

Where two offers don't fit each other, both are left out: nobody can tell which of them is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from costcalc.offer import ENDED, LARGEST_AMOUNT, LARGEST_COUNT, Offer, Payment, PurchaseOption
from costcalc.text import is_line
from pricing.offer_flags import MARKETPLACE, PRICE_JUMP, SPOT_ABOVE_ON_DEMAND
from pricing.scope import Key

LARGEST_JUMP = 5
LARGEST_ODD_SHARE = Decimal("0.2")
"""Of a listing: where more than one fault leaves out more than this, a unit or a column has changed, so that the rest is wrong
too."""
NAMED = 3  # violations that a message names; it counts the rest
LONGEST_NAME = 300
MOST_KINDS = 30
CLOCK_TOLERANCE = timedelta(minutes=5)
ROUNDING = Decimal("0.0005")
"""In an hourly rate: providers round upfront payments to whole dollars, some more than once."""
UPFRONT_FIRST = (Payment.ALL_UPFRONT, Payment.PARTIAL_UPFRONT, Payment.NO_UPFRONT)


class SourceListing(Struct, frozen=True):
    """A source's offers, and what they are compared to: known accelerators, the last rates that anybody stated, the moment.

    `accepts` says which offers may look odd. `standing` are the offers that have not ended.
    """

    offers: Sequence[Offer]
    accelerators: frozenset[str]
    last_rates: Mapping[Key, Decimal]
    now: datetime
    accepts: Callable[[Offer], bool] = lambda _: False

    @property
    def standing(self) -> list[Offer]:
        return [offer for offer in self.offers if ENDED not in offer.flags]


class Violation(Struct, frozen=True):
    """A rule that is broken, in a sentence, and the offers that break it. What is only odd can be accepted."""

    sentence: str
    offers: tuple[Offer, ...]
    is_only_odd: bool = True


class ListingRefused(ValueError):
    """So many offers break rules that the rest cannot be trusted; the message names the first."""

    def __init__(self, broken: Sequence[Violation]) -> None:
        super().__init__(f"its prices were not taken over: {in_words(broken)}")
        self.broken = broken


def sound(listing: SourceListing) -> tuple[tuple[Offer, ...], Sequence[Violation]]:
    """The offers that keep every rule, and the violations by the others. Raises ListingRefused."""
    broken = violations(listing)
    odd = {id(offer) for violation in broken for offer in violation.offers}
    kept = tuple(offer for offer in listing.offers if id(offer) not in odd)
    if odd and (not kept or (len(broken) > 1 and len(odd) > LARGEST_ODD_SHARE * len(listing.offers))):
        raise ListingRefused(broken)
    return kept, broken


def violations(listing: SourceListing) -> list[Violation]:
    """What breaks the rules, unless every odd offer is accepted; empty if the listing may be published as it is. What can be no
    rate at all is compared to nothing."""
    broken = [violation for rule in OF_EACH for violation in rule(listing)]
    wrong = {id(offer) for violation in broken for offer in violation.offers}
    rest = replace(listing, offers=[offer for offer in listing.offers if id(offer) not in wrong])
    odd = (violation for rule in OF_SEVERAL for violation in rule(rest))
    return broken + [each for each in odd if not all(map(listing.accepts, each.offers))]


def in_words(broken: Sequence[Violation]) -> str:
    """The first few sentences about broken rules."""
    return shortened([violation.sentence for violation in broken])


def shortened(sentences: Sequence[str]) -> str:
    """The first few sentences, and how many more there are."""
    rest = len(sentences) - NAMED
    return "; ".join(sentences[:NAMED]) + (f"; and {rest} more" if rest > 0 else "")


def ended_names(ended: Iterable[tuple[str, Offer]]) -> dict[str, list[str]]:
    """By source, its offers by name, one text for each machine and terms, with its regions."""
    regions: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for source, offer in ended:
        regions[source][f"{offer.instance_type}, {terms_in_words(offer)},"].append(offer.region)
    return {
        source: [f"{name} in {', '.join(sorted(where))}" for name, where in sorted(named.items())]
        for source, named in regions.items()
    }


def _readable(listing: SourceListing) -> Iterator[Violation]:
    """Names that show as they are written: lines of bounded length that JSON can hold."""
    for offer in listing.offers:
        parts = (part.name for part in offer.parts)
        names = (*offer.key, *offer.flags, *parts, offer.currency, offer.machine.accelerator)
        if not is_line(offer.source) or not all(len(name) <= LONGEST_NAME and is_line(name) for name in names):
            fault = "has control characters, half a character, or no end"
            yield Violation(f"a name in {ascii(offer.instance_type)[:60]} {fault}", (offer,), is_only_odd=False)


def _plausible(listing: SourceListing) -> Iterator[Violation]:
    """Whatever other offers say: rates above 0, observed in the past, on known accelerators."""
    for offer in listing.offers:
        faults = []
        if offer.hourly_rate <= 0 and offer.purchase_option is not PurchaseOption.FREE:
            faults.append(f"costs {offer.hourly_rate}")
        if any(amount and amount > LARGEST_AMOUNT for amount in offer.amounts):
            faults.append(f"costs more than {LARGEST_AMOUNT:,}")
        counts = (
            offer.machine.accelerators,
            offer.machine.vcpus or 0,
            offer.minimum_seconds,
            offer.billing_increment_seconds,
        )
        if max(counts) > LARGEST_COUNT:
            faults.append(f"counts more than {LARGEST_COUNT:,} of something")
        if offer.observed_at > listing.now + CLOCK_TOLERANCE:
            faults.append(f"was observed in the future, at {offer.observed_at:%Y-%m-%d %H:%M} UTC")
        if offer.machine.accelerators and offer.machine.accelerator not in listing.accelerators:
            faults.append(f"has the unknown accelerator {offer.machine.accelerator!r}")
        yield from (Violation(f"{_name(offer)} {fault}", (offer,), is_only_odd=False) for fault in faults)


def _of_few_kinds(listing: SourceListing) -> Iterator[Violation]:
    """Of currencies and of offering classes no provider has many; the prices of all sources have room for 128."""
    for kind in ("currency", "offering_class"):
        several = [*dict.fromkeys(getattr(offer, kind) for offer in listing.offers)]
        too_many = {*several[MOST_KINDS:]}
        for offer in listing.offers if too_many else ():
            if getattr(offer, kind) in too_many:
                yield Violation(f"{_name(offer)} has one {kind} of {len(several)}", (offer,), is_only_odd=False)


def _spot_at_most_on_demand(listing: SourceListing) -> Iterator[Violation]:
    on_demand = _on_demand(listing.standing)
    for offer in listing.standing:
        limit = on_demand.get(offer.key[:3])
        if offer.purchase_option is not PurchaseOption.SPOT or limit is None or SPOT_ABOVE_ON_DEMAND in offer.flags:
            continue
        if offer.currency == limit.currency and offer.hourly_rate > limit.hourly_rate:
            sentence = f"{_name(offer)} at {offer.hourly_rate} is above on demand at {limit.hourly_rate}"
            yield Violation(sentence, (offer, limit))


def _more_upfront_costs_less(listing: SourceListing) -> Iterator[Violation]:
    """Of offers that differ only in payment, more upfront costs no more than less, and none more than on demand."""
    on_demand = _on_demand(listing.standing)
    ladders: dict[tuple[Key, Key], dict[Payment, Offer]] = defaultdict(dict)
    for offer in listing.standing:
        if offer.payment is not None:
            rest = (offer.purchase_option.value, offer.term or "", offer.offering_class or "")
            ladders[offer.key[:3], rest][offer.payment] = offer
    for (rented, _), ladder in ladders.items():
        steps = [ladder[payment] for payment in UPFRONT_FIRST if payment in ladder]
        steps += [on_demand[rented]] if rented in on_demand else []
        for cheaper, dearer in pairwise(steps):
            if cheaper.currency == dearer.currency and cheaper.hourly_rate > dearer.hourly_rate + ROUNDING:
                above = f"{_name(cheaper)} at {cheaper.hourly_rate} is above"
                yield Violation(f"{above} {terms_in_words(dearer)} at {dearer.hourly_rate}", (cheaper, dearer))


def _eight_not_cheaper_than_four(listing: SourceListing) -> Iterator[Violation]:
    cheapest: dict[tuple[str, ...], dict[int, Offer]] = defaultdict(dict)
    for offer in _on_demand(offer for offer in listing.standing if MARKETPLACE not in offer.flags).values():
        machine = offer.machine
        by_count = cheapest[offer.provider, offer.region, machine.accelerator, offer.currency]
        best = by_count.setdefault(machine.accelerators, offer)
        by_count[machine.accelerators] = min(best, offer, key=lambda each: each.hourly_rate)
    for by_count in cheapest.values():
        four, eight = by_count.get(4), by_count.get(8)
        if four and eight and eight.hourly_rate < four.hourly_rate:
            sentence = f"{_name(eight)} at {eight.hourly_rate} is below half as many at {four.hourly_rate}"
            yield Violation(sentence, (eight, four))


def _no_jump(listing: SourceListing) -> Iterator[Violation]:
    """No rate jumps. Spot may move freely below on demand, and on a marketplace the cheapest host comes and goes: neither is
    checked."""
    on_demand = _on_demand(listing.standing)
    for offer in listing.standing:
        before = listing.last_rates.get((*offer.key, offer.currency))
        bounded = offer.purchase_option is PurchaseOption.SPOT and offer.key[:3] in on_demand
        if not before or bounded or {PRICE_JUMP, MARKETPLACE} & set(offer.flags):
            continue
        if not before / LARGEST_JUMP <= offer.hourly_rate <= before * LARGEST_JUMP:
            yield Violation(f"{_name(offer)} jumps from {before} to {offer.hourly_rate}", (offer,))


Rule = Callable[[SourceListing], Iterator[Violation]]
OF_EACH: tuple[Rule, ...] = (_readable, _plausible, _of_few_kinds)
OF_SEVERAL: tuple[Rule, ...] = (
    _spot_at_most_on_demand,
    _more_upfront_costs_less,
    _eight_not_cheaper_than_four,
    _no_jump,
)


def _on_demand(offers: Iterable[Offer]) -> dict[Key, Offer]:
    return {offer.key[:3]: offer for offer in offers if offer.purchase_option is PurchaseOption.ON_DEMAND}


def terms_in_words(offer: Offer) -> str:
    """How an offer is bought: `reserved 1y no upfront`."""
    words = (offer.purchase_option.value, offer.term, offer.payment, offer.offering_class)
    return " ".join(word.replace("_", " ") for word in words if word)


def _name(offer: Offer) -> str:
    named = f"{offer.instance_type[:LONGEST_NAME]} in {offer.region[:LONGEST_NAME]}, {terms_in_words(offer)},"
    return named.encode("utf-8", "backslashreplace").decode()
