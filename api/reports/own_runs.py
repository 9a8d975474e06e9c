"""`/recipes`: users' own runs and speeds, what a log becomes when it is added, and how one is removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlencode

from msgspec.structs import replace

from api.questions.asked import query_of
from api.questions.built_in import built_in
from api.questions.errors import BadParameters, NotFound, Refused
from api.questions.names import Known
from api.questions.resolving import MACHINE
from api.questions.schemas.training import TrainingSchema
from api.questions.suggestions import Guesses, clip, unknown
from api.questions.values import Values
from api.reports.advice import Advice
from api.service import Service
from api.stored import KnownRuns, StoredRuns
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled
from own_runs.adding import Facts, RunRefused, implausible, name_of, read_run
from own_runs.asking import OwnModel
from own_runs.logs.log import LogRefused
from own_runs.reading_apart import OutOfBounds, read_apart
from own_runs.runs import RUN, SPEED, CurvePoint, Run, measured_speed, stored_run
from pricing.store.changes import By
from pricing.store.local_file import OwnRun

MOST_RUNS = 500  # of one owner
QUESTION = TrainingSchema()


class Owner(NamedTuple):
    """Who sends a run: the `digest` of the token, None where none is needed, and the name by which it is shared with everybody,
    None where its owner alone shall see it."""

    digest: str | None
    shares_as: str | None


@dataclass(frozen=True, slots=True)
class OwnRecipe:
    """A training run: its `name` is the model in questions. `reached` is the best value of its `metric`, `visible_to` says who
    may ask about it, and `ask` is the address of the question what it costs to get there. `shared_by` says whose run it is; null
    where it is your own."""

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
    shared_by: str | None


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
    runs: tuple[OwnModel, ...]
    speeds: tuple[OwnRun, ...]

    def document(self) -> OwnRecipesDocument:
        return OwnRecipesDocument(tuple(map(own_recipe, self.runs)), tuple(map(_own_speed, self.speeds)))


@dataclass(frozen=True, slots=True)
class TriedRun:
    """A log as it was read, and what its run costs elsewhere to a target; nothing of it is stored."""

    recipe: OwnRecipe
    curve: tuple[CurvePoint, ...]
    target: float
    verdict: tuple[str, ...]


def tried_run(service: Service, run: Run, target: float | None, owner: str | None) -> TriedRun:
    """What a log would answer as a recipe. Raises Refused where the target is none that it reached."""
    beside = service.changed(runs=KnownRuns((run.stored(owner),))).seen_by(owner)
    catalogue = beside.catalogue()
    reached = run.reached if target is None else target
    question = {"model": [run.name], "target": [f"{reached:.6g}"], "crossing": ["first"]}
    values, _ = beside.parse(QUESTION, question, catalogue)
    verdict = Advice(beside, catalogue, query_of(values)).answer.verdict
    kept = tuple(line for line in verdict if not line.startswith("Next:"))  # its commands need a run that is kept
    (own,) = beside.own.values()
    return TriedRun(own_recipe(own), run.curve, reached, kept)


def own_recipes_report(service: Service, owner: str | None) -> OwnRecipesReport:
    """The runs and speeds that this owner sees."""
    speeds = (row for row in service.runs.seen_by(owner) if row.kind == SPEED)
    runs = sorted(service.seen_by(owner).own.values(), key=lambda own: own.row.added_at, reverse=True)
    return OwnRecipesReport(tuple(runs), tuple(speeds)[::-1])


def own_recipe(own: OwnModel) -> OwnRecipe:
    """A stored run as it is listed."""
    run = own.run
    return filled(
        OwnRecipe,
        run,
        own,
        own.row,
        points=len(run.curve),
        visible_to=_visible_to(own.row),
        ask=f"/cost?{urlencode({'model': run.name, 'target': f'{run.reached:.6g}', 'crossing': 'first'})}",
    )


def _own_speed(row: OwnRun) -> OwnMeasuredSpeed:
    return filled(OwnMeasuredSpeed, measured_speed(row), row, visible_to=_visible_to(row))


def _visible_to(row: OwnRun) -> Literal["you", "everybody"]:
    return "you" if row.owner and not row.shared_by else "everybody"


def new_run(service: Service, catalogue: Catalogue, values: Values, log: Path) -> Run:
    """The run that a log and parsed parameters of RunSchema describe.

    Raises BadParameters naming all that is missing, and Refused (422) for a log that takes too much to read.
    """
    names = service.names(catalogue)
    errors: dict[str, list[str]] = {}
    machine = _machine(values, names, catalogue, errors)
    everybodys = service.changed(own={})
    name = _name(everybodys, everybodys.names(catalogue), values.get("name") or name_of(log.name), errors)
    given = {key: value for key, value in values.items() if key in Facts.__struct_fields__} | machine | {"name": name}
    if network := service.evidence.find_model(values.get("model") or ""):
        given["model"] = network.name
    if "date" in values:
        given["ran_on"] = values["date"].date()
    if "better" in values:
        given["lower_is_better"] = values["better"] == "lower"
    try:
        run = read_apart(Run, read_run, log, Facts(**given), service.clock())
    except RunRefused as refused:
        raise BadParameters({**{key: [message] for key, message in refused.errors.items()}, **errors}) from None
    except OutOfBounds as refused:
        raise Refused(422, f"file: {refused}", {"file": [str(refused)]}) from None
    except LogRefused as refused:
        raise BadParameters({"file": [str(refused)], **errors}) from None
    if "steps_are" not in values and (message := implausible(run, service.evidence)):
        errors["steps_are"] = [message]
    if errors:
        raise BadParameters(errors)
    return run


def _name(service: Service, names: Known, name: str, errors: dict[str, list[str]]) -> str:
    if not name:
        errors["name"] = ["missing: the file has no name that could be the run's; add one such as my-run"]
    elif taken := built_in(name, service.evidence, names):
        model = ", and give it as model" if service.evidence.find_model(name) else ""
        errors["name"] = [f"{clip(name)} is {taken}: choose another name, such as my-{clip(name)}{model}"]
    return name


def _machine(values: Values, names: Known, catalogue: Catalogue, errors: dict[str, list[str]]) -> dict[str, Any]:
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


def kept_run(service: Service, keeper: StoredRuns, run: Run, owner: Owner, by: By) -> OwnRecipe:
    """The run as it is kept; whoever got no answer sends the very same again. Raises Refused where there is no room."""
    rows, stored = service.runs.seen_by(owner.digest), replace(run.stored(owner.digest), shared_by=owner.shares_as)
    row = next((row for row in rows if _is_same(row, stored)), None)
    if row is None:
        check_room(rows, run, owner.digest)
        keeper.add(row := stored, by)
    return own_recipe(OwnModel(row, run, service.evidence, service.sharer(owner.digest, row)))


def _is_same(row: OwnRun, sent: OwnRun) -> bool:
    """Whether a row is what is sent, but for the moment."""
    if row.kind != RUN or replace(row, added_at=sent.added_at, document="") != replace(sent, document=""):
        return False
    return replace(stored_run(row), added_at=sent.added_at) == stored_run(sent)


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
