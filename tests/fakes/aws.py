"""A fake AWS over real HTTP: Price List (JSON 1.1), EC2 (query and XML), Savings Plans (REST and JSON).

It filters and pages as AWS does, answers only so many questions about capacity blocks, and can be told to misbehave.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from fakes.local import Fault, Faults, Handler, served

HOURLY, UPFRONT = "6YS6EN2CT7", "2TG2D8R56U"
EC2_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
SETS = {
    "DescribeSpotPriceHistory": "spotPriceHistorySet",
    "DescribeInstanceTypes": "instanceTypeSet",
    "DescribeCapacityBlockOfferings": "capacityBlockOfferingSet",
}


def product(instance_type: str, **attributes: str) -> dict[str, Any]:
    """A product of the price list, in us-east-1 unless told otherwise; attributes overwrite."""
    sku = re.sub(r"\W", "", instance_type + attributes.get("regionCode", "")).upper().ljust(16, "X")[:24]
    plain = {
        "servicecode": "AmazonEC2",
        "location": "US East (N. Virginia)",
        "locationType": "AWS Region",
        "regionCode": "us-east-1",
        "instanceType": instance_type,
        "instanceFamily": "GPU instance",
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "capacitystatus": "Used",
        "preInstalledSw": "NA",
        "licenseModel": "No License required",
        "marketoption": "OnDemand",
        "operation": "RunInstances",
        "usagetype": f"BoxUsage:{instance_type}",
    }
    return {"productFamily": "Compute Instance", "sku": sku, "attributes": plain | attributes}


def term(sku: str, code: str, prices: Mapping[str, str], **bought: str) -> dict[str, Any]:
    """A term with its dimensions by unit (`Hrs`, `Quantity`); `bought` are the attributes of a reservation."""
    key = f"{sku}.{code}"
    dimensions = {}
    for unit, usd in prices.items():
        rate_code = f"{key}.{HOURLY if unit == 'Hrs' else UPFRONT}"
        span = {"beginRange": "0", "endRange": "Inf"} if unit == "Hrs" else {}
        price = {"rateCode": rate_code, "unit": unit, "pricePerUnit": {"USD": usd}, "appliesTo": []}
        dimensions[rate_code] = price | span
    return {
        "sku": sku,
        "offerTermCode": code,
        "effectiveDate": "2026-11-01T00:00:00Z",
        "termAttributes": bought,
        "priceDimensions": dimensions,
    }


def element(
    listed: Mapping[str, Any], hourly: str, reserved: Mapping[tuple[str, str, str], tuple[str, str]]
) -> dict[str, Any]:
    """A price list element. `reserved` maps (length, class, payment) to (hourly, upfront)."""
    sku = listed["sku"]
    terms: dict[str, Any] = {"OnDemand": {f"{sku}.JRTCKXETXF": term(sku, "JRTCKXETXF", {"Hrs": hourly})}}
    for number, ((length, kind, payment), (rate, upfront)) in enumerate(reserved.items()):
        prices = ({"Quantity": upfront} if payment != "No Upfront" else {}) | {"Hrs": rate}
        bought = {"LeaseContractLength": length, "OfferingClass": kind, "PurchaseOption": payment}
        code = f"RESERVED{number:02}"
        terms.setdefault("Reserved", {})[f"{sku}.{code}"] = term(sku, code, prices, **bought)
    return {
        "product": listed,
        "serviceCode": "AmazonEC2",
        "terms": terms,
        "version": "20261101",
        "publicationDate": "2026-11-01",
    }


def quote(zone: str, instance_type: str, price: str, at: str, description: str = "Linux/UNIX") -> dict[str, str]:
    return {
        "availabilityZone": zone,
        "instanceType": instance_type,
        "productDescription": description,
        "spotPrice": price,
        "timestamp": at,
    }


def block(zone: str, instance_type: str, hours: int, fee: str, starts: str, count: int = 1) -> dict[str, str]:
    return {
        "capacityBlockOfferingId": f"cb-{zone}{hours}",
        "instanceType": instance_type,
        "availabilityZone": zone,
        "instanceCount": str(count),
        "startDate": starts,
        "capacityBlockDurationHours": str(hours),
        "upfrontFee": fee,
        "currencyCode": "USD",
        "tenancy": "default",
    }


def machine_type(name: str, gpus: tuple[str, int, int], vcpus: int, memory_mib: int, **gpu: str) -> dict[str, Any]:
    """A machine type with (name, count, MiB of each) GPUs."""
    device = {
        "name": gpus[0],
        "manufacturer": "NVIDIA",
        "count": str(gpus[1]),
        "memoryInfo": {"sizeInMiB": str(gpus[2])},
    }
    return {
        "instanceType": name,
        "vCpuInfo": {"defaultVCpus": str(vcpus)},
        "memoryInfo": {"sizeInMiB": str(memory_mib)},
        "gpuInfo": {"gpus": [device | gpu], "totalGpuMemoryInMiB": str(gpus[1] * gpus[2])},
    }


def plan_rate(instance_type: str, rate: str, plan: str, years: int, payment: str, **properties: str) -> dict[str, Any]:
    """One Savings Plans rate in us-east-1; properties overwrite."""
    plain = {
        "region": "us-east-1",
        "instanceType": instance_type,
        "instanceFamily": instance_type.partition(".")[0],
        "productDescription": "Linux/UNIX",
        "tenancy": "shared",
    }
    return {
        "savingsPlanOffering": {
            "offeringId": "0f1e2d3c",
            "paymentOption": payment,
            "planType": plan,
            "durationSeconds": years * 31536000,
            "currency": "USD",
            "planDescription": f"{years} year {payment} {plan} Savings Plan",
        },
        "rate": rate,
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": f"BoxUsage:{instance_type}",
        "operation": "RunInstances",
        "properties": [{"name": name, "value": value} for name, value in (plain | properties).items()],
    }


@dataclass
class BlockLimit:
    """How often EC2 answers about capacity blocks in one region: `calls` at once, one more every `refill_seconds`.

    The clock is the waiting of whoever asks: `wait` moves it.
    """

    calls: float = 1000
    refill_seconds: float = 1
    waited: list[float] = field(default_factory=list)
    left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)

    def answers(self, region: str) -> bool:
        """Whether a call is answered, which uses it up."""
        now = sum(self.waited)
        left, since = self.left.get(region, (self.calls, now))
        left = min(self.calls, left + (now - since) / self.refill_seconds)
        self.left[region] = (left - (left >= 1), now)
        return left >= 1


@dataclass
class FakeAws:
    """What it sells, and how it misbehaves. Faults are met by action (`GetProducts`, ...), in order."""

    elements: list[dict[str, Any]] = field(default_factory=list)
    quotes: list[dict[str, str]] = field(default_factory=list)
    rates: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[dict[str, str]] = field(default_factory=list)
    machine_types: list[dict[str, Any]] = field(default_factory=list)
    denied: dict[str, str] = field(default_factory=dict)
    block_limit: BlockLimit = field(default_factory=BlockLimit)
    page_size: int = 2
    empty_first_page: bool = True
    ignores_filters: bool = False
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    signed: set[bool] = field(default_factory=set)
    url: str = ""
    _faults: Faults = field(default_factory=Faults)

    def fail(self, action: str, fault: Fault, times: int = 100) -> None:
        self._faults.plan(action, fault, times)

    def next_fault(self, action: str) -> Fault | None:
        return self._faults.next(action)

    def actions(self) -> list[str]:
        return [action for action, _ in self.asked]

    @contextmanager
    def running(self) -> Iterator[FakeAws]:
        with served(self, _Handler) as self.url:
            yield self

    def page(self, items: list[Any], token: str | None) -> tuple[list[Any], str | None]:
        """The first page may be empty and have a next token, as AWS's pages may."""
        if token is None and self.empty_first_page:
            return [], "cGFnZTA="
        tokens: dict[str | None, int] = {None: 0, "cGFnZTA=": 0} | {
            f"cGFnZT{start}=": start for start in range(1, len(items) + 1)
        }
        start = tokens[token]
        end = start + self.page_size
        return items[start:end], f"cGFnZT{end}=" if end < len(items) else None

    def products(self, request: Mapping[str, Any]) -> dict[str, Any]:
        wanted = {each["Field"]: each["Value"] for each in request.get("Filters", ())}
        found = [
            each
            for each in self.elements
            if self.ignores_filters or self._matches(each["product"]["attributes"], wanted)
        ]
        items, token = self.page([json.dumps(each) for each in found], request.get("NextToken"))
        return {"FormatVersion": "aws_v1", "PriceList": items} | ({"NextToken": token} if token else {})

    def plans(self, request: Mapping[str, Any]) -> dict[str, Any]:
        wanted = {each["name"]: each["values"] for each in request.get("filters", ())}
        found = [rate for rate in self.rates if self.ignores_filters or self._within(rate["properties"], wanted)]
        items, token = self.page(found, request.get("nextToken"))
        return {"searchResults": items, "nextToken": token}

    def describe(self, action: str, form: Mapping[str, str], region: str) -> dict[str, Any]:
        rows: list[Any] = {
            "DescribeSpotPriceHistory": self.quotes,
            "DescribeInstanceTypes": self.machine_types,
            "DescribeCapacityBlockOfferings": self._blocks_for(form, region),
        }[action]
        items, token = self.page(rows, form.get("NextToken"))
        return {"requestId": "r", SETS[action]: items} | ({"nextToken": token} if token else {})

    def _blocks_for(self, form: Mapping[str, str], region: str) -> list[dict[str, str]]:
        longest, name = int(form.get("CapacityDurationHours", 0)), form.get("InstanceType")
        return [
            each
            for each in self.blocks
            if (each["instanceType"], each["availabilityZone"][:-1]) == (name, region)
            and longest - 24 < int(each["capacityBlockDurationHours"]) <= longest
        ]

    def _matches(self, attributes: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
        return all(attributes.get(name) == value for name, value in wanted.items())

    def _within(self, properties: list[dict[str, str]], wanted: Mapping[str, list[str]]) -> bool:
        has = {each["name"]: each["value"] for each in properties}
        return all(has.get(name) in values for name, values in wanted.items())


def _xml(tag: str, value: Any) -> str:
    if isinstance(value, Mapping):
        inner = "".join(_xml(name, each) for name, each in value.items())
    elif isinstance(value, list):
        inner = "".join(_xml("item", each) for each in value)
    else:
        inner = escape(str(value))
    return f"<{tag}>{inner}</{tag}>"


def _error(action: str, code: str) -> bytes:
    secret = "User: arn:aws:iam::123456789012:user/somebody is not authorized"
    if action in SETS:
        return (
            f"<Response><Errors><Error><Code>{code}</Code><Message>{secret}</Message></Error></Errors>"
            "<RequestID>r</RequestID></Response>"
        ).encode()
    return json.dumps({"__type": f"com.amazonaws#{code}", "message": secret}).encode()


class _Handler(Handler):
    fake: FakeAws

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.fake.signed.add("Authorization" in self.headers)
        if self.headers.get("X-Amz-Target") == "AWSPriceListService.GetProducts":
            self.answer("GetProducts", json.loads(body), lambda request: json.dumps(self.fake.products(request)))
        elif self.path == "/DescribeSavingsPlansOfferingRates":
            self.answer(self.path[1:], json.loads(body), lambda request: json.dumps(self.fake.plans(request)))
        else:
            form = {name: values[-1] for name, values in parse_qs(body).items()}
            self.answer(form["Action"], form, lambda request: self.described(form["Action"], request))

    def signed_region(self) -> str:
        """The region in the signature: Credential=KEY/DATE/REGION/SERVICE/aws4_request."""
        return self.headers.get("Authorization", "///").split("/")[2]

    def described(self, action: str, form: Mapping[str, str]) -> str:
        described = self.fake.describe(action, form, self.signed_region())
        inner = "".join(_xml(name, value) for name, value in described.items())
        return f'<?xml version="1.0"?><{action}Response xmlns="{EC2_NAMESPACE}">{inner}</{action}Response>'

    def answer(self, action: str, request: dict[str, Any], give: Any) -> None:
        self.fake.asked.append((action, request))
        if action in self.fake.denied:
            self.give(400 if action == "GetProducts" else 403, _error(action, self.fake.denied[action]))
        elif action == "DescribeCapacityBlockOfferings" and not self.fake.block_limit.answers(self.signed_region()):
            self.give(400, _error(action, "CapacityBlockDescribeLimitExceeded"))
        else:
            self.give_or_fail(action, give(request).encode())

    def give_or_fail(self, action: str, body: bytes) -> None:
        fault = self.fake.next_fault(action)
        if fault is None:
            self.give(200, body)
        elif fault is Fault.THROTTLED:
            code = "RequestLimitExceeded" if action in SETS else "ThrottlingException"
            self.give(503 if action in SETS else 400, _error(action, code))
        elif isinstance(fault.value, int):
            self.give(fault.value, _error(action, "InternalError"))
        else:
            self.spoil(fault, body)

    def content_type(self, body: bytes) -> str:
        return "text/xml" if body.startswith(b"<") else "application/x-amz-json-1.1"
