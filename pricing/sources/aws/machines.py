"""What EC2 says its machine types hold, and which region the price list means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, convert, field

from costcalc.hardware import Machine
from pricing.packaged import names
from pricing.sources.aws.price_list import reading
from pricing.sources.common.rows import flat

MIB_PER_GIB = 1024


class Memory(Struct):
    """Memory in MiB."""

    size_mib: int = field(default=0, name="SizeInMiB")


class Device(Struct, rename="pascal"):
    """Accelerators of one kind; a partition size below 1 is a share of one."""

    name: str
    count: int
    memory_info: Memory = field(default_factory=Memory)
    gpu_partition_size: float = 1


class InstanceType(Struct):
    """What DescribeInstanceTypes says of a machine type. Older Inferentia may stand under Neuron too."""

    name: str = field(name="InstanceType")
    vcpus: int = field(name="VCpuInfo.DefaultVCpus")
    memory_mib: int = field(name="MemoryInfo.SizeInMiB")
    gpus: list[Device] = field(name="GpuInfo.Gpus", default=[])
    neuron: list[Device] = field(name="NeuronInfo.NeuronDevices", default=[])
    inference: list[Device] = field(name="InferenceAcceleratorInfo.Accelerators", default=[])


def described_machines(rows: Iterable[object], packaged: Mapping[str, Machine]) -> dict[str, Machine | None]:
    """Machines by type, from DescribeInstanceTypes; None for one without a whole accelerator of which we have figures.

    A type whose accelerator has a name that we don't know is left out. Raises SchemaChanged.
    """
    machines: dict[str, Machine | None] = {}
    with reading("ec2:DescribeInstanceTypes"):
        for kind in (convert(flat(row), InstanceType) for row in rows):
            try:
                machines[kind.name] = _machine(kind, packaged.get(kind.name))
            except names.NoFigures:
                machines[kind.name] = None
            except names.UnknownName:
                continue
    return machines


def _machine(kind: InstanceType, packaged: Machine | None) -> Machine | None:
    devices = kind.gpus or kind.neuron or kind.inference
    count = sum(device.count for device in devices)
    # g6f and gr6f rent an eighth to a half of a GPU: Count 0 and a partition size, or a Count of 1 with one.
    if not count or any(device.gpu_partition_size < 1 for device in devices):
        return None
    memory_gib = devices[0].memory_info.size_mib / MIB_PER_GIB or None
    name = names.accelerator("aws", devices[0].name, memory_gib)
    if packaged and (packaged.accelerator, packaged.accelerators) == (name, count):
        memory_gib = packaged.accelerator_memory_gib  # EC2 understates some, an L4's 24 GiB as 22888 MiB
    return Machine(name, count, memory_gib, kind.vcpus, kind.memory_mib / MIB_PER_GIB)


def region_of(attributes: Mapping[str, str]) -> str | None:
    """The region of a price list element: by code, or by place name in older ones. None for GovCloud and unknown places."""
    try:
        region = names.region("aws", attributes.get("regionCode") or attributes.get("location", ""))
    except names.UnknownName:
        return None
    return None if region.startswith("us-gov-") else region
