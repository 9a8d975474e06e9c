"""A task as the evidence that questions about it are answered from: its results as recipes, and speeds carried over from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache, cached_property

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.evidence.tables import text_of
from costcalc.fields import filled
from costcalc.programs import Program
from costcalc.recipes import EVALUATION_COUNTED, ClosedRecipe, Recipe
from costcalc.tasks.kernel import Fitted
from costcalc.tasks.samples import SamplesLaw
from costcalc.tasks.speeds import TaskSpeeds
from costcalc.tasks.tables import (
    Result,
    Schedule,
    Task,
    is_contest,
    partway,
    reference_points,
    results,
    rounds,
    version,
)
from costcalc.throughput.fitted_parameters import ElapsedTime, HalfWidth
from costcalc.throughput.memory import BYTES_PER_GIB, BYTES_PER_PARAMETER
from costcalc.throughput.processors import Processors
from costcalc.training import Evaluation, MetricEvaluation, Model, Phase, System, Throughput

MINUTES_PER_HOUR = 60
SECONDS_PER_MINUTE = 60
NO_CLOCK = ElapsedTime(0.0, 1.0)  # speeds of results hold their evaluations
USUAL_SPREAD = 0.06
POINTS_ON_THE_WAY = 60
OF_NO_RESULT = (
    "as_published", "command", "compilation", "epochs_width", "evaluated_size", "expensive_optimizer",
    "has_borrowed_curve", "is_interpolated", "mean_top1", "mirrored_copies", "optimizer",
    "plain", "precision", "schedule_shape", "scheduled_epochs", "teacher",
)  # fmt: skip
"""What a result of a benchmark does not know of its recipe."""


@cache
def fitted() -> Fitted:
    """The parameters fitted to all tasks."""
    return msgspec.json.decode(text_of("tasks/fitted.json"), type=Fitted)


def task_evidence(
    task: Task, beside: Evidence, learned: Fitted | None = None, without: frozenset[str] = frozenset()
) -> Evidence:
    """The evidence for questions about this task's network, with the facts of machines from `beside`. Results of the
    organisations in `without` are left out."""
    learned = learned or fitted()
    counted = tuple(result for result in results()[task.name] if result.organisation not in without)
    published = KnownResults(task, counted, learned)
    as_usual = ("activations_millions", "series", "speed_width", "speed_of")
    model = filled(Model, task, family=task.kind, gmacs=None, image_size=None, as_usual=as_usual)
    widths = dict(beside.fitted.widths)
    if on_the_way := partway().get(task.name):  # how far an organisation's logs pass a value from those of the others
        widths["curve"] = HalfWidth(on_the_way[0].width, by_rule=False, cases=on_the_way[0].systems)
    return replace(
        beside,
        models={task.name: model},
        recipes=tuple(_recipe(task, result, learned) for result in published.results),
        throughputs=tuple(published.rows.values()),
        schedules=(),
        networks=(),
        own_speeds=(),
        processors=Processors(),
        fitted=replace(beside.fitted, elapsed_time=NO_CLOCK, widths=widths),
        version=f"{beside.version}+{task.name}-{version()}",
        is_past=False,
        later=(),
        make_speeds=published.speeds,
        make_curve=None if is_contest(task) else published.with_work,
    )


class KnownResults(Struct, frozen=True, eq=False, dict=True):
    """What the known results of a task tell of its speeds and of the work of a recipe."""

    task: Task
    results: Sequence[Result]
    learned: Fitted
    _works: dict[date, Mapping[str, float]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Mapping[str, Throughput]:
        """The speeds of the results that count, by name."""
        counted = (result for result in self.results if not (result.repeats or result.outlier))
        return {each.name: _throughput(self.task, each, self._passes_per_minute(each)) for each in counted}

    def speeds(self, evidence: Evidence) -> TaskSpeeds:
        """The speeds that follow from the results among the evidence."""
        in_adam = (self.task.parameters_millions or math.inf) * 1e6 * BYTES_PER_PARAMETER / BYTES_PER_GIB
        return TaskSpeeds(
            tuple(self.rows[recipe.name] for recipe in evidence.recipes if recipe.name in self.rows),
            evidence.accelerators,
            self.learned.of(self.task.name),
            self.learned.cases,
            in_adam if self.task.network_gib is None else self.task.network_gib,
            evidence.recipes,
            self.task.tflop_per_sample,
        )

    def with_work(self, evidence: Evidence, recipe: Recipe) -> Recipe:
        """The recipe with the work that the law expects of it on the day of the evidence, and what it passes on its way."""
        day, (end,) = evidence.last_published, recipe.evaluations
        if day not in self._works:
            by_then = [result for result in self.results if result.published <= day]
            passes = expected_passes(self.task, by_then, [result.schedule for result in by_then], self.learned, day)
            self._works[day] = dict(zip([result.name for result in by_then], passes, strict=True))
        work = self._works[day][recipe.name]
        end = replace(end, epochs=work)
        return replace(recipe, phases=(Phase(0, 0.0, work),), evaluations=(*_on_the_way(self.task, end), end))

    def _passes_per_minute(self, result: Result) -> float:
        """The speed of a result's runs. If its logs count otherwise, that of a run expected to take its minutes."""
        if result.passes_per_minute:
            return result.passes_per_minute
        (usual,) = expected_passes(self.task, self.results, [result.schedule], self.learned, result.published)
        return (result.passes or usual) / result.minutes


