"""Estimates in a terminal: their table with its legend, and all that stands behind each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from api.cli.grid import Column, View, paragraph, table
from api.formats.words import bought, in_region, machine, marks_explained, money, on_calendar, seen
from costcalc.answers import Estimate
from costcalc.assumptions import in_words
from costcalc.hardware import counted


def hours(value: float) -> str:
    """Hours with as many decimals as matter: two below 100, none from 1,000 on."""
    return f"{value:,.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def cost(each: Estimate, basis: str) -> tuple[Decimal, str]:
    """The cost that a question goes by, and its range; none where it cannot move."""
    kind = f"{basis}_cost"
    low, high = getattr(each, f"{kind}_low"), getattr(each, f"{kind}_high")
    return getattr(each, kind), f"{low:,.2f}-{high:,.2f}" if low != high else ""


def in_one_line(each: Estimate, basis: str) -> str:
    """Time, cost with its range, machine and how it is bought."""
    amount, span = cost(each, basis)
    share = " for its share of use" if basis == "effective" else ""
    pay = f"{money(amount, each.currency)}{f' ({span})' if span else ''}{share}"
    waits = on_calendar(each)
    time = f"{hours(each.hours)} h{f' ({waits})' if waits else ''}"
    return f"{time}, {pay}: {machine(each)}, {bought(each)}, rate of {seen(each)}"


def estimate_lines(
    estimates: Sequence[Estimate], basis: str, view: View, beside: Sequence[Estimate] = ()
) -> Iterator[str]:
    """The table of the estimates, its legend, and what stands behind each of them where that is asked for.

    The cost that the question goes by, `billed` or `effective`, has its range and stays on a narrow terminal. The legend also
    explains the signs of the estimates that are printed beside the table.
    """
    yield from table(columns(basis), estimates, view.width)
    yield from paragraph(" ".join(legend([*estimates, *beside])), view.width)
    if view.explain:
        yield from explained(estimates, view.width)


def legend(estimates: Sequence[Estimate]) -> Iterator[str]:
    """What the signs of these estimates mean, those that occur."""
    if any(each.frontier for each in estimates):
        yield "*: no other estimate is both faster and cheaper."
    yield from marks_explained(estimates)
    if any(map(_waits, estimates)):
        yield "In brackets: time on the calendar, with the waiting between sessions."


def explained(estimates: Sequence[Estimate], width: int) -> Iterator[str]:
    """Sources, bill and assumptions of each estimate."""
    for each in estimates:
        yield ""
        yield from paragraph(f"{each.rank}. {machine(each)}, {bought(each)}, {each.recipe}", width, 3)
        for line in _behind(each):
            yield from (f"   {part}" for part in paragraph(line, width - 3, 2))


def _behind(each: Estimate) -> Iterator[str]:
    sources = each.sources
    yield f"speed {each.evidence.throughput.value}: {sources.throughput.source} ({sources.throughput.year})"
    yield f"curve {each.evidence.convergence.value}: {sources.convergence.source}"
    yield f"price of {sources.price.observed_at:%Y-%m-%d}: {sources.price.source}"
    for part in each.components:
        yield f"{_short(part.quantity)} {part.unit} of {part.name} at {_short(part.rate)} = {part.amount:f}"
    yield from (f"- {line}" for line in each.assumptions)


def _short(number: Decimal) -> str:
    """A number without the decimals beyond a millionth."""
    return f"{number if number == round(number, 6) else round(number, 6):f}"


def _waits(each: Estimate) -> bool:
    return each.calendar_hours > each.hours


def _where(each: Estimate) -> str:
    return f"{machine(each)}\n{in_region(counted(each.accelerators, each.accelerator), each.region)}"


def _bought_and_seen(each: Estimate) -> str:
    return f"{bought(each)}\n{seen(each)}"


def _hours(each: Estimate) -> str:
    waiting = f"\n({in_words(each.calendar_hours)})" if _waits(each) else ""
    return f"{hours(each.hours)}\n{hours(each.hours_low)}-{hours(each.hours_high)}{waiting}"


def columns(basis: str) -> tuple[Column, ...]:
    """The columns of estimates by a cost of this basis."""
    paid, share = _cost_column("to pay", "billed", PAID, basis), _cost_column("share", "effective", SHARE, basis)
    costs = (share, paid) if basis == "effective" else (paid, share)
    return (*WHAT, *costs, *HOW_SURE)


def _cost_column(heading: str, kind: str, meaning: str, basis: str) -> Column:
    def amount(each: Estimate) -> str:
        return f"{cost(each, kind)[0]:,.2f}"

    def with_range(each: Estimate) -> str:
        return f"{amount(each)}\n{cost(each, kind)[1]}"

    if kind == basis:
        return Column(f"{heading}\nrange", with_range, figures=True, meaning=meaning)
    return Column(heading, amount, figures=True, leave=2, meaning=meaning)


PAID = "To pay: the bill for this run alone, minimum terms included."
SHARE = "Share: the part of the bill that the run's hours use."
WHAT = (
    Column("#", lambda each: f"{each.rank}{'*' if each.frontier else ''}", figures=True),
    Column("machine\nand region", _where),
    Column("bought\nprice seen", _bought_and_seen),
    Column("hours\nrange", _hours, figures=True, meaning="Ranges hold 8 of 10 runs."),
)
HOW_SURE = (
    Column(
        "chance",
        lambda each: f"{each.success_probability:.2f}",
        figures=True,
        leave=3,
        meaning="Chance: the probability of reaching the target.",
    ),
    Column("recipe", lambda each: each.recipe, leave=1),
)
