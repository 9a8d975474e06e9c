"""A log and what its owner says of the run, put together as a run: what is missing is asked for by name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial
from hashlib import blake2b, file_digest
from itertools import pairwise
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.fields import filled
from costcalc.text import in_lines
from costcalc.training import IMAGES_PER_EPOCH, Throughput
from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.clock import in_words
from own_runs.logs.log import LogRefused, Point, TrainingLog, only_refusals
from own_runs.logs.names import is_metric
from own_runs.logs.reading import read_log
from own_runs.metrics import called, likeliest
from own_runs.placing import Placed, placed
from own_runs.runs import CurvePoint, Run, is_higher_better, is_lower_better

MOST_STORED, LARGEST_VALUE, FASTEST = 1000, 1e12, 1e9
MOST_NAMED = 8  # metrics
PARTS_OF_NAME = re.compile(r"[^a-z0-9.]+")
NO_TIMES = "missing: the log has no times, so how many hours did all of it take?"
WORDS = ("model", "dataset", "better")
StepsAre = Literal["epochs", "batches"]
LONGEST_STEP = 60.0
"""Seconds of a step beyond which a log that counts steps alone may well count epochs by them, as many write to MLflow."""
BETTER = {"lower": True, "higher": False}
ALWAYS_NEEDED = {
    "accelerator": "what it ran on, such as 1xA100-80GB, or instance_type",
    "dataset": "what it was trained on, such as imagenet or my-data",
}
KNOWN_SAMPLES = {"imagenet": IMAGES_PER_EPOCH}
YOURS = "The log says {} {:,.6g}: your {:,.6g} counts."
YOUR_HOURS = "The log's own clock says {}: your {} count."
QUESTIONS = {"hours": "how many hours did all of it take?", "samples_per_epoch": "how many samples has the data set?"}
PAID = "If the machine was paid while its clock paused, say how many hours it took."
TOLERANCE = 0.02
SAME_HOURS = 0.7, 1.2
"""Of the time that a log says that all of it took, what its clock may say: it may leave out the end, or the start."""
PASSES = 30
"""How often training reads or writes each sample at least: the first layers of even a small network are larger than it."""
LEAST_SAMPLE_BYTES = 1024
"""Of a sample of which nothing is said."""
BYTES_PER_PIXEL = 6  # of three colours in 16 bits
SIZES_BY_SAMPLES = {1_281_167: 224, 50_000: 32, 60_000: 28}
"""Pixels of the images of ImageNet, CIFAR and MNIST, which one knows by their number."""
BEYOND = 5.0
"""How many times slower or faster than anybody measured a run may be."""
PER_PROCESS = "transformers"  # whose train_batch_size is that of one process


class RunRefused(LogRefused):
    """A log does not make a run; `errors` say what to give, by the name of the fact."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = in_lines(dict(errors))
        super().__init__("; ".join(f"{name}: {message}" for name, message in self.errors.items()))


class Facts(Struct, frozen=True):
    """What the owner of a run says of it, as in `Run`; None leaves it to the log. `hours` are those of the whole log."""

    name: str
    model: str | None = None
    dataset: str | None = None
    metric: str | None = None
    lower_is_better: bool | None = None
    accelerator: str | None = None
    accelerators: int = 1
    nodes: int = 1
    batch_size: int | None = None
    samples_per_epoch: int | None = None
    hours: float | None = None
    ran_on: date | None = None
    precision: str | None = None
    image_size: int | None = None
    provider: str | None = None
    instance_type: str | None = None
    scheduled_epochs: float | None = None
    data_set_gb: float | None = None
    steps_are: StepsAre | None = None


@only_refusals()
def read_run(path: Path, facts: Facts, now: datetime) -> Run:
    """The run whose log is in a file. Raises LogRefused for a file that cannot be read, RunRefused where a fact is missing or
    the log contradicts itself."""
    log = read_log(path)
    if facts.steps_are == "epochs" and all(point.epochs is None for point in log.points):
        log = replace(log, points=tuple(point._replace(epochs=point.steps, steps=None) for point in log.points))
    hours = facts.hours
    facts, notes = _with_stated(facts, log)
    steps = facts.samples_per_epoch / facts.batch_size if facts.samples_per_epoch and facts.batch_size else None
    lies = placed(log, steps)
    notes += (PAID,) if lies.paused and not hours else ()
    if hours:
        lies, notes = _in_hours(lies, hours, notes)
    metric, column, errors = _metric(log, facts)
    points = [point for point in lies.points if column in point.values]
    errors |= _missing(facts, log, lies, points) | _doubted(lies, log, hours)
    if errors:
        raise RunRefused(errors)
    log = replace(log, notes=(*log.notes, *lies.notes, *notes))
    return in_lines(_run(_Read(path, log, lies, points, metric, column), facts, now))


