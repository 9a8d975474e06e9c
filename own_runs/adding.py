"""A log and what its owner says of the run, put together as a run: what is missing is asked for by name."""

from __future__ import annotations

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
from costcalc.training import IMAGES_PER_EPOCH
from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.log import LogRefused, Point, TrainingLog, only_refusals
from own_runs.logs.reading import read_log
from own_runs.runs import CurvePoint, Run, is_lower_better

MOST_STORED, LARGEST_VALUE, FASTEST = 1000, 1e12, 1e9
MOST_NAMED = 8  # metrics
VALIDATION = re.compile(r"(?<![a-z])(val|valid|validation|eval|test)(?![a-z])", re.I)
ACCURACY = re.compile(r"acc|top_?1(?!\d)", re.I)
TOP_1 = re.compile(r"top[-_/ ]?1(?!\d)", re.I)
PARTS_OF_NAME = re.compile(r"[^a-z0-9.]+")
NO_TIMES = "missing: the log has no times, so how many hours did all of it take?"
WORDS = ("model", "dataset", "better")
StepsAre = Literal["epochs", "batches"]
LONGEST_STEP = 60.0
"""Seconds of a step beyond which a log that counts steps alone may well count epochs by them, as many write to MLflow."""
BETTER = {"lower": True, "higher": False}
KNOWN_SAMPLES = {"imagenet": IMAGES_PER_EPOCH}
NO_METRIC = re.compile(r"^(lr|learning_rate|momentum|grad_norm|weight_decay)(?![a-z])|^lr[-/]", re.I)
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
    """The run whose log is in a file. Raises LogRefused for a file that cannot be read, RunRefused where a fact is missing."""
    log = read_log(path)
    if facts.steps_are == "epochs" and all(point.epochs is None for point in log.points):
        log = replace(log, points=tuple(point._replace(epochs=point.steps, steps=None) for point in log.points))
    facts = _with_stated(facts, log)
    metric, column, errors = _metric(log, facts)
    points = [point for point in log.points if column in point.values]
    errors |= _missing(facts, log, points)
    if errors:
        raise RunRefused(errors)
    return in_lines(_run(_Read(path, log, points, metric, column), facts, now))


class _Read(Struct, frozen=True):
    """A log with its points in the metric that is asked for, which stands in the `column`."""

    path: Path
    log: TrainingLog
    points: Sequence[Point]
    metric: str
    column: str


def _run(read: _Read, facts: Facts, now: datetime) -> Run:
    assert facts.batch_size
    assert facts.accelerator
    assert facts.dataset
    samples = facts.samples_per_epoch or _derived_samples(read.log.points, facts.batch_size)
    assert samples
    curve, notes = _from_the_start(_curve(read, facts.batch_size / samples))
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
        samples_per_second=_speed(curve, samples, facts),
        ran_on=facts.ran_on or now.date(),
        added_at=now,
        source=read.path.name,
        digest=digest,
        written_by=read.log.written_by,
        notes=(*read.log.notes, *notes),
    )


def as_read(path: Path) -> tuple[str, ...]:
    """Sentences that say how a log is understood on its own. Raises LogRefused."""
    log = read_log(path)
    first, last = log.points[0], log.points[-1]
    unit = "steps" if last.epochs is None else "epochs"
    begin, end = ((point.steps if last.epochs is None else point.epochs) or 0.0 for point in (first, last))
    took = "" if last.seconds is None else f", {last.seconds / SECONDS_PER_HOUR:,.3g} h"
    values = f"{', '.join(log.metrics()[:MOST_NAMED])} from {begin:,.6g} to {end:,.6g} {unit}{took}"
    return (f"{path.name} is read as a log of {log.written_by}: {values}.", *log.notes)


def _with_stated(facts: Facts, log: TrainingLog) -> Facts:
    """The facts, completed by those that the file states."""
    stated = {name: float(text) for name, text in log.stated.items() if name not in WORDS}
    dataset, better = facts.dataset or log.stated.get("dataset"), log.stated.get("better", "")
    if log.written_by == PER_PROCESS and facts.accelerators > 1:
        stated.pop("batch_size", None)
    batch, samples = stated.get("batch_size"), stated.get("samples_per_epoch")
    return replace(
        facts,
        model=facts.model or log.stated.get("model"),
        dataset=dataset,
        lower_is_better=BETTER.get(better) if facts.lower_is_better is None else facts.lower_is_better,
        batch_size=facts.batch_size or (int(batch) if batch else None),
        samples_per_epoch=facts.samples_per_epoch or (int(samples) if samples else KNOWN_SAMPLES.get(dataset or "")),
        hours=facts.hours or stated.get("hours"),
    )


def _metric(log: TrainingLog, facts: Facts) -> tuple[str, str, dict[str, str]]:
    """The name of the metric and its column, or a message if neither can be told."""
    columns, named = [name for name in log.metrics() if not NO_METRIC.search(name)], facts.metric
    if named is None:
        matching = _likeliest(columns)
        wrong = f"missing: the log has {', '.join(columns[:12])}"
    else:
        matching = [column for column in columns if column == named] or [
            column for column in columns if named.casefold() in column.casefold()
        ]
        how_many = "more than one" if matching else "no"
        wrong = f"{how_many} column is called {named}; there are {', '.join(columns[:12])}"
    if len(matching) != 1:
        return "", "", {"metric": wrong}
    return named or matching[0], matching[0], {}


