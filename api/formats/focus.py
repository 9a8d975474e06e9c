"""Estimates in the shape of FOCUS, the FinOps billing format, to lay beside actual bills; `x_IsEstimate` tells them apart.

Every line of an estimate's bill is a row. What is bought ahead (a commitment, a capacity block, a month, an owned machine) is its
purchase, which costs nothing effectively, and its use: by this run, by other work as `utilization` says, and by nobody; their
effective costs add up to the purchase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from decimal import ROUND_CEILING, Decimal
from hashlib import blake2b
from operator import methodcaller

import msgspec

from api.formats import csv_export
from api.formats.focus_charges import PRICE_DIGITS, Row, charges, cut
from api.questions.schemas.layout import Layout, own_words
from costcalc.answers import Answer, Estimate
from costcalc.flat import flat
from costcalc.offer import ANY_REGION, Offer, PurchaseOption
from costcalc.query import parameters_of
from costcalc.recipes import Recipe
from costcalc.units import SECONDS_PER_HOUR
from pricing.packaged.names import UNSPECIFIED

INTERVAL_LEVEL = Decimal("0.8")
SERVICES = {  # names as the three clouds write them into their own FOCUS exports
    "aws": ("AWS", "Amazon Elastic Compute Cloud"),
    "azure": ("Microsoft", "Virtual Machines"),
    "gcp": ("Google Cloud", "Compute Engine"),
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FOCUS = _names(
    """
    AllocatedMethodDetails AllocatedMethodId AllocatedResourceId AllocatedResourceName AllocatedTags AvailabilityZone
    BilledCost BillingAccountId BillingAccountName BillingAccountType BillingCurrency BillingPeriodEnd BillingPeriodStart
    CapacityReservationId CapacityReservationStatus ChargeCategory ChargeClass ChargeDescription ChargeFrequency
    ChargePeriodEnd ChargePeriodStart CommitmentDiscountCategory CommitmentDiscountId CommitmentDiscountName
    CommitmentDiscountQuantity CommitmentDiscountStatus CommitmentDiscountType CommitmentDiscountUnit ConsumedQuantity
    ConsumedUnit ContractApplied ContractedCost ContractedUnitPrice EffectiveCost HostProviderName InvoiceId
    InvoiceIssuerName ListCost ListUnitPrice PricingCategory PricingCurrency PricingCurrencyContractedUnitPrice
    PricingCurrencyEffectiveCost PricingCurrencyListUnitPrice PricingQuantity PricingUnit RegionId RegionName ResourceId
    ResourceName ResourceType ServiceCategory ServiceName ServiceProviderName ServiceSubcategory SkuId SkuMeter
    SkuPriceDetails SkuPriceId SubAccountId SubAccountName SubAccountType TagDetails Tags
    """
)
"""The columns of FOCUS 1.4, sorted."""
OWN = _names(
    """
    x_IsEstimate x_EstimateId x_Rank x_ModelName x_DatasetName x_MetricName x_TargetAccuracy x_Recipe x_EpochsToTarget
    x_ThroughputImagesPerSecond x_ThroughputEvidence x_Nodes x_AcceleratorName x_AcceleratorCount x_Hours x_HoursLow x_HoursHigh
    x_SuccessProbability x_CostLow x_CostHigh x_EffectiveCost x_IntervalLevel x_SampleRuns x_UsedByOtherWork
    x_SpotStatistic x_PriceObservedAt x_PriceSource x_CatalogVersion x_ExchangeRatePerUsd x_ExchangeRateDate x_ExchangeRateSource
    x_Pick
    """
)


def chunks(answer: Answer, layout: Layout, recipes: Iterable[Recipe]) -> Iterator[bytes]:
    """The sheet, piece by piece; own columns last."""
    words = (name for name in ("x_Label", "x_CostCenter") if name in _of_question(answer))
    columns = [(name, methodcaller("get", name)) for name in (*FOCUS, *OWN, *words)]
    runs = {recipe.name: recipe.runs for recipe in recipes if not recipe.is_interpolated}
    return csv_export.chunks(columns, rows(answer, runs), layout)


def rows(answer: Answer, runs: Mapping[str, int]) -> Iterator[Row]:
    """The rows of all estimates; a column that is missing is null. `runs` says how many each recipe's curve rests on."""
    shared = _of_question(answer)
    for estimate in answer.estimates:
        bill = estimate.bill
        common = {**shared, **_of_estimate(estimate, answer), **_of_offer(bill.offer)}
        common["x_SampleRuns"] = runs.get(estimate.recipe)
        for hours, charge in charges(bill, Decimal(repr(estimate.hours)), estimate.on_demand):
            row = {**common, **_period(answer, hours), **charge}
            row["PricingCurrency"] = row["PricingCurrency"] or row["BillingCurrency"]
            same = row["PricingCurrency"] == row["BillingCurrency"]
            cost = row["EffectiveCost"]
            row["PricingCurrencyEffectiveCost"] = cost if same else cut(cost / bill.terms.exchange, PRICE_DIGITS)
            if row.get("CommitmentDiscountCategory") == "Spend":
                row["CommitmentDiscountUnit"] = row["BillingCurrency"]
            yield row


