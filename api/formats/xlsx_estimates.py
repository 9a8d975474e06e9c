"""The sheets of rates and estimates: costs are formulas over named rate and hours cells, as the engine bills them.

On the sheet, as in `costcalc.costing.bills`: a bill is a fee for every started period and a rate for every metered hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from xlsxwriter.utility import xl_col_to_name

from api.formats.sheet_columns import estimate_columns
from api.formats.workbook import Book, Column, Formula, Sheet
from costcalc.answers import Answer, Estimate
from costcalc.costing.bills import Bill
from costcalc.offers import spot_rate_factors

RATES = (
    Column("estimate"), Column("provider"), Column("region", width=16), Column("instance_type", width=24),
    Column("purchase_option", width=16), Column("rate of", width=30), Column("unit"), Column("list_rate", "input"),
    Column("own_discount", "input"), Column("own_rate", "rate"), Column("times_per_period", width=16), Column("currency"),
    Column("price_source", width=40), Column("price_observed_at", "moment", 16), Column("quantity"),
    Column("quantity_per_hour"),
)  # fmt: skip
LIST_RATE, OWN_DISCOUNT, OWN_RATE, TIMES, ONCE, EACH_HOUR = 7, 8, 9, 10, 14, 15
FORMS = {
    **dict.fromkeys(("train_hours", "overhead_hours", "hours_low", "hours_high", "retry_hours"), "hours"),
    **dict.fromkeys(("calendar_hours", "break_even_hours", "epochs", "images_per_second"), "hours"),
    "hours": "input",
    "hourly_rate": "rate",
    "success_probability": "share",
}
TERMS = ("fee_per_period", "metered_hourly", "period_hours", "minimum_periods", "increment_seconds", "minimum_seconds",
         "utilization", "on_demand_hourly", "beside_once", "beside_hourly", "rate_low", "rate_high")  # fmt: skip
NAMES = tuple(name for name, _ in estimate_columns()) + TERMS
COLUMN = {name: xl_col_to_name(position) for position, name in enumerate(NAMES)}
PERIODS = "MAX(ROUNDUP(ROUND({h}/{period_hours},6),0),{minimum_periods})"
METERED = "MAX(CEILING(ROUND({h}*3600,6),{increment_seconds}),{minimum_seconds})/3600"
BESIDE = "{beside_once}+{beside_hourly}*{h}"
BILLED = f"ROUND({{fee_per_period}}*{PERIODS}+{{metered}}*{METERED}+{BESIDE},2)"
SHARED = f"{{fee_per_period}}*{PERIODS}*{{h}}/({{h}}+{{utilization}}*({PERIODS}*{{period_hours}}-{{h}}))"
EFFECTIVE = f"IF(OR({{fee_per_period}}=0,{{h}}=0),0,{SHARED})+{{metered}}*{{h}}"
FULL_RATE = "{fee_per_period}/{period_hours}+{metered_hourly}"
SAVED = "({on_demand_hourly}-{metered_hourly})"
BREAK_EVEN = f"{{fee_per_period}}*MAX({{minimum_periods}},1)/{SAVED}"
FORMULAS = {
    "hourly_rate": f"=IF(OR({{utilization}}=1,{{h}}=0),{FULL_RATE},({EFFECTIVE})/{{h}})",
    "break_even_hours": (
        f"=IF(OR({{fee_per_period}}=0,{{on_demand_hourly}}<={{metered_hourly}}),\"\","
        f"IF({BREAK_EVEN}<=MAX({{minimum_periods}},1)*{{period_hours}},{BREAK_EVEN},\"\"))"
    ),
    **{f"billed_cost{end}": f"={BILLED}" for end in ("", "_low", "_high")},
    **{f"effective_cost{end}": f"=ROUND({EFFECTIVE}+{BESIDE},2)" for end in ("", "_low", "_high")},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placed:
    """An estimate with its bill, its row on the sheet of estimates and its rows on that of rates."""

    estimate: Estimate
    bill: Bill
    on_demand: Decimal | None
    row: int
    rates: range
    beside: range


def placed(answer: Answer) -> list[Placed]:
    """Every estimate with the rows it gets, below one row of headings each."""
    found: list[Placed] = []
    first = 1
    for row, (estimate, bill, on_demand) in enumerate(
        zip(answer.estimates, answer.bills, answer.on_demand_hourly, strict=True), 1
    ):
        rates = range(first, first + len(bill.charges))
        beside = range(rates.stop, rates.stop + len(bill.storage_and_egress))
        found.append(Placed(estimate, bill, on_demand, row, rates, beside))
        first = beside.stop
    return found


def write_rates(book: Book, sheet: Sheet, entries: list[Placed]) -> None:
    """One row per rate; the first of estimate 3 is named rate_3, a further one rate_3_2."""
    sheet.table(0, RATES, (row for entry in entries for row in _rate_rows(entry)))
    for entry in entries:
        for number, row in enumerate([*entry.rates, *entry.beside], 1):
            book.name(_rate_name(entry, number), sheet.at(row, LIST_RATE))


def _rate_rows(entry: Placed) -> Iterator[tuple[Any, ...]]:
    offer, terms, source = entry.bill.offer, entry.bill.terms, entry.estimate.sources.price
    place = (offer.provider, offer.region, offer.instance_type, offer.purchase_option)
    for number, (row, charge) in enumerate(zip(entry.rates, entry.bill.charges, strict=True), 1):
        listed = charge.rate * terms.exchange
        own = f"={_rate_name(entry, number)}*(1-{xl_col_to_name(OWN_DISCOUNT)}{row + 1})"
        rate = (charge.name, charge.unit, listed, 1 - terms.price_factor, Formula(own, listed * terms.price_factor))
        origin = (entry.estimate.currency, source.source, source.observed_at)
        yield (entry.estimate.rank, *place, *rate, charge.per_period, *origin, None, None)
    for number, (row, extra) in enumerate(
        zip(entry.beside, entry.bill.storage_and_egress, strict=True), len(entry.rates) + 1
    ):
        own = f"={_rate_name(entry, number)}*(1-{xl_col_to_name(OWN_DISCOUNT)}{row + 1})"
        beside = (extra.name, extra.unit, extra.rate, 0, Formula(own, extra.rate), None, entry.estimate.currency)
        yield (entry.estimate.rank, *place, *beside, "see Assumptions", None, extra.quantity, extra.quantity_hourly)


def _rate_name(entry: Placed, number: int) -> str:
    return f"rate_{entry.estimate.rank}" + (f"_{number}" if number > 1 else "")


def write_estimates(book: Book, sheet: Sheet, rates: Sheet, entries: list[Placed]) -> None:
    """One row per estimate: its keys, then the terms that its costs are computed from. hours_3 is estimate 3's hours."""
    columns = [Column(name, _form(name), width=max(11, min(len(name) + 2, 24))) for name in NAMES]
    sheet.table(0, columns, (_estimate_row(entry, rates) for entry in entries))
    for entry in entries:
        book.name(f"hours_{entry.estimate.rank}", sheet.at(entry.row, NAMES.index("hours")))


