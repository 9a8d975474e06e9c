"""The lists that are pages: offers with their changes and history, measured speeds, and models."""

from __future__ import annotations

from typing import Any

from api.formats import words
from api.questions.schemas import ChangesSchema, FitSchema, HistorySchema, ModelsSchema, OffersSchema, ThroughputSchema
from api.web.pages.lists import Cell, ListPage, accelerators, day, gibibytes, machine, number

OFFER_FILTERS = ("provider", "region", "instance_type", "accelerator", "purchase")


def _history(row: Any) -> tuple[str, dict[str, object]]:
    return "lists.history", {"instance_type": row.instance_type, "provider": row.provider}


def _rate(row: Any) -> str:
    return f"{row.hourly_rate:,.6g} {row.currency}"


def _upfront(row: Any) -> str:
    return f"{row.upfront:,.2f} upfront" if row.upfront else ""


def _format(row: Any) -> str:
    return " ".join(filter(None, [row.precision, f"{row.image_size} px" if row.image_size else ""]))


MACHINE = Cell("Machine", machine, accelerators)
BOUGHT = Cell("Bought", words.bought)
RATE = Cell("Rate per hour", _rate, _upfront, is_number=True)
SEEN = Cell("Seen", lambda row: day(row.observed_at), source=lambda row: row.source)

OFFERS = ListPage(
    "Offers",
    "Every current rate for a whole machine, cheapest first within each type, with its source and date.",
    OffersSchema(),
    (*OFFER_FILTERS, "as_of", "currency"),
    lambda document: document.offers,
    (
        Cell("Machine", machine, accelerators, link=_history),
        BOUGHT,
        RATE,
        Cell("vCPUs", lambda row: number(row.vcpus, ","), is_number=True),
        Cell("RAM", lambda row: gibibytes(row.memory_gib), is_number=True),
        Cell("Accelerator memory", lambda row: gibibytes(row.accelerator_memory_gib), is_number=True),
        SEEN,
    ),
    kinds=("csv", "xlsx", "json"),
)
HISTORY = ListPage(
    "History of a rate",
    "Every rate that was observed for a machine, and when each was first and last seen.",
    HistorySchema(),
    ("instance_type", "provider", "region", "purchase", "since", "until"),
    lambda document: document.history,
    (MACHINE, BOUGHT, RATE, SEEN, Cell("Last seen", lambda row: day(row.last_seen_at), is_number=True)),
    chart="Rates per hour over time",
)
CHANGES = ListPage(
    "Changes of rates",
    "Every rate that is new or different since a date.",
    ChangesSchema(),
    (*OFFER_FILTERS, "since", "as_of"),
    lambda document: document.changes,
    (
        MACHINE,
        BOUGHT,
        Cell("Before", lambda row: number(row.previous_hourly_rate, ",.6g"), is_number=True),
        RATE,
        Cell("Change", lambda row: "new" if row.change is None else f"{row.change:+.1%}", is_number=True),
        SEEN,
    ),
)
SPEEDS = ListPage(
    "Speeds",
    "Measured training speeds on what can be rented in dollars, most images for the money first.",
    ThroughputSchema(),
    ("model", "recipe", "image_size", "year", "nodes", *OFFER_FILTERS),
    lambda document: document.throughputs,
    (
        Cell("Model", lambda row: row.model, lambda row: f"{row.image_size} px, {row.precision or 'unknown precision'}"),
        Cell("Machine", machine, accelerators),
        Cell("Images/s", lambda row: number(row.images_per_second, ",.0f"), is_number=True),
        Cell("Per $ an hour", lambda row: number(row.images_per_second_per_dollar_hour, ",.0f"), is_number=True),
        Cell("Rate per hour", _rate, words.bought, is_number=True),
        Cell("Measured with", lambda row: row.framework, lambda row: f"{row.measured_on}, {row.throughput_year}",
             source=lambda row: row.throughput_source),
    ),
)  # fmt: skip
FITS = ListPage(
    "What fits",
    "The largest batch of each network that fits the memory of each accelerator.",
    FitSchema(),
    ("model", "accelerator", "precision", "image_size", "as_of"),
    lambda document: document.fits,
    (
        Cell("Network", lambda row: row.model, _format),
        Cell("Accelerator", lambda row: row.accelerator, lambda row: gibibytes(row.memory_gib)),
        Cell("Fits", lambda row: "yes" if row.fits else "no"),
        Cell(
            "Largest batch",
            lambda row: number(row.largest_batch, ","),
            lambda row: f"{row.largest_batch_low:,}–{row.largest_batch_high:,}",
            is_number=True,
        ),
        Cell("Known", lambda row: row.evidence.value, source=lambda row: row.source),
    ),
)
MODELS = ListPage(
    "Models",
    "Every model of which something was measured, with the highest accuracy that anybody's recipe reached.",
    ModelsSchema(),
    (),
    lambda document: document.models,
    (
        Cell("Model", lambda row: row.model, lambda row: ", ".join(row.aliases),
             link=lambda row: ("lists.one", {"model": row.model})),
        Cell("Best top-1", lambda row: number(row.best_top1, ".4f"), is_number=True),
        Cell("Best top-5", lambda row: number(row.best_top5, ".4f"), is_number=True),
        Cell("Parameters", lambda row: f"{row.parameters_millions:,.1f} M" if row.parameters_millions else "", is_number=True),
        Cell("GMACs", lambda row: number(row.gmacs, ",.2f"), is_number=True),
        Cell("Recipes", lambda row: number(len(row.recipes), ","), is_number=True),
        Cell("Speeds", lambda row: number(row.throughputs, ","), is_number=True),
        Cell("Cost", lambda row: "what it costs" if row.best_top1 else "",
             link=lambda row: ("pages.page", {"model": row.model, "target": f"{int((row.best_top1 or 0) * 1000 - 2) / 1000:g}"})),
    ),
    kinds=("json",),
    find=lambda row: " ".join((row.model, *row.aliases)),
    example="efficientnet",
)  # fmt: skip
MODEL = ListPage(
    "Recipes",
    "How this model was trained, and what accuracy each recipe ended at.",
    ModelsSchema(),
    (),
    lambda document: document.recipes,
    (
        Cell("Recipe", lambda row: row.name, lambda row: row.organisation, source=lambda row: row.source),
        Cell("Year", lambda row: str(row.year), is_number=True),
        Cell("Epochs", lambda row: number(row.scheduled_epochs), is_number=True),
        Cell("Batch", lambda row: number(row.global_batch_size, ","), is_number=True),
        Cell("Best top-1", lambda row: _best(row, "top1"), is_number=True),
        Cell("Best top-5", lambda row: _best(row, "top5"), is_number=True),
        Cell("Trained on", lambda row: f"{row.system.accelerators:,} × {row.system.accelerator}" if row.system else "",
             lambda row: row.framework),
        Cell("Logged points", lambda row: number(len(row.evaluations), ","), is_number=True),
    ),
    kinds=("json",),
    find=lambda row: f"{row.name} {row.organisation} {row.framework} {row.system.accelerator if row.system else ''}",
    example="mlperf",
)  # fmt: skip


def _best(recipe: Any, metric: str) -> str:
    known = [getattr(point, metric) for point in recipe.evaluations]
    return number(max((each for each in known if each is not None), default=None), ".4f")
