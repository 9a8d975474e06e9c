"""`profile=focus`: rows that keep FOCUS's rules and add up to the estimates they come from."""

import csv
from collections import defaultdict
from datetime import datetime
from decimal import Decimal

import pytest
from support.focus_rules import read, violations
from support.prices import offer
from support.services import service_of

from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import Payment, PurchaseOption

ASKED = "model=resnet50&target=0.757"
QUESTIONS = (
    "purchase=on_demand&limit=50&regions=all",
    "purchase=spot&limit=50&currency=EUR",
    "purchase=monthly&limit=50&discount=0.07&utilization=0",
    "purchase=capacity_block&limit=50&utilization=0.5&currency=EUR",
    "purchase=owned&max_price_age=36500&limit=20&utilization=0.5",
    "purchase=savings_plan,committed_use&limit=100&utilization=0.3&discount=aws:0.125&currency=JPY",
    "purchase=reserved&as_of=2018-04-26&overheads=none&recipes=all",
    "purchase=reserved&max_price_age=36500&limit=100&utilization=0.5",
    "instance_type=v2-8&as_of=2018-04-26&crossing=first&recipes=all&label=%3D1%2B1&cost_center=R%26D",
    "limit=300&nodes=8",
    "purchase=savings_plan,on_demand&limit=30&runs=12&storage_gb=150&storage_rate=0.023&egress_gb=20&egress_rate=0.09",
)


def focus(client, more, path="/cost.csv"):
    response = client.get(f"{path}?{ASKED}&profile=focus&{more}")
    assert response.status_code == 200, response.text
    return response.text


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_rules_are_kept(client, question):
    text = focus(client, question)
    assert len(read(text)) >= 2
    assert violations(text) == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_rows_add_up_to_the_estimates(client, question):
    billed = defaultdict(Decimal)
    for row in read(focus(client, question)):
        billed[row["x_Rank"]] += Decimal(row["BilledCost"])
    estimates = client.get(f"/cost?{ASKED}&{question}").json["estimates"]
    assert billed == {str(each["rank"]): Decimal(str(each["billed_cost"])) for each in estimates}


@pytest.mark.parametrize("question", QUESTIONS)
def test_contracted_costs_are_the_bill_before_rounding(client, question):
    for row in read(focus(client, question)):
        if not row["SkuPriceId"].endswith("/use"):
            assert abs(Decimal(row["ContractedCost"]) - Decimal(row["BilledCost"])) <= Decimal("0.011")


def rows_of(client, question):
    return read(focus(client, question))


def hours_of(row):
    start, end = (datetime.fromisoformat(row[f"ChargePeriod{edge}"]) for edge in ("Start", "End"))
    return (end - start).total_seconds() / 3600


def test_on_demand_is_usage_from_the_date_asked_for_to_the_end_of_the_billed_hours(client):
    [row] = rows_of(client, "as_of=2018-04-26&instance_type=p3.8xlarge&purchase=on_demand&nodes=1&limit=1")
    [part] = client.get(
        f"/cost?{ASKED}&as_of=2018-04-26&instance_type=p3.8xlarge&purchase=on_demand&nodes=1&limit=1"
    ).json["estimates"][0]["components"]
    assert (row["ChargeCategory"], row["ChargeFrequency"], row["PricingCategory"], row["PricingUnit"]) == (
        "Usage",
        "Usage-Based",
        "Standard",
        "Hours",
    )
    assert row["ChargePeriodStart"] == "2018-04-26T23:59:59Z"
    assert hours_of(row) == pytest.approx(part["quantity"], abs=1 / 3600)
    assert Decimal(row["ListUnitPrice"]) == Decimal("12.24")
    assert (row["ServiceProviderName"], row["ServiceName"]) == ("AWS", "Amazon Elastic Compute Cloud")
    assert (row["RegionId"], row["BillingPeriodEnd"]) == ("us-east-1", "2018-05-01T00:00:00Z")


def test_spot_is_dynamic_and_says_which_price_it_is(client):
    rows = rows_of(client, "purchase=spot")
    assert {(row["PricingCategory"], row["x_SpotStatistic"]) for row in rows} == {("Dynamic", "last")}
    assert all(row["x_PriceObservedAt"] for row in rows)


def test_a_month_is_a_recurring_purchase_of_whole_months(client):
    row = rows_of(client, "purchase=monthly&limit=1")[0]
    assert (row["ChargeCategory"], row["ChargeFrequency"], row["PricingCategory"]) == (
        "Purchase",
        "Recurring",
        "Standard",
    )
    assert (row["PricingUnit"], row["PricingQuantity"], row["CommitmentDiscountId"]) == ("Months", "1.0", "")
    assert hours_of(row) >= 672


