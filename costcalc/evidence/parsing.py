"""From the texts of the packaged tables to evidence."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import resources
from typing import TypeVar

from costcalc.evidence.collection import Evidence
from costcalc.evidence.tables import Row, TableError, rows
from costcalc.hardware import Accelerator
from costcalc.throughput.fitted_parameters import Fitted, from_json, unfitted
from costcalc.training import Evaluation, Model, Phase, Recipe, System, Throughput

T = TypeVar("T")
Named = TypeVar("Named", Accelerator, Model, Recipe, Throughput)
FITTED, ENDS = "fitted", "seed_noise"
TABLES = ("accelerators", "models", "recipes", "curves", "phases", "throughputs", ENDS)


def load_evidence() -> Evidence:
    """The packaged evidence. Raises TableError naming file and line when a table is corrupt."""
    folder = resources.files("costcalc.evidence") / "data"
    texts = {name: (folder / f"{name}.csv").read_text("utf-8") for name in TABLES}
    return parse_evidence({**texts, FITTED: (folder / "fitted.json").read_text("utf-8")})


def parse_evidence(texts: Mapping[str, str]) -> Evidence:
    """Evidence from the texts of its tables, by table name, and of `fitted`, without which only measured speeds are known.

    Raises TableError.
    """
    accelerators = {item.name: item for item in _unique("accelerators", _read(texts, "accelerators", _accelerator))}
    models = {item.name: item for item in _unique("models", _read(texts, "models", _model))}
    return Evidence(
        accelerators=accelerators,
        models=models,
        recipes=_recipes(texts),
        throughputs=_unique("throughputs", _read(texts, "throughputs", _throughput)),
        fitted=_fitted(texts, accelerators, models),
        version=_digest(texts),
    )


def _fitted(texts: Mapping[str, str], accelerators: Mapping[str, Accelerator], models: Mapping[str, Model]) -> Fitted:
    if FITTED not in texts:
        return unfitted(models)
    try:
        return from_json(texts[FITTED], accelerators, models)
    except ValueError as error:
        raise TableError(str(error)) from error


def _read(texts: Mapping[str, str], name: str, build: Callable[[Row], T]) -> list[T]:
    return list(rows(f"{name}.csv", texts[name], build))


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


def _grouped(texts: Mapping[str, str], name: str, build: Callable[[Row], T]) -> dict[str, tuple[T, ...]]:
    groups: dict[str, list[T]] = {}
    for recipe, item in _read(texts, name, lambda row: (row.text("recipe"), build(row))):
        groups.setdefault(recipe, []).append(item)
    return {recipe: tuple(items) for recipe, items in groups.items()}


def _recipes(texts: Mapping[str, str]) -> tuple[Recipe, ...]:
    curves = _grouped(texts, "curves", _evaluation)
    phases = _grouped(texts, "phases", _phase)
    ends = (
        dict(_read(texts, ENDS, lambda row: (row.text("recipe"), row.maybe_number("top1_mean"))))
        if ENDS in texts
        else {}
    )

    def build(row: Row) -> Recipe:
        name = row.text("recipe")
        if name not in curves or name not in phases:
            raise ValueError(f"{name} has no line in curves.csv or phases.csv")
        return replace(_recipe(row, phases[name], curves[name]), mean_top1=ends.get(name))

    return _unique("recipes", _read(texts, "recipes", build))


def _recipe(row: Row, phases: tuple[Phase, ...], evaluations: tuple[Evaluation, ...]) -> Recipe:
    return Recipe(
        name=row.text("recipe"),
        model=row.text("model"),
        organisation=row.text("organisation"),
        family=row.text("family"),
        framework=row.text("framework"),
        stack=row.text("stack"),
        precision=row.maybe("precision"),
        optimizer=row.maybe("optimizer"),
        global_batch_size=row.maybe_integer("global_batch_size"),
        scheduled_epochs=row.maybe_number("scheduled_epochs"),
        system=_system(row),
        runs=row.integer("runs"),
        is_log=row.text("curve") == "log",
        clock=row.maybe("clock"),
        images_per_second=row.maybe_number("images_per_second"),
        year=row.integer("year"),
        source=row.text("source"),
        note=row.maybe("note") or "",
        phases=phases,
        evaluations=evaluations,
    )


def _system(row: Row) -> System | None:
    accelerator = row.maybe("accelerator")
    if accelerator is None:
        return None
    return System(
        accelerator,
        row.integer("accelerators"),
        row.integer("nodes"),
        row.maybe("provider"),
        row.maybe("instance_type"),
    )


def _evaluation(row: Row) -> Evaluation:
    return Evaluation(
        row.number("epochs"), row.maybe_number("hours"), row.maybe_number("top1"), row.maybe_number("top5")
    )


def _phase(row: Row) -> Phase:
    return Phase(
        row.integer("image_size"),
        row.number("from_epoch"),
        row.number("to_epoch"),
        row.maybe_number("images_per_second"),
    )


def _throughput(row: Row) -> Throughput:
    return Throughput(
        name=row.text("throughput"),
        model=row.text("model"),
        image_size=row.integer("image_size"),
        accelerator=row.text("accelerator"),
        accelerators=row.integer("accelerators"),
        nodes=row.integer("nodes"),
        precision=row.maybe("precision"),
        framework=row.text("framework"),
        stack=row.text("stack"),
        global_batch_size=row.maybe_integer("global_batch_size"),
        images_per_second=row.number("images_per_second"),
        includes_evaluation=row.text("includes_evaluation") == "yes",
        is_synthetic=row.text("data") == "synthetic",
        organisation=row.text("organisation"),
        provider=row.maybe("provider"),
        instance_type=row.maybe("instance_type"),
        year=row.integer("year"),
        round=row.maybe("round"),
        source=row.text("source"),
        note=row.maybe("note") or "",
    )


def _model(row: Row) -> Model:
    aliases = tuple(alias for alias in (row.maybe("aliases") or "").split(";") if alias)
    return Model(
        row.text("model"),
        aliases,
        row.maybe_number("parameters_millions"),
        row.maybe_number("gmacs"),
        row.maybe_integer("image_size"),
        row.text("source"),
    )


def _accelerator(row: Row) -> Accelerator:
    return Accelerator(
        row.text("accelerator"),
        row.text("vendor"),
        row.maybe_number("memory_gib"),
        row.maybe_number("dense_16bit_tflops"),
        row.maybe_number("memory_bandwidth_gb_per_s"),
        row.maybe_number("power_watts"),
        row.maybe_integer("introduced"),
        row.text("source"),
    )
