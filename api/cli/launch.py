"""`costcalc launch`: the file that `/launch` answers."""

from __future__ import annotations

from api.bootstrap import build_once
from api.formats.launch_files import launch_file
from api.questions.schemas import LaunchSchema
from api.reports.launch import launch_report
from api.settings import Settings


def answer(settings: Settings, given: dict[str, list[str]]) -> str:
    """The launch file. Raises Refused and CannotStart."""
    service = build_once(settings)
    catalogue = service.catalogue()
    values, _ = service.parse(LaunchSchema(), given, catalogue)
    return launch_file(launch_report(service, catalogue, values)).decode()
