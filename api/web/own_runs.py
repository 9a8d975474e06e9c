"""`/recipes`: users' training logs become recipes, which are listed, also as a page with their curves, and removed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

from flask import Blueprint, Response, current_app, render_template, request, url_for

from api.formats.json import to_json
from api.questions.errors import BadParameters, Refused
from api.questions.own_runs import RunSchema, Upload
from api.questions.values import Values, taken
from api.reports.own_runs import (
    Owner,
    OwnRecipe,
    OwnRecipesReport,
    TriedRun,
    kept_run,
    new_run,
    own_recipe,
    own_recipes_report,
    removable,
    tried_run,
)
from api.service import Service
from api.stored import StoredRuns
from api.web.asked import JSON_TYPE, arguments, current_service, wants_page
from api.web.asker import current_author, current_owner, current_sharer, current_token
from own_runs.runs import CurvePoint, Run

blueprint = Blueprint("own_runs", __name__)
RUN = RunSchema()
OTHER_SIGNS = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_FILE_NAME = 100
HEADERS = {"Cache-Control": "no-store", "Vary": "Accept, Authorization, Cookie"}
FACTS = {"accelerator": "ran on, as 4xA100-80GB", "dataset": "data set", "metric": "metric", "batch_size": "batch, all together",
         "samples_per_epoch": "samples of the data set", "hours": "hours of the log", "steps_are": "steps are epochs or batches",
         "better": "better: lower or higher", "model": "network", "name": "name"}  # fmt: skip
"""What a form asks of a log, in this order."""
EXAMPLE = "epoch,minutes,val_accuracy\n" + "".join(
    f"{epoch},{epoch * 12},{0.76 * (1 - 0.6**epoch):.4f}\n" for epoch in range(1, 9)
)
WIDE, HIGH, MOST_POINTS = 200, 48, 100


class Shown(NamedTuple):
    """A run, its curve as the points of an SVG line, and whether the user may remove it."""

    run: OwnRecipe
    line: str
    is_own: bool


class Sent(NamedTuple):
    """A log that was pasted, what was said of it, and how it was read, or what is missing."""

    given: Mapping[str, Sequence[str]]
    log: str
    tried: TriedRun | None = None
    errors: Mapping[str, Sequence[str]] | None = None

    @property
    def line(self) -> str:
        return _line(self.tried.curve) if self.tried else ""

    @property
    def ends(self) -> tuple[float, float]:
        values = [point.value for point in self.tried.curve] if self.tried else [0.0]
        return min(values), max(values)


@blueprint.get("/recipes")
def own_recipes() -> Response:
    """What the user ran or measured, and what everybody may see of what others did."""
    if wants_page():
        return _page()
    return Response(to_json(_list().document()), headers=HEADERS, content_type=JSON_TYPE)


def _list() -> OwnRecipesReport:
    return own_recipes_report(_service(), current_owner())


def _page(sent: Sent | None = None, status: int = 200) -> Response:
    """The list, below a log that was just sent."""
    token = current_token()
    may_remove = _service().keeper is not None and not (token and token.read_only)
    report, owner = _list(), current_owner()
    page = render_template(
        "own_runs.html",
        sent=sent or Sent({}, EXAMPLE),
        facts=FACTS,
        runs=[Shown(own_recipe(own), _line(own.run.curve), own.row.owner == owner) for own in report.runs],
        speeds=report.document().speeds,
        may_remove=may_remove,
        size=(WIDE, HIGH),
    )
    return Response(page, status, HEADERS)


@blueprint.post("/recipes")
def add() -> Response:
    """A log becomes a recipe: its file is the body, or a form's field `file`; what it does not tell stands in the parameters or
    in the form's other fields. With `keep=false` it is read alone, and answered with its curve and what it costs elsewhere."""
    fields = request.form.to_dict(flat=False) if _is_form() else {}
    given = {
        **({name or "": values for name, values in fields.items() if name != "log" and (not name or any(values))}),
        **arguments(),
    }
    accept = request.accept_mimetypes
    if _is_form() and accept["text/html"] > accept[JSON_TYPE]:
        return _tried_page(given)
    answer, status = _added(given)
    return Response(to_json(answer), status, HEADERS, content_type=JSON_TYPE)


def _tried_page(given: dict[str, list[str]]) -> Response:
    """The page with the log as it was read, or with what it does not tell; back to the list where it was kept."""
    log = request.form.get("log", "")
    try:
        answer, _ = _added(given)
    except Refused as refused:
        return _page(Sent(given, log, errors=refused.by_field), refused.status)
    if isinstance(answer, TriedRun):
        return _page(Sent(given, log, answer))
    return Response(status=303, headers={**HEADERS, "Location": url_for("own_runs.own_recipes")})


def _added(given: dict[str, list[str]]) -> tuple[OwnRecipe | TriedRun, int]:
    """What became of a log, and the status that says so."""
    service, owner = current_service(), current_owner()
    values = service.check(RUN, given)
    upload = taken(Upload, values)
    values.pop("token", None)
    if not upload.keep:
        return tried_run(_service(), _read(service, values, upload), upload.target, owner), 200
    keeper = _keeper()
    run = _read(service, values, upload)
    sharer = current_sharer() if upload.shared or owner is None else None
    return kept_run(_service(), keeper, run, Owner(owner, sharer), current_author()), 201


@blueprint.delete("/recipes/<id>")
def remove(id: str) -> Response:
    """Forgets a run or a user's own speed."""
    keeper = _keeper()
    owner = current_owner()
    keeper.remove(removable(_service().runs.seen_by(owner), id, owner).id, current_author())
    return Response(status=204, headers=HEADERS)


def _read(service: Service, values: Values, upload: Upload) -> Run:
    sent = request.files.get("file") if _is_form() else None
    pasted = request.form.get("log", "").encode() if _is_form() else b""
    content = (sent.read() if sent else b"") or pasted or request.get_data()
    if not content:
        raise BadParameters({"file": ["missing: send the log as the body, or as the field file of a form"]})
    named = upload.file or (sent.filename if sent else None) or values.get("name") or "log"
    name = OTHER_SIGNS.sub("-", str(named).rpartition("/")[2]).strip(".-")[-LONGEST_FILE_NAME:] or "log"
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        return new_run(service, service.catalogue(), values, path)


def _is_form() -> bool:
    return request.mimetype == "multipart/form-data"  # curl calls every other body a form of its own kind


def _service() -> Service:
    """The application's service, whoever asks."""
    return cast(Service, current_app.extensions["costcalc"])


def _keeper() -> StoredRuns:
    keeper = _service().keeper
    if keeper is None:
        raise Refused(503, "this server keeps no runs: it answers from fixed prices")
    return keeper


def _line(curve: tuple[CurvePoint, ...]) -> str:
    """At most so many points of a curve, stretched over the drawing."""
    points = curve[:: -(-len(curve) // MOST_POINTS)]
    epochs, values = [point.epochs for point in points], [point.value for point in points]
    wide, high = max(epochs) or 1, (max(values) - min(values)) or 1
    return " ".join(
        f"{WIDE * point.epochs / wide:.1f},{HIGH - HIGH * (point.value - min(values)) / high:.1f}" for point in points
    )
