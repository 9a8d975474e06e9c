"""Estimates in a terminal: their table with its legend, and all that stands behind each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from api.formats.terminal.grid import PIPED_WIDTH, Column, View, paragraph, table
from api.formats.words import bought, energy, hours, in_region, machine, marks_explained, names_of, rate_seen, seen
from api.reports.verdict import kind_of
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.hardware import counted
from costcalc.query import Basis
from costcalc.units import in_words

SHORT_NAME = 26


def ranked(each: Estimate) -> str:
    """Its place, with a star on the frontier."""
    return f"{each.rank}{'*' if each.frontier else ''}"


def estimate_lines(
    estimates: Sequence[Estimate],
    basis: Basis,
    view: View,
    beside: Sequence[Estimate] = (),
    number: Callable[[Estimate], str] = ranked,
) -> Iterator[str]:
    """The table of the estimates, its legend, and what stands behind each of them where that is asked for.

    The cost that the question goes by, `billed` or `effective`, has its range and stays on a narrow terminal. The legend also
    explains the signs of the estimates that are printed beside the table. `number` is what each row is called.
    """
    yield from table((Column("#", number, figures=True), *columns(basis)), estimates, view.width)
    yield from paragraph(" ".join(legend([*estimates, *beside])), view.width)
    if view.explain:
        yield from explained(estimates, view.width, number)


def best_lines(answer: Answer, view: View, most: int) -> Iterator[str]:
    """Users' own machines, the picks with their names and the best others, as many as fit so many lines; all that stands behind
    them, if asked for."""
    shown = [*(mine.estimate for mine in answer.owned), *answer.best]
    rows = [*{each.rank: each for each in shown}.values()][: answer.query.limit]
    for many in range(len(rows), 0, -1):
        lines = list(table(_first_columns(rows[:many], answer, view.width), range(many), view.width, tells_left=False))
        if len(lines) <= most:
            break
    yield from lines
    if view.explain:
        yield from explained(rows[:many], view.width)


def _first_columns(rows: Sequence[Estimate], answer: Answer, width: int) -> list[Column]:
    """What the first answer shows of each estimate, by its position: how it is bought, where that differs, and its recipe, where
    that is another than above."""
    basis = answer.basis
    shown = [
        Column("pick", lambda at: names_of(rows[at], answer).replace(", ", ",\n")),
        Column("machine", lambda at: f"{_machines(rows[at])}, {rows[at].provider} {kind_of(rows[at])}".rstrip()),
        Column("type and region", lambda at: _type(rows[at]), leave=1),
        Column("bought", lambda at: bought(rows[at])),
        Column(
            "recipe", lambda at: "same" if at and rows[at].recipe == rows[at - 1].recipe else _recipe(rows[at], width)
        ),
        Column("hours", lambda at: hours(rows[at].hours), figures=True),
        Column(
            "to pay" if basis == "billed" else "share", lambda at: f"{rows[at].cost(basis).cost:,.2f}", figures=True
        ),
        Column("80 % range", lambda at: _paid_range(rows[at], basis), figures=True, leave=3),
        Column("rate seen", lambda at: rate_seen(rows[at]), leave=2),
    ]
    return [column for column in shown if column.heading != "bought" or len(set(map(bought, rows))) > 1]


def _recipe(each: Estimate, width: int) -> str:
    """Its name; on a narrow terminal its beginning and a star, which asks for it as well."""
    name = each.recipe
    return name if width >= PIPED_WIDTH or len(name) <= SHORT_NAME else f"{name[: SHORT_NAME - 1]}*"


def _machines(each: Estimate) -> str:
    held = counted(each.accelerators, each.accelerator)
    return f"{held} in {each.nodes}" if each.nodes > 1 else held


def _type(each: Estimate) -> str:
    return in_region(each.instance_type, "unspecified" if each.region == "any" else each.region)


def _paid_range(each: Estimate, basis: Basis) -> str:
    _, low, high = each.cost(basis)
    return f"{low:,.2f}-{high:,.2f}" if low != high else ""


def legend(estimates: Sequence[Estimate]) -> Iterator[str]:
    """What the signs of these estimates mean, those that occur."""
    if any(each.frontier for each in estimates):
        yield "*: no other estimate is both faster and cheaper."
    yield from marks_explained(estimates)
    if any(map(_waits, estimates)):
        yield "In brackets: time on the calendar, with the waiting between sessions."


def explained(estimates: Sequence[Estimate], width: int, number: Callable[[Estimate], str] = ranked) -> Iterator[str]:
    """Sources, bill and assumptions of each estimate."""
    for each in estimates:
        yield ""
        yield from paragraph(f"{number(each).rstrip('*')}. {machine(each)}, {bought(each)}, {each.recipe}", width, 3)
        for line in _behind(each):
            yield from (f"   {part}" for part in paragraph(line, width - 3, 2))


def _behind(each: Estimate) -> Iterator[str]:
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
    def amount(each: Estimate) -> str:
        return f"{each.cost(kind).cost:,.2f}"

    def with_range(each: Estimate) -> str:
        _, low, high = each.cost(kind)
        return f"{amount(each)}\n{f'{low:,.2f}-{high:,.2f}' if low != high else ''}"

    if kind == basis:
        return Column(f"{heading}\nrange", with_range, figures=True, meaning=meaning)
    return Column(heading, amount, figures=True, leave=2, meaning=meaning)


PAID = "To pay: the bill for this run alone, minimum terms included."
SHARE = "Share: the part of the bill that the run's hours use."
WHAT = (
    Column(
        "machine\nand region",
        lambda each: f"{machine(each)}\n{in_region(counted(each.accelerators, each.accelerator), each.region)}",
    ),
    Column("bought\nprice seen", lambda each: f"{bought(each)}\n{seen(each)}"),
    Column("hours\nrange", _hours, figures=True, meaning="Ranges hold 8 of 10 runs."),
)
HOW_SURE = (
    Column(
        "chance",
        lambda each: "" if each.success_probability is None else f"{each.success_probability:.2f}",
        figures=True,
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


def missing_prices(prices: PriceBasis, view: View) -> Iterator[str]:
    """The gaps as lines of a terminal."""
    for line in gaps(prices, view.explain):
        yield from paragraph(line, view.width, 4)
