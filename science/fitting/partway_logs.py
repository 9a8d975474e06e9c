"""Reads `partway_logs.csv` anew from MLPerf's logs: `python -m science.fitting.partway_logs FOLDER`.

`FOLDER` has clones of MLPerf's repositories of results (`training_results_v5.1` ...); where one is missing, rows stay as they
are. A new row needs its task, round, organisation and log alone.
"""

from __future__ import annotations

import csv
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from costcalc.tasks.tables import rounds, tasks
from own_runs.logs.mlperf import read_mlperf
from science.fitting.partway import EQUAL, LOGS, sign


def logged(clone: Path, commit: str, path: str) -> str:
    """A log as it was published. Raises CalledProcessError."""
    read = subprocess.run(["git", "-C", str(clone), "show", f"{commit}:{path}"], capture_output=True, check=True)
    return read.stdout.decode("utf-8", "replace")


def shares_and_values(task: str, text: str) -> tuple[str, str]:
    """Shares of the passes until the task's quality, and the best value until then."""
    up, best, passed = sign(tasks()[task]), -math.inf, []
    for point in read_mlperf(text).points:
        best = max(best, *(up * value for value in point.values.values()))
        passed.append((point.epochs or 0.0, best))
        if best >= up * tasks()[task].quality - EQUAL:
            break
    kept, (first, _), (last, _) = list(_ends(passed)), passed[0], passed[-1]
    before = 1 if 1 < first < last <= 2 else 0  # DLRM's only pass is number 1
    shares = ";".join(f"{(x - before) / (last - before):.6g}" for x, _ in kept)
    return shares, ";".join(f"{up * value:.6g}" for _, value in kept)


def _ends(passed: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Of stretches without a better value the ends."""
    values = [value for _, value in passed]
    for number, point in enumerate(passed):
        if not values[max(number - 1, 0)] == point[1] == values[min(number + 1, len(values) - 1)] or number == 0:
            yield point


def main() -> None:
    """Writes the table, and says how many rows were read and how many of them changed."""
    rows, read, changed = list(csv.DictReader(LOGS.read_text("utf-8").splitlines())), 0, 0
    for row in rows:
        repository, _, commit = rounds()[row["round"]].repository.partition("@")
        clone = Path(sys.argv[1], repository.rpartition("/")[2])
        if clone.exists():
            shares, values = shares_and_values(row["task"], logged(clone, commit, row["log"]))
            read, changed = read + 1, changed + ((shares, values) != (row["shares"], row["values"]))
            row |= {"shares": shares, "values": values}
    with LOGS.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(f"{read} of {len(rows)} logs read, {changed} changed")


if __name__ == "__main__":
    main()