class _Read(Struct, frozen=True):
    """A log with its points in the metric that is asked for, which stands in the `column`."""

    path: Path
    log: TrainingLog
    lies: Placed
    points: Sequence[Point]
    metric: str
    column: str


def _run(read: _Read, facts: Facts, now: datetime) -> Run:
    assert facts.batch_size
    assert facts.accelerator
    assert facts.dataset
    samples = facts.samples_per_epoch or round(facts.batch_size * (read.lies.steps_per_epoch or 0.0))
    assert samples
    curve, end = _curve(read, facts.batch_size / samples), read.lies.end.done(facts.batch_size / samples)
    untimed = max(end, float(read.log.stated.get("epochs", "0"))), (facts.hours or 0.0) * SECONDS_PER_HOUR
    with read.path.open("rb") as file:
        digest = file_digest(file, partial(blake2b, digest_size=8)).hexdigest()
    return filled(
        Run,
        read,
        facts,
        model=facts.model or facts.name,
        lower_is_better=_lower_is_better(read, facts, curve),
        curve=_thinned(curve),
        samples_per_epoch=samples,
        samples_per_second=_speed(curve, samples, untimed),
        ran_on=facts.ran_on or now.date(),
        added_at=now,
        source=read.path.name,
        digest=digest,
        written_by=read.log.written_by,
        notes=read.log.notes,
    )


def as_read(path: Path) -> tuple[str, ...]:
    """Sentences that say how a log is understood on its own. Raises LogRefused."""
    log = read_log(path)
    lies = placed(log)
    first, last = lies.points[0], lies.end
    unit = "steps" if last.epochs is None else "epochs"
    begin, end = ((point.steps if last.epochs is None else point.epochs) or 0.0 for point in (first, last))
    took = "" if lies.seconds is None else f", {in_words(lies.seconds)}"
    names = [name for name in log.metrics() if is_metric(name)] or log.metrics()
    values = f"{', '.join(names[:MOST_NAMED])} from {begin:,.6g} to {end:,.6g} {unit}{took}"
    return (f"{path.name} is read as a log of {log.written_by}: {values}.", *log.notes, *lies.notes)


def _with_stated(facts: Facts, log: TrainingLog) -> tuple[Facts, tuple[str, ...]]:
    """The facts, completed by those that the file states, and where both differ: the owner's count."""
    stated = {name: float(text) for name, text in log.stated.items() if name not in WORDS}
    if log.written_by == PER_PROCESS:  # whose last entry tells of all processes, accumulation included
        of_one, of_step = stated.get("batch_size", 1.0) or 1.0, stated.get("samples_per_step", 0.0)
        stated["batch_size"] = of_one * max(round(of_step / of_one), 1) if of_step else 0.0
    dataset, better = facts.dataset or log.stated.get("dataset"), log.stated.get("better", "")
    samples = stated.get("samples_per_epoch")
    completed = replace(
        facts,
        model=facts.model or log.stated.get("model"),
        dataset=dataset,
        lower_is_better=BETTER.get(better) if facts.lower_is_better is None else facts.lower_is_better,
        batch_size=facts.batch_size or int(stated.get("batch_size", 0.0)) or None,
        samples_per_epoch=facts.samples_per_epoch or (int(samples) if samples else KNOWN_SAMPLES.get(dataset or "")),
        hours=facts.hours or stated.get("hours"),
    )
    given = {"batch_size": facts.batch_size, "samples_per_epoch": facts.samples_per_epoch, "hours": facts.hours}
    differ = [
        YOURS.format(name, stated[name], own)
        for name, own in given.items()
        if own and stated.get(name) and abs(own / stated[name] - 1) > TOLERANCE
    ]
    return completed, tuple(differ)