@pytest.mark.parametrize("purchase", ["monthly", "capacity_block", "owned"])
def test_what_is_bought_ahead_costs_nothing_effectively_and_its_use_does(client, purchase):
    rows = rows_of(client, f"purchase={purchase}&limit=1&max_price_age=36500&utilization=0.25")
    bought = rows[0]
    ours, others, idle = (row for row in rows if row["SkuPriceId"].endswith("/use"))
    assert (bought["ChargeCategory"], Decimal(bought["EffectiveCost"])) == ("Purchase", 0)
    assert sum(Decimal(row["EffectiveCost"]) for row in (ours, others, idle)) == Decimal(bought["BilledCost"]) > 0
    assert [row["x_UsedByOtherWork"] for row in (ours, others, idle)] == ["false", "true", ""]
    assert [Decimal(row["ConsumedQuantity"]) > 0 for row in (ours, others, idle)] == [True, True, False]
    block = purchase == "capacity_block"
    told = [row["CapacityReservationStatus"] for row in (bought, ours, others, idle)]
    assert told == (["", "Used", "Used", "Unused"] if block else [""] * 4)
    assert {bool(row["CapacityReservationId"]) for row in rows} == {block}


def test_prices_stand_in_the_currency_they_are_quoted_in_too(client):
    row = rows_of(client, "as_of=2018-04-26&instance_type=p3.8xlarge&purchase=on_demand&currency=EUR&discount=0.25")[0]
    assert (row["PricingCurrency"], row["BillingCurrency"]) == ("USD", "EUR")
    listed, own = (row[f"PricingCurrency{kind}UnitPrice"] for kind in ("List", "Contracted"))
    assert (listed, own) == ("12.24", "9.18")
    rate = Decimal(row["x_ExchangeRatePerUsd"])
    assert Decimal(row["ListUnitPrice"]) == pytest.approx(Decimal(listed) * rate)
    assert Decimal(row["PricingCurrencyEffectiveCost"]) * rate == pytest.approx(Decimal(row["EffectiveCost"]))


def reserved(payment, upfront, recurring):
    hourly = Decimal(upfront) / 8760 + Decimal(recurring)
    terms = {"payment": payment, "upfront": Decimal(upfront), "recurring_hourly": Decimal(recurring)}
    return offer(hourly, purchase_option=PurchaseOption.RESERVED, term="1y", **terms)


@pytest.fixture
def partial():
    """One machine on demand, and reserved with a part of it upfront."""
    offers = [offer("3.06"), reserved(Payment.PARTIAL_UPFRONT, "8760", "1")]
    return create_app(service_of(FixedPrices(Catalogue.from_offers(offers, "partial")))).test_client()


def test_a_reservation_is_bought_once_and_by_the_hour_and_used_by_whom_it_is_used(partial):
    question = "purchase=reserved&utilization=0.25&nodes=1&limit=1&overheads=none"
    upfront, recurring, ours, others, idle = rows_of(partial, question)
    assert [row["ChargeFrequency"] for row in (upfront, recurring)] == ["One-Time", "Recurring"]
    assert (upfront["PricingUnit"], upfront["BilledCost"], upfront["EffectiveCost"]) == ("Units", "8760.00", "0.0")
    assert (recurring["PricingUnit"], recurring["PricingQuantity"], recurring["BilledCost"]) == (
        "Hours",
        "8760.0",
        "8760.00",
    )
    kinds = [(row["CommitmentDiscountStatus"], row["x_UsedByOtherWork"]) for row in (ours, others, idle)]
    assert kinds == [("Used", "false"), ("Used", "true"), ("Unused", "")]
    [estimate] = partial.get(f"/cost?{ASKED}&{question}").json["estimates"]
    hours = Decimal(str(estimate["hours"]))
    assert Decimal(ours["PricingQuantity"]) == pytest.approx(hours, rel=Decimal("1e-12"))
    assert Decimal(others["PricingQuantity"]) == pytest.approx((8760 - hours) / 4)
    assert Decimal(idle["PricingQuantity"]) == pytest.approx((8760 - hours) * 3 / 4)
    assert sum(Decimal(row["EffectiveCost"]) for row in (ours, others, idle)) == 17520
    assert Decimal(ours["ListUnitPrice"]) == Decimal("3.06")  # what it would cost on demand
    assert (hours_of(upfront), hours_of(idle)) == (8760, 8760)


def test_a_commitment_that_other_work_fills_has_nothing_unused(client):
    idle = [row for row in rows_of(client, "purchase=savings_plan") if row["CommitmentDiscountStatus"] == "Unused"]
    assert idle
    assert {(row["PricingQuantity"], Decimal(row["EffectiveCost"])) for row in idle} == {("0.0", Decimal(0))}


def test_a_savings_plan_binds_money_and_a_reservation_hours(client, partial):
    plan = rows_of(client, "purchase=savings_plan&currency=EUR&limit=1")[0]
    assert (plan["CommitmentDiscountCategory"], plan["CommitmentDiscountUnit"]) == ("Spend", "EUR")
    assert Decimal(plan["CommitmentDiscountQuantity"]) == pytest.approx(
        Decimal(plan["BilledCost"]), abs=Decimal("0.01")
    )
    reservation = rows_of(partial, "purchase=reserved&limit=1")[0]
    assert (reservation["CommitmentDiscountCategory"], reservation["CommitmentDiscountUnit"]) == ("Usage", "Hours")


