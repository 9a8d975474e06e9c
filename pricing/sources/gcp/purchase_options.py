"""How Google sells its machine series: the price catalogue also has SKUs for purchase options that are not on sale."""

from __future__ import annotations

from collections.abc import Mapping

from costcalc.offer import PurchaseOption

ALL = frozenset(PurchaseOption)
# Series that are only sold by reservation (which commitments pay), flex-start or spot. Google's table:
# cloud.google.com/compute/docs/accelerator-optimized-machines#consumption_option_availability_by_machine_type, as
# dstackai/gpuhunt 0.1.34 applies it (providers/gcp.py), 2026-11-22. That A4X has no spot: Google's
# docs.cloud.google.com/ai-hypercomputer/docs/consumption-models. Neither takes A3 Mega off the on-demand price list.
WITHOUT_ON_DEMAND: Mapping[str, frozenset[PurchaseOption]] = {
    "a4x-highgpu": frozenset({PurchaseOption.COMMITTED_USE}),
    "a4-highgpu": frozenset({PurchaseOption.SPOT, PurchaseOption.COMMITTED_USE}),
    "a3-ultragpu": frozenset({PurchaseOption.SPOT, PurchaseOption.COMMITTED_USE}),
    "a3-highgpu-1g": frozenset({PurchaseOption.SPOT}),
    "a3-highgpu-2g": frozenset({PurchaseOption.SPOT}),
    "a3-highgpu-4g": frozenset({PurchaseOption.SPOT}),
}


def sold(instance_type: str) -> frozenset[PurchaseOption]:
    """The purchase options in which Google sells a machine type."""
    series = "-".join(instance_type.split("-")[:2])
    return WITHOUT_ON_DEMAND.get(instance_type) or WITHOUT_ON_DEMAND.get(series) or ALL
