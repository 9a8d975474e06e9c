"""AWS's bulk price list: our reading of a 450 MB file beside a bare streaming parser on the same file, and our memory.

The file is made on the spot, in the layout and proportions of us-east-1's: a hundred thousand products, of which one in
fifty is an accelerated machine, most of them with an on-demand price, one in eight with reservations.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product as combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import median, report

MEGABYTES = 450
PRODUCTS = 107_000
ROUNDS = 3
OURS = """
import sys, time
from datetime import UTC, datetime
from pricing.sources.aws.bulk import bulk_offers
from pricing.sources.aws.price_list import Origin
from pricing.packaged.machine_facts import packaged_machines
machines = packaged_machines("aws")
started = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    offers, _ = bulk_offers(file, "us-east-1", machines.get, Origin("bench", datetime.now(UTC)))
print(time.perf_counter() - started, len(offers))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024)
"""
BARE = """
import sys, time
import ijson
started = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    events = sum(1 for _ in ijson.basic_parse(file))
print(time.perf_counter() - started, events)
print(0)
"""
TYPES = ["p3.8xlarge", *(f"{family}{n}.{size}xlarge" for family in "cmr" for n in "4567" for size in (2, 4, 8, 12))]
SYSTEMS = [("Linux", "NA"), ("Windows", "NA"), ("RHEL", "NA"), ("Linux", "SQL Std"), ("Windows", "SQL Web")]
TENANCIES = ("Shared", "Dedicated", "Host")
STATES = ("Used", "UnusedCapacityReservation", "AllocatedCapacityReservation")


def run() -> bool:
    """Measures and reports."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.json"
        write_bulk_file(path)
        megabytes = path.stat().st_size / 1e6
        rounds = [(measured(OURS, path), measured(BARE, path)) for _ in range(ROUNDS)]
    ours, bare = (megabytes / median([each[side][0] for each in rounds]) for side in (0, 1))
    peak = max(each[0][1] for each in rounds)
    figure = f"{ours:.0f} MB/s, a bare ijson pass {bare:.0f} MB/s ({megabytes:.0f} MB)"
    fine = report("AWS bulk file", figure, "at least half of the bare parser", ours >= bare / 2)
    return report("memory while reading it", f"{peak:.0f} MiB", "under 200 MiB", peak < 200) and fine


def measured(program: str, path: Path) -> tuple[float, float]:
    """Seconds, and the process's peak memory in MiB."""
    told = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    seconds, _, peak = told.stdout.split()
    return float(seconds), float(peak)


def write_bulk_file(path: Path, count: int = PRODUCTS) -> None:
    """A file of about MEGABYTES at 107,000 products."""
    shapes = list(combinations(TYPES, SYSTEMS, TENANCIES, STATES))
    skus = [f"{number:016X}" for number in range(count)]
    with path.open("w") as file:
        file.write('{\n  "formatVersion" : "v1.0",\n  "offerCode" : "AmazonEC2",\n  "products" : {\n')
        file.writelines(_members(skus, lambda index: _product(*shapes[index % len(shapes)])))
        file.write('  },\n  "terms" : {\n    "OnDemand" : {\n')
        file.writelines(_members(skus, lambda _: _on_demand()))
        file.write('    },\n    "Reserved" : {\n')
        file.writelines(_members(skus[::8], lambda _: _reservations()))
        file.write("    }\n  }\n}\n")


def _members(skus: list[str], template: Callable[[int], str]) -> Iterator[str]:
    for index, sku in enumerate(skus):
        yield f'{"," if index else ""}\n    "{sku}" : {template(index).replace("SKU", sku)}'


@cache
def _product(instance_type: str, system: tuple[str, str], tenancy: str, state: str) -> str:
    attributes = {
        "servicecode": "AmazonEC2", "location": "US East (N. Virginia)", "locationType": "AWS Region",
        "regionCode": "us-east-1", "instanceType": instance_type, "currentGeneration": "Yes", "tenancy": tenancy,
        "instanceFamily": "GPU instance" if instance_type.startswith("p3") else "General purpose",
        "vcpu": "32", "physicalProcessor": "Intel Xeon E5-2686 v4 (Broadwell)", "clockSpeed": "2.3 GHz",
        "memory": "244 GiB", "storage": "EBS only", "networkPerformance": "10 Gigabit", "processorArchitecture": "64-bit",
        "operatingSystem": system[0], "licenseModel": "No License required", "usagetype": f"BoxUsage:{instance_type}",
        "operation": "RunInstances:0102", "availabilityzone": "NA", "capacitystatus": state, "ecu": "94",
        "enhancedNetworkingSupported": "Yes", "intelAvx2Available": "Yes", "marketoption": "OnDemand",
        "normalizationSizeFactor": "64", "preInstalledSw": system[1], "vpcnetworkingsupport": "true",
        "processorFeatures": "Intel AVX; Intel AVX2; Intel Turbo", "servicename": "Amazon Elastic Compute Cloud",
    }  # fmt: skip
    return json.dumps({"sku": "SKU", "productFamily": "Compute Instance", "attributes": attributes}, indent=6)


@cache
def _on_demand() -> str:
    return json.dumps(_term("JRTCKXETXF", {}, ("Hrs",)), indent=6)


@cache
def _reservations() -> str:
    """Twelve terms."""
    terms: dict[str, object] = {}
    payments = (
        ("No Upfront", ("Hrs",)),
        ("Partial Upfront", ("Hrs", "Quantity")),
        ("All Upfront", ("Quantity", "Hrs")),
    )
    for length, kind, (payment, units) in combinations(("1yr", "3yr"), ("standard", "convertible"), payments):
        bought = {"LeaseContractLength": length, "OfferingClass": kind, "PurchaseOption": payment}
        terms |= _term(f"RESERVED{len(terms):02}", bought, units)
    return json.dumps(terms, indent=6)


def _term(code: str, bought: dict[str, str], units: tuple[str, ...]) -> dict[str, object]:
    price = {
        f"SKU.{code}.{unit}": {
            "rateCode": f"SKU.{code}.{unit}", "unit": unit, "beginRange": "0", "endRange": "Inf", "appliesTo": [],
            "description": "Linux/UNIX (Amazon VPC), p3.8xlarge", "pricePerUnit": {"USD": "12.2400000000"},
        }
        for unit in units
    }  # fmt: skip
    term = {"offerTermCode": code, "sku": "SKU", "effectiveDate": "2026-11-01T00:00:00Z", "priceDimensions": price}
    return {f"SKU.{code}": {**term, "termAttributes": bought}}
