"""What a question and a command take, of whichever checkout runs this file: a figure a line, with what it counts.

`python -m benchmarks against` has it run by two, in turns. It asks what both can answer, so that it knows no newer names.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

COMMAND = ("cost", "resnet50", "0.757", "--as-of", "2026-11-20")
RUN_COMMAND = "import sys; from api.cli.main import main; sys.argv[0] = 'costcalc'; main()"
IMPORTS = "import numpy, click, rich"
CALLS, RUNS, OFFERS = 100, 5, 100_000
KEEPING_CODE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""As Python is usually set: compiled modules are kept, so that only the first of the runs compiles."""
PATHS = ("/cost?model=resnet50&target=0.757", "/cost.csv?model=resnet50&target=0.757", "/?model=resnet50&target=0.757")

Ask = Callable[[float], object]


def figures() -> Iterator[tuple[str, float]]:
    """What was measured, each after what it counts."""
    ask = asker()
    yield f"a warm question at {OFFERS:,} offers, ms", milliseconds(ask)
    yield "a warm question, calls", calls(lambda: ask(0.7001))
    yield "the peak of memory, MiB", peak_mib()
    yield from answers()
    imports, command = run([IMPORTS], [RUN_COMMAND, *COMMAND])
    yield "a cold command, ms", command
    yield "a cold command beside the imports of numpy, click and rich, times", command / imports


def asker() -> Ask:
    """What asks the engine for ResNet-50 to a target; what answers share is kept between them."""
    engine, query = import_module("costcalc.estimate"), import_module("costcalc.query").EstimateQuery
    synthetic, memory = import_module("benchmarks.synthetic"), import_module("costcalc.memory").Memory()
    evidence, offers = import_module("costcalc.evidence").load_evidence(), synthetic.catalogue(OFFERS)
    return lambda target: engine.answer(query("resnet50", target), evidence, offers, synthetic.NOW, memory=memory)


def milliseconds(ask: Ask) -> float:
    """The median of different questions, the first of which is not counted."""
    taken = []
    for number in range(CALLS + 1):
        started = time.process_time()
        ask(0.70 + 0.06 * number / CALLS)
        taken.append(time.process_time() - started)
    return median(taken[1:]) * 1000


def calls(ask: Callable[[], object]) -> int:
    """How often Python's functions are called."""
    counted: Counter[str] = Counter()
    sys.setprofile(lambda _, event, __: counted.update((event,)))
    try:
        ask()
    finally:
        sys.setprofile(None)
    return counted["call"]


def peak_mib() -> float:
    """The most memory that this program held; what getrusage tells includes the program that started it."""
    [peak] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(peak) / 1024


def answers() -> Iterator[tuple[str, float]]:
    """Of the service's paths: the calls and the bytes of an answer that was not asked before."""
    client = _client()
    for path in PATHS:
        name = path.partition("?")[0]
        client.get(path)
        yield f"{name}, calls", calls(lambda path=path: client.get(f"{path}1"))
        yield f"{name}, bytes", len(client.get(path).get_data())


def _client() -> Any:
    synthetic, stored = import_module("benchmarks.synthetic"), import_module("api.stored")
    prices, evidence = stored.FixedPrices(synthetic.packaged()), import_module("costcalc.evidence").load_evidence()
    service = import_module("api.service").Service(evidence, prices, lambda: synthetic.NOW)
    settings = import_module("api.settings").Settings(cache_answers=0)
    return import_module("api.web.app").create_app(service, settings).test_client()


def run(*programs: Sequence[str]) -> list[float]:
    """The least that a new Python takes for each program, whose modules are compiled; in turns, as others come and go."""
    taken = [[_once(code) for code in programs] for _ in range(RUNS)]
    return [min(some) * 1000 for some in zip(*taken, strict=True)]


def _once(code: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", *code], stdout=subprocess.DEVNULL, env=KEEPING_CODE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for what, figure in figures():
        print(f"{what}: {figure:.4f}", flush=True)
