"""The first answer in a terminal: the verdict, the picks beside one another, and what to do next, in a dozen lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from api.formats.column import Column
from api.formats.figures import cost_range
from api.formats.terminal.grid import View, paragraph, rows_below_headings
from api.formats.words import bought, folded, hours, in_region, names_of, rate_seen
from api.questions.themes import as_options
from api.reports.verdict import in_short
from costcalc.answers import Answer, Estimate
from costcalc.money import money
from costcalc.offer import PurchaseOption

LINES = 12
LEAST_ROWS = 2
"""What one row says, the verdict has said."""


def first_answer(answer: Answer, view: View) -> Iterator[str]:
    """The lines; picks are left out from the last on where the verdict leaves no room, and empty lines first of all."""
    told = [paragraph(as_options(line), view.width, 2) for line in answer.verdict]
    step = told.pop() if answer.next else []
    said = [*map(view.strong, chain(*told[:1])), *chain(*told[1:])]
    room = LINES - len(said) - len(step)
    table = _table(answer, view, room)
    more = [view.faint(line) for line in paragraph(as_options(folded(answer)), view.width, 2)]
    spare = room - len(table) - len(more)
    yield from said
    yield from [""] if table and spare > 0 else []
    yield from table
    yield from [""] if table and spare > 1 else []
    yield from step
    yield from more if spare >= 0 else []


def shown_first(answer: Answer) -> list[Estimate]:
    """Users' own machines and the picks, each once, no more than the question's limit."""
    picks = [*(mine.estimate for mine in answer.owned), *(pick.estimate for pick in answer.picks)]
    return [*{each.rank: each for each in picks}.values()][: answer.query.limit]


def _table(answer: Answer, view: View, room: int) -> list[str]:
    rows = shown_first(answer)
    for many in range(len(rows), LEAST_ROWS - 1, -1):
        heading, *lines = rows_below_headings(_columns(rows[:many], answer), rows[:many], view.width)
        if len(lines) < room:
            return [view.faint(heading), *lines]
    return []


def _columns(rows: Sequence[Estimate], answer: Answer) -> list[Column]:
    """What is shown of each pick; how it is bought, where that differs."""
    basis = answer.basis
    paid = "to pay" if basis == "billed" else "share"
    differ = len({*map(_bought, rows)}) > 1
    return [
        Column("pick", lambda each: names_of(each, answer)),
        Column("machine", _machines),
        Column("type and region", _type, leave=1),
        *([Column("bought", _bought)] if differ else []),
        Column("hours", lambda each: hours(each.hours), is_number=True),
        Column(paid, lambda each: money(each.cost(basis).cost, each.currency), is_number=True),
        Column("80 % range", lambda each: cost_range(each, basis), is_number=True),
        Column("recipe", lambda each: each.recipe, leave=2),
        Column("rate seen", rate_seen, leave=3),
    ]


def _bought(each: Estimate) -> str:
    """Nothing of what is rented as most people do, or of a machine that is called `your`."""
    return "" if each.purchase_option in (PurchaseOption.ON_DEMAND, PurchaseOption.OWNED) else bought(each)


def _machines(each: Estimate) -> str:
    return f"{in_short(each)} in {each.nodes} machines" if each.nodes > 1 else in_short(each)


def _type(each: Estimate) -> str:
    return in_region(each.instance_type, "unspecified" if each.region == "any" else each.region)