def _in_hours(lies: Placed, hours: float, notes: tuple[str, ...]) -> tuple[Placed, tuple[str, ...]]:
    """The points with a clock that ends after so many hours, as their owner says, and where its own clock says otherwise."""
    seconds = hours * SECONDS_PER_HOUR
    if not lies.seconds or "hours" in lies.doubts:
        return replace(lies, points=tuple(point._replace(seconds=None) for point in lies.points)), notes
    ratio = seconds / lies.seconds
    if abs(ratio - 1) > TOLERANCE:
        notes = (*notes, YOUR_HOURS.format(in_words(lies.seconds), in_words(seconds)))
    points = tuple(
        point if point.seconds is None else point._replace(seconds=point.seconds * ratio) for point in lies.points
    )
    return replace(lies, points=points), notes


def _doubted(lies: Placed, log: TrainingLog, hours: float | None) -> dict[str, str]:
    """What to ask of a log that contradicts itself, unless its owner said it."""
    doubts = {
        name: f"missing: {doubt}: {QUESTIONS[name]}"
        for name, doubt in lies.doubts.items()
        if not (name == "hours" and hours)
    }
    stated = float(log.stated.get("hours", "0")) * SECONDS_PER_HOUR
    if stated and lies.seconds and not hours and not SAME_HOURS[0] <= lies.seconds / stated <= SAME_HOURS[1]:
        both = f"its clock says {in_words(lies.seconds)}, and that all of it took {in_words(stated)}"
        doubts.setdefault("hours", f"missing: {both}: {QUESTIONS['hours']}")
    return doubts


def _metric(log: TrainingLog, facts: Facts) -> tuple[str, str, dict[str, str]]:
    """The name of the metric and its column, or a message if neither can be told."""
    columns, named = log.metrics(), facts.metric
    judging = [name for name in columns if is_metric(name)]
    if named is None:
        likely = likeliest(judging, log.points)
        matching = likely if len(likely) == 1 else []
        wrong = f"missing: the log has {', '.join(likely or judging or columns)[:400]}"
    else:
        matching = called(named, columns)
        how_many = "more than one" if matching else "no"
        wrong = f"{how_many} column is called {named}; there are {', '.join(columns[:12])}"
    if len(matching) != 1:
        return "", "", {"metric": wrong}
    return named or matching[0], matching[0], {}


def _missing(facts: Facts, log: TrainingLog, lies: Placed, points: Sequence[Point]) -> dict[str, str]:
    """A message for each fact that neither the owner nor the log gives."""
    errors = {name: f"missing: {what}" for name, what in ALWAYS_NEEDED.items() if getattr(facts, name) is None}
    if facts.batch_size is None:
        process = log.written_by == PER_PROCESS and "batch_size" in log.stated
        beside = f"; the log has {log.stated['batch_size']} for one process, before accumulation" if process else ""
        errors["batch_size"] = f"missing: samples in a step of all accelerators together{beside}"
    if facts.samples_per_epoch is None and not lies.steps_per_epoch:
        errors["samples_per_epoch"] = "missing: how many samples the data set has"
    timed = [point for point in points if point.seconds is not None]
    if points and not facts.hours and not (timed and timed[-1].seconds):
        errors["hours"] = NO_TIMES
    if points and all(point.epochs is None and point.steps is None for point in points):
        errors["metric"] = "the log says neither at which epoch nor at which step it was measured"
    steps = points[-1].steps if points and all(point.epochs is None for point in points) else None
    seconds = (points[-1].seconds or (facts.hours or 0.0) * SECONDS_PER_HOUR) / steps if steps else 0.0
    if seconds > LONGEST_STEP and not facts.steps_are:
        errors["steps_are"] = f"missing: one of the log's steps took {seconds:,.0f} s; epochs or batches?"
    return errors


def _curve(read: _Read, epochs_per_step: float) -> list[CurvePoint]:
    """The points after the start, ordered by epoch; the last of several at one epoch. Raises RunRefused."""
    by_epoch: dict[float, CurvePoint] = {}
    for point in read.points:
        epochs = point.done(epochs_per_step)
        if epochs > 0:
            by_epoch[epochs] = CurvePoint(epochs, point.seconds, point.values[read.column])
    curve = [by_epoch[epochs] for epochs in sorted(by_epoch)]
    if not curve:
        raise RunRefused({"metric": "the log has no value after the start of the training"})
    absurd = next((point for point in curve if abs(point.value) > LARGEST_VALUE), None)
    if absurd:
        raise RunRefused({"metric": f"{absurd.value:g} at epoch {absurd.epochs:g}: at most {LARGEST_VALUE:g} is read"})
    timed = [point for point in curve if point.seconds is not None]
    back = next((after for before, after in pairwise(timed) if (after.seconds or 0) < (before.seconds or 0)), None)
    if back:
        raise RunRefused({"file": f"the time goes back at epoch {back.epochs:g}: give the log of one run"})
    return curve


