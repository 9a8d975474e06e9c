"""The clock of Python processes, moved by days; PostgreSQL, Redis, nginx and Chromium keep theirs."""

import os
import runpy
from pathlib import Path

FOLDER = Path(__file__).with_name("moved_clock")


def ahead_by(days: float) -> dict[str, str]:
    """What the environment of a process adds, for its clock and that of all that it starts."""
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {"DAYS_AHEAD": str(days), "PYTHONPATH": os.pathsep.join(dict.fromkeys([str(FOLDER), *filter(None, path)]))}


def move_this_process() -> None:
    """Moves the clock of this process and of its children by DAYS_AHEAD, if that is set and Python did not do so at the start."""
    days = os.environ.get("DAYS_AHEAD")
    if days and str(FOLDER) not in os.environ.get("PYTHONPATH", ""):
        os.environ |= ahead_by(float(days))
        runpy.run_path(str(FOLDER / "sitecustomize.py"))
