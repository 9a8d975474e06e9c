"""What a stranger must open for one question, and how the code reads: `python -m tools.walk [QUESTION ...]`.

Prints, for each question, the files of `api` that it is made in, and how many lead to it; how often a warm question changes
module; by package the lines, the lines of a function, and the share of functions with `Any` in their signature; and the words of
the documents. An aim stands beside a figure. It was chosen before anything was counted, and nothing fails where it is missed:
code that is packed to please a counter reads no better.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from types import FrameType
from typing import Any

from flask.testing import FlaskClient

from api.forms.question import Question
from api.forms.register import QUESTIONS

ROOT = Path(__file__).parents[1]
PRODUCT = ("costcalc", "pricing", "own_runs", "api")
OFFLINE = ("science", "tools", "benchmarks")
AIMS = {
    "files": "3: its row of the register, its file of forms, and its report where others need it",
    "changes": "500",
    "lines": "38,000 in all, and 3,000 of tools and benchmarks",
    "functions": "8 to 10 lines in the middle",
    "Any": "none where a type exists",
    "words": "32,800, two thirds of those at commit b55ff69",
}
WARM = "/cost?model=resnet50&target="
TYPES = "Report Schema Document"
REGISTER = "api/forms/register.py"


def files_naming(question: Question) -> tuple[list[str], list[str]]:
    """The files of `api` that a question is made in, which name its report, its forms or a type called after it; and the others,
    which lead to it or speak of it."""
    path, name, report = question.path.strip("/"), question.name, question.code.report.__module__
    folder, _, module = report.rpartition(".")
    types = "|".join("".join(map(str.capitalize, name.split("_"))) + each for each in TYPES.split())
    makes = re.compile(
        rf"{re.escape(report)}\b|from {re.escape(folder)} import .*\b{module}\b"
        rf"|forms\.{name}\b|forms import .*\b{name}\b|\b{name}_report\b|\b({types})\b"
    )
    leads = re.compile(rf"[\"'`]/{path}(?![\w/-])|questions\.{name}\b|\"{name}\", \{{|\"{name}\"\),")
    files = sorted(file for file in (ROOT / "api").rglob("*") if file.suffix in (".py", ".html"))
    texts = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}
    made = [file for file, text in texts.items() if makes.search(text) or file == REGISTER]
    return made, [file for file, text in texts.items() if file not in made and leads.search(text)]


@cache
def client() -> FlaskClient:
    """The service on the packaged prices."""
    from api.bootstrap import build_once
    from api.settings import Settings
    from api.web.app import create_app

    return create_app(build_once(Settings(database_url="sqlite:////nowhere/costcalc.sqlite3"))).test_client()


def changes_of_module() -> int:
    """How often a warm question passes from a module of ours to another one."""
    assert client().get(f"{WARM}0.757").status_code == 200
    with steps() as walked:
        assert client().get(f"{WARM}0.758").status_code == 200
    return len(walked)


@contextmanager
def steps() -> Iterator[list[str]]:
    """The modules of ours that are entered meanwhile, one entry a change of module. Bodies of modules do not count."""
    walked: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        place = module_of(frame.f_code.co_filename) if event == "call" else None
        if place and frame.f_code.co_name != "<module>" and walked[-1:] != [place]:
            walked.append(place)

    sys.setprofile(note)
    try:
        yield walked
    finally:
        sys.setprofile(None)


@cache
def module_of(file: str) -> str | None:
    """The dotted name of a file of the product."""
    path = Path(file)
    if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in PRODUCT:
        return None
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def of_package(package: str) -> str:
    """Its lines and functions in one line of text."""
    texts = [path.read_text("utf-8") for path in (ROOT / package).rglob("*.py")]
    functions = [each for text in texts for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)]
    lengths = [(each.end_lineno or each.lineno) - each.lineno + 1 for each in functions]
    middle, most = median(lengths), quantiles(lengths, n=10)[-1]
    lines, loose = sum(text.count("\n") for text in texts), sum(map(has_any, functions)) / len(functions)
    return (
        f"{package:10} {lines:7,} lines in {len(texts):3} files; {len(functions):5,} functions "
        f"of {middle:g} lines, one in ten of more than {most:g}; Any in {loose:.0%}"
    )


def has_any(function: ast.FunctionDef) -> bool:
    """Whether its signature says Any."""
    given = function.args
    parameters = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    said = [function.returns, *(each.annotation for each in parameters if each)]
    return any(isinstance(part, ast.Name) and part.id == "Any" for each in said if each for part in ast.walk(each))


def main(names: list[str]) -> None:
    """Prints the figures beside their aims."""
    sys.path.insert(0, str(ROOT))
    print(f"files of api that a question is made in (aim: {AIMS['files']}), and others that lead to it")
    for question in (each for each in QUESTIONS if each.path in names or not (names or "{" in each.path)):
        made, led = files_naming(question)
        print(f"{len(made):4} {len(led):4}  {question.path}", *((*made, "|", *led) if names else ()))
    print(f"{changes_of_module():4} changes of module of a warm question (aim: {AIMS['changes']})")
    print(f"by package (aims: {AIMS['lines']}; {AIMS['functions']}; Any: {AIMS['Any']})")
    for package in (*PRODUCT, *OFFLINE):
        print(of_package(package))
    texts = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    words = sum(len(text.read_text("utf-8").split()) for text in texts)
    print(f"{words:,} words in README.md and docs/*.md (aim: {AIMS['words']})")


if __name__ == "__main__":
    main(sys.argv[1:])
