"""What machines were sold for: the table, and which row a machine of the asker's is taken to be."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from packaged_tables import canonical_accelerators, table

from costcalc.hardware import Accelerator
from costcalc.query import EstimateQuery, OwnMachine
from pricing.packaged.purchases import HOSTS, bought, electricity

NEEDED = (
    "RTX 2060", "RTX 2070", "RTX 2080", "RTX 2080 Ti", "RTX 3060", "RTX 3070", "RTX 3080", "RTX 3090", "RTX 4060 Ti", "RTX 4070",
    "RTX 4080", "RTX 4090", "RTX 5070", "RTX 5080", "RTX 5090", "GTX 1080 Ti", "Titan RTX", "Quadro RTX 6000", "Quadro RTX 8000",
    "P100", "V100", "A100-40GB", "A100-80GB", "L4", "L40S", "H100", "H200", "M3 Ultra", "M4 Max",
)  # fmt: skip
TODAY = datetime(2026, 11, 20, tzinfo=UTC)
QUESTION = EstimateQuery("resnet50", 0.757)


def purchase(name, count=1, as_of=TODAY, query=QUESTION, per_usd=1):
    return bought(OwnMachine(count, name), Accelerator.unlisted(name), query, as_of, Decimal(per_usd))


@pytest.mark.parametrize("name", NEEDED)
def test_every_usual_accelerator_has_a_price_with_a_source_and_watts(name):
    found = purchase(name)
    assert found.price > 0
    assert found.watts > 0
    assert found.source
    assert found.observed_at < TODAY


def test_the_table_names_accelerators_as_everything_else_does():
    rows = table("purchases.csv")
    assert {row["accelerator"] for row in rows} <= canonical_accelerators()
    assert all(row["accelerators"] == "1" for row in rows if row["host"])


def test_the_cards_of_2020_cost_what_the_guide_of_that_year_says():
    day = datetime(2020, 2, 20, tzinfo=UTC)
    prices = {"RTX 2060": 359, "RTX 2070": 500, "RTX 2080": 720, "RTX 2080 Ti": 1150, "GTX 1080 Ti": 800}
    prices |= {"Titan RTX": 2500, "Quadro RTX 6000": 4000, "Quadro RTX 8000": 5500}
    found = {name: purchase(name, as_of=day).price - HOSTS["tower"].price for name in prices}
    assert found == prices


def test_cards_stand_in_a_host_and_machines_that_were_sold_whole_do_not():
    two = purchase("RTX 3090", 2)
    assert (two.price, two.watts) == (2 * 1070 + 1200, 2 * 350 + 200)
    assert "tower" in two.source
    whole = purchase("H100", 8)
    assert (whole.price, whole.watts) == (255_237, 10_200)
    assert "Epoch AI" in whole.source


def test_prices_are_converted_and_watts_are_known_before_a_price_is():
    assert purchase("RTX 3090", per_usd="0.5").price == purchase("RTX 3090").price / 2
    paid = EstimateQuery("resnet50", 0.757, own_price=Decimal(0))
    early = purchase("RTX 4090", as_of=datetime(2021, 1, 1, tzinfo=UTC), query=paid)
    assert (early.price, early.watts) == (0, 650)


def test_electricity_is_that_of_the_place_or_the_asker_s_own():
    assert electricity(QUESTION, Decimal(2)).per_kwh == Decimal("0.30")
    own = EstimateQuery("resnet50", 0.757, electricity=0.4, pue="data_center")
    found = electricity(own, Decimal(2))
    assert (found.per_kwh, found.pue) == (Decimal("0.4"), Decimal("1.56"))