def _form(name: str) -> str | None:
    return "money" if "_cost" in name else FORMS.get(name)


def _estimate_row(entry: Placed, rates: Sheet) -> list[Any]:
    values = [_value(entry, name, read(entry.estimate)) for name, read in estimate_columns()]
    return [*values, *_terms(entry, rates)]


def _value(entry: Placed, name: str, value: Any) -> Any:
    if name not in FORMULAS:
        return value
    cells = {term: f"${column}{entry.row + 1}" for term, column in COLUMN.items()}
    end = name[name.rindex("_") :] if name.endswith(("_low", "_high")) else ""
    hours = cells[f"hours{end}"] if end else f"hours_{entry.estimate.rank}"
    metered = cells["metered_hourly"] + (f"*{cells[f'rate{end}']}" if end else "")
    return Formula(FORMULAS[name].format(h=hours, metered=metered, **cells), value)


def _terms(entry: Placed, rates: Sheet) -> Iterator[Any]:
    """The bill's two-part tariff for all machines under own terms, in the order of TERMS."""
    bill, tariff = entry.bill, entry.bill.tariff
    own = bill.terms.nodes * bill.terms.price_factor * bill.terms.exchange
    nodes = f"${COLUMN['nodes']}{entry.row + 1}"
    rate, times = (_span(rates, entry.rates, column) for column in (OWN_RATE, TIMES))
    yield Formula(f"={nodes}*SUMPRODUCT({rate},{times})", tariff.fee * own)
    yield Formula(f"={nodes}*SUMIF({times},0,{rate})", tariff.metered_hourly * own)
    yield from (tariff.period_hours, tariff.minimum_periods, tariff.increment_seconds, tariff.minimum_seconds)
    yield bill.terms.utilization
    yield None if entry.on_demand is None else entry.on_demand * own
    yield from (_beside(entry, rates, column) for column in (ONCE, EACH_HOUR))
    known = entry.estimate
    ends = (Decimal(repr(hours)) for hours in (known.hours_low, known.hours, known.hours_high))
    yield from spot_rate_factors(known.purchase_option, *ends)


def _beside(entry: Placed, rates: Sheet, column: int) -> Formula | int:
    """What storage and egress cost once, or each hour."""
    if not entry.beside:
        return 0
    amounts = (
        (extra.quantity_hourly if column == EACH_HOUR else extra.quantity) * extra.rate
        for extra in entry.bill.storage_and_egress
    )
    rate, quantity = (_span(rates, entry.beside, each) for each in (OWN_RATE, column))
    return Formula(f"=SUMPRODUCT({rate},{quantity})", sum(amounts, Decimal(0)))


def _span(sheet: Sheet, rows: range, column: int) -> str:
    letter = xl_col_to_name(column)
    return f"'{sheet.name}'!${letter}${rows.start + 1}:${letter}${rows.stop}"
