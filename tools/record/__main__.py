"""The record: the questions of `questions.csv`, on every surface, and the bytes that one checkout answers.

python -m tools.record make FOLDER [--checkout DIR] [--questions FILE]
python -m tools.record compare FOLDER_A FOLDER_B [--allow FILE]

A change that must not be felt outside is held by a record made before it and one made after it.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from tools.record.comparison import allowed_in, compared
from tools.record.running import Answer, Question, Running, started
from tools.record.workbooks import IS_WORKBOOK, cells_of

AT_ONCE = 2
FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group()
def main() -> None:
    """Record what a checkout answers, and compare two records."""


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("--checkout", type=FOLDER, default=".", show_default=True, help="The checkout to ask.")
@click.option("--questions", type=FILE, default=Path(__file__).with_name("questions.csv"), help="Ask these.")
def make(folder: Path, checkout: Path, questions: Path) -> None:
    """Ask the checkout every question and write each answer into FOLDER."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="record-") as home, started(checkout.resolve(), Path(home)) as running:
        with questions.open(newline="") as sheet:
            asked = [Question(**row) for row in csv.DictReader(sheet)]
        answers = _answers(asked, running)
        for number, (question, answer) in enumerate(zip(asked, answers, strict=True), 1):
            (folder / f"{number:03}.answer").write_bytes(answer.recorded(question))
    click.echo(f"{len(asked)} answers of {checkout} are in {folder}")


@main.command()
@click.argument("before", type=FOLDER)
@click.argument("after", type=FOLDER)
@click.option("--allow", type=FILE, help="Accepted sentences: old => new on each line.")
def compare(before: Path, after: Path, allow: Path | None) -> None:
    """Say which answers of BEFORE are not the same in AFTER. Exit status 1 if some are not."""
    found = compared(before, after, allowed_in(allow) if allow else {})
    click.echo(found.told())
    sys.exit(bool(found.differing))


def _answers(asked: list[Question], running: Running) -> Iterator[Answer]:
    """The answers in order, workbooks as the cells that they show once they are calculated anew."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(running.ask, asked))
    cells = iter(cells_of([each.body for each in found if each.content_type == IS_WORKBOOK]))
    return (each.with_body(next(cells)) if each.content_type == IS_WORKBOOK else each for each in found)


if __name__ == "__main__":
    main()
