"""What messages and documents tell people to install is what there is."""

import re
import tomllib
from pathlib import Path

import pytest

from api.cli.failing import stopping_without_extras

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TOLD = [ROOT / "README.md", ROOT / "Makefile"] + [
    file for folder in ("api", "docs", "own_runs") for file in (ROOT / folder).rglob("*.[pm][yd]")
]


def test_there_are_five_beside_all_of_them_and_what_developers_need():
    assert set(EXTRAS) == {"prices", "sheets", "server", "mcp", "measure", "all", "dev"}


def test_every_extra_that_is_named_can_be_installed():
    lists = re.findall(r"'(?:costcalc|\.)\[([a-z,]+)\]'|--extra ([a-z]+)", "\n".join(map(Path.read_text, TOLD)))
    named = {name for found in lists for name in ",".join(found).split(",") if name}
    assert named <= set(EXTRAS)
    assert {"server", "mcp", "measure", "all", "dev"} <= named


def test_a_missing_module_of_ours_is_no_extra():
    with pytest.raises(ModuleNotFoundError), stopping_without_extras():
        raise ModuleNotFoundError(name="costcalc.nowhere")