def _speed(curve: Sequence[CurvePoint], samples: int, untimed: tuple[float, float]) -> float:
    """Samples per second over the whole log, by its own clock if it has one, else by the epochs and seconds that its owner, or
    the log, says that all of it took. Raises RunRefused."""
    timed = [point for point in curve if point.seconds]
    epochs, seconds = (timed[-1].epochs, timed[-1].seconds or 0.0) if timed else untimed
    if not seconds:
        raise RunRefused({"hours": NO_TIMES})
    speed = epochs * samples / seconds
    if speed > FASTEST:
        raise RunRefused(
            {"hours": f"{epochs:g} epochs in {seconds:g} s are {speed:g} samples/s: how long did it take?"}
        )
    return speed


def _lower_is_better(read: _Read, facts: Facts, curve: Sequence[CurvePoint]) -> bool:
    """What the owner says, else what the metric's name says. Raises RunRefused if neither does and the values fall."""
    if facts.lower_is_better is not None:
        return facts.lower_is_better
    if is_lower_better(read.metric) or is_lower_better(read.column):
        return True
    if is_higher_better(read.metric) or is_higher_better(read.column):
        return False
    if curve[-1].value < curve[0].value:
        fall = f"{read.metric} fell from {curve[0].value:g} to {curve[-1].value:g}"
        raise RunRefused({"better": f"missing: {fall}; lower for a loss, higher for an accuracy"})
    return False


def _thinned(curve: list[CurvePoint]) -> tuple[CurvePoint, ...]:
    """At most MOST_STORED points, each the mean of equally many in a row."""
    size = -(-len(curve) // MOST_STORED)
    if size == 1:
        return tuple(curve)
    rows = [curve[at : at + size] for at in range(0, len(curve), size)]
    return tuple(row[-1]._replace(value=sum(point.value for point in row) / len(row)) for row in rows)


def implausible(run: Run, evidence: Evidence) -> str | None:
    """The question to ask if a run was far slower or faster than anybody measured its network, or faster than its card can be;
    None if it was not."""
    own = run.samples_per_second / run.accelerators
    low, high, why = _possible(run, evidence)
    if low <= own <= high:
        return None
    return (
        f"missing: that is {own:,.0f} samples/s on each accelerator, and {why}; does the log count epochs or batches, are hours, "
        "batch_size and samples_per_epoch right?"
    )


def _possible(run: Run, evidence: Evidence) -> tuple[float, float, str]:
    """The least and most samples per second of an accelerator that are believed without asking, and why."""
    measured = [row for row in evidence.throughputs if row.accelerators]
    of_network = [row for row in measured if row.model == run.model] if run.accelerator in evidence.accelerators else []
    of_card = [row for row in measured if row.accelerator == run.accelerator]
    if run.model in evidence.models and of_network:
        low, high = _least_and_most(of_network)
        return low / BEYOND, high * BEYOND, f"{run.model} was measured at {low:,.0f} to {high:,.0f}"
    if run.samples_per_epoch == IMAGES_PER_EPOCH and of_card:
        _, high = _least_and_most(of_card)
        why = f"no network was measured beyond {high:,.0f} on {run.accelerator} with so many images"
        return 0.0, high * BEYOND, why
    card = evidence.accelerators.get(run.accelerator)
    bandwidth = (card and card.memory_bandwidth_gb_per_s) or math.inf
    size = run.data_set_gb * 1e9 / run.samples_per_epoch if run.data_set_gb else LEAST_SAMPLE_BYTES
    pixels = (run.image_size or SIZES_BY_SAMPLES.get(run.samples_per_epoch, 0)) ** 2
    most = bandwidth * 1e9 / (PASSES * max(size, pixels * BYTES_PER_PIXEL))
    return 0.0, most, f"the memory of {run.accelerator} passes at most {most:,.0f} such samples"


def _least_and_most(rows: Sequence[Throughput]) -> tuple[float, float]:
    """The least and most images per second of an accelerator in these rows."""
    rates = [row.images_per_second / (row.accelerators or 1) for row in rows]
    return min(rates, default=0.0), max(rates, default=0.0)


def name_of(source: str) -> str:
    """The name of a run, made from that of its file."""
    stem = source.rpartition("/")[2].partition(".")[0] or source
    return PARTS_OF_NAME.sub("-", stem.lower()).strip("-.")[:48]
