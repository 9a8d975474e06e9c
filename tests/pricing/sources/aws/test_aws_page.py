"""AWS's pricing pages: every region on demand and as spot, without an account."""

import gzip
from decimal import Decimal

import pytest
from support.recorded_sources import RECORDED, recorded

from costcalc.offer import PurchaseOption
from pricing.sources.aws.page import ON_DEMAND

MAP = "aws-page/us-east-1.txt"
STOCKHOLM = b'"EU (Stockholm)": {"name": "EU (Stockholm)", "code": "eu-north-1", "type": "AWS Region"},'
ATLANTA = b'"US East (Atlanta)": {"name": "US East (Atlanta)", "code": "us-east-1-atl-1", "type": "AWS Local Zone"},'
ANYWHERE = ON_DEMAND.format("EU (Stockholm)")


@pytest.fixture
def collect(httpserver):
    """Collects from recorded answers, some of them replaced by path."""

    def collect(**changed):
        for answer in RECORDED["aws-page"].answers:
            name = answer.path.rsplit("/", 1)[1].removesuffix(".json")
            httpserver.expect_request(answer.path).respond_with_data(changed.get(name, answer.body))
        return RECORDED["aws-page"].collect(httpserver.url_for(""))

    return collect


def rates(collected, region="us-east-1"):
    here = [offer for offer in collected.offers if offer.region == region]
    return {(offer.instance_type, offer.purchase_option.value): offer.hourly_rate for offer in here}


def test_accelerators_are_listed_by_region_on_demand_and_as_spot_of_the_lowest_zone(collect):
    collected = collect()
    assert rates(collected) == {
        ("p5.48xlarge", "on_demand"): Decimal("55.04"),
        ("p4d.24xlarge", "on_demand"): Decimal("21.957642"),
        ("g6e.48xlarge", "on_demand"): Decimal("30.13118"),
        ("trn1.32xlarge", "on_demand"): Decimal("21.5"),
        ("p5.48xlarge", "spot"): Decimal("20.738"),
        ("p4d.24xlarge", "spot"): Decimal("18.8352"),
        ("g6e.48xlarge", "spot"): Decimal("30.13118"),
    }
    assert all(offer.first_hand for offer in collected.offers)


def test_a_type_whose_accelerator_is_not_known_is_named(collect):
    assert [gap.reason for gap in collect().gaps] == ["machine types not known here left out: g99.xlarge"]


@pytest.mark.parametrize(("name", "chip"), [("g6e.96xlarge", "L40S"), ("p9-b300.24xlarge", "B300")])
def test_a_type_that_only_its_family_or_name_describes_is_offered_uncounted(collect, name, chip):
    collected = collect(index=recorded(MAP).replace(b"g99.xlarge", name.encode()))
    [offer] = [offer for offer in collected.offers if offer.instance_type == name]
    assert (offer.machine.accelerator, offer.machine.accelerators, offer.hourly_rate) == (chip, 0, 9)
    assert (offer.machine.vcpus, offer.machine.memory_gib) == (4, 16), "the page states them"
    assert offer.flags == ("count_not_stated",)
    assert [gap.reason for gap in collected.gaps] == [f"types whose number of accelerators is not stated: {name}"]


def test_an_answer_that_is_packed_unasked_is_unpacked(collect):
    assert rates(collect(index=gzip.compress(recorded(MAP)))) == rates(collect())


def test_a_region_that_breaks_costs_only_itself_and_ends_nothing(collect, httpserver):
    httpserver.expect_request(ANYWHERE).respond_with_data("", status=404)
    both = recorded("aws-page/locations.txt").replace(b"{", b"{" + STOCKHOLM, 1)
    collected = collect(locations=both)
    assert rates(collected) == rates(collect())
    [fault] = collected.faults
    assert fault.reason.startswith("eu-north-1: ")
    assert {region for scope in collected.whole for region in scope.regions} == {"us-east-1"}


@pytest.mark.parametrize("status", [200, 404])
def test_a_local_zone_is_read_like_a_region_and_one_without_a_document_is_no_fault(collect, httpserver, status):
    document = recorded(MAP).replace(b"US East (N. Virginia)", b"US East (Atlanta)")
    httpserver.expect_request(ON_DEMAND.format("US East (Atlanta)")).respond_with_data(document, status=status)
    both = recorded("aws-page/locations.txt").replace(b"{", b"{" + ATLANTA, 1)
    collected = collect(locations=both)
    on_demand = {} if status == 404 else {key: rate for key, rate in rates(collect()).items() if "on_demand" in key}
    assert rates(collected, "us-east-1-atl-1") == {("p5.48xlarge", "spot"): Decimal("20.518")} | on_demand
    assert not collected.faults


def test_without_spot_the_rates_on_demand_are_read(collect):
    collected = collect(spot=b"{}")
    assert {option for _, option in rates(collected)} == {"on_demand"}
    assert [fault.reason for fault in collected.faults] == ["spot: /spot.json holds no object"]


def interrupted(collected):
    return {
        offer.instance_type: offer.flags for offer in collected.offers if offer.purchase_option is PurchaseOption.SPOT
    }


def test_a_spot_rate_says_how_often_its_machine_is_taken_back(collect):
    assert interrupted(collect()) == {
        "p5.48xlarge": ("interrupted=>20%",), "p4d.24xlarge": ("interrupted=10-15%",), "g6e.48xlarge": (),
    }  # fmt: skip
    assert all(not offer.flags for offer in collect().offers if offer.purchase_option is PurchaseOption.ON_DEMAND)


@pytest.mark.parametrize(
    ("ranges", "reason"),
    [
        (b"", "/spot-advisor-data.json is unreadable"),
        (b"[]", "/spot-advisor-data.json is unreadable"),
        (b'[{"index": 0, "label": "rarely"}]', "/spot-advisor-data.json names other ranges: rarely"),
    ],
)
def test_without_the_advisor_the_rates_are_read(collect, ranges, reason):
    machines = b'"spot_advisor": {"us-east-1": {"Linux": {"p5.48xlarge": {"s": 52, "r": 0}}}}'
    collected = collect(**{"spot-advisor-data": b'{"ranges": ' + ranges + b", " + machines + b"}"})
    assert rates(collected) == rates(collect())
    assert not any(interrupted(collected).values())
    assert [fault.reason for fault in collected.faults] == [f"interruptions: {reason}"]