def _likeliest(columns: list[str]) -> list[str]:
    """The only column; else the accuracies of validation, the top-1 if there are several; else the columns of validation."""
    of_validation = [name for name in columns if VALIDATION.search(name)]
    accuracies = [name for name in of_validation or columns if ACCURACY.search(name)]
    firsts = [name for name in accuracies if TOP_1.search(name)]
    return columns if len(columns) == 1 else firsts or accuracies or of_validation


def _missing(facts: Facts, log: TrainingLog, points: Sequence[Point]) -> dict[str, str]:
    """A message for each fact that neither the owner nor the log gives."""
    errors = {}
    if facts.accelerator is None:
        errors["accelerator"] = "missing: what it ran on, such as 1xA100-80GB, or instance_type"
    if facts.dataset is None:
        errors["dataset"] = "missing: what it was trained on, such as imagenet or my-data"
    if facts.batch_size is None:
        process = log.written_by == PER_PROCESS and "batch_size" in log.stated
        beside = f"; the log has {log.stated['batch_size']} for one process" if process else ""
        errors["batch_size"] = f"missing: samples in a step of all accelerators together{beside}"
    if facts.samples_per_epoch is None and not _derived_samples(log.points, facts.batch_size or 1):
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


def _derived_samples(points: Sequence[Point], batch_size: int) -> int | None:
    """Samples per epoch, from the last step of each epoch; None unless the log counts both epochs and steps."""
    both = list({point.epochs: point.steps for point in points if point.epochs and point.steps}.items())
    if not both:
        return None
    (first, begun), (last, ended) = both[0], both[-1]
    return round(batch_size * ((ended - begun) / (last - first) if last > first else ended / last))


def _curve(read: _Read, epochs_per_step: float) -> list[CurvePoint]:
    """The points after the start, ordered by epoch; the last of several at one epoch. Raises RunRefused."""
    by_epoch: dict[float, CurvePoint] = {}
    for point in read.points:
        epochs = point.epochs if point.epochs is not None else (point.steps or 0.0) * epochs_per_step
        if epochs > 0:
            by_epoch[epochs] = CurvePoint(epochs, point.seconds, point.values[read.column])
    curve = [by_epoch[epochs] for epochs in sorted(by_epoch)]
    if not curve:
        raise RunRefused({"metric": "the log has no value after the start of the training"})
    absurd = next((point for point in curve if abs(point.value) > LARGEST_VALUE), None)
    if absurd:
        raise RunRefused({"metric": f"{absurd.value:g} at epoch {absurd.epochs:g}: at most {LARGEST_VALUE:g} is read"})
    back = next((after for before, after in pairwise(curve) if (after.seconds or 0) < (before.seconds or 0)), None)
    if back:
        raise RunRefused({"file": f"the time goes back at epoch {back.epochs:g}: give the log of one run"})
    return curve


def _from_the_start(curve: list[CurvePoint]) -> tuple[list[CurvePoint], tuple[str, ...]]:
    """The curve timed from the start of the training, if the log's clock starts at its first value, and a note on that."""
    first, last = curve[0], curve[-1]
    if first.seconds != 0 or not last.seconds:
        return curve, ()
    lead = first.epochs * last.seconds / (last.epochs - first.epochs)
    shifted = [point._replace(seconds=None if point.seconds is None else point.seconds + lead) for point in curve]
    return shifted, (f"The {first.epochs:g} epochs before the first value are taken to be as fast as those after it.",)


def _speed(curve: Sequence[CurvePoint], samples: int, facts: Facts) -> float:
    """Samples per second over the whole log, by its own clock if it has one. Raises RunRefused."""
    timed = [point for point in curve if point.seconds]
    end = timed[-1] if timed else curve[-1]
    seconds = end.seconds or (facts.hours or 0.0) * SECONDS_PER_HOUR
    if not seconds:
        raise RunRefused({"hours": NO_TIMES})
    speed = end.epochs * samples / seconds
    if speed > FASTEST:
        raise RunRefused(
            {"hours": f"{end.epochs:g} epochs in {seconds:g} s are {speed:g} samples/s: how long did it take?"}
        )
    return speed


def _lower_is_better(read: _Read, facts: Facts, curve: Sequence[CurvePoint]) -> bool:
    """What the owner says, else what the metric's name says. Raises RunRefused if neither does and the values fall."""
    if facts.lower_is_better is not None:
        return facts.lower_is_better
    if is_lower_better(read.metric) or is_lower_better(read.column):
        return True
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
    """The question to ask if a known network ran far slower or faster than anybody measured it; None if it did not."""
    if run.model not in evidence.models or run.accelerator not in evidence.accelerators:
        return None
    rates = [
        row.images_per_second / row.accelerators
        for row in evidence.throughputs
        if row.model == run.model and row.accelerators
    ]
    own = run.samples_per_second / run.accelerators
    if not rates or min(rates) / BEYOND <= own <= max(rates) * BEYOND:
        return None
    return (
        f"missing: that is {own:,.0f} samples/s on each accelerator, and {run.model} was measured at {min(rates):,.0f} to "
        f"{max(rates):,.0f}; does the log count epochs or batches, are batch_size and samples_per_epoch right?"
    )


def name_of(source: str) -> str:
    """The name of a run, made from that of its file."""
    stem = source.rpartition("/")[2].partition(".")[0] or source
    return PARTS_OF_NAME.sub("-", stem.lower()).strip("-.")[:48]
