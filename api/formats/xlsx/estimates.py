"""The sheet of estimates: ranges, costs and break-even are formulas over each row's hours and its offer's own rates."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from api.formats import csv_export
from api.formats.csv_export import chosen
from api.formats.sheet_columns import estimate_columns
from api.formats.xlsx.book import Column, Formula, OwnRow, Sheet
from api.formats.xlsx.formulas import LEAST_BY_THE_SECOND, RATE_FACTORS, SCALED, WHERE_KNOWN, by_basis
from api.formats.xlsx.rates import METERED, ONCE, PER_HOUR, PER_PERIOD, Rates
from api.questions.schemas.layout import Layout
from costcalc import rate_moves
from costcalc.answers import Answer, Estimate
from costcalc.costing.bills import Bill
from costcalc.offer import PurchaseOption
from costcalc.query import Basis
from costcalc.units import HOURS_PER_DAY, SECONDS_PER_HOUR

SHOWN = frozenset((
    "rank", "provider", "region", "instance_type", "nodes", "accelerator", "purchase_option", "term", "payment", "recipe",
    "hours", "hours_low", "hours_high", "calendar_hours",
    "success_probability", "hourly_rate", "effective_cost", "billed_cost", "billed_cost_low", "billed_cost_high",
    "break_even_hours", "price_observed_at", "price_age_days", "price_first_hand", "available",
))  # fmt: skip
WIDTHS = {"rank": 5, "provider": 10, "region": 14, "instance_type": 24, "nodes": 6, "accelerator": 15, "purchase_option": 13,
          "term": 5, "payment": 10, "recipe": 22, "price_observed_at": 11, "available": 9}  # fmt: skip
FORMS = {
    **dict.fromkeys(
        (*SCALED, *WHERE_KNOWN, "calendar_hours", "break_even_hours", "epochs", "images_per_second"), "hours"
    ),
    "hours": "input_hours",
    "hourly_rate": "rate",
    "success_probability": "share",
    **dict.fromkeys(("price_observed_at", "available_at"), "day"),
}
COMPARED = {"to_pay_if_picked": "billed_cost", "share_if_picked": "effective_cost", "hours_if_picked": "calendar_hours"}
"""What the summary compares after changes: these figures of what picks may come from."""
COMPARED_BY: dict[Basis, str] = {"billed": "to_pay_if_picked", "effective": "share_if_picked"}
TERMS = ("offer", "on_demand_offer", "beside", "fee_per_period", "metered_hourly", "on_demand_hourly", "beside_once",
         "beside_hourly", "period_hours", "minimum_periods", "sold_singly", "increment_seconds", "minimum_seconds", "utilization",
         "session_hours", "hours_per_week", "images", *(f"{name}_factor" for name in (*SCALED, *WHERE_KNOWN)), "rate_fall",
         "rate_rise", "rate_low_factor", "rate_high_factor", *COMPARED)  # fmt: skip
NAMES = tuple(name for name, _ in estimate_columns()) + TERMS
NAMED = ("rank", "provider", "region", "instance_type", "purchase_option", "recipe", "hours", "calendar_hours",
         "effective_cost", "billed_cost", *COMPARED)  # fmt: skip

ON_DEMAND = METERED.replace("[offer]", "[on_demand_offer]")


def write_estimates(sheet: Sheet, answer: Answer, rates: Rates, layout: Layout) -> None:
    """One row per estimate: its keys, then, folded, the terms that its figures are computed from.

    Where columns are asked for, these alone are shown, the others folded away. Raises BadParameters for one that is no key.
    """
    shown = chosen([name for name, _ in estimate_columns()], layout) if layout.columns else _filled(answer)
    columns = [_column(name, answer.query.currency, name not in shown) for name in NAMES]
    own, formulas, compared = OwnRow(NAMES), by_basis(answer.query.basis), compared_figures(answer)
    last = sheet.table(
        columns,
        (
            [*_Row(own, row, rates, formulas, each).cells(), *_compared(own, row, figures)]
            for row, (each, figures) in enumerate(zip(answer.estimates, compared, strict=True), 1)
        ),
        frozen=5,
    )
    sheet.name_columns(columns, NAMED, last)


def _filled(answer: Answer) -> set[str]:
    """The columns of `SHOWN` in which any estimate has a value."""
    read = dict(estimate_columns())
    return {name for name in SHOWN if any(read[name](each) is not None for each in answer.estimates)}


def compared_figures(answer: Answer) -> list[dict[str, Decimal | float | None]]:
    """The figures of each estimate that are compared after changes; None of those that can't be picks. What is none, though it
    costs less or ends sooner than the pick, stays out."""
    picks = {pick.name: pick.estimate for pick in answer.picks}
    bought = {each.purchase_option for each in picks.values()}
    least = {COMPARED_BY[answer.query.basis]: picks.get("cheapest"), "hours_if_picked": picks.get("fastest")}

    def figure(each: Estimate, name: str) -> Any:
        value, pick = getattr(each, COMPARED[name]), least.get(name)
        meets = each.purchase_option in bought and all(
            met or missing in answer.missed
            for met, missing in ((each.confirmed, "confirmed"), (each.runs_here, "runs_here"))
        )
        is_past_it = pick is None or value >= getattr(pick, COMPARED[name])
        return value if not picks or (meets and is_past_it) else None

    return [{name: figure(each, name) for name in COMPARED} for each in answer.estimates]


def _compared(own: OwnRow, row: int, figures: Mapping[str, Any]) -> Iterator[Formula | None]:
    for name, value in figures.items():
        yield None if value is None else own.formula(f"[{COMPARED[name]}]", row, value)


def _column(name: str, currency: str, is_detail: bool) -> Column:
    is_money = "_cost" in name
    unit = currency if is_money else f"{currency} per hour" if name == "hourly_rate" else ""
    form = "money" if is_money else FORMS.get(name)
    return Column(name, form, WIDTHS.get(name, 10.5), "UTC" if name == "price_observed_at" else unit, is_detail)


@dataclass(frozen=True, slots=True)
class _Row:
    """An estimate's row."""

    own: OwnRow
    row: int
    rates: Rates
    formulas: Mapping[str, str]
    estimate: Estimate

    def cells(self) -> list[Any]:
        keys = [self._key(name, read(self.estimate)) for name, read in estimate_columns()]
        return [*keys, *self._numbers(), *self._amounts(), *self._limits(), *self._factors()]

    def _key(self, name: str, value: Any) -> Any:
        template = self.formulas.get(name)
        if name == "billed_cost_low" and self.estimate.bill.terms.rounding_assumed:
            template = LEAST_BY_THE_SECOND
        if name == "break_even_hours" and self.estimate.purchase_option is PurchaseOption.OWNED:
            return value  # against another machine, whose cost no cell of this row has
        return value if template is None else self._formula(template, value)

    def _formula(self, template: str, value: Any) -> Formula:
        return self.own.formula(template, self.row, value)

    def _numbers(self) -> tuple[int | None, ...]:
        """Where the rates of the offer, of its machine on demand, and of storage and egress are on the sheet."""
        bill, compared = self.estimate.bill, None
        if self.estimate.on_demand:
            compared = self.rates.number(Bill(self.estimate.on_demand, bill.terms, bill.storage_and_egress))
        return self.rates.number(bill), compared, self.rates.number_beside(bill)

    def _amounts(self) -> Iterator[Any]:
        """The two-part tariff of all machines under the user's terms, plus storage and egress."""
        bill, on_demand = self.estimate.bill, self.estimate.on_demand
        tariff, factor, beside = bill.tariff, bill.factor, bill.storage_and_egress
        yield self._formula(PER_PERIOD, tariff.fee * factor)
        yield self._formula(METERED, tariff.metered_hourly * factor)
        yield self._formula(ON_DEMAND, on_demand.hourly_rate * factor) if on_demand else None
        once = sum((each.quantity * each.rate for each in beside), Decimal(0))
        hourly = sum((each.quantity_hourly * each.rate for each in beside), Decimal(0))
        yield self._formula(ONCE, once) if beside else None
        yield self._formula(PER_HOUR, hourly) if beside else None

    def _limits(self) -> tuple[Any, ...]:
        offer, tariff = self.estimate.bill.offer, self.estimate.bill.tariff
        billing = (
            *(tariff.period_hours, tariff.minimum_periods, tariff.sold_singly),
            *(tariff.increment_seconds, tariff.minimum_seconds),
        )
        return (*billing, self.estimate.bill.terms.utilization, offer.session_hours, offer.hours_per_week)

    def _factors(self) -> Iterator[Any]:
        """Images seen in training, and the factors that turn hours and rates into other figures."""
        estimate = self.estimate
        rate = estimate.images_per_second
        yield None if rate is None else rate * estimate.train_hours * SECONDS_PER_HOUR
        yield from (getattr(estimate, name) / estimate.hours for name in SCALED)
        figures = (getattr(estimate, name) for name in WHERE_KNOWN)
        yield from (None if figure is None else figure / estimate.hours for figure in figures)
        width = estimate.bill.terms.moves.after_days(estimate.price_age_days + estimate.hours / HOURS_PER_DAY)
        factors = rate_moves.factors(width, estimate.hours, estimate.hours_low, estimate.hours_high)
        yield from width
        yield from map(self._formula, RATE_FACTORS, factors) if any(width) else factors


def folded(columns: Sequence[csv_export.Column], kept: Container[str] | None, layout: Layout) -> Container[str] | None:
    """The columns to fold away: none where the user chose them; else, of estimates, all that the sheet of estimates folds away
    too, but for those `kept`; of other rows None, so that their values decide."""
    if layout.columns:
        return ()
    if kept is None:
        return None
    return [name for name, _ in columns if name not in kept and name.removeprefix("best_") not in SHOWN]