def _on_the_way(task: Task, end: Evaluation) -> Iterator[Evaluation]:
    """What a run passes on its way to the task's quality."""
    points = partway().get(task.name, ()) if end.in_metric(task.metric) == task.quality else ()
    if points:
        shares = np.linspace(points[0].share, 1, POINTS_ON_THE_WAY, endpoint=False)
        ends = [*(point.share for point in points), 1], [*(point.value for point in points), task.quality]
        values = np.interp(shares, *ends)
        for share, value in zip(shares.tolist(), values.tolist(), strict=True):
            yield MetricEvaluation(end.epochs * share, (end.hours or 0) * share or None, value=value)


def expected_passes(
    task: Task, published: Sequence[Result], schedules: Sequence[Schedule], learned: Fitted, day: date
) -> list[float]:
    """What a run of each schedule is expected to take on a day: by the law of its target, or if no batch was logged the median of
    all results."""
    spread = learned.spreads.get(task.name, USUAL_SPREAD)
    expected = np.ones(len(schedules))
    by_then = [point for point in reference_points().get(task.name, ()) if point.published <= day]
    for target in {schedule.target for schedule in schedules}:
        to_it = [result for result in published if result.target == target and not result.repeats]
        at = [number for number, each in enumerate(schedules) if each.target == target]
        law = SamplesLaw.of(to_it, by_then if target == task.quality else (), spread)
        by_law = law.passes([schedules[number] for number in at], day)
        middle = float(np.median([result.passes for result in to_it if result.passes] or [1.0]))
        expected[at] = np.where(np.isfinite(by_law), by_law, middle)
    return [float(each) for each in expected]


def _recipe(task: Task, result: Result, learned: Fitted) -> ClosedRecipe:
    """A result as a recipe: its own system takes its official minutes."""
    passes = result.passes or 1.0
    end = MetricEvaluation(passes, result.minutes / MINUTES_PER_HOUR, value=result.target)
    return filled(
        ClosedRecipe,
        result,
        task,
        as_usual=OF_NO_RESULT,
        model=task.name,
        family=task.kind,
        framework_family=result.framework,
        stack=_program(result.round).stack,
        system=System(result.accelerator, result.accelerators, result.nodes, result.provider, result.instance_type),
        is_log=True,
        clock=EVALUATION_COUNTED,
        images_per_second=passes * task.samples_per_pass / (result.minutes * 60),
        year=result.published.year,
        note=f"round {result.round}",
        phases=(Phase(0, 0.0, passes),),
        evaluations=(end,),
        published=result.published.isoformat(),
        tuned_to=result.target,
        division="closed",
        code=rounds()[result.round].code,
        program=_program(result.round),
        samples_per_epoch=task.samples_per_pass,
        data_set_gb=task.staged_gb or 0.0,
        lower_is_better=task.better == "lower",
        rules=tuple(_rules(task)),
        untimed_hours=(task.untimed_minutes or 0.0) / MINUTES_PER_HOUR,
        run_spread=learned.spreads.get(task.name, 0.0),
    )


def _rules(task: Task) -> Iterator[str]:
    """What else the target requires, where training starts, and how work is counted."""
    if task.also:
        yield f"The target is also {task.also}."
    if task.staged_gb is None:
        yield "The size of its data set is unknown here, so the time to load it is not counted."
    if task.starts_from:
        yield f"Training starts from {task.starts_from}."
    if task.untimed_minutes:
        yield f"Its clock leaves out compilation: about {task.untimed_minutes:g} minutes are added to every run."
    if is_contest(task):
        yield f"Each record has its own network and schedule; its work is counted in {task.pass_name}."
    elif task.pass_name != "epochs":
        yield f"Epochs are counted in {task.pass_name}, and speeds in {task.unit} a second."


@cache
def _program(round: str) -> Program:
    """The code of a round, which stands beside its results."""
    held = rounds()[round]
    repository = f"https://github.com/{held.repository.partition('@')[0]}"
    return Program(held.benchmark.lower(), "record", repository, held.licence, held.repository)


def _throughput(task: Task, result: Result, passes_per_minute: float) -> Throughput:
    """The speed of the result's system, evaluations included."""
    return filled(
        Throughput,
        result,
        as_usual=("compilation", "note", "plain", "precision"),
        model=task.name,
        image_size=0,
        framework_family=result.framework,
        stack=_program(result.round).stack,
        images_per_second=passes_per_minute * task.samples_per_pass / SECONDS_PER_MINUTE,
        includes_evaluation=True,
        data="whole run",
        year=result.published.year,
        published=result.published.isoformat(),
        code=rounds()[result.round].code,
    )
