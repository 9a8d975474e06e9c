"""python -m benchmarks against [COMMIT]: an earlier commit and this code, measured in turns; by default the last release.

`processor.py` asks both the same, in processes of their own, so that a busy machine slows both alike. The unit of a figure (ms
of the processor, calls, bytes, MiB) says how much worse it may be; calls, bytes and memory are the same on every machine.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.timing import report

ROOT = Path(__file__).parents[1]
LAST_RELEASE = "719229b4"
FIGURE = re.compile(r"^(.+), (\w+): ([\d.]+)$", re.MULTILINE)
MOST_TIMES = {"ms": 1.2, "times": 1.2, "calls": 1.05, "bytes": 1.1}
MOST_MIB_MORE = 50

Side = tuple[Sequence[str], Mapping[str, str]]
"""A command that prints figures, and its environment."""


def main(arguments: Sequence[str] = ()) -> bool:
    """Whether no figure is worse than it may be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks against", description=__doc__)
    parser.add_argument("commit", nargs="?", default=LAST_RELEASE)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(arguments)
    with checked_out(given.commit) as earlier, TemporaryDirectory() as folder:
        sides = [_side(place, Path(folder) / name) for place, name in ((earlier, "earlier"), (ROOT, "now"))]
        return judged(sides[0], sides[1], given.rounds)


def judged(earlier: Side, now: Side, rounds: int) -> bool:
    """Prints each figure that both sides measured, and whether none is worse than it may be. Each side runs once a round."""
    measured: dict[tuple[str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for _ in range(rounds):
        for number, side in enumerate((earlier, now)):
            for what, unit, figure in _figures(side):
                measured[what, unit][number].append(figure)
    pairs = [(key, median(before), median(after)) for key, (before, after) in measured.items() if before and after]
    return sum(not _is_kept(*key, before, after) for key, before, after in pairs) == 0


def _is_kept(what: str, unit: str, before: float, after: float) -> bool:
    if unit == "MiB":
        wanted, is_kept = f"at most {MOST_MIB_MORE} MiB more", after <= before + MOST_MIB_MORE
    else:
        wanted, is_kept = f"at most {MOST_TIMES[unit]} times", after <= MOST_TIMES[unit] * before
    return report(what, f"{before:,.6g} {unit}, now {after:,.6g}, {after / before:.3f} times", wanted, is_kept)


def _figures(side: Side) -> Iterator[tuple[str, str, float]]:
    command, environment = side
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    for what, unit, figure in FIGURE.findall(done.stdout):
        yield what, unit, float(figure)


def _side(place: Path, folder: Path) -> Side:
    """What measures a checkout. Its modules are compiled into a folder, in which no store is."""
    environment = os.environ | {
        "PYTHONPATH": str(place),
        "PYTHONPYCACHEPREFIX": str(folder),
        "XDG_DATA_HOME": str(folder),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return (sys.executable, "-P", str(ROOT / "benchmarks/processor.py")), environment


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A folder with the code of a commit, which goes at the end."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "code"
        subprocess.run(["git", "worktree", "add", "--detach", place, commit], cwd=ROOT, check=True, capture_output=True)
        try:
            yield place
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", place], cwd=ROOT, check=True)
