"""10,300 questions of `costcalc sweep` on all cores: how long they take, and how many a core answers in a second."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from pyarrow.dataset import dataset

from api.settings import Settings
from api.sweep.running import Workers
from api.sweep.running import run as sweep
from benchmarks.timing import report

GRID = (
    "model=resnet50,resnet18,vit_b16,efficientnet_b0",
    "target=0.69,0.70,0.72,0.74,0.757",
    "as_of=2018-05..2026-11/1mo",
    "provider=aws,gcp,azure,lambda,aws+gcp+azure",
)
WANTED = 100


def run() -> bool:
    """Measures and reports. Seconds of processors are counted, so that other work on the machine does not."""
    with tempfile.TemporaryDirectory() as folder:
        before, started = os.times(), time.perf_counter()
        print(sweep(Settings(), Path(folder) / "swept", GRID, {}, Workers()))
        taken, after = time.perf_counter() - started, os.times()
        found = dataset(Path(folder) / "swept", partitioning="hive").to_table(columns=["question", "rank"])
    worked = after.children_user - before.children_user + after.children_system - before.children_system
    estimates, questions = len(found) - found["rank"].null_count, len(set(found["question"].to_pylist()))
    print(
        f"{questions:,} questions, {estimates:,} estimates: {taken:.0f} s on {os.cpu_count()} cores, {worked:.0f} s of them busy"
    )
    what, figure = (
        "questions and estimates a second of a core",
        f"{questions / worked:.0f} and {estimates / worked:,.0f}",
    )
    return report(what, figure, f"at least {WANTED} questions", questions / worked >= WANTED)
