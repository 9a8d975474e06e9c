"""What EC2 says its machine types hold, and which region the price list means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from costcalc.hardware import Machine
from pricing.packaged import names as naming
from pricing.sources.aws.offers import reading

MIB_PER_GIB = 1024
DEVICES = (  # trn and inf2 stand under Neuron; inf1 under both
    ("GpuInfo", "Gpus"),
    ("NeuronInfo", "NeuronDevices"),
    ("InferenceAcceleratorInfo", "Accelerators"),
)


def described_machines(rows: Iterable[Mapping[str, Any]], packaged: Mapping[str, Machine]) -> dict[str, Machine | None]:
    """Machines by type, from DescribeInstanceTypes; None for one without a whole accelerator of which we have figures.

    A type whose accelerator has a name that we don't know is left out. Raises SchemaChanged.
    """
    machines: dict[str, Machine | None] = {}
    with reading("ec2:DescribeInstanceTypes"):
        for row in rows:
            try:
                machines[row["InstanceType"]] = _machine(row, packaged.get(row["InstanceType"]))
            except naming.UnknownName:
                continue
    return machines


def _machine(row: Mapping[str, Any], known: Machine | None) -> Machine | None:
    devices = _devices(row)
    count = sum(device["Count"] for device in devices)
    # g6f and gr6f rent an eighth to a half of a GPU: Count 0 and a partition size, or a Count of 1 with one.
    if not count or any(device.get("GpuPartitionSize", 1) < 1 for device in devices):
        return None
    memory_gib = devices[0].get("MemoryInfo", {}).get("SizeInMiB", 0) / MIB_PER_GIB or None
    name = naming.accelerator("aws", devices[0]["Name"], memory_gib)
    if name is None:
        return None
    if known and (known.accelerator, known.accelerators) == (name, count):
        memory_gib = known.accelerator_memory_gib  # EC2 understates some, an L4's 24 GiB as 22888 MiB
    return Machine(
        name, count, memory_gib, row["VCpuInfo"]["DefaultVCpus"], row["MemoryInfo"]["SizeInMiB"] / MIB_PER_GIB
    )


def _devices(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    for section, kind in DEVICES:
        if row.get(section, {}).get(kind):
            return list(row[section][kind])
    return []


def region_of(attributes: Mapping[str, str]) -> str | None:
    """The region of a price list element: by code, or by place name in older ones. None for GovCloud and unknown places."""
    try:
        region = naming.region("aws", attributes.get("regionCode") or attributes.get("location", ""))
    except naming.UnknownName:
        return None
    return None if region.startswith("us-gov-") else region
