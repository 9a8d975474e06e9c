"""The columns of the table of estimates, of which the address says which are shown."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from msgspec import Struct

from api.formats import words
from costcalc.answers import Estimate
from costcalc.costing.bills import Bill
from costcalc.hardware import counted
from costcalc.money import money

PARAMETER = "_columns"
Text = Callable[[Estimate, Bill], str]


class Column(Struct, frozen=True):
    """A figure of an estimate with, below it in small print, what belongs to it; `sort` is how a click on the title sorts, and
    `meaning` says what a reader may ask of it."""

    name: str
    title: str
    text: Text
    small: Text = lambda _, __: ""
    is_number: bool = False
    sort: str = ""
    meaning: str = ""


def _range(low: Decimal, high: Decimal) -> str:
    return f"{low:,.2f}–{high:,.2f}" if low != high else ""


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _machines(each: Estimate, _: Bill) -> str:
    return words.in_region(counted(each.accelerators, each.accelerator), each.region)


def _memory(each: Estimate, bill: Bill) -> str:
    host = bill.offer.machine.memory_gib
    return "" if host is None else f"{host * each.nodes:,.0f} GiB"


COLUMNS = (
    Column("machine", "Machine", lambda each, _: words.machine(each), _machines),
    Column("bought", "Bought", lambda each, _: words.bought(each), lambda each, _: f"rate of {words.seen(each)}",
           meaning="on demand, spot, reserved or by the month; in small print the day on which the rate was seen."),
    Column("hours", "Hours", lambda each, _: words.hours(each.hours),
           lambda each, _: words.on_calendar(each) or f"{words.hours(each.hours_low)}–{words.hours(each.hours_high)}",
           is_number=True, sort="time",
           meaning="time until the model reaches the accuracy, start-up and checkpoints included, with its 80 % range."),
    Column("cost", "To pay", lambda each, _: money(each.billed_cost, each.currency),
           lambda each, _: _range(each.billed_cost_low, each.billed_cost_high), is_number=True, sort="cost",
           meaning="what this run adds to the bill, with its 80 % range."),
    Column("share", "Share of use", lambda each, _: money(each.effective_cost, each.currency),
           lambda each, _: _range(each.effective_cost_low, each.effective_cost_high), is_number=True,
           meaning="the run's part of a bill that other work shares, such as that of a reserved machine."),
    Column("probability", "Reaches it", lambda each, _: words.chance(each.success_probability), is_number=True,
           meaning="how likely one run of the recipe is to reach the accuracy."),
    Column("recipe", "Recipe", lambda each, _: each.recipe,
           lambda each, _: f"speed {each.evidence.throughput.value}, curve {each.evidence.convergence.value}",
           meaning="how the model is trained, and whether its speed and its accuracy curve were measured or follow from others."),
    Column("rate", "Rate per hour", lambda each, _: f"{each.hourly_rate:,.4g} {each.currency}", is_number=True),
    Column("speed", "Speed", lambda each, _: f"{_count(words.per_second(each))} {words.samples_of(each)}/s",
           lambda each, _: f"limited by the {each.limited_by}", is_number=True,
           meaning="what is trained on in a second, and the part of the machine that limits it."),
    Column("epochs", "Epochs", lambda each, _: f"{each.epochs:,.4g}", lambda each, _: f"batch {_count(each.global_batch_size)}",
           is_number=True),
    Column("vcpus", "vCPUs", lambda each, _: _count(each.vcpus), is_number=True),
    Column("ram", "RAM", _memory, is_number=True),
    Column("memory", "Accelerator memory", lambda each, _: f"{each.accelerator_memory_gib or 0:g} GiB", is_number=True),
    Column("price_age", "Price age", lambda each, _: f"{each.price_age_days:,} days",
           lambda each, _: "first hand" if each.price_first_hand else "second hand", is_number=True),
    Column("break_even", "Break-even", lambda each, _: f"{_count(each.break_even_hours)} h" if each.break_even_hours else "",
           is_number=True,
           meaning="hours of use in a term above which the commitment costs less than the same machine on demand."),
)  # fmt: skip
USUAL = ("machine", "bought", "hours", "cost", "share", "probability", "recipe")


def chosen(given: list[str]) -> list[Column]:
    """The columns that an address names, in the table's order; the usual ones where it names none that there is."""
    named = {name for text in given for name in text.split(",")}
    return [each for each in COLUMNS if each.name in named] or [each for each in COLUMNS if each.name in USUAL]
