"""`/launch`: a launch file of the best estimate that a launcher can rent."""

from __future__ import annotations

from flask import Blueprint, Response

from api.formats.launch_files import file_name, launch_file
from api.questions.schemas.trainings import LaunchSchema
from api.reports.launch import launch_report
from api.web.responses import arguments, cached, current_service

blueprint = Blueprint("launch", __name__)
LAUNCH = LaunchSchema()


@blueprint.get("/launch")
def launch() -> Response:
    """A file that SkyPilot or dstack starts the training with."""
    service = current_service()
    catalogue = service.catalogue()
    values, _ = service.parse(LAUNCH, arguments(), catalogue)
    parts = (catalogue.snapshot, sorted(values.items()), values.get("as_of") or service.clock().date())
    report = launch_report(service, catalogue, values)
    response = cached(parts, "yaml", lambda: launch_file(report))
    response.headers["Content-Disposition"] = f'inline; filename="{file_name(report)}"'
    return response
