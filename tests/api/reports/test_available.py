"""What a provider says of its stock: beside the offer and the estimate, as a filter, in CSV and in the terminal."""

import csv
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from support.engine import answer, evidence
from support.prices import NOW, offer
from support.services import service_of

from api.reports.verdict import verdict
from api.stored import FixedPrices
from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.offer import PurchaseOption
from costcalc.query import EstimateQuery

BLOCK = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)


def prices():
    """One machine each of four kinds: free, not free, not said, and free from a day on."""
    block = {"purchase_option": PurchaseOption.CAPACITY_BLOCK, "term": "1d"}
    return Catalogue.from_offers(
        [
            offer("1", region="none-free", flags=("no_capacity",)),
            offer("2", region="free", flags=("available",)),
            offer("3", region="not-said"),
            offer("4", region="later", flags=("starts=2026-12-01T11:30Z", "available"), **block),
        ],
        "made up",
    )


def answered(**asked):
    query = EstimateQuery("resnet50", 0.757, nodes=1, regions="all", **asked)
    return answer(query, evidence(), prices(), NOW + timedelta(hours=1))


def estimates(**asked):
    return answered(**asked).estimates


def test_every_estimate_says_whether_its_machine_was_free():
    found = {one.region: (one.available, one.available_at) for one in estimates()}
    seen = prices().offer(0).observed_at
    assert found == {
        "none-free": (False, None),
        "free": (True, seen),
        "not-said": (None, None),
        "later": (True, BLOCK),
    }


def test_the_filter_leaves_those_that_the_provider_said_to_be_free():
    assert {one.region for one in estimates(available=True)} == {"free", "later"}


@pytest.mark.parametrize(("region", "picked", "warned"), [((), "free", False), (("none-free",), "none-free", True)])
def test_no_pick_is_sold_out_unless_all_are_and_then_the_verdict_says_so(region, picked, warned):
    found = answered(region=region)
    assert {pick.estimate.region for pick in found.picks} == {picked}
    assert ("No machine was free" in verdict(found)[0]) == warned


def test_the_cheapest_region_is_the_cheapest_of_those_that_are_free():
    held = prices()
    current = held.current_offers(NOW + timedelta(hours=1))
    found = held.allowed_rows(current, OfferFilter(available=True, purchase=(PurchaseOption.ON_DEMAND,)))
    assert [held.offer(row).region for row in found] == ["free"]


@pytest.mark.parametrize(("flags", "marked"), [(("no_capacity",), True), (("available",), False), ((), False)])
def test_an_estimate_of_which_none_was_free_is_marked(flags, marked):
    from api.formats.words import NONE_FREE, seen

    held = Catalogue.from_offers([offer("1", flags=flags)], "made up")
    one = answer(EstimateQuery("resnet50", 0.757, nodes=1), evidence(), held, NOW + timedelta(hours=1)).estimates[0]
    assert seen(one).endswith(NONE_FREE) == marked
    assert not [sentence for sentence in one.assumptions if "available" in sentence]


def test_the_price_sheet_says_it_in_both_formats():
    from api.formats import csv_export
    from api.questions.schemas.layout import Layout
    from api.reports.prices.offers import OfferRow, offers_report

    held = prices()
    sheet = offers_report(service_of(FixedPrices(held)), held, {"as_of": NOW + timedelta(hours=1)})
    text = csv_export.document(csv_export.columns_of(OfferRow), sheet.rows(), Layout()).decode()
    written = list(csv.DictReader(text.splitlines()))
    said = {row["region"]: (row["available"], row["available_at"]) for row in written}
    assert said["none-free"] == ("false", "")
    assert said["not-said"] == ("", "")
    assert said["later"] == ("true", "2026-12-01T11:30:00Z")
    first = next(sheet.rows())
    said_of_first = {True: "true", False: "false", None: ""}[first.available]
    assert (first.hourly_rate, said_of_first) == (Decimal(written[0]["hourly_rate"]), written[0]["available"])
