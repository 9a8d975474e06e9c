"""The tasks as models that one can ask about: how they are found, which targets they have, and their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache

from msgspec import Struct, field

from costcalc.evidence import Evidence, normalised
from costcalc.evidence.collection import network_forms
from costcalc.tasks.tables import Task, benchmark_of, benchmarks, results, tasks


def find_task(name: str) -> Task | None:
    """The task whose network has this name or alias, however it is spelt, also after the name of its benchmark; else None."""
    forms = [*map(normalised, network_forms(name))]
    if match := next((_by_alias()[form] for form in forms if form in _by_alias()), None):
        return match
    benchmark = next((each for each in map(normalised, benchmarks()) if forms[0].startswith(each)), "")
    task = _by_alias().get(forms[0].removeprefix(benchmark))
    return task if task and task.name in of_benchmark(benchmark) else None


def of_benchmark(name: str) -> tuple[str, ...]:
    """The tasks of the benchmark with this name, however it is spelt; none of any other name."""
    wanted = normalised(name)
    if wanted not in map(normalised, benchmarks()):
        return ()
    return tuple(task.name for task in tasks().values() if normalised(benchmark_of(task)) == wanted)


@cache
def _by_alias() -> Mapping[str, Task]:
    return {normalised(name): task for task in tasks().values() for name in (*task.aliases, task.name)}


@cache
def qualities(task: Task) -> tuple[tuple[date, float], ...]:
    """The targets that results of the task stop at, each with the day from which some were known, the first one first."""
    first: dict[float, date] = {}
    for result in sorted(results()[task.name], key=lambda result: result.published):
        first.setdefault(result.target, result.published)
    return tuple((day, target) for target, day in first.items())


def quality_on(task: Task, day: date) -> float:
    """The task's own target on a day: that of the newest results by then, or of the first if there were none."""
    targets = [target for since, target in qualities(task) if since <= day]
    return targets[-1] if targets else qualities(task)[0][1]


class TaskEvidence(Struct, frozen=True, eq=False):
    """The evidence of tasks beside that of ImageNet, each made when it is first asked for."""

    beside: Evidence
    _made: dict[str, Evidence] = field(default_factory=dict)

    def of(self, task: Task) -> Evidence:
        """The evidence of a task."""
        if task.name not in self._made:
            from costcalc.tasks.evidence import task_evidence  # with the laws of all tasks: most commands need none

            self._made[task.name] = task_evidence(task, self.beside)
        return self._made[task.name]
