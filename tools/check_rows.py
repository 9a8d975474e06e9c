"""Prints packaged rates drawn at random beside what their source says: `python -m tools.check_rows --seed 1 [MIRRORS]`.

MIRRORS is a folder of git clones called `owner+name` (or `owner+name/repo`). For a rate whose source is a file at a commit there,
the line of that file that has the figure is printed beside it. The end counts the rates that were found, those that the file at
hand does not have for this machine and region (`differs`), and those whose source is not at hand, for a person to open.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from pricing.packaged.machine_facts import packaged_machines
from pricing.packaged.tables import packaged_folder
from tools.cited_files import cited_lines, lines_about, numbers

Row = Mapping[str, str]
FOUND, DIFFERS, NOT_AT_HAND = "found", "differs", "source not at hand"
TOLERANCE = Decimal("0.000001")
ROUNDED = Decimal("0.0005")  # half of the last of three decimals, as many lists round
LONGEST = 110  # characters of a line that are shown
HOURS_IN_MONTH = 730
CORES_PER_CHIP = 2  # of a TPU up to v4, whose slices are named by cores


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
    """Two lines for each rate, what is packaged and what the source says, and how many came out how."""
    outcomes: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        terms = " ".join(filter(None, (row["purchase_option"], row["term"], row["payment"])))
        where = " ".join((row["provider"], row["region"], row["instance_type"], terms))
        yield f"{number:3} {where}, {row['observed_at']}: {row['hourly_rate']} {row['currency']} an hour"
        outcome, said = said_by_source(row, mirrors)
        outcomes[outcome] += 1
        yield f"    {row['source']}: {outcome}{f', {said}' if said else ''}"
    yield ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in (FOUND, DIFFERS, NOT_AT_HAND)) + f" of {len(rows)}"


def said_by_source(row: Row, mirrors: Path | None) -> tuple[str, str]:
    """What came out, and the line of the cited file that has the figure, if one has."""
    said = cited_lines(row["source"], mirrors)
    if said is None:
        return NOT_AT_HAND, ""
    for place, line in lines_about(said, _names(row), row["region"]):
        if any(_equal(each, figure) for each in numbers(line) for figure in _figures(row)):
            return FOUND, f"line {place}: {' '.join(line.split())[:LONGEST]}"
    return DIFFERS, ""


def _names(row: Row) -> tuple[str, ...]:
    """How a source may call the machine: as we do, or a TPU by its generation."""
    name = row["instance_type"]
    generation, dash, _ = name.partition("-")
    is_slice = row["provider"] == "gcp" and dash and generation[0] == "v"
    return (name, f"TPU {generation.replace('litepod', 'e')}") if is_slice else (name,)


def _equal(said: Decimal, figure: Decimal) -> bool:
    is_rounded = any(each == round(each, 3) for each in (said, figure)) and figure > 100 * ROUNDED
    return abs(said - figure) <= (ROUNDED if is_rounded else TOLERANCE * figure)


def _figures(row: Row) -> list[Decimal]:
    """The amounts that a source may state: the rate of the machine or an accelerator, a month of it, and what is paid beside."""
    rate, machine = Decimal(row["hourly_rate"]), packaged_machines(row["provider"]).get(row["instance_type"])
    count = machine.accelerators if machine and machine.accelerators else 1
    beside = [row[name] for name in ("upfront", "monthly")] + [
        part.rpartition("=")[2] for part in row["parts"].split(";")
    ]
    amounts = [Decimal(each) for each in beside if each and Decimal(each)]
    return [rate, rate * HOURS_IN_MONTH, rate / count, rate / count / CORES_PER_CHIP, *amounts]


if __name__ == "__main__":
    main()
