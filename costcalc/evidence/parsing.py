"""From the texts of the packaged tables to evidence."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from importlib import resources
from typing import TypeVar

from costcalc.evidence.collection import Evidence
from costcalc.evidence.schedules import Schedule
from costcalc.evidence.tables import FIRST_LINE, TableError, cells, typed
from costcalc.hardware import Accelerator
from costcalc.throughput.fitted_parameters import FittedParameters, from_json, unfitted
from costcalc.training import Evaluation, Model, Phase, Recipe, System, Throughput

T = TypeVar("T")
Named = TypeVar("Named", Accelerator, Model, Recipe, Throughput)
Cells = Mapping[str, object]
FITTED, ENDS = "fitted", "seed_noise"
SYSTEM = tuple(field.name for field in fields(System))
TABLES = ("accelerators", "models", "recipes", "curves", "phases", "throughputs", "schedules", ENDS)


@dataclass(frozen=True, slots=True)
class EndAccuracy:
    """The mean top-1 accuracy that the published runs of a recipe ended at, None where it was not published."""

    recipe: str
    top1_mean: float | None


def load_evidence() -> Evidence:
    """The packaged evidence. Raises TableError naming file and line when a table is corrupt."""
    folder = resources.files("costcalc.evidence") / "data"
    texts = {name: (folder / f"{name}.csv").read_text("utf-8") for name in TABLES}
    return parse_evidence({**texts, FITTED: (folder / "fitted.json").read_text("utf-8")})


def parse_evidence(texts: Mapping[str, str]) -> Evidence:
    """Evidence from the texts of its tables, by table name, and of `fitted`, without which only measured speeds are known.

    Raises TableError.
    """
    accelerators = {
        item.name: item for item in _unique("accelerators", _read(texts, "accelerators", Accelerator, _accelerator))
    }
    models = {item.name: item for item in _unique("models", _read(texts, "models", Model, _model))}
    return Evidence(
        accelerators=accelerators,
        models=models,
        recipes=_recipes(texts),
        throughputs=_unique("throughputs", _read(texts, "throughputs", Throughput, _throughput)),
        schedules=tuple(_read(texts, "schedules", Schedule)),
        fitted=_fitted(texts, accelerators, models),
        version=_digest(texts),
    )


def _fitted(
    texts: Mapping[str, str], accelerators: Mapping[str, Accelerator], models: Mapping[str, Model]
) -> FittedParameters:
    if FITTED not in texts:
        return unfitted(models)
    try:
        return from_json(texts[FITTED], accelerators, models)
    except ValueError as error:
        raise TableError(str(error)) from error


def _read(texts: Mapping[str, str], name: str, of: type[T], fields: Callable[[Cells], Cells] = dict) -> list[T]:
    """A table as objects: `fields` makes what the type expects of the cells of a line."""
    try:
        return typed(f"{name}.csv", [fields(line) for line in cells(f"{name}.csv", texts[name])], of)
    except KeyError as missing:
        raise TableError(f"{name}.csv: there is no column {missing}") from missing


def _unique(table: str, items: list[Named]) -> tuple[Named, ...]:
    repeated = [name for name, count in Counter(item.name for item in items).items() if count > 1]
    if repeated:
        raise TableError(f"{table}.csv: {repeated[0]} stands twice")
    return tuple(items)


def _digest(texts: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for name in (*TABLES, FITTED):
        digest.update(texts.get(name, "").encode())
    return digest.hexdigest()[:12]


def _grouped(texts: Mapping[str, str], name: str, of: type[T]) -> dict[str, tuple[T, ...]]:
    """The lines of each recipe."""
    lines = cells(f"{name}.csv", texts[name])
    groups: dict[str, list[T]] = defaultdict(list)
    for line, item in zip(lines, typed(f"{name}.csv", lines, of), strict=True):
        groups[str(line["recipe"])].append(item)
    return {recipe: tuple(items) for recipe, items in groups.items()}


def _recipes(texts: Mapping[str, str]) -> tuple[Recipe, ...]:
    curves, phases = _grouped(texts, "curves", Evaluation), _grouped(texts, "phases", Phase)
    ends = {end.recipe: end.top1_mean for end in (_read(texts, ENDS, EndAccuracy) if ENDS in texts else ())}
    for number, recipe in enumerate(found := _read(texts, "recipes", Recipe, _recipe), FIRST_LINE):
        if recipe.name not in curves or recipe.name not in phases:
            raise TableError(f"recipes.csv, line {number}: {recipe.name} has no line in curves.csv or phases.csv")
    return _unique(
        "recipes",
        [
            replace(
                recipe, phases=phases[recipe.name], evaluations=curves[recipe.name], mean_top1=ends.get(recipe.name)
            )
            for recipe in found
        ],
    )


def _recipe(line: Cells) -> Cells:
    system = {column: line[column] for column in SYSTEM} if line["accelerator"] else None
    return {
        **line,
        "name": line["recipe"],
        "note": line["note"] or "",
        "system": system,
        "phases": (),
        "evaluations": (),
    }


def _throughput(line: Cells) -> Cells:
    return {**line, "name": line["throughput"], "note": line["note"] or ""}


def _model(line: Cells) -> Cells:
    return {**line, "name": line["model"], "aliases": str(line["aliases"] or "").split(";") if line["aliases"] else ()}


def _accelerator(line: Cells) -> Cells:
    return {**line, "name": line["accelerator"]}
