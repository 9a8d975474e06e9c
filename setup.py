"""The wheel holds one package: `api`, `pricing` and `own_runs` of this repository stand in it as `costcalc.api` and so on.

As packages of their own they would hide, or be hidden by, anybody's folder `api` or file `pricing.py`.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

PACKAGE, INSIDE = "costcalc", ("api", "own_runs", "pricing")
NAMES = "|".join(INSIDE)
IMPORTED = re.compile(rf"^(\s*from )(?=(?:{NAMES})[. ])", re.MULTILINE)
NAMED = re.compile(rf"(?<=[\"'])(?=((?:{NAMES})(?:\.[a-z_]+)+))")


class OnePackage(build_py):
    """Copies the packages as they are, then those of an edge into the one package, under their new names, and the documents."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.move(Path(self.build_lib))

    def move(self, built: Path) -> None:
        for name in INSIDE:
            shutil.rmtree(built / PACKAGE / name, ignore_errors=True)
            (built / name).rename(built / PACKAGE / name)
        shutil.copytree("docs", built / PACKAGE / "docs", dirs_exist_ok=True)
        for file in (built / PACKAGE).rglob("*.py"):
            file.write_text(renamed(file.read_text("utf-8"), built / PACKAGE), "utf-8")


class OneName(egg_info):
    """Names the one package that the wheel brings."""

    def run(self) -> None:
        super().run()
        (Path(self.egg_info) / "top_level.txt").write_text(f"{PACKAGE}\n", "utf-8")


def renamed(source: str, package: Path) -> str:
    """A module's text with the new names of modules, where it imports them and where a string names one that exists."""

    def new_name(match: re.Match[str]) -> str:
        named = package.joinpath(*match[1].split(".")[:2])
        return f"{PACKAGE}." if named.is_dir() or named.with_suffix(".py").is_file() else ""

    return NAMED.sub(new_name, IMPORTED.sub(rf"\1{PACKAGE}.", source))


setup(cmdclass={"build_py": OnePackage, "egg_info": OneName})
