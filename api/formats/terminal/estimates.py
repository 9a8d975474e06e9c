"""Estimates in a terminal: their table with its legend, and all that stands behind each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from api.formats.column import Column
from api.formats.estimates import rests_on
from api.formats.terminal.blocks import printed
from api.formats.terminal.grid import View, paragraph, table
from api.formats.words import bought, hours, in_region, machine, marks_explained, seen
from costcalc.answers import Estimate, PriceBasis
from costcalc.hardware import counted
from costcalc.query import Basis
from costcalc.units import in_words


def _ranked(each: Estimate) -> str:
    """Its place, with a star on the frontier."""
    return f"{each.rank}{'*' if each.frontier else ''}"


def estimate_lines(
    estimates: Sequence[Estimate],
    basis: Basis,
    view: View,
) -> Iterator[str]:
    """The table of the estimates, its legend, and what stands behind each of them where that is asked for.

    The cost that the question goes by, `billed` or `effective`, has its range and stays on a narrow terminal.
    """
    yield from table((Column("#", _ranked, is_number=True), *columns(basis)), estimates, view.width)
    yield from paragraph(" ".join(_legend(estimates)), view.width)
    yield from explained(estimates, view)


def _legend(estimates: Sequence[Estimate]) -> Iterator[str]:
    """What the signs of these estimates mean, those that occur."""
    if any(each.frontier for each in estimates):
        yield "*: no other estimate is both faster and cheaper."
    yield from marks_explained(estimates)
    if any(map(_waits, estimates)):
        yield "In brackets: time on the calendar, with the waiting between sessions."


def explained(estimates: Iterable[Estimate], view: View) -> Iterator[str]:
    """What stands behind each estimate, for those who ask."""
    if view.explain:
        yield from printed(rests_on({str(each.rank): each for each in estimates}).blocks, view)


def _waits(each: Estimate) -> bool:
    return each.calendar_hours > each.hours


def _hours(each: Estimate) -> str:
    waiting = f"\n({in_words(each.calendar_hours)})" if _waits(each) else ""
    return f"{hours(each.hours)}\n{hours(each.hours_low)}-{hours(each.hours_high)}{waiting}"


def columns(basis: Basis) -> tuple[Column, ...]:
    """The columns of estimates by a cost of this basis."""
    paid, share = _cost_column("to pay", "billed", PAID, basis), _cost_column("share", "effective", SHARE, basis)
    costs = (share, paid) if basis == "effective" else (paid, share)
    return (*WHAT, *costs, *HOW_SURE)


def _cost_column(heading: str, kind: Basis, meaning: str, basis: Basis) -> Column:
    amount = Column(heading, lambda each: f"{each.cost(kind).cost:,.2f}", is_number=True, leave=2, meaning=meaning)
    if kind != basis:
        return amount
    return replace(amount, heading=f"{heading}\nrange", small=lambda each: cost_range(each, kind), leave=0)


def cost_range(each: Estimate, basis: Basis) -> str:
    """The 80 % range of its cost; nothing where the cost cannot move."""
    _, low, high = each.cost(basis)
    return f"{low:,.2f}-{high:,.2f}" if low != high else ""


PAID = "To pay: the bill for this run alone, minimum terms included."
SHARE = "Share: the part of the bill that the run's hours use."
WHAT = (
    Column(
        "machine\nand region",
        machine,
        lambda each: in_region(counted(each.accelerators, each.accelerator), each.region),
    ),
    Column("bought\nprice seen", bought, seen),
    Column("hours\nrange", _hours, is_number=True, meaning="Ranges hold 8 of 10 runs."),
)
HOW_SURE = (
    Column(
        "chance",
        lambda each: "" if each.success_probability is None else f"{each.success_probability:.2f}",
        is_number=True,
        leave=3,
        meaning="Chance: the probability of reaching the target.",
    ),
    Column("recipe", lambda each: each.recipe, leave=1),
)


def gaps(prices: PriceBasis, explain: bool) -> Iterator[str]:
    """Which sources gave no new prices: in one line, or with the reason of each."""
    if prices.gaps and not explain:
        names = list(dict.fromkeys(gap.source for gap in prices.gaps))
        yield f"No new prices from {', '.join(names)}: older ones are used. --explain says why."
    for gap in prices.gaps if explain else ():
        yield f"No new prices from {gap.source}: {gap.reason}"
