"""The answer in a terminal: the HTTP parameters as options, the estimates as a table."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from typing import Literal

import click
from marshmallow import Schema
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from api.bootstrap import build_once
from api.formats.json import to_json
from api.questions.errors import BadParameters
from api.questions.fields import Choice, Flag, Parameter
from api.questions.schemas import FORMATS, CostSchema, Layout
from api.questions.suggestions import clip, counted
from api.reports.cost import CostReport
from api.settings import Settings
from costcalc.answers import Answer, Estimate

WIDE = 180  # columns, where the output is no terminal
HEADINGS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("#", "right"),
    ("where", "left"),
    ("machine", "left"),
    ("bought", "left"),
    ("recipe", "left"),
    ("hours", "right"),
    ("to pay", "right"),
    ("share", "right"),
    ("P", "right"),
    ("price seen", "left"),
)
LEGEND = (
    "Ranges (80 %) are shown under each figure. to pay: the bill for this run alone, minimum terms included; share: the part of "
    "that bill which the run's hours use; P: probability of reaching the target; *: no other estimate is both faster and "
    "cheaper. --explain lists the assumptions."
)
NO_RECIPE = "No {0.metric.value} curve of {0.model} is known, so its epochs to a target cannot be estimated."


def parameter_options() -> Iterator[click.Option]:
    """One option for each parameter of `/cost` but the two that are arguments."""
    yield from options_of(CostSchema(), "model", "target", "token", "format")
    yield click.Option(["--format", "format"], multiple=True, metavar="table|json|csv", help="Default table.")
    yield click.Option(["--explain"], is_flag=True, help="Also print each estimate's assumptions and sources.")


def options_of(schema: Schema, *but: str) -> Iterator[click.Option]:
    """One option for each parameter of a schema but these."""
    for name, field in schema.fields.items():
        if isinstance(field, Parameter) and name not in but:
            yield _option(name, field)


def _option(name: str, field: Parameter) -> click.Option:
    names = list(dict.fromkeys([f"--{name.replace('_', '-')}", f"--{name}", name]))
    if isinstance(field, Flag):
        return click.Option(names, is_flag=True, flag_value="true", default=None, help=_sentence(field))
    shown = "|".join(field.choices) if isinstance(field, Choice) else str(field.example or "TEXT")
    return click.Option(names, multiple=True, metavar=shown, help=_sentence(field))


def _sentence(field: Parameter) -> str:
    more = "; several with commas, or repeat it" if field.listed else ""
    return f"{field.meaning[0].upper()}{field.meaning[1:]}{more}."


def answer(settings: Settings, given: dict[str, list[str]], explain: bool) -> str:
    """The answer as text. Raises Refused, or what opening the store and reading the tables raise."""
    form = given.pop("format", ["table"])
    if form != ["table"]:
        given["format"] = form
    if form[0].lower() not in ("table", *FORMATS):
        raise BadParameters({"format": [f"{clip(form[0])}: write table, json or csv"]})
    service = build_once(settings)
    catalogue = service.catalogue()
    query, layout = service.question(given, catalogue)
    if layout.profile == "focus" and layout.format != "csv":
        raise BadParameters({"profile": ["focus is a form of CSV: add --format csv"]})
    if layout.format is None:
        return table(service.answer(query, catalogue), explain)
    return _written(CostReport(service, catalogue, query), layout)


def _written(report: CostReport, layout: Layout) -> str:
    if layout.format == "json":
        return to_json(report.document()).decode() + "\n"
    from api.formats.sheets import cost_csv

    return b"".join(cost_csv(report, layout)).decode()


def table(found: Answer, explain: bool = False) -> str:
    """The estimates as a table with what must be known to read it."""
    out = io.StringIO()
    width = max(shutil.get_terminal_size((WIDE, 0)).columns, 100)
    console = Console(file=out, width=width, markup=False, highlight=False, emoji=False, color_system=None)
    console.print(_heading(found))
    if found.estimates:
        console.print(_grid(found.estimates))
    for line in _notes(found):
        console.print(line)
    for line in _explained(found.estimates) if explain else ():
        console.print(line, soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _heading(found: Answer) -> str:
    query, shown, order = found.query, len(found.estimates), "fastest" if found.query.sort == "time" else "cheapest"
    which = f"the first {shown}" if not query.offset else f"{query.offset + 1} to {query.offset + shown}"
    many = f"{which} of {found.count} estimates, {order} first" if shown else _none(found)
    prices = f"at prices of {found.prices.as_of:%Y-%m-%d}, in {query.currency}"
    return f"{query.model} to {query.target:g} {query.metric.value}: {many}, {prices}"


def _none(found: Answer) -> str:
    return f"none of {found.count} estimates" if found.count else "no estimate matches these filters"


def _grid(estimates: tuple[Estimate, ...]) -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for heading, justify in HEADINGS:
        grid.add_column(heading, justify=justify, overflow="fold")
    for estimate in estimates:
        grid.add_row(*_cells(estimate))
    return grid


def _cells(each: Estimate) -> tuple[str, ...]:
    machines = f"{each.nodes} x " if each.nodes > 1 else ""
    return (
        f"{each.rank}{'*' if each.frontier else ''}",
        f"{each.provider}\n{each.region}",
        f"{machines}{each.instance_type}\n{each.accelerators} {each.accelerator}",
        " ".join(filter(None, [each.purchase_option.value, each.term]))
        + (f"\n{each.payment.value}" if each.payment else ""),
        each.recipe,
        f"{each.hours:,.2f}\n{each.hours_low:,.2f}-{each.hours_high:,.2f}",
        f"{each.billed_cost:,.2f}\n{each.billed_cost_low:,.2f}-{each.billed_cost_high:,.2f}",
        f"{each.effective_cost:,.2f}",
        f"{each.success_probability:.2f}",
        f"{each.sources.price.observed_at:%Y-%m-%d}",
    )


def _notes(found: Answer) -> Iterator[str]:
    if found.estimates:
        yield LEGEND
    if found.exchange:
        yield f"1 USD = {found.exchange.per_usd:.6f} {found.exchange.currency} on {found.exchange.date} ({found.exchange.source})"
    if found.best_reached:
        yield f"Highest accuracy of any recipe: {found.best_reached.accuracy:g} ({found.best_reached.recipe})"
    else:
        yield NO_RECIPE.format(found.query)
    if found.rejections:
        yield f"Left out: {counted(found.rejections)}"
    for gap in found.prices.gaps:
        yield f"No new prices from {gap.source}: {gap.reason}"


def _explained(estimates: tuple[Estimate, ...]) -> Iterator[str]:
    for each in estimates:
        yield f"\n{each.rank}. {each.provider} {each.instance_type}, {each.recipe}"
        yield f"   speed {each.evidence.throughput.value}: {each.sources.throughput.source} ({each.sources.throughput.year})"
        yield f"   curve {each.evidence.convergence.value}: {each.sources.convergence.source}"
        yield f"   price of {each.sources.price.observed_at:%Y-%m-%d}: {each.sources.price.source}"
        yield from (
            f"   {part.quantity:f} {part.unit} of {part.name} at {part.rate:f} = {part.amount:f}"
            for part in each.components
        )
        yield from (f"   - {line}" for line in each.assumptions)
