"""Prints packaged rates drawn at random beside what their source says: `python -m tools.check_rows --seed 1 [MIRRORS]`.

MIRRORS is a folder of git clones called `owner+name` (or `owner+name/repo`). For a rate whose source is a file at a commit there,
the line of that file that has the figure is printed beside it; for others the source alone, so that a person can open it.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import subprocess
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

from pricing.packaged.tables import packaged_folder

Row = Mapping[str, str]
SOURCE = re.compile(r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<commit>[0-9a-f]{7,40})[ :](?P<path>\S+)")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
TOLERANCE = Decimal("0.000001")
LONGEST = 110  # characters of a line that are shown
HOURS_IN_MONTH = 730


def main() -> None:
    """Draws, looks up and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", nargs="?", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    asked = parser.parse_args()
    print("\n".join(lines(drawn(asked.seed, asked.count), asked.mirrors)))


def drawn(seed: int, count: int) -> list[Row]:
    """So many rows of the packaged rates; the same for the same seed and table."""
    text = (packaged_folder() / "offers.csv").read_text(encoding="utf-8")
    return random.Random(seed).sample(list(csv.DictReader(text.splitlines())), count)


def lines(rows: list[Row], mirrors: Path | None) -> Iterator[str]:
    """Two lines for each rate, what is packaged and what the source says, and how many of them were found."""
    found = 0
    for number, row in enumerate(rows, 1):
        terms = " ".join(filter(None, (row["purchase_option"], row["term"], row["payment"])))
        where = " ".join((row["provider"], row["region"], row["instance_type"], terms))
        yield f"{number:3} {where}, {row['observed_at']}: {row['hourly_rate']} {row['currency']} an hour"
        said = said_by_source(row, mirrors)
        found += said is not None
        yield f"    {row['source']}{f': {said}' if said else ''}"
    yield f"{found} of {len(rows)} figures were found in their sources; for the others, open the source."


def said_by_source(row: Row, mirrors: Path | None) -> str | None:
    """A line of the cited file that has the figure; None where there is no copy or no such line."""
    cited = SOURCE.match(row["source"])
    if mirrors is None or cited is None:
        return None
    text = _file(mirrors / f"{cited['owner']}+{cited['name']}", cited["commit"], cited["path"])
    for place, line in _of_machine(text, row):
        if any(
            abs(Decimal(each) - figure) <= TOLERANCE * figure
            for each in NUMBER.findall(line)
            for figure in _figures(row)
        ):
            return f"line {place}: {' '.join(line.split())[:LONGEST]}"
    return None


def _figures(row: Row) -> list[Decimal]:
    """The amounts that a source may state: the rate, a month of it, and what is paid beside it."""
    rate = Decimal(row["hourly_rate"])
    return [
        rate,
        rate * HOURS_IN_MONTH,
        *(Decimal(row[name]) for name in ("upfront", "monthly") if Decimal(row[name] or 0)),
    ]


def _of_machine(text: str, row: Row) -> Iterator[tuple[int, str]]:
    """The numbered lines from the one on that names the machine and, behind that, the region; from the first where none does."""
    every, start = list(enumerate(text.splitlines(), 1)), 0
    for name in (row["instance_type"], row["region"]):
        start = next((position for position, (_, line) in enumerate(every[start:], start) if name in line), start)
    return iter(every[start:])


@lru_cache(maxsize=64)
def _file(clone: Path, commit: str, path: str) -> str:
    folder = clone / "repo" if (clone / "repo").is_dir() else clone
    if not folder.is_dir():
        return ""
    shown = subprocess.run(["git", "-C", str(folder), "show", f"{commit}:{path}"], capture_output=True, check=False)
    return shown.stdout.decode(errors="replace")


if __name__ == "__main__":
    main()
