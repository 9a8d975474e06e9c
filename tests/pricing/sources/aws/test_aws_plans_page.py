"""AWS's pricing page of Savings Plans: every region's six rates of a machine, without an account."""

from decimal import Decimal
from itertools import product

import pytest
from support.recorded_sources import RECORDED

from costcalc.offer import PurchaseOption
from pricing.sources.aws.page import LOCATIONS
from pricing.sources.aws.plans_page import FAMILY_PLANS, PLANS
from pricing.sources.aws.price_list import PAYMENTS
from pricing.sources.source import SourceError

SOURCE = RECORDED["aws-plans-page"]
REGIONS = {name: {"name": name, "code": code, "type": "AWS Region"} for name, code in (
    ("US East (N. Virginia)", "us-east-1"), ("EU (Stockholm)", "eu-north-1"))}  # fmt: skip
STOCKHOLM = PLANS.format("1 year", "No Upfront", "EU (Stockholm)")


@pytest.fixture
def collect(httpserver):
    """Collects from recorded answers."""

    def collect():
        SOURCE.serve(httpserver)
        return SOURCE.collect(httpserver.url_for(""))

    return collect


def test_a_machine_has_six_rates_and_software_of_others_none(collect):
    offers = [offer for offer in collect().offers if offer.offering_class == "compute"]
    assert len(offers) == 18
    assert {offer.instance_type for offer in offers} == {"p5.48xlarge", "p4d.24xlarge", "trn1.32xlarge"}
    assert {offer.purchase_option for offer in offers} == {PurchaseOption.SAVINGS_PLAN}
    assert {(offer.region, offer.first_hand) for offer in offers} == {("us-east-1", True)}
    p5 = {(offer.term, offer.payment.value): offer for offer in offers if offer.instance_type == "p5.48xlarge"}
    assert {name: offer.hourly_rate for name, offer in p5.items()} == {
        ("1y", "no_upfront"): Decimal("43.344"),
        ("1y", "partial_upfront"): Decimal("41.28"),
        ("1y", "all_upfront"): Decimal("40.4544"),
        ("3y", "no_upfront"): Decimal("40.42138"),
        ("3y", "partial_upfront"): Decimal("37.4272"),
        ("3y", "all_upfront"): Decimal("36.67866"),
    }
    assert p5["1y", "all_upfront"].upfront == Decimal("40.4544") * 8760
    assert p5["3y", "partial_upfront"].upfront is None


def test_a_plan_of_one_family_is_read_beside_it_and_costs_less(collect):
    found = collect()
    family = {(each.instance_type, each.term): each for each in found.offers if each.offering_class == "ec2_instance"}
    assert {name: each.hourly_rate for name, each in family.items()} == {
        ("p5.48xlarge", "1y"): Decimal("34.6752"),
        ("p5.48xlarge", "3y"): Decimal("23.77728"),
    }
    assert [scope.regions for scope in found.whole] == [{"us-east-1"}]


def test_a_region_whose_families_are_not_there_keeps_its_compute_plans_and_ends_none(collect, httpserver):
    for years, payment, family in product(("1 year", "3 year"), PAYMENTS, ("p4d", "p5", "trn1")):
        path = FAMILY_PLANS.format(years, payment, family, "US East (N. Virginia)")
        httpserver.expect_oneshot_request(path).respond_with_data("", status=404)
    found = collect()
    assert {each.offering_class for each in found.offers} == {"compute"}
    assert [gap.reason for gap in found.gaps] == ["us-east-1: no EC2 Instance Savings Plans are listed"]
    assert [scope.regions for scope in found.whole] == [set()]


def test_a_family_that_breaks_costs_no_compute_plan(collect, httpserver):
    path = FAMILY_PLANS.format("1 year", "No Upfront", "p5", "US East (N. Virginia)")
    httpserver.expect_oneshot_request(path).respond_with_data("[]")
    found = collect()
    assert {each.offering_class for each in found.offers} == {"compute"}
    assert "holds no object" in found.faults[0].reason


def test_a_region_without_plans_is_a_gap_and_ends_nothing(collect, httpserver):
    httpserver.expect_oneshot_request(LOCATIONS).respond_with_json(REGIONS)
    httpserver.expect_request(STOCKHOLM).respond_with_data("", status=404)
    found = collect()
    assert len(found.offers) == 20
    assert [gap.reason for gap in found.gaps] == ["eu-north-1: no Savings Plans are listed"]
    assert [scope.regions for scope in found.whole] == [{"us-east-1"}]


def test_a_region_of_which_one_document_breaks_is_left_as_it_was(collect, httpserver):
    httpserver.expect_oneshot_request(SOURCE.priced.path).respond_with_json({"regions": {}})
    with pytest.raises(SourceError, match="us-east-1: the list of 3 years, All Upfront, is unreadable"):
        collect()
