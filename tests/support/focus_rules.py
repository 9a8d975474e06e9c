"""FOCUS's rules for a Cost and Usage file, version 1.4, as far as they bear on estimates.

Written from the specification (focus.finops.org/focus-specification), since the Foundation's validator needs Python 3.12 and
knows no version after 1.2.
"""

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from support.services import words

MANDATORY = words(
    """
    BillingAccountType
    BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodStart BillingPeriodEnd ChargeCategory
    ChargeClass ChargeDescription ChargePeriodStart ChargePeriodEnd ContractedCost EffectiveCost HostProviderName
    InvoiceIssuerName ListCost PricingCurrency PricingCurrencyContractedUnitPrice PricingCurrencyEffectiveCost
    PricingCurrencyListUnitPrice PricingQuantity PricingUnit ServiceCategory ServiceName ServiceProviderName
    """
)
GONE = {"ProviderName", "PublisherName"}
MAY_BE_NULL = {"BillingAccountName", "ChargeClass"}
ALLOWED = {
    "ChargeCategory": {"Usage", "Purchase"},
    "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
    "PricingCategory": {"Standard", "Dynamic", "Committed", "Other"},
    "CommitmentDiscountCategory": {"", "Spend", "Usage"},
    "CommitmentDiscountStatus": {"", "Used", "Unused"},
    "CapacityReservationStatus": {"", "Used", "Unused"},
    "ServiceCategory": {"Compute", "Storage", "Networking"},
    "PricingUnit": {"Hours", "Days", "Months", "Units", "GB", "GB-Months"},
    "ConsumedUnit": {"", "Hours", "GB", "GB-Months"},
    "ChargeClass": {""},
    "x_IsEstimate": {"true"},
}
NUMERIC = words(
    """
    BilledCost EffectiveCost ListCost ContractedCost ListUnitPrice ContractedUnitPrice PricingQuantity ConsumedQuantity
    PricingCurrencyContractedUnitPrice PricingCurrencyEffectiveCost PricingCurrencyListUnitPrice
    CommitmentDiscountQuantity x_Rank x_Hours x_HoursLow x_HoursHigh x_CostLow x_CostHigh x_EffectiveCost x_TargetAccuracy
    """
)
MOMENTS = words("BillingPeriodStart BillingPeriodEnd ChargePeriodStart ChargePeriodEnd")
NUMBER = re.compile(r"-?\d+(\.\d+)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
QUOTED_NOTHING = re.compile(r'(^|,)""(?=,|\r|$)', re.MULTILINE)


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def violations(text) -> list[str]:
    """Every rule that the file breaks; empty when it breaks none."""
    rows = read(text)
    found = [*_file(text)]
    for number, row in enumerate(rows, 1):
        found += [f"row {number}: {broken}" for broken in _row(row)]
        found += [f"row {number}: {name} is null" for name in MANDATORY if not row[name] and name not in MAY_BE_NULL]
    return [*found, *_prices_have_one_sku(rows), *_estimates_add_up(rows)]


def _file(text) -> Iterator[str]:
    header = text.partition("\r\n")[0].split(",")
    own = [name.startswith("x_") for name in header]
    if own != sorted(own):
        yield "own columns are not last"
    if not all(re.fullmatch(r"(x_)?[A-Z][A-Za-z0-9]{0,47}", name) for name in header):
        yield "a column is not in PascalCase or too long"
    if len(set(header)) != len(header) or set(MANDATORY) - set(header) or GONE & set(header):
        yield "columns are double, missing or of another version"
    if QUOTED_NOTHING.search(text):
        yield "a null is written as an empty string"


def _row(row) -> list[str]:
    """What cannot be read is not judged further."""
    return [*_forms(row)] or [broken for rule in (_periods, _products, _categories, _costs) for broken in rule(row)]


def _forms(row) -> Iterator[str]:
    yield from (f"{name} is {row[name]}" for name, allowed in ALLOWED.items() if row[name] not in allowed)
    yield from (f"{name} is {row[name]}" for name in NUMERIC if row[name] and not NUMBER.fullmatch(row[name]))
    yield from (f"{name} is {row[name]}" for name in MOMENTS if not MOMENT.fullmatch(row[name]))
    if not all(re.fullmatch("[A-Z]{3}", row[name]) for name in ("BillingCurrency", "PricingCurrency")):
        yield "the currency is no ISO 4217 code"
    if re.fullmatch(r"\d+(e\d+)?", row["x_EstimateId"]):
        yield "the id reads as a number"
    if row["RegionId"] != row["RegionName"] or row["RegionId"] in ("any", "unspecified"):
        yield "a region is no region"
    for name in ("Tags", "SkuPriceDetails"):
        values = json.loads(row[name] or "{}").values()
        if any(isinstance(value, (dict, list)) for value in values):
            yield f"{name} is not flat"


def _periods(row) -> Iterator[str]:
    month, next_month, start, end = (datetime.fromisoformat(row[name]) for name in MOMENTS)
    if not month <= start < next_month or month.day != 1 or (next_month - timedelta(days=1)).month != month.month:
        yield "the charge does not start in its billing month"
    if end < start:
        yield "the charge ends before it starts"


def _products(row) -> Iterator[str]:
    quantity = Decimal(row["PricingQuantity"])
    for kind in ("List", "Contracted"):
        price, cost = Decimal(row[f"{kind}UnitPrice"]), Decimal(row[f"{kind}Cost"])
        if price * quantity != cost or price < 0:
            yield f"{kind}UnitPrice x PricingQuantity is not {kind}Cost"


def _categories(row) -> Iterator[str]:
    is_usage, committed = row["ChargeCategory"] == "Usage", bool(row["CommitmentDiscountId"])
    if (row["ChargeFrequency"] == "Usage-Based") != is_usage:
        yield "usage, and only usage, is usage-based"
    if (row["PricingCategory"] == "Committed") != (is_usage and committed):
        yield "committed is the use of a commitment"
    filled = ("Type", "Category", "Name", "Quantity", "Unit")
    if any(bool(row[f"CommitmentDiscount{name}"]) != committed for name in filled):
        yield "commitment columns are null exactly when the id is"
    if bool(row["CommitmentDiscountStatus"]) != (is_usage and committed):
        yield "the status belongs to the use of a commitment"
    reserved = bool(row["CapacityReservationId"])
    if bool(row["CapacityReservationStatus"]) != (is_usage and reserved):
        yield "the status belongs to the use of a capacity reservation"
    consumed = is_usage and row["CommitmentDiscountStatus"] != "Unused"
    if (bool(row["ConsumedQuantity"]), bool(row["ConsumedUnit"])) != (consumed, consumed):
        yield "something is consumed exactly when it is used"


def _costs(row) -> Iterator[str]:
    billed, effective = Decimal(row["BilledCost"]), Decimal(row["EffectiveCost"])
    if row["ChargeCategory"] == "Purchase" and effective != 0:
        yield "a purchase covers later use, which has its effective cost"
    if row["CommitmentDiscountId"] and row["ChargeCategory"] == "Usage" and billed != 0:
        yield "a commitment is charged twice"
    prices = ("ListUnitPrice", "ContractedUnitPrice", "EffectiveCost")
    if row["PricingCurrency"] == row["BillingCurrency"]:
        yield from (f"{name} has two values" for name in prices if row[name] != row[f"PricingCurrency{name}"])


def _prices_have_one_sku(rows) -> Iterator[str]:
    parents = defaultdict(set)
    for row in rows:
        parents[row["SkuPriceId"]].add((row["SkuId"], row["RegionId"], row["PricingUnit"]))
    yield from (f"{price} has {len(skus)} parents" for price, skus in parents.items() if len(skus) > 1)


def _estimates_add_up(rows) -> Iterator[str]:
    """What is billed is used, and of a commitment as of the whole."""
    billed, effective = defaultdict(Decimal), defaultdict(Decimal)
    for row in (row for row in rows if not any(_forms(row))):
        for key in {(row["x_EstimateId"], ""), (row["x_EstimateId"], row["CommitmentDiscountId"])}:
            billed[key] += Decimal(row["BilledCost"])
            effective[key] += Decimal(row["EffectiveCost"])
    yield from (
        f"{key} is billed {billed[key]}, used {effective[key]}" for key in billed if billed[key] != effective[key]
    )
