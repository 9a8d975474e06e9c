"""Bills become rates: FOCUS of several clouds, and AWS's report in both spellings, with everything else that stands in a bill."""

import csv
import gzip
import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from support.recorded_sources import NOW

from costcalc.offer import Payment, PurchaseOption
from pricing.sources.common.http import Http
from pricing.sources.own_sheet.source import SPEC
from pricing.sources.source import SourceError

DAY = {"ChargePeriodStart": "2026-10-05T00:00:00Z", "ChargePeriodEnd": "2026-10-05T04:00:00Z"}
FOCUS = {
    "ProviderName": "AWS", "BillingCurrency": "USD", "ChargeCategory": "Usage", "ChargeClass": "", "PricingCategory": "Standard",
    "ConsumedQuantity": "4", "ConsumedUnit": "Hours", "BilledCost": "80", "EffectiveCost": "74", "RegionId": "us-east-1",
    "SkuMeter": "BoxUsage:p4d.24xlarge", "SkuPriceDetails": '{"InstanceType": "p4d.24xlarge", "OperatingSystem": "Linux"}',
    "CommitmentDiscountId": "", "CommitmentDiscountStatus": "", **DAY,
}  # fmt: skip
CUR = {
    "lineItem/LineItemType": "Usage", "lineItem/UsageType": "BoxUsage:p4d.24xlarge", "lineItem/ProductCode": "AmazonEC2",
    "lineItem/Operation": "RunInstances", "lineItem/UsageAmount": "4", "lineItem/UnblendedCost": "74",
    "lineItem/CurrencyCode": "USD", "lineItem/UsageStartDate": "2026-10-05T00:00:00Z",
    "lineItem/UsageEndDate": "2026-10-05T04:00:00Z", "product/instanceType": "p4d.24xlarge", "product/regionCode": "us-east-1",
    "product/operatingSystem": "Linux", "pricing/unit": "Hrs", "pricing/LeaseContractLength": "", "pricing/PurchaseOption": "",
    "reservation/EffectiveCost": "", "savingsPlan/SavingsPlanEffectiveCost": "", "savingsPlan/PurchaseTerm": "",
    "savingsPlan/PaymentOption": "",
}  # fmt: skip
SNAKE = {name: "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name).replace("/", "_").replace("__", "_")
         for name in CUR}  # fmt: skip


def written(form, *rows, delimiter=","):
    """A bill of rows that differ so from the usual one."""
    text = io.StringIO()
    table = csv.DictWriter(
        text, list(dict.fromkeys(name for row in (form, *rows) for name in row)), delimiter=delimiter
    )
    table.writeheader()
    table.writerows({**form, **row} for row in rows)
    return text.getvalue()


@pytest.fixture
def collect(tmp_path):
    def read(content):
        place = tmp_path / "bill.csv"
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return SPEC.build({"COSTCALC_SHEET": str(place)}, Http(retries=0)).collect(NOW)

    return read


def renamed(text):
    """The same report in the spelling of CUR 2.0."""
    head, _, rest = text.partition("\n")
    return ",".join(SNAKE[name.strip()] for name in head.split(",")) + "\n" + rest


FORMS = {
    "focus": lambda: written(FOCUS, {}, {"EffectiveCost": "70", "ConsumedQuantity": "4"}),
    "focus gz": lambda: gzip.compress(written(FOCUS, {}, {"EffectiveCost": "70"}).encode()),
    "focus ;": lambda: "\ufeff" + written(FOCUS, {}, {"EffectiveCost": "70"}, delimiter=";"),
    "cur": lambda: written(CUR, {}, {"lineItem/UnblendedCost": "70"}),
    "cur gz": lambda: gzip.compress(written(CUR, {}, {"lineItem/UnblendedCost": "70"}).encode()),
    "cur 2.0": lambda: renamed(written(CUR, {}, {"lineItem/UnblendedCost": "70"})),
}


@pytest.mark.parametrize("form", FORMS)
def test_hours_and_what_was_paid_for_them_are_a_rate(collect, form):
    found = collect(FORMS[form]())
    [offer] = found.offers
    assert (offer.provider, offer.region, offer.instance_type) == ("aws", "us-east-1", "p4d.24xlarge")
    assert (offer.purchase_option, offer.hourly_rate, offer.currency) == (
        PurchaseOption.ON_DEMAND,
        Decimal("18"),
        "USD",
    )
    assert (offer.machine.accelerator, offer.machine.accelerators) == ("A100-40GB", 8)
    assert offer.observed_at == datetime(2026, 10, 5, 4, tzinfo=UTC)
    assert offer.source == "bill of 2026-10-05 to 2026-10-05: 144.00 USD for 8.0 h"
    assert found.notes == ()


