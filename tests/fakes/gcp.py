"""A fake Google Cloud: the billing catalogue and Compute Engine's inventory, paged as the real ones page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fakes.server import Asked, FakeServer

COMPUTE, TPU = "6F81-5844-456A", "E000-3F24-B8AA"


def sku(
    description: str, usage: str, price: str, regions: list[str], unit: str = "h", **changes: Any
) -> dict[str, Any]:
    """A SKU in the catalogue's shape; the price as the catalogue splits it. Changes overwrite top-level fields."""
    units, _, nanos = price.partition(".")
    money: dict[str, Any] = {"currencyCode": "USD", "units": units, "nanos": int((nanos + "0" * 9)[:9])}
    expression = {
        "usageUnit": unit,
        "displayQuantity": 1,
        "tieredRates": [{"startUsageAmount": 0, "unitPrice": money}],
        "usageUnitDescription": {"h": "hour"}.get(unit, unit),
    }
    return {
        "name": f"services/{COMPUTE}/skus/{description}",
        "skuId": description,
        "description": description,
        "category": {
            "serviceDisplayName": "Compute Engine",
            "resourceFamily": "Compute",
            "resourceGroup": _group(description),
            "usageType": usage,
        },
        "serviceRegions": regions,
        "pricingInfo": [
            {
                "summary": "",
                "pricingExpression": expression,
                "currencyConversionRate": 1,
                "effectiveTime": "2026-11-19T10:52:50.681Z",
            }
        ],
        "serviceProviderName": "Google",
        **changes,
    }


def _group(description: str) -> str:
    words = description.lower()
    for word, group in (("tpu", "TPU"), ("gpu", "GPU"), ("96gb", "GPU"), (" ram", "RAM"), ("ssd", "LocalSSD")):
        if word in words:
            return group
    return "CPU"


def machine_type(
    name: str, zone: str, vcpus: int, memory_gib: float, gpus: tuple[str, int] | None = None
) -> dict[str, Any]:
    """A machine type in Compute Engine's shape."""
    listed: dict[str, Any] = {
        "kind": "compute#machineType",
        "id": "1",
        "creationTimestamp": "1969-12-31T16:00:00.000-08:00",
        "name": name,
        "description": "",
        "guestCpus": vcpus,
        "memoryMb": int(memory_gib * 1024),
        "zone": zone,
        "isSharedCpu": False,
    }
    if gpus:
        listed["accelerators"] = [{"guestAcceleratorType": gpus[0], "guestAcceleratorCount": gpus[1]}]
    return listed


@dataclass
class FakeGcp:
    """SKUs by service; machine types, accelerator types and TPU slices by zone.

    `page_size` SKUs a page, with an empty page in between. None is what the server does not know.
    """

    skus: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    machine_types: dict[str, list[dict[str, Any]]] | None = None
    accelerator_types: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    slices: dict[str, list[str]] | None = None
    page_size: int = 1000

    def server(self) -> FakeServer:
        return FakeServer(self.answer, throttles=_throttled)

    def answer(self, asked: Asked) -> Any:
        if asked.path.startswith("/v1/services/"):
            return self._skus(asked.path.split("/")[3], asked.query)
        if asked.path.endswith("/aggregated/machineTypes") and self.machine_types is not None:
            return self._aggregated("machineType", self.machine_types, asked.query)
        if asked.path.endswith("/aggregated/acceleratorTypes"):
            return self._aggregated("acceleratorType", self.accelerator_types, asked.query)
        if asked.path.startswith("/v2/projects/") and self.slices is not None:
            return self._tpu(asked.path.partition("/locations")[2], asked.query)
        return None

    def _tpu(self, below: str, query: dict[str, str]) -> dict[str, Any]:
        """The Cloud TPU API: zones, or one zone's accelerator types; one a page."""
        assert self.slices is not None
        if not below:
            name, listed = "locations", [{"name": f"projects/p/locations/{z}", "locationId": z} for z in self.slices]
        else:
            zone = below.split("/")[1]
            parent = f"projects/p/locations/{zone}/acceleratorTypes"
            name, listed = "acceleratorTypes", [{"name": f"{parent}/{t}", "type": t} for t in self.slices[zone]]
        page = int(query.get("pageToken") or 0)
        more = {"nextPageToken": str(page + 1)} if page + 1 < len(listed) else {}
        return {name: listed[page : page + 1]} | more if listed else {}

    def _skus(self, service: str, query: dict[str, str]) -> dict[str, Any]:
        """Pages 0, 2, 4 ... hold SKUs; the odd ones are empty, as the real catalogue may answer."""
        page = int(query.get("pageToken", "0"))
        listed = self.skus.get(service, [])
        if page % 2:
            return {"nextPageToken": str(page + 1)}
        first = page // 2 * self.page_size
        answer: dict[str, Any] = {"skus": listed[first : first + self.page_size]} if listed else {}
        more = first + self.page_size < len(listed)
        return {**answer, "nextPageToken": str(page + 1) if more else ""}

    def _aggregated(self, kind: str, by_zone: dict[str, list[dict[str, Any]]], query: dict[str, str]) -> dict[str, Any]:
        """One zone a page."""
        zones = sorted(by_zone)
        page = int(query.get("pageToken") or 0)
        answer: dict[str, Any] = {
            "kind": f"compute#{kind}AggregatedList",
            "items": {
                f"zones/{zone}": {f"{kind}s": by_zone[zone]}
                if by_zone[zone]
                else {
                    "warning": {
                        "code": "NO_RESULTS_ON_PAGE",
                        "message": "none",
                        "data": [{"key": "scope", "value": zone}],
                    }
                }
                for zone in zones[page : page + 1]
            },
        }
        return {**answer, "nextPageToken": str(page + 1)} if page + 1 < len(zones) else answer


def _throttled(asked: Asked) -> tuple[int, dict[str, Any]]:
    """Compute Engine's own code (docs.cloud.google.com/compute/api-quota), and that of Google's other services."""
    if asked.path.startswith("/compute/"):
        reason = {"message": "Rate Limit Exceeded", "domain": "usageLimits", "reason": "rateLimitExceeded"}
        return 403, {"error": {"code": 403, "message": "Rate Limit Exceeded", "errors": [reason]}}
    return 429, {"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}}
