"""python -m benchmarks fresh: how soon a new server answers from the rates of that minute, though nobody types a refresh.

Local servers speak the recorded formats of every source that needs no account. Wanted: within 60 s `/cost` answers
from rates seen since, and `freshness` says so. Where every source is dead: the packaged answer, and one sentence in the log.
`--clone` begins with a clone of this commit and `make serve`; what its installation takes is told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from benchmarks.refresh_memory import honest_sources
from benchmarks.timing import report
from pricing.sources import SOURCES
from tools.cluster.cluster import COSTCALC, wait_for
from tools.cluster.program import clean_environment

MOST_SECONDS = 60
PATIENCE = 540
NOBODY = "http://127.0.0.1:9"
SERVING = re.compile(r"http://127\.0\.0\.1:\d+")
OPEN = [spec for spec in SOURCES.values() if spec.is_open]
ADDRESSES = {each.variable for spec in OPEN for each in spec.settings if "_URL" in each.variable}


def main(arguments: Sequence[str] = ()) -> bool:
    parser = argparse.ArgumentParser(prog="python -m benchmarks fresh", description=__doc__)
    parser.add_argument("--clone", action="store_true", help="begin with a clone and make serve")
    clone = parser.parse_args(arguments).clone
    with TemporaryDirectory() as folder, honest_sources() as good:
        here = _cloned(Path(folder) / "clone") if clone else None
        given = {name: text for source, each in good.items() if SOURCES[source].is_open for name, text in each.items()}
        fine = _alive(Path(folder) / "alive", here, given)
        return _dead(Path(folder) / "dead", here) and fine


def _cloned(folder: Path) -> Path:
    """A clone of this commit, with its environment made."""
    subprocess.run(["git", "clone", "-q", Path(__file__).parents[1], folder], check=True)
    started = time.perf_counter()
    subprocess.run(
        ["make", "-C", folder, ".venv/installed"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    print(f"     a clone is installed in {time.perf_counter() - started:.0f} s")
    return folder


def _alive(home: Path, clone: Path | None, sources: Mapping[str, str]) -> bool:
    """Whether the answer is of that minute in time."""
    started, moment = time.perf_counter(), datetime.now(UTC)
    with _server(home, clone, sources) as server:
        listening = time.perf_counter() - started
        age = server.freshness
        while not _fresh(age) and time.perf_counter() - started < PATIENCE:
            time.sleep(0.5)
            age = server.freshness
        seconds, log = time.perf_counter() - started, server.log
        wait_for(lambda: "refreshed from" in log.read_text(), PATIENCE)
        ended, gaps = time.perf_counter() - started, server.cost["prices"]["gaps"]
        said = log.read_text().strip().splitlines()[-1]
    told = datetime.fromisoformat(age["refreshed_at"] or "1970-01-01T00:00+00:00")
    print(f"     {said}; {ended:.0f} s after the command")
    unanswered = said.partition("no answer from ")[2].rpartition(", in ")[0].split(", ")
    for gap in (gap for gap in gaps if gap["source"] in unanswered):
        print(f"     {gap['source']}: {gap['reason']}")
    load = f"{os.getloadavg()[0]:.0f} processes on {os.cpu_count()} cores"
    figure = (
        f"{seconds:.0f} s, of which {listening:.0f} until it listens, beside {load}; then of {', '.join(_fresh(age))}"
    )
    within = seconds <= MOST_SECONDS and told >= moment.replace(microsecond=0) and bool(_fresh(age))
    return report("from the command to rates of that minute", figure, f"within {MOST_SECONDS} s", within)


def _fresh(freshness: Mapping[str, Any]) -> list[str]:
    """The providers of whose rates half were seen within ten minutes."""
    ages = freshness["by_provider"] if freshness["refreshed_at"] else {}
    return [name for name, days in ages.items() if days < 10 * MOST_SECONDS / 86400]


def _dead(home: Path, clone: Path | None) -> bool:
    """Whether the packaged answer stands, and one sentence is logged."""
    with _server(home, clone, {"COSTCALC_REFRESH_SECONDS": "10"}) as server:
        before = server.cost["estimates"]
        wait_for(lambda: "prices not refreshed" in server.log.read_text(), PATIENCE)
        same, lines = server.cost["estimates"] == before, server.log.read_text().strip().splitlines()
    print(f"     {lines[-1]}")
    same &= len([line for line in lines if "refreshed" in line]) == 1
    return report("with every source dead", "the packaged answer and one line" if same else str(lines), "both", same)


@dataclass(frozen=True)
class _Server:
    url: str
    log: Path

    @property
    def cost(self) -> dict[str, Any]:
        with urlopen(f"{self.url}/cost?model=resnet50&target=0.757&limit=3") as answer:
            return dict(json.load(answer))

    @property
    def freshness(self) -> dict[str, Any]:
        return dict(self.cost["freshness"])


@contextmanager
def _server(home: Path, clone: Path | None, sources: Mapping[str, str]) -> Iterator[_Server]:
    """A server in a home of its own: of the clone by `make serve`, otherwise of this code."""
    home.mkdir()
    log, usual = home / "log", {**dict.fromkeys(ADDRESSES, NOBODY), "AWS_EC2_METADATA_DISABLED": "true"}
    settings = clean_environment(**{**usual, "HOME": str(home), **sources, "COSTCALC_REFRESH": "1h"})
    command = ["make", "-C", str(clone), "serve", "PORT=0"] if clone else [*COSTCALC, "serve", "--bind", "127.0.0.1:0"]
    with log.open("w") as output:
        process = subprocess.Popen(command, env=settings, stdout=output, stderr=output, start_new_session=True)
    try:
        wait_for(lambda: SERVING.search(log.read_text()), PATIENCE)
        [url] = {*SERVING.findall(log.read_text())}
        yield _Server(url, log)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
