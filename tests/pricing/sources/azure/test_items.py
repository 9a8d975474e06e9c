from datetime import UTC, datetime
from decimal import Decimal
from itertools import permutations

import pytest
from fakes.azure import item

from costcalc.offer import Payment, PurchaseOption, tariff
from pricing.packaged.machine_facts import packaged_machines
from pricing.sources.azure.source import Quote, Unpriced, latest, offer, read_item
from pricing.sources.source import SchemaChanged

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SIZE = "Standard_NC6s_v3"
PLANS = [
    {"unitPrice": 1.2, "retailPrice": 1.2, "term": "3 Years"},
    {"unitPrice": 2.1, "retailPrice": 2.1, "term": "1 Year"},
]


def _read(price=3.06, **changes):
    return read_item(item(SIZE, price, **changes), NOW)


def _told(quotes):
    return [(quote.option.value, quote.term, quote.amount) for quote in quotes]


def test_a_plain_row_is_on_demand_by_the_hour():
    (quote,) = _read()
    assert (quote.instance_type, quote.region, _told([quote])) == (
        SIZE,
        "eastus",
        [("on_demand", None, Decimal("3.06"))],
    )
    assert quote.effective_from == datetime(2023, 9, 1, tzinfo=UTC)


@pytest.mark.parametrize("field", ["meterName", "skuName"])
@pytest.mark.parametrize("words", ["NC6s v3 Spot", "NC6s\u00a0v3\u00a0Spot"])
def test_spot_stands_in_the_meters_or_the_skus_name(field, words):
    assert _told(_read(0.6, **{field: words}, savingsPlan=PLANS)) == [("spot", None, Decimal("0.6"))]


def test_savings_plans_hang_on_the_plain_row_in_any_order():
    told = {
        ("on_demand", None, Decimal("3.06")),
        ("savings_plan", "1y", Decimal("2.1")),
        ("savings_plan", "3y", Decimal("1.2")),
    }
    for plans in permutations(PLANS):
        assert set(_told(_read(savingsPlan=list(plans)))) == told


@pytest.mark.parametrize(
    ("words", "term"), [("1 Year", "1y"), ("3 Years", "3y"), ("5 Years", "5y"), ("3\u00a0Years", "3y")]
)
def test_a_reservation_is_priced_by_its_whole_term(words, term):
    assert _told(_read(9000, type="Reservation", reservationTerm=words)) == [("reserved", term, Decimal(9000))]


@pytest.mark.parametrize(
    "changes",
    [
        {"productName": "Virtual Machines NCSv3 Series Windows"},
        {"productName": "Virtual Machines NCSv3 Series\u00a0Windows"},
        {"productName": "NCSv3 Series Dedicated Host"},
        {"productName": "NC Series Cloud Services"},
        {"meterName": "NC6s v3 Low Priority"},
        {"skuName": "NC6s v3\u00a0Low\u00a0Priority"},
        {"armSkuName": "Standard_NC6_Promo"},
        {"armSkuName": "Standard_D2s_v5"},
        {"armSkuName": "Standard_NV6ads_A10_v5"},
        {"armSkuName": "Standard_ND40s_v2"},
        {"armSkuName": "Standard_NP10s"},
        {"armSkuName": None},
        {"type": "DevTestConsumption"},
        {"serviceName": "Azure Machine Learning"},
        {"isPrimaryMeterRegion": False},
        {"tierMinimumUnits": 100},
        {"retailPrice": 0},
        {"retailPrice": 0.0},
        {"armRegionName": "usgovvirginia"},
        {"effectiveStartDate": "2027-01-01T00:00:00Z"},
        {"effectiveEndDate": "2026-01-01T00:00:00Z"},
    ],
)
def test_other_products_and_empty_rows_stay_out(changes):
    assert _read(**changes) == ()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"currencyCode": "EUR"}, "priced in EUR, not USD"),
        ({"unitOfMeasure": "1 Month"}, "Standard_NC6s_v3 is priced by 1 Month"),
        ({"unitOfMeasure": None}, "Standard_NC6s_v3 is priced by nothing"),
        ({"type": "Reservation", "reservationTerm": "1 Month"}, "Standard_NC6s_v3 has the unknown term 1 Month"),
    ],
)
def test_a_row_that_cannot_be_read_safely_is_named(changes, why):
    assert _read(**changes) == (Unpriced("Standard_NC6s_v3", why),)


@pytest.mark.parametrize(
    "changes",
    [
        {"retailPrice": None},
        {"retailPrice": "much"},
        {"retailPrice": True},
        {"retailPrice": -1},
        {"currencyCode": None},
        {"armRegionName": None},
        {"type": None},
        {"type": "Reservation"},
        {"effectiveStartDate": "soon"},
        {"savingsPlan": [{"term": "1 Year"}]},
        {"savingsPlan": ["1 Year"]},
    ],
)
def test_a_machines_row_of_another_shape_is_a_changed_schema(changes):
    with pytest.raises(SchemaChanged, match="azure"):
        _read(**changes)


def test_numbers_may_be_texts_and_optional_fields_absent():
    changes = dict.fromkeys(
        ("location", "meterId", "skuId", "tierMinimumUnits", "isPrimaryMeterRegion", "effectiveStartDate")
    )
    (quote,) = _read("3.06", **changes)
    assert (quote.amount, quote.effective_from, quote.sku_id) == (Decimal("3.06"), None, "")


def _quote(amount, start, option=PurchaseOption.ON_DEMAND, term=None):
    return Quote(SIZE, "eastus", option, term, Decimal(amount), datetime(start, 1, 1, tzinfo=UTC), "sku")


def test_the_newest_row_holds_and_of_equally_new_ones_the_dearer_in_any_order():
    quotes = [_quote("3.6", 2019), _quote("3.06", 2024), _quote("3.06", 2024), _quote("3.0", 2024)]
    for order in permutations(quotes):
        kept, contradicted = latest(order)
        assert [quote.amount for quote in kept] == [Decimal("3.06")]
        assert contradicted == (SIZE,)
    assert latest(quotes[:3])[1] == ()


def test_a_reservation_is_all_upfront_and_its_total_comes_back():
    size = "Standard_ND96isr_H100_v5"
    quote = Quote(size, "eastus", PurchaseOption.RESERVED, "3y", Decimal(1134310), None, "x/1")
    made = offer(quote, packaged_machines("azure")[size], NOW)
    assert (made.payment, made.term, made.upfront, made.recurring_hourly) == (Payment.ALL_UPFRONT, "3y", 1134310, 0)
    assert made.hourly_rate == Decimal("43.162480974125")
    assert tariff(made).fee == 1134310


def test_a_savings_plan_is_paid_by_the_hour_over_its_term():
    made = offer(_quote("2.1", 2024, PurchaseOption.SAVINGS_PLAN, "1y"), packaged_machines("azure")[SIZE], NOW)
    assert (made.payment, made.upfront, made.recurring_hourly, made.hourly_rate) == (
        *(Payment.NO_UPFRONT, Decimal(0)),
        *(Decimal("2.1"),) * 2,
    )
    assert tariff(made).fee == Decimal("2.1") * 8760
