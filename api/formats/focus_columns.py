"""The columns of FOCUS's Cost and Usage dataset, by version, in alphabetical order: focus.finops.org/focus-specification.

Version 1.4 is of 2026-06-04, version 1.2 of 2025-05-29. Own columns start with `x_` and follow after all of these.
"""

from __future__ import annotations


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COMMON = _names(
    """
    AvailabilityZone BilledCost BillingAccountId BillingAccountName BillingAccountType BillingCurrency BillingPeriodEnd
    BillingPeriodStart CapacityReservationId CapacityReservationStatus ChargeCategory ChargeClass ChargeDescription
    ChargeFrequency ChargePeriodEnd ChargePeriodStart CommitmentDiscountCategory CommitmentDiscountId CommitmentDiscountName
    CommitmentDiscountQuantity CommitmentDiscountStatus CommitmentDiscountType CommitmentDiscountUnit ConsumedQuantity
    ConsumedUnit ContractedCost ContractedUnitPrice EffectiveCost InvoiceId InvoiceIssuerName ListCost ListUnitPrice
    PricingCategory PricingCurrency PricingCurrencyContractedUnitPrice PricingCurrencyEffectiveCost
    PricingCurrencyListUnitPrice PricingQuantity PricingUnit RegionId RegionName ResourceId ResourceName ResourceType
    ServiceCategory ServiceName ServiceSubcategory SkuId SkuMeter SkuPriceDetails SkuPriceId SubAccountId SubAccountName
    SubAccountType Tags
    """
)
FOCUS = {
    "1.2": tuple(sorted((*COMMON, "ProviderName", "PublisherName"))),
    "1.4": tuple(
        sorted(
            (
                *COMMON,
                *("AllocatedMethodDetails", "AllocatedMethodId", "AllocatedResourceId", "AllocatedResourceName"),
                *("AllocatedTags", "ContractApplied", "HostProviderName", "ServiceProviderName", "TagDetails"),
            )
        )
    ),
}
OWN = _names(
    """
    x_IsEstimate x_EstimateId x_Rank x_ModelName x_DatasetName x_MetricName x_TargetAccuracy x_Recipe x_EpochsToTarget
    x_ThroughputImagesPerSecond x_ThroughputEvidence x_Nodes x_AcceleratorName x_AcceleratorCount x_Hours x_HoursLow x_HoursHigh
    x_SuccessProbability x_CostLow x_CostHigh x_EffectiveCost x_IntervalLevel x_SampleRuns x_UsedByOtherWork
    x_SpotStatistic x_PriceObservedAt x_PriceSource x_CatalogVersion x_ExchangeRatePerUsd x_ExchangeRateDate x_ExchangeRateSource
    """
)
