"""What every answer stands on: prices, evidence, and the code itself."""

import re
import shutil
from pathlib import Path

import costcalc
from api import version as versions


def copied(tmp_path, monkeypatch):
    """The packages' files in another folder, where the service looks for them."""
    root = Path(costcalc.__file__).parents[1]
    for package in versions.PACKAGED:
        folder = package.partition(".")[0]
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(versions, "files", lambda package: tmp_path.joinpath(*package.split(".")))
    return versions.code_version.__wrapped__


def test_the_version_names_the_release_and_changes_with_a_line_of_code_and_with_a_table(tmp_path, monkeypatch):
    version = copied(tmp_path, monkeypatch)
    seen = [version()]
    assert re.fullmatch(rf"{re.escape(costcalc.__version__)}\+[0-9a-f]{{12}}", seen[0])
    assert version() == seen[0] == versions.code_version()
    for file in ("api/formats/csv.py", "costcalc/estimate.py", "pricing/packaged/data/instance_types.csv"):
        with (tmp_path / file).open("a") as text:
            text.write("#\n")
        seen.append(version())
    assert len(set(seen)) == 4
