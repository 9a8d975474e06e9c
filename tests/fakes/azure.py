"""A fake Azure retail price API: filters by what it is asked, pages with links to the real host, as the real one does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from fakes.server import Asked, FakeServer

_EQUALS = re.compile(r"(\w+) eq '([^']*)'")
_CONTAINS = re.compile(r"contains\((\w+), ?'([^']*)'\)")


def item(size: str, price: float, region: str = "eastus", **changes: Any) -> dict[str, Any]:
    """A Consumption row in the API's shape; changes overwrite fields, None removes one."""
    words = size.removeprefix("Standard_").replace("_", " ")
    row = {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": price,
        "unitPrice": price,
        "armRegionName": region,
        "location": "US East",
        "effectiveStartDate": "2023-09-01T00:00:00Z",
        "meterId": "25385797-d48b-5b47-9e0c-6ee37b6b9a8d",
        "meterName": words,
        "productId": "DZH318Z0K9JH",
        "skuId": f"DZH318Z0K9JH/{words}",
        "productName": f"Virtual Machines {words.split()[0]} Series",
        "skuName": words,
        "serviceName": "Virtual Machines",
        "serviceId": "DZH313Z7MMC8",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": size,
        **changes,
    }
    return {name: value for name, value in row.items() if value is not None}


@dataclass
class FakeAzure:
    """`page_size` rows a page; the second page of a filter is empty and leads on."""

    items: list[dict[str, Any]] = field(default_factory=list)
    page_size: int = 1000

    def server(self) -> FakeServer:
        return FakeServer(self.answer)

    def answer(self, asked: Asked) -> Any:
        if asked.path != "/api/retail/prices":
            return None
        wanted = asked.query.get("$filter", "")
        rows = [row for row in self.items if self._matches(row, wanted)]
        if "preview" not in asked.query.get("api-version", ""):
            rows = [{name: value for name, value in row.items() if name != "savingsPlan"} for row in rows]
        skip = int(asked.query.get("$skip", "0"))
        empty = asked.query.get("$skiptoken") == "pause"
        page = [] if empty else rows[skip : skip + self.page_size]
        return {
            "BillingCurrency": "USD",
            "CustomerEntityId": "Default",
            "CustomerEntityType": "Retail",
            "Items": page,
            "NextPageLink": self._link(wanted, skip, len(rows), empty=empty),
            "Count": len(page),
        }

    def _link(self, wanted: str, skip: int, rows: int, *, empty: bool) -> str | None:
        after = skip if empty else skip + self.page_size
        if after >= rows:
            return None
        pause = "" if empty or skip else "&$skiptoken=pause"
        return f"https://prices.azure.com:443/api/retail/prices?$filter={quote(wanted)}&$skip={after}{pause}"

    def _matches(self, row: dict[str, Any], wanted: str) -> bool:
        equal = [(("type" if name == "priceType" else name), value) for name, value in _EQUALS.findall(wanted)]
        return all(row.get(name, value) == value for name, value in equal) and all(
            part in row.get(name, "") for name, part in _CONTAINS.findall(wanted)
        )
