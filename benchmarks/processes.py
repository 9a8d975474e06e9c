"""Whole processes: the memory of a worker at 100,000 offers, and the least processor of several cold `costcalc cost`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import processor
from benchmarks.processor import COMMAND, IMPORTS, RUN_COMMAND
from benchmarks.synthetic import catalogue
from benchmarks.timing import report

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
    with TemporaryDirectory() as folder:
        return memory(Path(folder) / "big.npz") & cold(folder)


def memory(document: Path) -> bool:
    """Resident memory of a worker that has answered."""
    document.write_bytes(catalogue(100_000).to_bytes())
    told = subprocess.run([sys.executable, "-c", SERVING, str(document)], check=True, capture_output=True, text=True)
    resident = float(told.stdout)
    return report("memory of a worker at 100,000 offers", f"{resident:.0f} MiB", "under 150 MiB", resident < 150)


def cold(home: str) -> bool:
    """The first question on a new machine, beside importing what every such command stands on."""
    command, imports = processor.run([RUN_COMMAND, *COMMAND], [IMPORTS], XDG_DATA_HOME=home)
    what, ratio = f"`costcalc {' '.join(COMMAND)}`, of `{IMPORTS}`", command / imports
    return report(what, f"{ratio:.2f} times", "at most 3 times", ratio <= 3)
