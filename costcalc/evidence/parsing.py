"""From the texts of the packaged tables to evidence."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence.collection import Evidence, Schedule
from costcalc.evidence.hub import HubNetwork, HubRecipe
from costcalc.evidence.tables import FIRST_LINE, FOLDER, TableError, cells, text_of, typed
from costcalc.fields import filled
from costcalc.hardware import Accelerator, DataCenters, GridCarbon, energy_tables
from costcalc.interruptions import ObservedInterruptions
from costcalc.machine_limits.host import PipelineOfCode, PipelineRate, PipelineTables, SystemHost
from costcalc.machine_limits.known_limits import LimitTables
from costcalc.machine_limits.network import SystemNetwork
from costcalc.machine_limits.storage import Volume
from costcalc.programs import Command, Program, Support, UsualScript
from costcalc.recipes import Recipe
from costcalc.throughput.fitted_parameters import from_json, unfitted
from costcalc.throughput.memory import MeasuredBatch
from costcalc.throughput.processors import Processor, Processors, ProcessorSpeed
from costcalc.training import Code, Compilation, Evaluation, Model, Phase, System, Throughput, known_on

T = TypeVar("T")
Named = TypeVar("Named", Accelerator, Model, Recipe, Throughput, Processor, ProcessorSpeed)
Written = TypeVar("Written", Recipe, Throughput)
Cells = Mapping[str, object]
FITTED, COMPACT = "fitted", "tables.zlib"
PROCESSORS, RATES = "processors", "processor_speeds"
DEVICE_SPEEDS = "device_speeds"
HUB_NETWORKS, HUB_RECIPES = "hub_networks", "hub_recipes"
SYSTEM = System.__struct_fields__
TABLES = (
    *("accelerators", "models", "recipes", "curves", "phases", "throughputs", "schedules", "seed_noise"),
    *("spot_interruptions", "data_pipelines", "pipelines_of_code", "volumes", "system_networks"),
    *("system_hosts", "codes", DEVICE_SPEEDS),
    *("grid_carbon", "data_centers", PROCESSORS, RATES, "largest_batches", "programs", "commands", "framework_support"),
    *("usual_scripts", HUB_NETWORKS, HUB_RECIPES),
)


class Ends(Struct, frozen=True):
    """How the published runs of a recipe ended: the mean top-1 accuracy, None where it was not published, and how many of them
    reached the target at which they stop."""

    recipe: str
    reached: int
    top1_mean: float | None


class Tables(Struct, frozen=True):
    """The rows of all tables; what is fitted to them stands apart."""

    accelerators: tuple[Accelerator, ...]
    models: tuple[Model, ...]
    recipes: tuple[Recipe, ...]
    throughputs: tuple[Throughput, ...]
    device_speeds: tuple[Throughput, ...]
    schedules: tuple[Schedule, ...]
    interruptions: tuple[ObservedInterruptions, ...]
    pipelines: tuple[PipelineRate, ...]
    code: tuple[PipelineOfCode, ...]
    volumes: tuple[Volume, ...]
    networks: tuple[SystemNetwork, ...]
    hosts: tuple[SystemHost, ...]
    grids: tuple[GridCarbon, ...]
    data_centers: tuple[DataCenters, ...]
    processors: tuple[Processor, ...]
    rates: tuple[ProcessorSpeed, ...]
    largest_batches: tuple[MeasuredBatch, ...]
    support: tuple[Support, ...]
    usual_scripts: tuple[UsualScript, ...]


class CodeOf(Struct, frozen=True):
    """Whose program those of a stack are, those of one organisation where it is named, how they run, and whether they are plain
    loops."""

    stack: str
    organisation: str | None
    code: Code
    compilation: Compilation | None = None
    plain: bool = False


DECODER = msgspec.msgpack.Decoder(Tables)


def load_evidence() -> Evidence:
    """The packaged evidence, from the compact copy if it was made from these very tables: that is 0.05 s faster.

    Raises TableError naming file and line when a table is corrupt.
    """
    texts = _packaged_texts()
    document = (FOLDER / COMPACT).read_bytes()
    version = bytes.fromhex(_digest(texts))
    if document.startswith(version):
        return _evidence(DECODER.decode(zlib.decompress(document[len(version) :])), texts)
    return _evidence(_tables(texts), texts)


def evidence_to_fit() -> Evidence:
    """The packaged evidence without the networks of model hubs, which follow from what is fitted to it."""
    texts = _packaged_texts()
    return parse_evidence({**texts, **{name: texts[name].partition("\n")[0] for name in (HUB_NETWORKS, HUB_RECIPES)}})


def hub_networks() -> tuple[HubNetwork, ...]:
    """The networks of model hubs, with their speeds on one card."""
    return tuple(_read(_packaged_texts(), HUB_NETWORKS, HubNetwork, _listing("aliases")))


def compact_copy() -> bytes:
    """What COMPACT must hold: the digest of the packaged tables, then their compressed rows. Raises TableError."""
    texts = _packaged_texts()
    return bytes.fromhex(_digest(texts)) + zlib.compress(msgspec.msgpack.encode(_tables(texts)), 9)


def parse_evidence(texts: Mapping[str, str]) -> Evidence:
    """Evidence from the texts of its tables, by table name, and of `fitted`, without which only measured speeds are known.

    Raises TableError.
    """
    return _evidence(_tables(texts), texts)


def _packaged_texts() -> dict[str, str]:
    return {name: text_of(f"{name}.csv") for name in TABLES} | {FITTED: text_of("fitted.json")}


def _tables(texts: Mapping[str, str]) -> Tables:
    codes = {(code.stack, code.organisation): code for code in _read(texts, "codes", CodeOf)}
    hub = _read(texts, HUB_NETWORKS, HubNetwork, _listing("aliases"))
    models = _read(texts, "models", Model, _listing("aliases", name="model")) + [network.as_model() for network in hub]
    recipes = (*_recipes(texts), *(weights.as_recipe() for weights in _read(texts, HUB_RECIPES, HubRecipe)))
    speeds = _read(texts, "throughputs", Throughput, _named("throughput"))
    speeds += [network.as_throughput() for network in hub if network.is_timed]
    interruptions = _read(texts, "spot_interruptions", ObservedInterruptions)
    commands = _read(texts, "commands", Command)
    by_stack = {program.stack: program for program in _read(texts, "programs", Program)}

    def with_program(recipe: Recipe) -> Recipe:
        """The recipe with its program, and the first command written for it."""
        command = next((each for each in commands if fnmatchcase(recipe.name, each.recipe)), None)
        filled_in = command and command.filled(recipe.model, recipe.scheduled_epochs)
        return replace(recipe, program=by_stack.get(recipe.stack), command=filled_in)

    return Tables(
        accelerators=_unique("accelerators", _read(texts, "accelerators", Accelerator, _accelerator)),
        models=_unique("models", models),
        recipes=tuple(map(with_program, _whose(_unique("recipes", recipes), codes))),
        throughputs=_whose(_unique("throughputs", speeds), codes),
        device_speeds=_whose(_read(texts, DEVICE_SPEEDS, Throughput, _named("throughput")), codes),
        schedules=tuple(_read(texts, "schedules", Schedule)),
        interruptions=tuple(sorted(interruptions, key=lambda statement: statement.observed_on)),
        pipelines=tuple(_read(texts, "data_pipelines", PipelineRate, _listing("accelerators"))),
        code=tuple(_read(texts, "pipelines_of_code", PipelineOfCode)),
        volumes=tuple(_read(texts, "volumes", Volume)),
        networks=tuple(_read(texts, "system_networks", SystemNetwork)),
        hosts=tuple(_read(texts, "system_hosts", SystemHost)),
        grids=tuple(_read(texts, "grid_carbon", GridCarbon)),
        data_centers=tuple(_read(texts, "data_centers", DataCenters)),
        processors=_unique(PROCESSORS, _read(texts, PROCESSORS, Processor, _named("processor"))),
        rates=_unique(RATES, _read(texts, RATES, ProcessorSpeed, _named("rate"))),
        largest_batches=tuple(_read(texts, "largest_batches", MeasuredBatch)),
        support=tuple(_read(texts, "framework_support", Support)),
        usual_scripts=tuple(_read(texts, "usual_scripts", UsualScript)),
    )


def _whose(items: Iterable[Written], codes: Mapping[tuple[str, str | None], CodeOf]) -> tuple[Written, ...]:
    """The items, each with whose program it used and how that ran."""
    pairs = ((item, codes.get((item.stack, item.organisation)) or codes.get((item.stack, None))) for item in items)
    return tuple(
        replace(item, code=of.code, compilation=item.compilation or of.compilation, plain=of.plain) if of else item
        for item, of in pairs
    )


def _evidence(tables: Tables, texts: Mapping[str, str]) -> Evidence:
    accelerators = {accelerator.name: accelerator for accelerator in tables.accelerators}
    models = {model.name: model for model in tables.models}
    try:
        fitted = from_json(texts[FITTED], accelerators, models) if FITTED in texts else unfitted(models)
    except ValueError as error:
        raise TableError(str(error)) from error
    return filled(
        Evidence,
        tables,
        as_usual=("is_past", "later", "make_curve", "make_speeds", "of_own_run", "own_speeds"),
        accelerators=accelerators,
        models=models,
        fitted=fitted,
        version=_digest(texts),
        limit_tables=LimitTables(
            pipelines=PipelineTables(tables.pipelines, tables.code, tables.hosts),
            volumes=tables.volumes,
            accelerators=accelerators,
        ),
        energy=energy_tables(tables.accelerators, tables.data_centers, tables.grids),
        processors=Processors({processor.name: processor for processor in tables.processors}, tables.rates, models),
    )


def _read(texts: Mapping[str, str], name: str, of: type[T], fields: Callable[[Cells], Cells] = dict) -> list[T]:
    """A table as objects: `fields` makes what the type expects of the cells of a line."""
    try:
        return typed(f"{name}.csv", [fields(line) for line in cells(f"{name}.csv", texts[name])], of)
    except KeyError as missing:
        raise TableError(f"{name}.csv: there is no column {missing}") from missing


def _unique(table: str, items: Sequence[Named]) -> tuple[Named, ...]:
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
    ends = {end.recipe: end for end in _read(texts, "seed_noise", Ends)}
    recipes = []
    for number, recipe in enumerate(_read(texts, "recipes", Recipe, _recipe), FIRST_LINE):
        name = recipe.name
        if name not in curves or name not in phases:
            raise TableError(f"recipes.csv, line {number}: {name} has no line in curves.csv or phases.csv")
        end = {"mean_top1": ends[name].top1_mean, "reached": ends[name].reached} if name in ends else {}
        recipes.append(replace(recipe, phases=phases[name], evaluations=curves[name], **end))
    return tuple(recipes)


def _recipe(line: Cells) -> Cells:
    system = {column: line[column] for column in SYSTEM} if line["accelerator"] else None
    texts = {"name": line["recipe"], "note": line["note"] or "", "mirrored_copies": bool(line["mirrored_copies"])}
    return {**line, **texts, "system": system, "phases": (), "evaluations": ()}


def _named(column: str) -> Callable[[Cells], Cells]:
    """The cells of lines whose names stand in this column; a blank note is an empty one."""
    return lambda line: {**line, "name": line[column], **({"note": line["note"] or ""} if "note" in line else {})}


def _listing(column: str, **renamed: str) -> Callable[[Cells], Cells]:
    """The cells of lines one of which lists several things with ; between, none where it is blank; others are `renamed`."""

    def fields(line: Cells) -> Cells:
        others = {name: line[stands] for name, stands in renamed.items()}
        return {**line, **others, column: str(line[column]).split(";") if line[column] else []}

    return fields


def _accelerator(line: Cells) -> Cells:
    day = str(line["released"] or line["introduced"] or "")
    return {**line, "name": line["accelerator"], "on_sale_from": known_on(day, 0) if day else date.min}