@pytest.mark.parametrize(
    ("form", "row", "why"),
    [
        (FOCUS, {"ChargeCategory": "Tax"}, "taxes"), (FOCUS, {"ChargeCategory": "Credit", "BilledCost": "-50"}, "credits"),
        (FOCUS, {"ChargeCategory": "Purchase"}, "fees and purchases"), (FOCUS, {"ChargeCategory": "Adjustment"}, "refunds"),
        (FOCUS, {"ChargeClass": "Correction", "EffectiveCost": "-74"}, "refunds and corrections"),
        (FOCUS, {"CommitmentDiscountStatus": "Unused"}, "commitments that were not used"),
        (FOCUS, {"PricingCategory": "Committed"}, "use under a commitment of unknown term"),
        (FOCUS, {"SkuMeter": "BoxUsage:t3.micro", "SkuPriceDetails": "{}"}, "other machines"),
        (FOCUS, {"SkuMeter": "TimedStorage-ByteHrs", "SkuPriceDetails": ""}, "other services"),
        (FOCUS, {"SkuPriceDetails": json.dumps({"InstanceType": "p4d.24xlarge", "OperatingSystem": "Windows"})}, "Windows"),
        (FOCUS, {"ConsumedUnit": "GB"}, "no hours"), (FOCUS, {"EffectiveCost": "a lot"}, "unreadable amounts or days"),
        (FOCUS, {"ChargePeriodStart": "2026-09-05T00:00:00Z", "ChargePeriodEnd": "2026-09-05T04:00:00Z"}, "earlier months"),
        (FOCUS, {"RegionId": "atlantis-1", "RegionName": ""}, "an unknown region"),
        (FOCUS, {"x_IsEstimate": "true"}, "estimates"),
        (FOCUS, {"SkuMeter": "UnusedBox:p4d.24xlarge"}, "commitments that were not used"),
        (CUR, {"lineItem/LineItemType": "Tax"}, "taxes"), (CUR, {"lineItem/LineItemType": "Credit"}, "credits"),
        (CUR, {"lineItem/LineItemType": "Refund"}, "refunds"), (CUR, {"lineItem/LineItemType": "RIFee"}, "not used"),
        (CUR, {"lineItem/LineItemType": "SavingsPlanNegation"}, "fees and purchases"),
        (CUR, {"lineItem/LineItemType": "DiscountedUsage"}, "use under a commitment of unknown term"),
        (CUR, {"lineItem/UsageType": "UnusedBox:p4d.24xlarge"}, "not used"),
        (CUR, {"lineItem/UsageType": "EBS:VolumeUsage.gp3", "product/instanceType": ""}, "other services"),
        (CUR, {"lineItem/UsageType": "BoxUsage:m5.large", "product/instanceType": "m5.large"}, "other machines"),
        (CUR, {"lineItem/UsageType": "USE1-Host:ml.p4d.24xlarge", "lineItem/ProductCode": "AmazonSageMaker"}, "other services"),
        (CUR, {"lineItem/Operation": "RunInstances:0002"}, "Windows"), (CUR, {"lineItem/UsageAmount": ""}, "unreadable"),
    ],
)  # fmt: skip
def test_what_is_no_hour_of_a_machine_is_counted_by_why_and_changes_no_rate(collect, form, row, why):
    found = collect(written(form, {}, row, row))
    [offer] = found.offers
    assert offer.hourly_rate == Decimal("18.5")
    [note] = found.notes
    assert note.startswith("charges of the bill that are left out: 2 of ")
    assert why in note
    assert found.gaps == ()


