"""Libraries whose private parts we override: each is bound below its next minor version, and has these parts still."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from granian.server import MPServer
from packaging.requirements import Requirement
from xlsxwriter import xmlwriter
from xlsxwriter.worksheet import Worksheet

EXTRAS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
REQUIRED = {named.name: named for named in (Requirement(each) for some in EXTRAS.values() for each in some)}
OVERRIDDEN = {
    "granian": (
        "a worker that loads misses its only stop, a stop is forgotten while a worker dies, one that dies twice in six seconds "
        "stops all, and an answer that nobody reads is kept for ever",
        MPServer,
        ("_spawn_asgi_worker", "_respawn_workers", "_stop_workers"),
    ),
    "XlsxWriter": (
        "a workbook of a thousand estimates takes 4.9 s instead of 2.4 s, and LibreOffice reads _x5_ in a name as a control sign",
        Worksheet,
        (
            "_write_string",
            "_write_number",
            "_write_formula",
            "_prepare_formula",
            "_calculate_spans",
            "_write_cell",
            "_escape_data",
        ),
    ),
}


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_what_we_override_is_there_and_no_other_version_is_installed(name):
    why, kind, parts = OVERRIDDEN[name]
    major, minor, *_ = map(int, version(name).split("."))
    assert all(hasattr(kind, part) for part in parts), f"look whether it still holds that {why}"
    assert f"{major}.{minor + 1}" not in REQUIRED[name].specifier, f"bind it to {major}.{minor}: {why}"
    assert f"{major}.{minor}" in REQUIRED[name].specifier


def test_a_server_has_the_parts_that_ours_replaces():
    server = MPServer("none")
    assert {"main_loop_interrupt", "interrupt_signal", "respawned_wrks", "wrks"} <= vars(server).keys()
    assert xmlwriter.re_control_chars_1.search("_x0005_")