def _of_question(answer: Answer) -> Row:
    query, exchange = answer.query, answer.exchange
    words = own_words({name: getattr(query, name) for name in parameters_of("words")})
    return {
        "BillingAccountId": "estimate",
        "BillingAccountType": "Estimate",
        "BillingCurrency": query.currency,
        "Tags": msgspec.json.encode(words).decode() if words else None,
        "x_IsEstimate": True,
        "x_IntervalLevel": INTERVAL_LEVEL,
        "x_CatalogVersion": answer.prices.snapshot,
        "x_ExchangeRatePerUsd": exchange and exchange.per_usd,
        "x_ExchangeRateDate": exchange and exchange.date,
        "x_ExchangeRateSource": exchange and exchange.source,
        **{f"x_{name.title().replace('_', '')}": text for name, text in words.items()},
    }


def _of_estimate(estimate: Estimate, answer: Answer) -> Row:
    parts = (answer.prices.snapshot, msgspec.structs.replace(flat(estimate), rank=0, frontier=False, pick=None))
    return {
        # bare, 774170e646603824 reads as a number
        "x_EstimateId": f"est-{blake2b(repr(parts).encode(), digest_size=8).hexdigest()}",
        "x_Rank": estimate.rank,
        "x_ModelName": estimate.model,
        "x_DatasetName": estimate.dataset,
        "x_MetricName": estimate.metric,
        "x_TargetAccuracy": estimate.target,
        "x_Recipe": estimate.recipe,
        "x_EpochsToTarget": estimate.epochs,
        "x_ThroughputImagesPerSecond": estimate.images_per_second,
        "x_ThroughputEvidence": estimate.evidence.throughput,
        "x_Nodes": estimate.nodes,
        "x_AcceleratorName": estimate.accelerator,
        "x_AcceleratorCount": estimate.accelerators,
        "x_Hours": estimate.hours,
        "x_HoursLow": estimate.hours_low,
        "x_HoursHigh": estimate.hours_high,
        "x_SuccessProbability": estimate.success_probability,
        "x_CostLow": estimate.billed_cost_low,
        "x_CostHigh": estimate.billed_cost_high,
        "x_EffectiveCost": estimate.effective_cost,
        "x_SpotStatistic": "last" if estimate.purchase_option is PurchaseOption.SPOT else None,
        "x_PriceObservedAt": estimate.sources.price.observed_at,
        "x_PriceSource": estimate.sources.price.source,
        "x_Pick": estimate.pick,
    }


def _of_offer(offer: Offer) -> Row:
    provider, service = SERVICES.get(offer.provider, (offer.provider, f"{offer.provider} accelerators"))
    region = None if offer.region in (ANY_REGION, UNSPECIFIED) else offer.region
    names = ("InvoiceIssuerName", "ServiceProviderName", "HostProviderName")
    machine = offer.machine
    details = {
        "InstanceType": offer.instance_type,
        "GpuCount": machine.accelerators,
        "CoreCount": machine.vcpus,
        "MemorySize": machine.memory_gib,
        "x_Accelerator": machine.accelerator,
        "x_Term": offer.term,
        "x_Payment": offer.payment,
    }
    return {
        **dict.fromkeys(names, provider),
        "ServiceCategory": "Compute",
        "ServiceName": service,
        "ServiceSubcategory": "Virtual Machines",
        "RegionId": region,
        "RegionName": region,
        "PricingCurrency": offer.currency,
        "SkuId": f"{offer.provider}/{offer.instance_type}",
        "SkuPriceDetails": msgspec.json.encode(
            {name: value for name, value in details.items() if value is not None}
        ).decode(),
    }


def _period(answer: Answer, hours: Decimal) -> Row:
    """From the date asked about for these hours, in whole seconds, and the calendar month that the charge falls into."""
    start = answer.prices.as_of.replace(microsecond=0)
    seconds = int((hours * SECONDS_PER_HOUR).quantize(Decimal("1e-6")).to_integral_value(ROUND_CEILING))
    month = start.replace(day=1, hour=0, minute=0, second=0)
    return {
        "ChargePeriodStart": start,
        "ChargePeriodEnd": start + timedelta(seconds=seconds),
        "BillingPeriodStart": month,
        "BillingPeriodEnd": (month + timedelta(days=31)).replace(day=1),
    }
