"""What a question and a command take of the processor, of whichever checkout runs this file: prints a figure a line.

`python -m benchmarks against COMMIT` has it run by both, in turns. It asks what both can answer, so that it knows no newer names.
"""

from __future__ import annotations

import inspect
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module, util
from statistics import median

ENGINE = "costcalc.estimate"
COMMAND = ("cost", "resnet50", "0.757", "--as-of", "2026-11-20")
RUN_COMMAND = "import sys; from api.cli.main import main; sys.argv[0] = 'costcalc'; main()"
IMPORTS = "import numpy, click, rich"
CALLS, RUNS, OFFERS = 100, 5, 100_000
KEEPING_CODE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""As Python is usually set: compiled modules are kept, so that only the first of the runs compiles."""
FEW, MANY = 1, 27


def figures() -> Iterator[tuple[str, float]]:
    """What was measured, in milliseconds, and the peak of memory in MiB."""
    ask = asker()
    warm, few, many = milliseconds(ask, 20), milliseconds(ask, FEW), milliseconds(ask, MANY)
    yield f"warm question at {OFFERS:,} offers, ms", warm
    yield f"{MANY - FEW} more exact estimates, ms", many - few
    yield "peak memory, MiB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    imports, command = run([IMPORTS], [RUN_COMMAND, *COMMAND])
    yield "cold command, ms", command
    yield "imports of numpy, click and rich, ms", imports
    yield "cold command, times these imports", command / imports


def asker() -> Callable[[float, int], object]:
    """What asks the engine for ResNet-50 to a target, with so many estimates; what answers share is kept between them."""
    engine, query = import_module(ENGINE), import_module("costcalc.query").EstimateQuery
    synthetic = import_module("benchmarks.synthetic")
    evidence, offers = import_module("costcalc.evidence").load_evidence(), synthetic.catalogue(OFFERS)
    shared = {"memory": import_module("costcalc.memory").Memory()} if has_memory(engine.answer) else {}
    return lambda target, limit: engine.answer(
        query("resnet50", target, limit=limit), evidence, offers, synthetic.NOW, **shared
    )


def has_memory(answer: Callable[..., object]) -> bool:
    """Whether what answers share is passed in."""
    return "memory" in inspect.signature(answer).parameters and util.find_spec("costcalc.memory") is not None


def milliseconds(ask: Callable[[float, int], object], limit: int) -> float:
    """The median of different questions, the first of which is not counted."""
    taken = []
    for number in range(CALLS + 1):
        started = time.process_time()
        ask(0.70 + 0.06 * number / CALLS, limit)
        taken.append(time.process_time() - started)
    return median(taken[1:]) * 1000


def run(*programs: Sequence[str], **settings: str) -> list[float]:
    """The least that a new Python takes for each program, whose modules are compiled; in turns, as others come and go."""
    taken = [[_once(code, settings) for code in programs] for _ in range(RUNS)]
    return [min(some) * 1000 for some in zip(*taken, strict=True)]


def _once(code: Sequence[str], settings: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**KEEPING_CODE, **settings}
    subprocess.run([sys.executable, "-c", *code], stdout=subprocess.DEVNULL, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(what: str, figure: float) -> str:
    """A figure as `against` reads it."""
    return f"ok   {what}: {figure:.4f}"


if __name__ == "__main__":
    for each in figures():
        print(line(*each), flush=True)
