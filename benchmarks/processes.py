"""Whole processes: what importing the web process takes, its memory at 100,000 offers, a cold `costcalc cost`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.synthetic import catalogue
from benchmarks.timing import median, report

THIRD_PARTY = (
    "import flask, marshmallow, numpy, msgspec, sqlalchemy, prometheus_client, rapidfuzz, "
    "granian.server, a2wsgi, limits.aio.strategies"
)
OURS = "import api.web.app, api.bootstrap, api.web.serving.server, pricing.store.store, pricing.store.worker_catalogue"
SERVING = """
import pathlib, sys
import api.bootstrap, api.web.serving.server, pricing.store.store, pricing.store.worker_catalogue
from api.web.app import create_app
from api.service import Service
from api.bootstrap import utc_now
from api.stored import FixedPrices
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
prices = Catalogue.from_bytes(pathlib.Path(sys.argv[1]).read_bytes(), "big")
client = create_app(Service(load_evidence(), FixedPrices(prices), utc_now, ())).test_client()
for target in range(20):
    assert client.get(f"/cost?model=resnet50&target={0.7 + target / 500}").status_code == 200
print([int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")][0] / 1024)
"""


def run() -> bool:
    fine = imports()
    with TemporaryDirectory() as folder:
        fine &= memory(Path(folder) / "big.npz")
        fine &= cold(Path(folder))
    return fine


def imports() -> bool:
    """Our modules beside the libraries they stand on."""
    pairs = [(seconds("-c", OURS), seconds("-c", THIRD_PARTY)) for _ in range(7)]
    ratio = median([ours / theirs for ours, theirs in pairs])
    return report(
        "importing the web process, of its libraries alone", f"{ratio:.2f} times", "at most 2 times", ratio <= 2
    )


def memory(document: Path) -> bool:
    """Resident memory of a worker that has answered."""
    document.write_bytes(catalogue(100_000).to_bytes())
    told = subprocess.run([sys.executable, "-c", SERVING, str(document)], check=True, capture_output=True, text=True)
    resident = float(told.stdout)
    return report("memory of a worker at 100,000 offers", f"{resident:.0f} MiB", "under 150 MiB", resident < 150)


def cold(home: Path) -> bool:
    """The first question on a new machine, and those after it."""
    command = str(Path(sys.executable).with_name("costcalc"))
    taken = []
    for _ in range(5):
        environment = {**os.environ, "HOME": str(home), "COSTCALC_DATABASE_URL": f"sqlite:///{home}/none.db"}
        started = time.perf_counter()
        subprocess.run([command, "cost", "resnet50", "0.757"], check=True, capture_output=True, env=environment)
        taken.append(time.perf_counter() - started)
    return report("`costcalc cost` cold", f"{median(taken):.2f} s", "under 1 s", median(taken) < 1)


def seconds(*arguments: str) -> float:
    """How long one interpreter takes."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True)
    return time.perf_counter() - started
