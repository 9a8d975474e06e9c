"""python -m benchmarks against COMMIT [NAME ...]: benchmarks of an earlier commit and of this code, in turns in one run.

Each runs its own benchmarks in processes of its own, so that a busy machine slows both alike. Without names both run
`processor.py`, which counts the time of the processor. Prints the medians and their ratio.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import median

ROOT = Path(__file__).parents[1]
PROCESSOR = str(ROOT / "benchmarks/processor.py")
FIGURE = re.compile(r"^(?:ok  |MISS) (.+?): ([\d,]+(?:\.\d+)?)", re.MULTILINE)


def main(arguments: Sequence[str] = ()) -> bool:
    parser = argparse.ArgumentParser(prog="python -m benchmarks against", description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a benchmark that both have")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(arguments)
    measured: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with checked_out(given.commit) as earlier:
        for _ in range(given.rounds):
            for side, place in enumerate((earlier, ROOT)):
                for what, figure in figures(place, given.names, earlier.parent):
                    measured[what][side].append(figure)
    for what, (before, now) in measured.items():
        if before and now:
            print(f"{what}: {median(before):,.4g}, now {median(now):,.4g}, {median(now) / median(before):.3f} times")
    return True


def figures(place: Path, names: Sequence[str], compiled: Path) -> Iterator[tuple[str, float]]:
    """What the benchmarks of a checkout print, and the first number of each line. Its modules are compiled into a folder, in
    which no store is."""
    command = [sys.executable, "-P", *(("-m", "benchmarks", *names) if names else (PROCESSOR,))]
    environment = {
        **os.environ,
        "PYTHONPATH": str(place),
        "PYTHONPYCACHEPREFIX": str(compiled),
        "XDG_DATA_HOME": str(compiled),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, cwd=place, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    for what, figure in FIGURE.findall(done.stdout):
        yield what, float(figure.replace(",", ""))


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