def test_spot_and_commitments_are_rates_of_their_own(collect):
    spot = {"lineItem/UsageType": "USE1-SpotUsage:p4d.24xlarge", "lineItem/Operation": "RunInstances:SV001",
            "lineItem/UnblendedCost": "28"}  # fmt: skip
    reserved = {"lineItem/LineItemType": "DiscountedUsage", "lineItem/UnblendedCost": "0", "reservation/EffectiveCost": "44",
                "pricing/LeaseContractLength": "3yr", "pricing/PurchaseOption": "Partial Upfront"}  # fmt: skip
    plan = {"lineItem/LineItemType": "SavingsPlanCoveredUsage", "savingsPlan/SavingsPlanEffectiveCost": "52",
            "savingsPlan/PurchaseTerm": "1yr", "savingsPlan/PaymentOption": "No Upfront"}  # fmt: skip
    rates = {
        (o.purchase_option, o.term, o.payment): o.hourly_rate
        for o in collect(written(CUR, {}, spot, reserved, plan)).offers
    }
    assert rates == {
        (PurchaseOption.ON_DEMAND, None, None): Decimal("18.5"),
        (PurchaseOption.SPOT, None, None): 7,
        (PurchaseOption.RESERVED, "3y", Payment.PARTIAL_UPFRONT): 11,
        (PurchaseOption.SAVINGS_PLAN, "1y", Payment.NO_UPFRONT): 13,
    }


def test_a_negotiated_discount_is_part_of_the_rate(collect):
    discount = {"lineItem/LineItemType": "EdpDiscount", "lineItem/UnblendedCost": "-14"}
    [offer] = collect(written(CUR, {}, discount)).offers
    assert offer.hourly_rate == 15
    net = {"lineItem/NetUnblendedCost": "60"}
    [offer] = collect(written({**CUR, **net}, {}, {**discount, "lineItem/NetUnblendedCost": "-14"})).offers
    assert offer.hourly_rate == 15


def test_rates_differ_by_machine_region_and_currency(collect):
    azure = {"ProviderName": "Microsoft", "SkuMeter": "", "SkuPriceDetails": "", "RegionId": "", "RegionName": "North Europe",
             "x_SkuDetails": json.dumps({"ServiceType": "Standard_ND96asr_v4"}), "BillingCurrency": "EUR",
             "ConsumedUnit": "", "ConsumedQuantity": "", "PricingUnit": "1 Hour", "PricingQuantity": "2"}  # fmt: skip
    elsewhere = {"RegionId": "", "AvailabilityZone": "eu-west-1a", "EffectiveCost": "100"}
    other = {"SkuMeter": "BoxUsage:p3.8xlarge", "SkuPriceDetails": "", "EffectiveCost": "40"}
    found = {(o.provider, o.region, o.instance_type): (o.hourly_rate, o.currency)
             for o in collect(written(FOCUS, {}, azure, elsewhere, other)).offers}  # fmt: skip
    assert found == {
        ("aws", "us-east-1", "p4d.24xlarge"): (Decimal("18.5"), "USD"),
        ("azure", "northeurope", "Standard_ND96asr_v4"): (Decimal("37"), "EUR"),
        ("aws", "eu-west-1", "p4d.24xlarge"): (Decimal("25"), "USD"),
        ("aws", "us-east-1", "p3.8xlarge"): (Decimal("10"), "USD"),
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"ServiceProviderName": "Amazon Web Services", "ProviderName": ""}, {"Provider": "AWS", "ProviderName": ""},
        {"ChargePeriodStart": "2026-10-05 00:00:00 UTC", "ChargePeriodEnd": "2026-10-05 04:00:00"},
        {"ChargePeriodStart": "2026-10-05T00:00:00.000Z"},
        {"x_UsageType": "USE1-BoxUsage:p4d.24xlarge", "SkuMeter": "", "SkuPriceDetails": ""},
        {"UsageQuantity": "4", "UsageUnit": "Hours", "ConsumedQuantity": "", "ConsumedUnit": ""},
        {"PricingCategory": "On-Demand"},
        {"ConsumedUnit": "Hrs"}, {"RegionId": "", "Region": "US East (N. Virginia)"}, {"ChargeSubcategory": "On-Demand"},
    ],
)  # fmt: skip
def test_every_version_of_focus_is_read(collect, changed):
    [offer] = collect(written({**FOCUS, **changed}, {})).offers
    assert (offer.provider, offer.region, offer.hourly_rate) == ("aws", "us-east-1", Decimal("18.5"))


def test_a_bill_without_machines_says_what_stands_in_it(collect):
    with pytest.raises(
        SourceError, match=r"no charge of this bill is for hours of a machine that is known here; left out: 3 of taxes"
    ):
        collect(written(FOCUS, *[{"ChargeCategory": "Tax"}] * 3))
    with pytest.raises(SourceError, match="left out: no rows"):
        collect(written(FOCUS))


def test_a_packed_file_that_is_cut_short_is_named(collect):
    with pytest.raises(SourceError, match="check COSTCALC_SHEET"):
        collect(gzip.compress(written(FOCUS, *[{}] * 1000).encode())[:-40])
