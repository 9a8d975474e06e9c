"""The tasks, their published results and their reference points, each with its source; read when first asked for."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct

from costcalc.evidence.tables import TableError, cells, text_of, typed
from costcalc.training import Code

TASKS, RESULTS, POINTS, ROUNDS, PARTWAY = "tasks", "results", "reference_points", "rounds", "partway"
MEMORY = "memory"
PLAIN_LOOPS = "plain_loops"
MLPERF = "MLPerf"


class Task(Struct, frozen=True):
    """A network, the data set that it is trained on, and how far: to `quality` in `metric`, and to what `also` says.

    Work is counted in passes, of `samples_per_pass` of a `unit` each. `kind` is the sort of network whose speeds follow chips
    alike. `network_gib` is what weights, gradients and optimizer take, None for 16 bytes a parameter. `staged_gb` are brought to
    the machine, None where nobody said how much. `sequence_length` is in tokens. `whole_training` is what the network took that
    people know by its name, where the task is only a part of that. Results leave out `untimed_minutes` of each run, of
    compilation.
    """

    name: str
    aliases: tuple[str, ...]
    title: str
    kind: str
    dataset: str
    metric: str
    better: Literal["higher", "lower"]
    quality: float
    also: str | None
    unit: str
    pass_name: str
    samples_per_pass: float
    staged_gb: float | None
    sequence_length: int | None
    starts_from: str | None
    parameters_millions: float | None
    network_gib: float | None
    tflop_per_sample: float | None
    whole_training: str | None
    untimed_minutes: float | None
    source: str


class Schedule(NamedTuple):
    """To what target one trains with which batch, None where it was not logged, on how many accelerators."""

    target: float
    batch: int | None
    accelerators: int


class Result(Struct, frozen=True):
    """What one system of an organisation took: official `minutes` to `target` with this batch in so many `passes`, None where
    the log counts otherwise; `passes_per_minute` is the middle speed of its runs. `repeats` says that a later round shows the
    same runs again, `outlier` that others took far less on as many of the same chip, or than its like on fewer. `memory_gib` is
    what each accelerator reserved, None where that was not published.
    """

    name: str
    task: str
    round: str
    organisation: str
    system: str
    accelerator: str
    accelerators: int
    nodes: int
    framework: str
    global_batch_size: int | None
    passes: float | None
    passes_per_minute: float | None
    target: float
    minutes: float
    minutes_sd: float | None
    runs: int
    reached: int
    provider: str | None
    instance_type: str | None
    repeats: bool
    outlier: bool
    published: date
    source: str
    memory_gib: float | None = None

    @property
    def schedule(self) -> Schedule:
        """How it was trained."""
        return Schedule(self.target, self.global_batch_size, self.accelerators)

    @property
    def counted_passes(self) -> float | None:
        """The passes in its official minutes at its speed: those of the runs that count, scaled if the rules say so."""
        return self.passes_per_minute * self.minutes if self.passes_per_minute else self.passes


class ReferencePoint(Struct, frozen=True):
    """After how many passes the reference runs of a round's rules reached the target with a batch, in the mean of `runs`."""

    task: str
    version: str
    global_batch_size: int
    passes: float
    passes_sd: float
    runs: int
    source: str
    published: date


class Partway(Struct, frozen=True):
    """The `value` of a task's metric after this `share` of the passes to its quality: the median of the logs of so many
    `systems`. Where those of an organisation pass a value is within the factor share^-`width` of the others' share in 8 of 10
    cases."""

    task: str
    share: float
    value: float
    width: float
    systems: int
    source: str


class Round(Struct, frozen=True):
    """A round of a benchmark, the day of its publication, the repository of its results, under which `licence`, and whose
    `code` it is. Records of a contest without rounds are one, published with its newest record."""

    round: str
    published: date
    repository: str
    benchmark: str
    licence: str | None
    code: Code


OfTask = TypeVar("OfTask", Result, ReferencePoint, Partway)


@cache
def tasks() -> Mapping[str, Task]:
    """All tasks by name. Raises TableError."""
    lines = [{**line, "name": line["task"], "aliases": str(line["aliases"] or "").split(";")} for line in _lines(TASKS)]
    return {task.name: task for task in typed(f"{TASKS}.csv", lines, Task)}


@cache
def rounds() -> Mapping[str, Round]:
    """The rounds by name. Raises TableError."""
    return {each.round: each for each in typed(f"{ROUNDS}.csv", _lines(ROUNDS), Round)}


@cache
def results() -> Mapping[str, tuple[Result, ...]]:
    """The results of each task. Raises TableError."""
    return _by_task(typed(f"{RESULTS}.csv", [_result(line) for line in _lines(RESULTS)], Result))


@cache
def reference_points() -> Mapping[str, tuple[ReferencePoint, ...]]:
    """The reference points of each task. Raises TableError."""
    days = {each.round: each.published for each in rounds().values()}
    lines = [{**line, "published": days[str(line["version"]).removesuffix(".0")]} for line in _lines(POINTS)]
    return _by_task(typed(f"{POINTS}.csv", lines, ReferencePoint))


@cache
def partway() -> Mapping[str, tuple[Partway, ...]]:
    """What runs of a task pass on their way, the smallest share first. Raises TableError."""
    return _by_task(typed(f"{PARTWAY}.csv", _lines(PARTWAY), Partway))


def _by_task(rows: Iterable[OfTask]) -> Mapping[str, tuple[OfTask, ...]]:
    by_task: dict[str, list[OfTask]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    return {task: tuple(some) for task, some in by_task.items()}


def benchmarks() -> tuple[str, ...]:
    """The benchmarks with known rounds."""
    return tuple(dict.fromkeys(each.benchmark for each in rounds().values()))


def benchmark_of(task: Task) -> str:
    """The benchmark whose results a task has."""
    return rounds()[results()[task.name][0].round].benchmark


def is_contest(task: Task) -> bool:
    """Whether each of its results has its own network and schedule, and so its own work."""
    return rounds()[results()[task.name][0].round].code == "contest"


@cache
def version() -> str:
    """A digest of the tables, which changes with any byte of them."""
    names = [*(f"{name}.csv" for name in (TASKS, RESULTS, MEMORY, POINTS, ROUNDS, PARTWAY, PLAIN_LOOPS)), "fitted.json"]
    return hashlib.sha256("".join(text_of(f"tasks/{name}") for name in names).encode()).hexdigest()[:8]


def _lines(name: str) -> list[dict[str, str | bool | None]]:
    return cells(f"{name}.csv", text_of(f"tasks/{name}.csv"))


@cache
def _memory() -> Mapping[str, float]:
    """What runs reserved on each accelerator, by their system."""
    return {str(line["system"]): float(str(line["memory_gib"])) for line in _lines(MEMORY)}


def _result(line: Mapping[str, object]) -> Mapping[str, object]:
    held = rounds().get(str(line["round"]))
    if held is None:
        raise TableError(f"{RESULTS}.csv: {line['round']} is no round of {ROUNDS}.csv")
    place = f"{held.repository}, {line['organisation']} {line['system']}"
    facts = {"name": line["result"], "published": line["published"] or held.published, "source": f"github {place}"}
    facts["memory_gib"] = _memory().get(str(line["system"]))
    return {**line, **facts, "repeats": bool(line["repeats"]), "outlier": bool(line["outlier"])}
