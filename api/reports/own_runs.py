"""`/recipes`: users' own runs and speeds, what a log becomes when it is added, and how one is removed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict
from urllib.parse import urlencode

from msgspec.structs import replace

from api.questions.errors import BadParameters, NotFound, Refused
from api.questions.names import Known
from api.questions.resolving import MACHINE
from api.questions.schemas.training import TrainingSchema
from api.questions.suggestions import Guesses, clip, unknown
from api.reports.advice import Advice
from api.service import Service, query_of
from api.stored import StoredRuns
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from own_runs.adding import Facts, RunRefused, implausible, name_of, read_run
from own_runs.logs.log import LogRefused
from own_runs.runs import RUN, CurvePoint, Run, stored_run
from own_runs.speeds import SPEED, measured_speed, visible
from pricing.store.changes import By
from pricing.store.local_file import OwnRun

MOST_RUNS = 500  # of one owner
MACHINES = re.compile(r"(.*?)(?::(\d{1,5}))?")
QUESTION = TrainingSchema()


class RunValues(TypedDict, total=False):
    """What is said of a run beside its log."""

    file: str
    name: str
    model: str
    date: datetime
    better: Literal["lower", "higher"]
    nodes: int
    instance_type: str
    accelerator: str
    steps_are: str


@dataclass(frozen=True, slots=True)
class OwnRecipe:
    """A training run of your own: its `name` is the model in questions. `reached` is the best value of its `metric`,
    `visible_to` says who may ask about it, and `ask` is the address of the question what it costs to get there."""

    id: str
    name: str
    model: str
    dataset: str
    metric: str
    lower_is_better: bool
    reached: float
    epochs: float
    scheduled_epochs: float | None
    hours: float
    samples_per_second: float
    samples_per_epoch: int
    batch_size: int
    accelerator: str
    accelerators: int
    nodes: int
    provider: str | None
    instance_type: str | None
    precision: str | None
    points: int
    written_by: str
    source: str
    digest: str
    ran_on: date
    added_at: datetime
    visible_to: Literal["you", "everybody"]
    notes: tuple[str, ...]
    ask: str


@dataclass(frozen=True, slots=True)
class OwnMeasuredSpeed:
    """A speed that was measured with `costcalc measure`: answers about this machine use it."""

    id: str
    model: str
    image_size: int
    accelerator: str
    accelerators: int
    precision: str
    batch_size: int
    images_per_second: float
    spread: float
    source: str
    measured_at: datetime
    visible_to: Literal["you", "everybody"]


@dataclass(frozen=True, slots=True)
class OwnRecipesDocument:
    """The JSON answer of `/recipes`, the newest first."""

    recipes: tuple[OwnRecipe, ...]
    speeds: tuple[OwnMeasuredSpeed, ...]


@dataclass(frozen=True, slots=True)
class OwnRecipesReport:
    """What an owner sees of what people ran themselves."""

    rest: ClassVar = None
    name: ClassVar = "recipes"
    rows: tuple[OwnRun, ...]

    def document(self) -> OwnRecipesDocument:
        newest = tuple(reversed(self.rows))
        return OwnRecipesDocument(
            recipes=tuple(own_recipe(row) for row in newest if row.kind == RUN),
            speeds=tuple(_own_speed(row) for row in newest if row.kind == SPEED),
        )


@dataclass(frozen=True, slots=True)
class TriedRun:
    """A log as it was read, and what its run costs elsewhere to a target; nothing of it is stored."""

    recipe: OwnRecipe
    curve: tuple[CurvePoint, ...]
    target: float
    verdict: tuple[str, ...]


def tried_run(service: Service, run: Run, target: float | None, owner: str | None) -> TriedRun:
    """What a log would answer as a recipe. Raises Refused where the target is none that it reached."""
    row = run.stored(owner)
    beside = service.changed(runs=lambda: (row,)).seen_by(owner)
    catalogue = beside.catalogue()
    reached = run.reached if target is None else target
    question = {"model": [run.name], "target": [f"{reached:.6g}"], "crossing": ["first"]}
    values, _ = beside.parse(QUESTION, question, catalogue)
    verdict = Advice(beside, catalogue, query_of(values)).answer.verdict
    kept = tuple(line for line in verdict if not line.startswith("Next:"))  # its commands need a run that is kept
    return TriedRun(own_recipe(row), run.curve, reached, kept)


def own_recipes_report(service: Service, owner: str | None) -> OwnRecipesReport:
    """The runs and speeds that this owner sees."""
    return OwnRecipesReport(visible(service.runs(), owner))


def own_recipe(row: OwnRun) -> OwnRecipe:
    """A stored run as it is listed."""
    run = stored_run(row)
    return filled(
        OwnRecipe,
        run,
        row,
        points=len(run.curve),
        visible_to=_visible_to(row),
        ask=f"/cost?{urlencode({'model': run.name, 'target': f'{run.reached:.6g}', 'crossing': 'first'})}",
    )


def _own_speed(row: OwnRun) -> OwnMeasuredSpeed:
    return filled(OwnMeasuredSpeed, measured_speed(row), row, visible_to=_visible_to(row))


def _visible_to(row: OwnRun) -> Literal["you", "everybody"]:
    return "you" if row.owner else "everybody"


def new_run(service: Service, catalogue: Catalogue, values: RunValues, log: Path) -> Run:
    """The run that a log and parsed parameters of RunSchema describe. Raises BadParameters naming all that is missing."""
    names = service.names(catalogue)
    errors: dict[str, list[str]] = {}
    machine = _machine(values, names, catalogue, errors)
    name = _name(service, values.get("name") or name_of(log.name), errors)
    given = {key: value for key, value in values.items() if key in Facts.__struct_fields__}
    network = service.evidence.find_model(values.get("model") or "")
    day = values["date"].date() if "date" in values else None
    model = {"model": network.name} if network else {}
    better = {"lower_is_better": values["better"] == "lower"} if "better" in values else {}
    try:
        run = read_run(
            log, Facts(**{**given, **machine, **model, **better, "name": name, "ran_on": day}), service.clock()
        )
    except RunRefused as refused:
        raise BadParameters({**{key: [message] for key, message in refused.errors.items()}, **errors}) from None
    except LogRefused as refused:
        raise BadParameters({"file": [str(refused)], **errors}) from None
    if "steps_are" not in values and (message := implausible(run, service.evidence)):
        errors["steps_are"] = [message]
    if errors:
        raise BadParameters(errors)
    return run


def _name(service: Service, name: str, errors: dict[str, list[str]]) -> str:
    if not name:
        errors["name"] = ["missing: the file has no name that could be the run's; add one such as my-run"]
    elif service.evidence.find_model(name):
        errors["name"] = [f"{clip(name)} is a known network: choose another name, and give it as model"]
    return name


def _machine(values: RunValues, names: Known, catalogue: Catalogue, errors: dict[str, list[str]]) -> dict[str, Any]:
    """The accelerators of a run, and its rented machine where it is named."""
    nodes = values.get("nodes", 1)
    try:
        if "instance_type" in values:
            return _rented(values["instance_type"], names, catalogue, nodes)
        return _accelerators(values["accelerator"], names, nodes) if "accelerator" in values else {}
    except LookupError as error:
        errors["instance_type" if "instance_type" in values else "accelerator"] = [str(error)]
        return {"accelerator": "unknown"}


def _accelerators(text: str, names: Known, nodes: int) -> dict[str, Any]:
    match = MACHINE.fullmatch(text)
    assert match
    count = int(match[1] or 1)
    if not 1 <= count <= 100_000 or count % nodes:
        raise LookupError(
            f"must be count x accelerator of all {nodes} machines together, such as 8xA100-80GB; got {clip(text)}"
        )
    return {"accelerator": names.accelerator_named(match[2], Guesses()), "accelerators": count, "nodes": nodes}


def _rented(text: str, names: Known, catalogue: Catalogue, nodes: int) -> dict[str, Any]:
    provider, _, kind = text.rpartition(":")
    (name,) = names.resolve("instance_type", kind.strip(), Guesses())
    machines = [
        (owner, machine)
        for owner, each, machine in catalogue.vocabulary.instances
        if each == name and owner in (provider.strip().lower() or owner,)
    ]
    if len(machines) != 1:
        named = ", ".join(f"{owner}:{name}" for owner, _ in machines)
        raise LookupError(
            f"several providers rent {name}: write one of {named}" if named else f"{clip(provider)} has no {name}"
        )
    ((owner, machine),) = machines
    return {
        "accelerator": machine.accelerator,
        "accelerators": max(machine.accelerators, 1) * nodes,
        "nodes": nodes,
        "provider": owner,
        "instance_type": name,
    }


def kept_run(service: Service, keeper: StoredRuns, run: Run, owner: str | None, by: By) -> OwnRecipe:
    """The run as it is kept; whoever got no answer sends the very same again. Raises Refused where there is no room."""
    own = (row for row in service.runs() if row.kind == RUN and row.owner == owner)
    row = next((row for row in own if replace(stored_run(row), added_at=run.added_at) == run), None)
    if row is None:
        check_room(service.runs(), run, owner)
        row = run.stored(owner)
        keeper.add(row, by)
    return own_recipe(row)


def check_room(rows: Iterable[OwnRun], run: Run, owner: str | None) -> None:
    """Raises Refused where the owner has a run of this name already, or too many."""
    names = [stored_run(row).name.casefold() for row in rows if row.kind == RUN and row.owner == owner]
    if run.name.casefold() in names:
        raise Refused(409, f"{run.name} exists already: remove it first, or choose another name")
    if len(names) >= MOST_RUNS:
        raise Refused(409, f"there are {len(names)} runs already: remove one first")


def removable(rows: Iterable[OwnRun], id: str, owner: str | None) -> OwnRun:
    """The run or speed of this id or name that the owner may remove. Raises NotFound."""
    own = [row for row in rows if row.owner == owner]
    named = [row for row in own if id == row.id or (row.kind == RUN and stored_run(row).name == id)]
    if not named:
        raise NotFound(unknown("recipe of your own", id, [row.id for row in own], "list them to see what there is"))
    return named[0]
