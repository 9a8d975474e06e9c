"""The figures of an estimate, each a column that stands once: pages and terminals take those that they show, by name."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from api.formats import words
from api.formats.column import Column
from api.formats.tables import number, offered_accelerators
from costcalc.answers import Estimate
from costcalc.money import money
from costcalc.query import Basis
from costcalc.units import in_words

WHOLE = ",.0f"


def cost_range(row: Estimate, basis: Basis) -> str:
    """The 80 % range of its cost; nothing where the cost cannot move."""
    _, low, high = row.cost(basis)
    return f"{low:,.2f}–{high:,.2f}" if low != high else ""


def cost(heading: str, basis: Basis, meaning: str = "", sort: str = "") -> Column:
    """The cost on this basis, with its range."""
    return Column(
        heading,
        lambda row: money(row.cost(basis).cost, row.currency),
        lambda row: cost_range(row, basis),
        is_number=True,
        sort=sort,
        meaning=meaning,
    )


def _memory(row: Estimate) -> str:
    each = row.bill.offer.machine.memory_gib
    return "" if each is None else f"{each * row.nodes:,.0f} GiB"


FIGURES = {
    "machine": Column("Machine", words.machine, offered_accelerators),
    "bought": Column("Bought", words.bought, lambda row: f"rate of {words.seen(row)}",
                     meaning="on demand, spot, reserved or by the month; below it the day on which the rate was seen."),
    "time": Column("Time", lambda row: in_words(row.calendar_hours), lambda row: words.span(row.hours_low, row.hours_high),
                   is_number=True),
    "hours": Column("Hours", lambda row: words.hours(row.hours),
                    lambda row: words.on_calendar(row) or f"{words.hours(row.hours_low)}–{words.hours(row.hours_high)}",
                    is_number=True, sort="time",
                    meaning="time until the model reaches the accuracy, start-up and checkpoints included, with its 80 % range."),
    "cost": cost("To pay", "billed", "what this run adds to the bill, with its 80 % range.", "cost"),
    "share": cost("Share of use", "effective",
                  "the run's part of a bill that other work shares, such as that of a reserved machine."),
    "probability": Column("Reaches it", lambda row: words.chance(row.success_probability), is_number=True,
                          meaning="how likely one run of the recipe is to reach the accuracy."),
    "recipe": Column("Recipe", lambda row: row.recipe,
                     lambda row: f"speed {row.evidence.throughput.value}, curve {row.evidence.convergence.value}",
                     meaning="how the model is trained, and whether speed and curve were measured or follow from others."),
    "rate": Column("Rate per hour", lambda row: f"{row.hourly_rate:,.4g} {row.currency}", is_number=True),
    "speed": Column("Speed", lambda row: f"{number(words.per_second(row), WHOLE)} {words.samples_of(row)}/s",
                    lambda row: f"limited by the {row.limited_by}", is_number=True,
                    meaning="what is trained on in a second, and the part of the machine that limits it."),
    "epochs": Column("Epochs", lambda row: f"{row.epochs:,.4g}", lambda row: f"batch {number(row.global_batch_size, WHOLE)}",
                     is_number=True),
    "vcpus": Column("vCPUs", lambda row: number(row.vcpus, WHOLE), is_number=True),
    "ram": Column("RAM", _memory, is_number=True),
    "memory": Column("Accelerator memory", lambda row: f"{row.accelerator_memory_gib or 0:g} GiB", is_number=True),
    "price_age": Column("Price age", lambda row: f"{row.price_age_days:,} days",
                        lambda row: "first hand" if row.price_first_hand else "second hand", is_number=True),
    "break_even": Column("Break-even", lambda row: f"{number(row.break_even_hours, WHOLE)} h" if row.break_even_hours else "",
                         is_number=True,
                         meaning="hours of use in a term above which the commitment costs less than the same machine on demand."),
}  # fmt: skip
USUAL = ("machine", "bought", "hours", "cost", "share", "probability", "recipe")


def of_an_estimate(basis: Basis) -> tuple[Column, ...]:
    """What people read of an estimate beside others: one cost, of this basis."""
    recipe = replace(FIGURES["recipe"], leave=1)
    return (FIGURES["machine"], FIGURES["bought"], FIGURES["time"], cost("Cost", basis), recipe)


def listed(basis: Basis) -> Iterator[Column]:
    """What a terminal lists, of which a narrow one leaves out the recipe, then the cost that the question does not go by."""
    leaving = {"recipe": 1, "cost" if basis == "effective" else "share": 2, "probability": 3}
    yield Column("#", lambda row: f"{row.rank}{'*' if row.frontier else ''}", is_number=True)
    yield from (replace(FIGURES[name], leave=leaving.get(name, 0)) for name in USUAL)
