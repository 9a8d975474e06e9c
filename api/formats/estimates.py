"""What stands behind estimates, as blocks: sources, bills, assumptions, and prices that are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from api.formats.blocks import Block, Part, Say
from api.formats.words import bought, energy, machine
from costcalc.answers import Estimate, PriceBasis


def rests_on(estimates: Mapping[str, Estimate]) -> Part:
    """Sources, bill and assumptions of each estimate, by what it is called."""
    parts = (
        Part(f"{name}. {machine(each)}, {bought(each)}, {each.recipe}", [Say([*_behind(each)])])
        for name, each in estimates.items()
    )
    return Part("What these figures rest on", [*parts], folded=True)


def _behind(each: Estimate) -> Iterator[str]:
    """The sources of an estimate, its bill and its assumptions, in lines."""
    sources = each.sources
    yield f"speed {each.evidence.throughput.value}: {sources.throughput.source} ({sources.throughput.year})"
    yield f"curve {each.evidence.convergence.value}: {sources.convergence.source}"
    yield f"price of {sources.price.observed_at:%Y-%m-%d}: {sources.price.source}"
    for part in each.components:
        yield f"{_short(part.quantity)} {part.unit} of {part.name} at {_short(part.rate)} = {part.amount:f}"
    if drawn := energy(each):
        yield f"energy: {drawn}"
    yield from (f"- {line}" for line in each.assumptions)


def _short(number: Decimal) -> str:
    """A number without the decimals beyond a millionth."""
    return f"{number if number == round(number, 6) else round(number, 6):f}"


def missing_prices(prices: PriceBasis) -> Iterator[Block]:
    """Which sources gave no new prices, and on demand the reason of each."""
    if prices.gaps:
        names = ", ".join(dict.fromkeys(gap.source for gap in prices.gaps))
        yield Say([f"No new prices from {names}: older ones are used."], small=True)
        yield Part("Why prices are missing", [Say([f"{gap.source}: {gap.reason}" for gap in prices.gaps])], folded=True)
