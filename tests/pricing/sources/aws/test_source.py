"""The AWS source against a fake AWS over real HTTP: what it collects, what is a gap, what is a failure."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import cycle

import pytest
from botocore.loaders import create_loader
from botocore.retries.standard import ExponentialBackoff
from fakes import aws as fake
from fakes.local import Fault

from costcalc.offer import PurchaseOption
from pricing.recording import Recording
from pricing.refresh import refresh
from pricing.sources.aws import source as aws
from pricing.sources.common.http import Http
from pricing.sources.source import CredentialsMissing, SourceError
from pricing.store.store import Store

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECRET = "wJalrXUtnFEMI-not-a-real-secret"
KEY = "AKIANOTAREALKEY00000"
# p3.8xlarge in us-east-1: effective 8.354 and 7.797 for a year, 2017-11-12
RESERVED = {
    ("1yr", "standard", "No Upfront"): ("8.3540000000", "0"),
    ("1yr", "standard", "All Upfront"): ("0.0000000000", "68302"),
}
PARTS = ("DescribeSpotPriceHistory", "DescribeSavingsPlansOfferingRates", "DescribeCapacityBlockOfferings")


one_loader = cache(create_loader)  # reading EC2's model takes longer than a test


@pytest.fixture(autouse=True)
def _few_attempts(monkeypatch, no_account):
    monkeypatch.setattr("botocore.session.create_loader", one_loader)
    monkeypatch.setattr("pricing.sources.aws.calls.ATTEMPTS", 2)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)


def sold_in_blocks(instance_type, region="us-east-1"):
    """The row by which the price list says where AWS sells capacity blocks."""
    attributes = {"regionCode": region, "marketoption": "CapacityBlock", "operation": "RunInstances:CB"}
    return fake.element(fake.product(instance_type, **attributes), "0.0000000000", {})


@pytest.fixture
def cloud():
    """Machines in two regions, among them one that EC2 has forgotten and neighbours that nobody asked for."""
    west = {"regionCode": "us-west-2", "location": "US West (Oregon)"}
    sold = fake.FakeAws(
        elements=[
            fake.element(fake.product("m5.large", instanceFamily="General purpose"), "0.096", {}),
            fake.element(fake.product("p3.8xlarge"), "12.2400000000", RESERVED),
            fake.element(fake.product("p3.8xlarge", **west), "12.2400000000", {}),
            fake.element(fake.product("p5.48xlarge"), "55.0400000000", {}),
            fake.element(fake.product("p3.8xlarge", tenancy="Dedicated"), "13.4640000000", {}),
            fake.element(fake.product("trn1.32xlarge", instanceFamily="Machine Learning ASIC Instances"), "21.5", {}),
            sold_in_blocks("p5.48xlarge"),
        ],
        quotes=[
            fake.quote("us-east-1a", "p3.8xlarge", "3.672000", "2026-11-20T11:00:00.000Z"),
            fake.quote("us-east-1b", "p3.8xlarge", "3.501000", "2026-11-20T10:00:00.000Z"),
            fake.quote("us-east-1b", "p3.8xlarge", "3.100000", "2026-11-19T10:00:00.000Z"),
            fake.quote("us-east-1c", "p3.8xlarge", "4.100000", "2026-11-20T09:00:00.000Z"),
            fake.quote("us-west-2a", "p3.8xlarge", "2.900000", "2026-11-20T09:00:00.000Z"),
            fake.quote("us-east-1a", "p3.8xlarge", "1.000000", "2026-11-20T11:00:00.000Z", "Windows"),
        ],
        rates=[
            fake.plan_rate("p3.8xlarge", "8.1", "Compute", 1, "No Upfront"),
            fake.plan_rate("p3.8xlarge", "7.9", "EC2Instance", 3, "All Upfront"),
            fake.plan_rate("p3.8xlarge", "9.9", "Compute", 1, "No Upfront", productDescription="Windows"),
        ],
        blocks=[
            fake.block("us-east-1a", "p5.48xlarge", 24, "755.2", "2026-11-21T11:30:00.000Z"),
            fake.block("us-east-1a", "p5.48xlarge", 168, "5000", "2026-11-21T11:30:00.000Z"),
        ],
        machine_types=[
            fake.machine_type("p5.48xlarge", ("H100", 8, 81920), 192, 2097152),
            fake.machine_type("p3.16xlarge", ("V100", 8, 16384), 64, 499712),
        ],
    )
    with sold.running():
        yield sold


def environment(cloud, **more):
    return {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL_PRICING": cloud.url,
        "AWS_ENDPOINT_URL_EC2": cloud.url,
        "AWS_ENDPOINT_URL_SAVINGSPLANS": cloud.url,
        "COSTCALC_AWS_READ_SECONDS": "2",
        **more,
    }


def collect(cloud, **more):
    given = environment(cloud, COSTCALC_AWS_BLOCK_DAYS="1,7,14") | more
    return aws.Aws(given, Http(0), pause=cloud.block_limit.wait).collect(NOW)


def collect_all(cloud, action):
    """The offers when this action is allowed again."""
    del cloud.denied[action]
    return collect(cloud).offers


def rates(collected, **where):
    """Rates by region, machine, purchase option, term and class, of the offers with these attributes."""
    return {
        (each.region, each.instance_type, each.purchase_option.value, each.term, each.offering_class): round(
            each.hourly_rate, 4
        )
        for each in collected.offers
        if all(getattr(each, name) == value for name, value in where.items())
    }


ON_DEMAND = {
    ("us-east-1", "p3.8xlarge", "on_demand", None, None): Decimal("12.24"),
    ("us-west-2", "p3.8xlarge", "on_demand", None, None): Decimal("12.24"),
    ("us-east-1", "p5.48xlarge", "on_demand", None, None): Decimal("55.04"),
    ("us-east-1", "trn1.32xlarge", "on_demand", None, None): Decimal("21.5"),
}


def test_everything_an_account_may_see_is_collected(cloud):
    collected = collect(cloud)
    assert collected.gaps == ()
    assert rates(collected) == ON_DEMAND | {
        ("us-east-1", "p3.8xlarge", "reserved", "1y", "standard"): Decimal("7.7970"),  # all upfront, the last of two
        ("us-east-1", "p3.8xlarge", "spot", None, None): Decimal("3.501"),
        ("us-west-2", "p3.8xlarge", "spot", None, None): Decimal("2.9"),
        ("us-east-1", "p3.8xlarge", "savings_plan", "1y", "compute"): Decimal("8.1"),
        ("us-east-1", "p3.8xlarge", "savings_plan", "3y", "ec2_instance"): Decimal("7.9"),
        ("us-east-1", "p5.48xlarge", "capacity_block", "1d", None): Decimal("31.4667"),
        ("us-east-1", "p5.48xlarge", "capacity_block", "7d", None): Decimal("29.7619"),
    }
    assert len(collected.offers) == 12
    assert all(any(scope.holds(each.key) for scope in collected.whole) for each in collected.offers)
    assert {each.observed_at for each in collected.offers} == {NOW}


def test_spot_keeps_its_zone_its_time_and_the_median(cloud):
    (offer,) = [
        each for each in collect(cloud).offers if each.purchase_option is PurchaseOption.SPOT and "east" in each.region
    ]
    assert offer.flags == ("zone=us-east-1b", "zones=3", "spot_median=3.672000")
    assert offer.effective_from == datetime(2026, 11, 20, 10, tzinfo=UTC)


def test_ec2_says_what_machines_hold_and_our_table_what_it_has_forgotten(cloud):
    held = {each.instance_type: each.machine for each in collect(cloud).offers}
    assert (held["p5.48xlarge"].accelerator, held["p5.48xlarge"].accelerators, held["p5.48xlarge"].vcpus) == (
        "H100",
        8,
        192,
    )
    assert (held["p3.8xlarge"].accelerator, held["p3.8xlarge"].accelerators) == ("V100", 4)


def test_requests_ask_for_plain_linux_and_are_signed(cloud):
    collect(cloud)
    asked = next(request for action, request in cloud.asked if action == "GetProducts")
    fields = {each["Field"]: each["Value"] for each in asked["Filters"]}
    assert fields.items() >= {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used"}.items()
    assert cloud.signed == {True}


def test_a_server_that_ignores_filters_gives_the_same(cloud):
    expected = rates(collect(cloud))
    cloud.ignores_filters = True
    assert rates(collect(cloud)) == expected


def test_a_server_that_knows_no_families_is_asked_by_name(cloud):
    for element in cloud.elements:
        del element["product"]["attributes"]["instanceFamily"]
    assert rates(collect(cloud), purchase_option=PurchaseOption.ON_DEMAND) == ON_DEMAND


def test_a_family_that_nobody_names_is_a_gap(cloud):
    cloud.elements.append(fake.element(fake.product("p99.48xlarge"), "999", {}))
    collected = collect(cloud)
    assert not rates(collected, instance_type="p99.48xlarge")
    assert [gap.reason for gap in collected.gaps] == ["left out, no table names their accelerators: p99.48xlarge"]


def test_regions_can_be_chosen(cloud):
    collected = collect(cloud, COSTCALC_AWS_REGIONS="us-west-2, eu-west-1")
    assert {each.region for each in collected.offers} == {"us-west-2"}


@pytest.mark.parametrize(
    ("action", "code", "broken"),
    [
        (PARTS[0], "AccessDeniedException", False),
        (PARTS[1], "UnauthorizedOperation", False),
        (PARTS[2], "UnknownOperationException", False),
        (PARTS[1], "ExpiredTokenException", True),
    ],
)
def test_a_part_that_is_refused_is_a_gap_of_its_own(cloud, action, code, broken):
    everything = rates(collect(cloud))
    cloud.denied[action] = code
    cloud.asked.clear()
    collected = collect(cloud)
    (gap,) = collected.faults if broken else collected.gaps
    assert (len(collected.gaps), len(collected.faults)) == (1 - broken, broken)
    assert gap.source == "aws"
    assert code in gap.reason
    assert ON_DEMAND.items() <= rates(collected).items() < everything.items()
    assert cloud.actions().count(action) == 1  # the other regions would be refused too
    lost = [each.key for each in collect_all(cloud, action) if each.key not in {kept.key for kept in collected.offers}]
    assert lost
    assert not any(scope.holds(key) for scope in collected.whole for key in lost), "what was not read has not ended"


def test_without_descriptions_our_own_table_stands_in(cloud):
    for code in ("UnauthorizedOperation", "InvalidInstanceType"):
        cloud.denied["DescribeInstanceTypes"] = code
        collected = collect(cloud)
        assert ON_DEMAND.items() <= rates(collected).items()
        (gap,) = (*collected.gaps, *collected.faults)
        assert gap.reason.startswith("instance types: ")
        assert code in gap.reason


def test_a_machine_that_is_not_sold_in_blocks_is_no_gap(cloud):
    cloud.denied["DescribeCapacityBlockOfferings"] = "InvalidParameterValue"
    assert collect(cloud).gaps == ()


def blocks_asked(cloud):
    return cloud.actions().count("DescribeCapacityBlockOfferings")


def test_capacity_blocks_are_asked_for_only_if_a_setting_says_so(cloud):
    collected = collect(cloud, COSTCALC_AWS_BLOCK_DAYS="")
    assert ON_DEMAND.items() <= rates(collected).items()
    assert not rates(collected, purchase_option=PurchaseOption.CAPACITY_BLOCK)
    assert (blocks_asked(cloud), cloud.block_limit.waited) == (0, [])


@pytest.mark.parametrize("days", ["a week", "0", "1,-7", "1.5"])
def test_lengths_of_capacity_blocks_are_whole_days(cloud, days):
    with pytest.raises(SourceError, match="COSTCALC_AWS_BLOCK_DAYS names lengths in whole days"):
        collect(cloud, COSTCALC_AWS_BLOCK_DAYS=days)


SOLD_IN_BLOCKS = {
    "us-east-1": ("p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge"),
    "us-east-2": ("p5.48xlarge", "p5en.48xlarge", "p4d.24xlarge"),
    "us-west-2": ("p5.48xlarge", "p6-b300.48xlarge"),
    "ap-south-1": ("p5e.48xlarge",),
    "eu-north-1": ("p5.48xlarge",),
}


def sell_in_blocks(cloud):
    """Seven machine types on demand in all 17 regions; blocks of ten of these pairs, each for 1, 7 and 14 days."""
    types = [f"{name}.48xlarge" for name in ("p5", "p5e", "p5en", "p6-b200", "p6-b300")] + [
        "p4d.24xlarge",
        "p4de.24xlarge",
    ]
    sold = [(region, name) for region, names in SOLD_IN_BLOCKS.items() for name in names]
    cloud.elements = [
        *(
            fake.element(fake.product(name, regionCode=region), "99", {})
            for region in aws.REGIONS.split(",")
            for name in types
        ),
        *(sold_in_blocks(name, region) for region, name in sold),
    ]
    starts = "2026-11-21T11:30:00.000Z"
    lengths = (24, 168, 336)
    cloud.blocks = [fake.block(f"{region}a", name, hours, "900", starts) for region, name in sold for hours in lengths]
    cloud.page_size, cloud.empty_first_page = 1000, False


def test_at_most_40_calls_find_all_capacity_blocks_where_every_pair_would_take_357(cloud, monkeypatch):
    monkeypatch.setattr("pricing.sources.aws.source.CALLS_AT_ONCE", 1)  # one region's pauses after the other's
    sell_in_blocks(cloud)
    cloud.block_limit.calls, cloud.block_limit.refill_seconds = 3, 8
    collected = collect(cloud)
    assert collected.faults == ()
    assert not [gap for gap in collected.gaps if "capacity blocks" in gap.reason]
    assert set(rates(collected, purchase_option=PurchaseOption.CAPACITY_BLOCK)) == {
        (region, name, "capacity_block", term, None)
        for region, names in SOLD_IN_BLOCKS.items()
        for name in names
        for term in ("1d", "7d", "14d")
    }
    assert 15 in cloud.block_limit.waited  # it was throttled, and waited
    assert 30 < blocks_asked(cloud) <= 40


def test_a_region_is_asked_every_4_seconds_and_again_after_15_and_45(cloud):
    cloud.empty_first_page = False
    cloud.block_limit.calls, cloud.block_limit.refill_seconds = 2, 60
    collected = collect(cloud)
    assert cloud.block_limit.waited == [4, 4, 4, 15, 45]
    assert (collected.gaps, collected.faults) == ((), ())


def test_capacity_blocks_read_before_the_limit_are_kept_and_the_rest_is_a_gap(cloud):
    cloud.empty_first_page = False
    cloud.block_limit.calls, cloud.block_limit.refill_seconds = 1, 1e9
    collected = collect(cloud)
    assert set(rates(collected, purchase_option=PurchaseOption.CAPACITY_BLOCK)) == {
        ("us-east-1", "p5.48xlarge", "capacity_block", "1d", None)
    }
    assert (len(collected.gaps), collected.faults) == (1, ())


def test_an_account_without_a_quota_for_capacity_blocks_has_a_gap_in_each_region_and_no_fault(cloud, monkeypatch):
    monkeypatch.setattr("pricing.sources.aws.source.CALLS_AT_ONCE", 1)
    sell_in_blocks(cloud)
    cloud.block_limit.calls = 0
    collected = collect(cloud)
    assert collected.faults == ()
    assert [gap.reason for gap in collected.gaps if "blocks" in gap.reason] == [
        "capacity blocks in us-east-1, us-east-2, us-west-2, eu-north-1, ap-south-1: ec2:DescribeCapacityBlockOfferings "
        "answered CapacityBlockDescribeLimitExceeded 3 times: the account has no quota for capacity blocks there, or others "
        "use it up"
    ]
    assert blocks_asked(cloud) == 3 * len(SOLD_IN_BLOCKS)


def test_no_spot_prices_at_all_are_a_gap(cloud):
    cloud.quotes.clear()
    assert [gap.reason for gap in collect(cloud).gaps] == [
        "spot prices: AWS answered without a single rate for our machines"
    ]


@pytest.mark.parametrize(("fault", "action"), [*zip(Fault, cycle(PARTS[:2]), strict=False)])
def test_a_part_that_is_broken_costs_the_others_nothing(cloud, action, fault):
    cloud.fail(action, fault)
    collected = collect(cloud)
    assert ON_DEMAND.items() <= rates(collected).items()
    assert collected.gaps == ()
    (gap,) = collected.faults
    assert action in gap.reason


@pytest.mark.parametrize("fault", list(Fault))
def test_a_broken_price_list_is_a_failed_source_that_says_why(cloud, fault):
    cloud.fail("GetProducts", fault)
    with pytest.raises(SourceError, match="pricing:GetProducts"):
        collect(cloud)


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.BROKEN, Fault.STALLED, Fault.TRUNCATED])
def test_a_passing_fault_is_tried_again(cloud, fault):
    cloud.fail("GetProducts", fault, times=1)
    cloud.fail("DescribeSpotPriceHistory", fault, times=1)
    collected = collect(cloud)
    assert (collected.gaps, collected.faults) == ((), ())
    assert ON_DEMAND.items() <= rates(collected).items()


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("ExpiredTokenException", "have expired .* AWS_SESSION_TOKEN"),
        ("UnrecognizedClientException", "check AWS_ACCESS_KEY_ID"),
        ("InvalidSignatureException", "check AWS_ACCESS_KEY_ID"),
        ("AccessDeniedException", "may not call pricing:GetProducts .* IAM"),
    ],
)
def test_refused_credentials_say_what_to_do_and_no_secret(cloud, code, advice):
    cloud.denied["GetProducts"] = code
    with pytest.raises(CredentialsMissing, match=advice) as caught:
        collect(cloud)
    assert not any(word in str(caught.value) for word in (SECRET, KEY, "123456789012", "somebody"))
    assert caught.value.__cause__ is None


def test_gaps_tell_no_secrets(cloud):
    cloud.denied = dict.fromkeys(PARTS, "AccessDeniedException")
    text = " ".join(gap.reason for gap in collect(cloud).gaps)
    assert "savingsplans:DescribeSavingsPlansOfferingRates" in text
    assert not any(word in text for word in (SECRET, KEY, "123456789012", "somebody"))


def test_another_currency_fails_the_source(cloud):
    for dimension in cloud.elements[1]["terms"]["OnDemand"]["P38XLARGEXXXXXXX.JRTCKXETXF"]["priceDimensions"].values():
        dimension["pricePerUnit"] = {"CNY": "80.1"}
    with pytest.raises(SourceError, match=r"p3\.8xlarge in CNY; expected USD"):
        collect(cloud)


@pytest.mark.parametrize("change", [{"terms": None}, {"product": []}, {"product": {"attributes": "none"}}], ids=str)
def test_a_changed_shape_fails_the_source(cloud, change):
    cloud.ignores_filters = True
    cloud.elements[1] |= change
    with pytest.raises(SourceError, match="AWS price list"):
        collect(cloud)


def test_pages_without_end_are_left(cloud):
    cloud.page = lambda items, token: ([], "cGFnZTA=")
    with pytest.raises(SourceError, match="pages without end"):
        collect(cloud)


def test_what_aws_answers_is_kept_without_secrets(cloud, tmp_path):
    recording = Recording([SECRET, KEY])
    collected = aws.Aws(environment(cloud), Http(0, recording=recording)).collect(NOW)
    assert collected.offers
    text = recording.save(tmp_path, "a test").read_text()
    answers = json.loads(text)["answers"]
    operations = {each["asked"].partition(" ")[0] for each in answers}
    assert operations == {
        *("GetProducts", "DescribeInstanceTypes", "DescribeSpotPriceHistory", "DescribeSavingsPlansOfferingRates")
    }
    assert any("p3.8xlarge" in row for each in answers for row in each.get("body", {}).get("PriceList", []))
    assert any("<spotPrice>3.501000</spotPrice>" in each.get("text", "") for each in answers)
    assert SECRET not in text
    assert KEY not in text


def test_an_endpoint_where_nobody_answers_is_asked_once(cloud):
    collected = collect(cloud, AWS_ENDPOINT_URL_EC2="http://127.0.0.1:9")
    assert {fault.reason for fault in collected.faults} == {
        "instance types: ec2:DescribeInstanceTypes cannot be reached; taken from our own table",
        "spot prices: ec2:DescribeSpotPriceHistory cannot be reached",
        "capacity blocks: ec2:DescribeCapacityBlockOfferings cannot be reached",
    }
    assert ON_DEMAND.items() <= rates(collected).items()


def test_a_plain_http_price_list_is_called_unsigned_without_credentials(cloud):
    given = environment(cloud)
    del given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"]
    collected = aws.SPEC.build(given, Http(0)).collect(NOW)
    assert ON_DEMAND.items() <= rates(collected).items()
    assert cloud.signed == {False}


def test_one_endpoint_for_all_services_is_enough(cloud):
    given = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": cloud.url}
    assert aws.SPEC.build(given, Http(0)).collect(NOW).gaps == ()


def test_half_a_key_is_a_clear_error(cloud):
    with pytest.raises(CredentialsMissing, match="set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        collect(cloud, AWS_SECRET_ACCESS_KEY="")


def test_a_profile_that_does_not_exist_is_a_clear_error(cloud):
    with pytest.raises(CredentialsMissing, match="ProfileNotFound"):
        collect(cloud, AWS_PROFILE="nobody", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")


def test_importing_the_source_imports_no_sdk():
    import subprocess
    import sys

    code = "import sys, pricing.sources.aws.source; sys.exit('boto3' in sys.modules or 'botocore' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_refresh_publishes_aws_and_keeps_it_when_it_fails(cloud, tmp_path):
    path = tmp_path / "prices.sqlite3"
    store = Store(f"sqlite:///{path}")
    cloud.denied["DescribeSavingsPlansOfferingRates"] = "AccessDeniedException"
    report = refresh(["aws"], store, environment(cloud), NOW)
    assert (report.exit_code, len(store.load_current())) == (0, 8)
    assert [gap.reason.partition(":")[0] for gap in store.gaps()] == ["Savings Plans"]
    cloud.denied["GetProducts"] = "ExpiredTokenException"
    report = refresh(["aws"], store, environment(cloud), NOW + timedelta(hours=1))
    assert (report.exit_code, len(store.load_current())) == (1, 8)
    assert ["expired" in gap.reason for gap in store.gaps()] == [True]
    stored = b"".join(each.read_bytes() for each in tmp_path.iterdir() if each.is_file())
    assert b"p3.8xlarge" in stored
    assert not any(secret.encode() in stored for secret in (SECRET, KEY, "123456789012"))