def test_own_discounts_lower_the_contracted_price_alone(client):
    row = rows_of(client, "as_of=2018-04-26&instance_type=p3.8xlarge&purchase=on_demand&discount=0.25&limit=1")[0]
    assert (row["ListUnitPrice"], row["ContractedUnitPrice"]) == ("12.24", "9.18")


def test_parts_of_a_price_are_rows_of_their_own(client):
    rows = rows_of(client, "instance_type=v2-8&as_of=2018-04-26&nodes=1&limit=1&purchase=on_demand")
    assert [(row["SkuMeter"], row["ListUnitPrice"]) for row in rows] == [
        ("Cloud TPU v2-8", "6.5"),
        ("host n1-standard-4", "0.19"),
    ]
    assert len({row["SkuPriceId"] for row in rows}) == 2


def test_own_columns_carry_the_estimate(client):
    row = rows_of(client, "label=vision&cost_center=4711&currency=EUR&limit=1")[0]
    [estimate] = client.get(f"/cost?{ASKED}&currency=EUR&limit=1").json["estimates"]
    assert (row["x_Label"], row["x_CostCenter"], row["Tags"]) == (
        "vision",
        "4711",
        '{"label":"vision","cost_center":"4711"}',
    )
    assert (row["x_Recipe"], float(row["x_Hours"])) == (estimate["recipe"], estimate["hours"])
    assert (float(row["x_CostLow"]), float(row["x_CostHigh"])) == (
        estimate["billed_cost_low"],
        estimate["billed_cost_high"],
    )
    assert row["x_IntervalLevel"] == "0.8"
    assert row["x_ExchangeRateDate"] <= "2026-11-20"


def test_it_says_how_many_runs_a_curve_rests_on(client):
    questions = (
        "limit=1&recipe=riseml-2018-v100",
        "limit=1&recipe=mlperf-v3.0-hls-gaudi2-tf",
        "limit=1&recipe=ffcv-rn50-28ep",
    )
    known = [rows_of(client, f"{more}&recipes=all")[0] for more in questions]
    assert known[0]["x_SampleRuns"] == "1"
    assert int(known[1]["x_SampleRuns"]) > 1
    assert known[2]["x_SampleRuns"] == "", "nobody ran this schedule"


def test_it_is_a_form_of_csv(client):
    assert focus(client, "limit=1&format=csv", "/cost") == focus(client, "limit=1")
    for path in ("/cost", "/cost.xlsx"):
        response = client.get(f"{path}?{ASKED}&profile=focus")
        assert response.status_code == 400
        assert "/cost.csv" in response.json["errors"]["profile"][0]
    assert client.get(f"/cost.csv?{ASKED}&focus=1.2").status_code == 400


@pytest.mark.parametrize(("more", "name"), [("decimal=,", "decimal"), ("excel=1", "excel")])
def test_it_has_decimal_points_and_iso_dates_alone(client, more, name):
    response = client.get(f"/cost.csv?{ASKED}&profile=focus&{more}")
    assert response.status_code == 400
    assert response.text.endswith(f': leave {name} out"\r\n')
    assert focus(client, "excel=0&decimal=.&sep=%3B").startswith("AllocatedMethodDetails;")


BROKEN = {
    "is not ListCost": ("ListCost", "1"),
    "is usage-based": ("ChargeFrequency", "Recurring"),
    "BilledCost is 1,000": ("BilledCost", '"1,000"'),
    "ChargePeriodEnd is 2026": ("ChargePeriodEnd", "2026-11-20"),
    "written as an empty string": ("AvailabilityZone", '""'),
    "InvoiceIssuerName is null": ("InvoiceIssuerName", ""),
    "used 0.01": ("EffectiveCost", "0.01"),
    "EffectiveCost has two values": ("PricingCurrencyEffectiveCost", "0.01"),
    "BillingAccountType is null": ("BillingAccountType", ""),
    "reads as a number": ("x_EstimateId", "774170e646603824"),
    "a region is no region": ("RegionId", "any"),
    "exactly when the id is": ("CommitmentDiscountType", "Reserved Instance"),
    "when it is used": ("ConsumedQuantity", ""),
    "PricingUnit is hour": ("PricingUnit", "hour"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_the_rules_notice_what_is_broken(client, broken):
    text = focus(client, "purchase=on_demand&provider=aws&nodes=1&limit=1")
    header, row, _ = text.split("\r\n")
    name, value = BROKEN[broken]
    cells = ['"' + cell.replace('"', '""') + '"' if cell else "" for cell in next(csv.reader([row]))]
    whole = f"{header}\r\n{','.join(cells)}\r\n"
    cells[header.split(",").index(name)] = value
    assert violations(whole) == []
    assert any(broken in each for each in violations(f"{header}\r\n{','.join(cells)}\r\n"))
