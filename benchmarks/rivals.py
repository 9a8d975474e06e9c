"""python -m benchmarks rivals: a whole answer of `/cost`, and what gpuhunt and SkyPilot take to list the same offers' prices.

They answer less: the rates of machines with an accelerator. They are given our offers, and need no network once
`PYTHON=python3 tools/install build/rivals gpuhunt skypilot` has fetched them. Figures are medians, in milliseconds of processor.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "build/rivals/bin/python"
NAMES = ("InstanceType", "Region", "AcceleratorName", "AcceleratorCount", "DeviceMemory", "vCPUs", "MemoryGiB", "Price")
ASKED = 15


def main(arguments: Sequence[str] = ()) -> bool:
    from benchmarks.timing import report

    options = argparse.ArgumentParser("python -m benchmarks rivals", description=__doc__)
    options.add_argument("--offers", type=int, default=100_000)
    if not PYTHON.exists():
        sys.exit("run PYTHON=python3 tools/install build/rivals gpuhunt skypilot")
    with TemporaryDirectory() as folder:
        sheet = Path(folder) / "offers.csv"
        ask = _ours(options.parse_args(arguments).offers, sheet)
        theirs = subprocess.run(
            [PYTHON, __file__, sheet], env={"HOME": folder}, stdout=subprocess.PIPE, text=True, check=True
        )
    ours = milliseconds(ask)
    for name, figure in re.findall(r"^(\w+): ([\d.]+)$", theirs.stdout, re.MULTILINE):
        report(
            name, f"{float(figure):,.1f} ms, {float(figure) / ours:.0f} times ours of {ours:.1f} ms", "told alone", True
        )
    return True


def _ours(size: int, sheet: Path) -> Callable[[int], object]:
    """What asks our service, whose offers then stand in the sheet."""
    from api.service import Service
    from api.settings import Settings
    from api.stored import FixedPrices
    from api.web.app import create_app
    from benchmarks.synthetic import NOW, catalogue
    from costcalc.evidence import load_evidence

    offers = catalogue(size)
    with sheet.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(NAMES)
        for each in map(offers.offer, offers.current_offers(NOW).rows.tolist()):
            machine = each.machine
            lines.writerow((each.instance_type, each.region, machine.accelerator, machine.accelerators,
                            machine.accelerator_memory_gib or 16, machine.vcpus or 8, machine.memory_gib or 64,
                            each.hourly_rate))  # fmt: skip
    client = create_app(
        Service(load_evidence(), FixedPrices(offers), lambda: NOW), Settings(cache_answers=0)
    ).test_client()
    return lambda number: client.get(f"/cost?model=resnet50&target=0.75{number:02}").get_data()


def milliseconds(ask: Callable[[int], object]) -> float:
    """The median of questions, the first of which is not counted."""
    taken = []
    for number in range(ASKED + 1):
        started = process_time()
        ask(number)
        taken.append(process_time() - started)
    return median(taken[1:]) * 1000


def gpuhunt(rows: list[dict[str, str]]) -> Callable[[int], object]:
    from gpuhunt import Catalog, CatalogItem
    from gpuhunt._internal.catalog import ProviderCatalog
    from gpuhunt._internal.models import AcceleratorVendor

    items = [
        CatalogItem("aws", row["InstanceType"], row["Region"], float(row["Price"]), int(row["vCPUs"]), float(row["MemoryGiB"]),
                    int(row["AcceleratorCount"]), row["AcceleratorName"], float(row["DeviceMemory"]), False, None,
                    AcceleratorVendor.NVIDIA) for row in rows
    ]  # fmt: skip
    catalogue = Catalog(auto_reload=False)
    catalogue.catalog, catalogue.loaded_at = {"aws": ProviderCatalog("ours", items)}, 0.0
    return lambda _: catalogue.query(provider="aws", min_gpu_count=1)


def skypilot(rows: list[dict[str, str]]) -> Callable[[int], object]:
    import pandas
    from sky.catalog.common import list_accelerators_impl

    info = {"GpuInfo": "{'Gpus': [{'MemoryInfo': {'SizeInMiB': 16384}}]}", "SpotPrice": None}
    frame = pandas.DataFrame([{**row, **info} for row in rows]).astype({"Price": float})
    return lambda _: list_accelerators_impl("aws", frame, True, None, None, None, all_regions=True)


def _theirs(sheet: str) -> None:
    with open(sheet, newline="") as file:
        rows: list[dict[str, Any]] = [*csv.DictReader(file)]
    for rival in (gpuhunt, skypilot):
        print(f"{rival.__name__}: {milliseconds(rival(rows)):.3f}", flush=True)


if __name__ == "__main__":
    _theirs(sys.argv[1])
