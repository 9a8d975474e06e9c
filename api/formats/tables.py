"""The lists that people read, a table each: what a page, the terminal, CSV and workbooks show of a column stands here once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from api.formats import words
from api.questions.suggestions import many
from api.reports.every_round import MOMENT, PARTS
from api.reports.models import ModelSummary
from api.reports.prices.changes import ChangeRow
from api.reports.prices.history import HistoryRow
from api.reports.prices.offers import OfferRow
from api.reports.rounds import RoundRow
from api.reports.small_networks import SmallTraining
from api.reports.tasks import IMAGENET, TaskRow
from api.reports.throughput import ThroughputRow
from api.reports.trend import TrendRow
from costcalc.evidence.largest_batch import Fit
from costcalc.money import money
from costcalc.tasks.goals import value_in_words
from costcalc.tasks.tables import MLPERF, benchmark_of, tasks
from costcalc.training import Metric, Recipe, Tier
from costcalc.units import in_words

Text = Callable[[Any], str]
Link = tuple[str, dict[str, Any]]
PRICE_FILTERS = ("provider", "region", "instance_type", "accelerator", "purchase")


def nothing(_: object) -> str:
    """No text."""
    return ""


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of a row: its heading, its text, and in small print below it what belongs to it.

    `source` is where the figure was read, and `link` the question that leads on from it, with its parameters. A narrow terminal
    leaves out the column with `leave` 1 first, then 2, and so on; 0 always stays. On a page a click on the heading asks for
    `sort`, and `bar` is the length of a bar below the figure.
    """

    heading: str
    text: Text
    small: Text = nothing
    is_number: bool = False
    leave: int = 0
    source: Text = nothing
    link: Callable[[Any], Link | None] = lambda _: None
    sort: str = ""
    bar: Callable[[Any], float | None] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A list of rows of one type, whose fields are the columns of CSV and workbooks.

    `noun` is what a row is called, `rows` takes them out of the report, and `when` says of the JSON document which prices it is
    of. A page shows the `filters`, and leads to the questions `beside`, by title and name. Of a list that comes whole,
    `find` is the text by which a page finds a row, as by `example`, and `first` the order in which it shows them. A list without
    a type of `row` comes in no sheet.
    """

    title: str
    intro: str
    noun: str
    row: type | None
    columns: tuple[Column, ...]
    filters: tuple[str, ...] = ()
    when: Text = nothing
    rows: Callable[[Any], Iterable[Any]] = lambda report: report.rows()
    find: Text | None = None
    example: str = ""
    first: Callable[[Any], Any] | None = None
    beside: tuple[tuple[str, str], ...] = ()


def day(moment: datetime | None) -> str:
    """A date, or nothing."""
    return f"{moment:%Y-%m-%d}" if moment else ""


def number(value: float | Decimal | None, form: str = ",.4g") -> str:
    """A number, or nothing where it is not known."""
    return "" if value is None else format(value, form)


def rate(value: Decimal | None) -> str:
    """A rate in cents, and in hundredths of a cent where it has them."""
    return number(value, ",.4f").removesuffix("00")


def batch(fit: Fit) -> str:
    """The largest batch as measured, with its range where it is modelled; `-` where nothing fits."""
    if not fit.fits:
        return "-"
    if fit.evidence is Tier.MEASURED:
        return f"{fit.largest_batch:,}"
    return f"~{fit.largest_batch:,} ({fit.largest_batch_low:,}-{fit.largest_batch_high:,})"


def _gibibytes(value: float | None) -> str:
    return number(value, ",.0f") and f"{value:,.0f} GiB"


def _offered_accelerators(row: Any) -> str:
    return words.in_region(words.accelerators(row), row.region)


def _per_accelerator(row: Any) -> str:
    """What an hour of one accelerator costs; empty for machines without any."""
    return f"{rate(row.hourly_rate / row.accelerators)} {row.currency}" if row.accelerators else ""


def _history(row: Any) -> Link:
    return "history", {"instance_type": row.instance_type, "provider": row.provider}


def _free(row: Any) -> str:
    """From when one was free to rent, where the provider says it."""
    if row.available is None:
        return ""
    return day(row.available_at) if row.available and row.available_at else "none"


def _best(recipe: Recipe, metric: Metric) -> str:
    return number(recipe.best(metric), ".4f")


def _cost_just_below_best(row: ModelSummary) -> Link:
    """What the network costs to an accuracy that its best recipe reaches with ease."""
    target = int((row.best_top1 or 0) * 1000 - 2) / 1000
    return "cost", {"model": row.model, "target": f"{target:g}"}


def _task(row: TaskRow) -> Link:
    """What the task costs; the list of networks on ImageNet."""
    return ("models", {}) if row.dataset == IMAGENET else ("cost", {"model": row.model})


def _least_cost(row: TaskRow | RoundRow) -> str:
    return "no rate known" if row.cost is None else money(row.cost, row.currency)


def _takes(row: Any) -> str:
    return f"{in_words(row.hours)} on {words.accelerators(row)} at {row.provider}" if row.hours else ""


def _counts(row: TaskRow) -> str:
    """The fewest and the most accelerators of its results: `8`, `1 to 4,320`."""
    return " to ".join(f"{count:,}" for count in dict.fromkeys((row.fewest_accelerators, row.most_accelerators)))


def _rounds_of(row: TaskRow) -> Link | None:
    """What a task of MLPerf cost at each round; other benchmarks have no rounds with prices."""
    task = tasks().get(row.model)
    return ("mlperf", {"model": row.model}) if task and benchmark_of(task) == MLPERF else None


def _on_its_day(row: RoundRow) -> Link:
    """What the task cost on the day of a round."""
    asked = {"model": row.task, "target": f"{row.target:g}", "as_of": day(row.published), "purchase": "on_demand"}
    return "cost", asked


MACHINE = Column("Machine", lambda row: f"{row.provider} {row.instance_type}", _offered_accelerators)
BOUGHT = Column("Bought", words.bought)
RATE = Column(
    "Rate per hour",
    lambda row: f"{rate(row.hourly_rate)} {row.currency}",
    lambda row: f"{row.upfront:,.2f} upfront" if row.upfront else "",
    is_number=True,
)
SEEN = Column("Seen", lambda row: day(row.observed_at), source=lambda row: row.source)

OFFERS = Table(
    "Offers",
    "Every current rate for a whole machine, and for each of its accelerators, with its source and date.",
    "rate",
    OfferRow,
    (
        Column("Machine", MACHINE.text, MACHINE.small, link=_history, sort="machine"),
        BOUGHT,
        Column("Per accelerator", _per_accelerator, is_number=True, sort="accelerator", leave=6),
        Column(RATE.heading, RATE.text, RATE.small, is_number=True, sort="rate"),
        Column("vCPUs", lambda row: number(row.vcpus, ","), is_number=True, leave=4),
        Column("RAM", lambda row: _gibibytes(row.memory_gib), is_number=True, leave=3),
        Column("Accelerator memory", lambda row: _gibibytes(row.accelerator_memory_gib), is_number=True, leave=2),
        Column(SEEN.heading, SEEN.text, source=SEEN.source, sort="seen"),
        Column("Free to rent", _free, leave=5),
        Column("Confirmed", lambda row: "yes" if row.confirmed else "no", leave=1),
    ),
    (*PRICE_FILTERS, "rates", "as_of", "currency"),
    lambda document: f"at prices of {day(document.as_of)}",
)
HISTORY = Table(
    "History of a rate",
    "Every rate that was observed for a machine, and when each was first and last seen.",
    "rate",
    HistoryRow,
    (MACHINE, BOUGHT, RATE, SEEN, Column("Last seen", lambda row: day(row.last_seen_at))),
    ("instance_type", "provider", "region", "purchase", "since", "until"),
    lambda document: f"until {day(document.until)}",
)
CHANGES = Table(
    "Changes of rates",
    "Every rate that is new or different since a date.",
    "new or different rate",
    ChangeRow,
    (
        MACHINE,
        BOUGHT,
        Column("Before", lambda row: rate(row.previous_hourly_rate), is_number=True),
        RATE,
        Column("Change", lambda row: "new" if row.change is None else f"{row.change:+.1%}", is_number=True, leave=2),
        Column("Seen", SEEN.text, leave=3, source=SEEN.source),
    ),
    (*PRICE_FILTERS, "since", "as_of"),
    lambda document: f"from {day(document.since)} to {day(document.as_of)}",
)
SPEEDS = Table(
    "Speeds",
    "Measured training speeds on machines for rent in dollars, most images per dollar first.",
    "measured speed",
    ThroughputRow,
    (
        Column("Model", lambda row: row.model, lambda row: f"{row.image_size} px, {row.precision or 'unknown precision'}"),
        Column("Machine", words.machine, _offered_accelerators),
        Column("Images/s", lambda row: number(row.images_per_second, ",.1f"), is_number=True,
               bar=lambda row: row.images_per_second),
        Column("Per $ an hour", lambda row: number(row.images_per_second_per_dollar_hour, ",.1f"), is_number=True,
               bar=lambda row: row.images_per_second_per_dollar_hour),
        Column("Rate per hour", RATE.text, words.bought, is_number=True, leave=2),
        Column("Rate seen", lambda row: day(row.price_observed_at), lambda row: "" if row.confirmed else "not confirmed",
               leave=3),
        Column("Measured with", lambda row: row.framework, lambda row: f"{row.measured_on}, {row.throughput_year}",
               leave=1, source=lambda row: row.throughput_source),
    ),
    ("model", "recipe", "image_size", "year", "nodes", *PRICE_FILTERS, "rates", "speeds"),
    lambda document: f"on offers, most images per dollar first, at prices of {day(document.as_of)}",
)  # fmt: skip
FITS = Table(
    "What fits",
    "The largest batch of each network that fits the memory of each accelerator.",
    "largest batch size",
    Fit,
    (
        Column("Network", lambda row: row.model,
               lambda row: " ".join(filter(None, [row.precision, row.image_size and f"{row.image_size} px"]))),
        Column("Accelerator", lambda row: row.accelerator, lambda row: _gibibytes(row.memory_gib)),
        Column("Largest batch", batch, is_number=True, bar=lambda row: row.largest_batch),
        Column("Known", lambda row: row.evidence.value, source=lambda row: row.source, leave=1),
    ),
    ("model", "accelerator", "precision", "image_size", "as_of"),
)  # fmt: skip
TREND = Table(
    "What it cost before",
    "The cheapest machine that one could rent for this training at each date.",
    "date",
    TrendRow,
    (
        Column("Date", lambda row: day(row.date)),
        Column("Cost", lambda row: money(row.cost, row.currency), is_number=True),
        Column("Hours", lambda row: number(row.hours, ",.2f"), is_number=True),
        Column("Machine", lambda row: f"{row.provider} {row.instance_type}", words.accelerators),
        Column("Recipe", lambda row: row.recipe, leave=1),
        Column("What happened", lambda row: row.happened, leave=2),
    ),
    ("model", "target", "provider", "accelerator", "currency"),
)
ROUNDS = Table(
    "MLPerf in dollars",
    "The least that this task's training cost on demand on the day of each round, and the least minutes that one could rent. "
    "Only rates that were seen by then, and are confirmed, count.",
    "round",
    RoundRow,
    (
        Column("Round", lambda row: row.round, lambda row: day(row.published), link=_on_its_day),
        Column("Least cost", _least_cost, lambda row: (row.minutes and in_words(row.minutes / 60)) or "", is_number=True),
        Column("Machine", lambda row: (row.provider and f"{row.provider} {row.instance_type}") or "",
               lambda row: (row.accelerator and f"{row.accelerators:,} {row.accelerator}") or ""),
        Column("Today", lambda row: (row.cost_today is not None and money(row.cost_today, row.currency)) or "",
               is_number=True, leave=2),
        Column("Least time", lambda row: (row.least_minutes and in_words(row.least_minutes / 60)) or "",
               lambda row: (row.least_minutes_cost is not None and money(row.least_minutes_cost, row.currency)) or "",
               is_number=True, leave=1),
        Column("Record", lambda row: f"{row.record_minutes:,.1f} min", lambda row: row.record_system, is_number=True, leave=3),
    ),
    ("model", "provider", "accelerator", "currency"),
    beside=(("All tasks in one picture", "every_round"), ("All tasks", "tasks")),
)  # fmt: skip
EVERY_ROUND = replace(
    ROUNDS,
    intro="The least that each task's training cost on demand on the day of each round, at the packaged prices of "
    f"{MOMENT:%Y-%m-%d}. {PARTS} A task's name leads to its rounds at this server's prices.",
    columns=(Column("Task", lambda row: row.task, link=lambda row: ("mlperf", {"model": row.task})), *ROUNDS.columns),
    filters=(),
    beside=(("All tasks", "tasks"),),
)
MODELS = Table(
    "Models",
    "Every model that is known, and the highest accuracy of any recipe. An accuracy leads to what it costs.",
    "model",
    ModelSummary,
    (
        Column("Model", lambda row: row.model, lambda row: ", ".join(row.aliases),
               link=lambda row: ("model", {"model": row.model})),
        Column("Best top-1", lambda row: number(row.best_top1, ".4f"), is_number=True, link=_cost_just_below_best),
        Column("Best top-5", lambda row: number(row.best_top5, ".4f"), is_number=True),
        Column("Parameters", lambda row: (row.parameters_millions and f"{row.parameters_millions:,.1f} M") or "", is_number=True,
               leave=3),
        Column("GMACs", lambda row: number(row.gmacs, ",.2f"), is_number=True, leave=2),
        Column("Recipes", lambda row: number(len(row.recipes), ","), is_number=True),
        Column("Speeds", lambda row: number(row.throughputs, ","), is_number=True),
    ),
    find=lambda row: " ".join((row.model, *row.aliases)),
    example="efficientnet",
    first=lambda row: (-len(row.recipes), -row.throughputs),
)  # fmt: skip
TASKS = Table(
    "Tasks",
    "What you can ask about besides networks on ImageNet, and the least that each costs today at a confirmed rate on demand. "
    "Give a name as the model; the target may be left out.",
    "task",
    TaskRow,
    (
        Column("Model", lambda row: "networks on ImageNet" if row.dataset == IMAGENET else row.model, lambda row: row.title,
               link=_task),
        Column("Data set", lambda row: row.dataset, leave=2),
        Column("Quality", lambda row: value_in_words(row.metric, row.quality) if row.quality else words.measure(row.metric),
               lambda row: ", and ".join(filter(None, [f"{row.better} is better", row.also])), source=lambda row: row.source),
        Column("Cost today", lambda row: "by network" if row.dataset == IMAGENET else _least_cost(row), _takes, is_number=True,
               link=_task),
        Column("Results", lambda row: number(row.results, ","), lambda row: many(row.organisations, "organisation"),
               is_number=True),
        Column("Accelerators", _counts, leave=3),
        Column("Rounds", lambda row: row.rounds, leave=1, link=_rounds_of),
        Column("Run to run", lambda row: number(row.spread, ".1%"), is_number=True, leave=4),
    ),
    beside=(("MLPerf in dollars", "every_round"),),
    find=lambda row: " ".join((row.model, row.title, *row.aliases)),
    example="llama",
)  # fmt: skip
RECIPES = Table(
    "Recipes",
    "How this model was trained, and the accuracy that each recipe reached.",
    "recipe",
    None,
    (
        Column("Recipe", lambda row: row.name, lambda row: row.organisation, source=lambda row: row.source),
        Column("Year", lambda row: str(row.year), is_number=True, leave=5),
        Column("Epochs", lambda row: number(row.scheduled_epochs), is_number=True, leave=4),
        Column("Batch", lambda row: number(row.global_batch_size, ","), is_number=True, leave=3),
        Column("Best top-1", lambda row: _best(row, Metric.TOP1), is_number=True),
        Column("Best top-5", lambda row: _best(row, Metric.TOP5), is_number=True),
        Column("Trained on", lambda row: words.accelerators(row.system) if row.system else "", lambda row: row.framework,
               leave=2),
        Column("Logged points", lambda row: number(len(row.evaluations), ","), is_number=True, leave=1),
    ),
    rows=lambda report: report.document().recipes,
    find=lambda row: f"{row.name} {row.organisation} {row.framework} {row.system.accelerator if row.system else ''}",
    example="mlperf",
)  # fmt: skip
MEASURED = Table(
    "Measured speeds",
    "Every measured speed of this model.",
    "measured speed",
    None,
    (
        Column("Accelerators", words.accelerators),
        Column("Images/s", lambda row: number(row.images_per_second, ",.1f"), is_number=True),
        Column("Precision", lambda row: row.precision or "", leave=3),
        Column("Framework", lambda row: row.framework, leave=2),
        Column("Year", lambda row: str(row.year), is_number=True, source=lambda row: row.source),
    ),
    rows=lambda report: report.document().throughputs,
)
SMALL = Table(
    "A small network",
    "How long a network given by its layers trains on a processor and on GPUs, the fastest first.",
    "device",
    SmallTraining,
    (
        Column("Device", lambda row: row.device),
        Column("Time", lambda row: in_words(row.train_seconds / 3600), is_number=True, bar=lambda row: row.train_seconds,
               small=lambda row: words.span(row.train_seconds_low / 3600, row.train_seconds_high / 3600)),
        Column("Milliseconds a step", lambda row: number(row.step_seconds * 1000, ",.3g"), is_number=True),
        Column("Limited by", lambda row: row.limited_by),
        Column("Worth an hour up to", lambda row: f"${row.worth_up_to_hourly:,.2f}", is_number=True),
        Column("Known", lambda row: row.evidence, source=lambda row: row.source),
    ),
    ("model", "samples", "batch_size", "epochs", "hourly_rate"),
)  # fmt: skip
