"""AWS payloads become offers: the arithmetic, and what is kept out."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from fakes import aws as fake

from costcalc.hardware import Machine
from costcalc.offer import Payment, PurchaseOption
from pricing.sources.aws.price_list import described_machines, price_list_offers, product
from pricing.sources.aws.services import capacity_block_offers, savings_plan_offers, spot_offers
from pricing.sources.common.listing import Listing
from pricing.sources.source import SchemaChanged

NOW = datetime(2026, 11, 20, tzinfo=UTC)
LISTING = Listing("aws", "a test", NOW)
CPU = Machine("Xeon", 0, None, 2, 8)
RECORDED = Path(__file__).parents[3] / "recordings" / "aws" / "get_products_m5_large.json"
NONE, PARTIAL, ALL = Payment.NO_UPFRONT, Payment.PARTIAL_UPFRONT, Payment.ALL_UPFRONT
# class, term, payment -> recurring, upfront; effective by hand, to six places
M5_LARGE = {
    ("standard", "1y", NONE): ("0.0600", "0", "0.060000"),
    ("standard", "1y", PARTIAL): ("0.0290", "252", "0.057767"),
    ("standard", "1y", ALL): ("0", "494", "0.056393"),
    ("standard", "3y", NONE): ("0.0410", "0", "0.041000"),
    ("standard", "3y", PARTIAL): ("0.0190", "505", "0.038216"),
    ("standard", "3y", ALL): ("0", "949", "0.036111"),
    ("convertible", "1y", NONE): ("0.0710", "0", "0.071000"),
    ("convertible", "1y", PARTIAL): ("0.0340", "294", "0.067562"),
    ("convertible", "1y", ALL): ("0", "577", "0.065868"),
    ("convertible", "3y", NONE): ("0.0490", "0", "0.049000"),
    ("convertible", "3y", PARTIAL): ("0.0230", "592", "0.045527"),
    ("convertible", "3y", ALL): ("0", "1161", "0.044178"),
}


def offers_of(element):
    listed = product(element["product"])
    assert listed is not None
    return list(price_list_offers(listed, element["terms"], CPU, LISTING))


@pytest.fixture
def m5_large():
    return json.loads(RECORDED.read_text())


def test_m5_large_has_twelve_reserved_terms_with_their_parts(m5_large):
    reserved = {
        (each.offering_class, each.term, each.payment): each
        for each in offers_of(m5_large)
        if each.purchase_option is PurchaseOption.RESERVED
    }
    assert {
        key: (each.recurring_hourly, each.upfront, round(each.hourly_rate, 6)) for key, each in reserved.items()
    } == {key: tuple(map(Decimal, figures)) for key, figures in M5_LARGE.items()}


def test_m5_large_on_demand_is_read_in_the_region_its_place_names(m5_large):
    (offer,) = [each for each in offers_of(m5_large) if each.purchase_option is PurchaseOption.ON_DEMAND]
    assert (offer.region, offer.hourly_rate, offer.term) == ("us-east-1", Decimal("0.096"), None)
    assert offer.effective_from == datetime(2021, 2, 1, tzinfo=UTC)
    assert (offer.billing_increment_seconds, offer.minimum_seconds) == (1, 60)


@pytest.mark.parametrize("kind", ["standard", "convertible"])
@pytest.mark.parametrize("term", ["1y", "3y"])
def test_paying_earlier_is_never_dearer(m5_large, kind, term):
    rates = {
        each.payment: each.hourly_rate
        for each in offers_of(m5_large)
        if (each.offering_class, each.term) == (kind, term)
    }
    assert rates[ALL] < rates[PARTIAL] < rates[NONE] < Decimal("0.096")


def test_a_lease_is_also_written_with_a_space(m5_large):
    for term in m5_large["terms"]["Reserved"].values():
        term["termAttributes"]["LeaseContractLength"] = term["termAttributes"]["LeaseContractLength"].replace(
            "yr", " yr"
        )
    assert {each.term for each in offers_of(m5_large)} == {None, "1y", "3y"}


def test_a_rate_of_zero_means_not_sold_this_way():
    element = fake.element(fake.product("p5.48xlarge"), "0.0000000000", {("1yr", "standard", "No Upfront"): ("0", "0")})
    assert offers_of(element) == []


def test_reservations_of_the_old_kinds_are_no_longer_sold():
    element = fake.element(fake.product("p2.xlarge"), "0.9", {("1yr", "standard", "Heavy Utilization"): ("0.2", "100")})
    assert [each.purchase_option for each in offers_of(element)] == [PurchaseOption.ON_DEMAND]


def test_another_currency_is_refused_by_name(m5_large):
    (term,) = m5_large["terms"]["OnDemand"].values()
    (dimension,) = term["priceDimensions"].values()
    dimension["pricePerUnit"] = {"CNY": "0.7"}
    with pytest.raises(SchemaChanged, match=r"m5\.large in CNY; expected USD"):
        offers_of(m5_large)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("priceDimensions",), None),
        (("termAttributes",), {}),
        (("termAttributes", "LeaseContractLength"), "soon"),
        (("effectiveDate",), "yesterday"),
    ],
)
def test_a_term_of_another_shape_is_refused(m5_large, path, value):
    term = next(iter(m5_large["terms"]["Reserved"].values()))
    place = term
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(SchemaChanged, match=r"m5\.large in us-east-1 has changed its shape"):
        offers_of(m5_large)


@pytest.mark.parametrize("price", ["-1", "NaN", "Infinity", "much"])
def test_a_price_that_is_none_is_refused(price):
    with pytest.raises(SchemaChanged, match="changed its shape"):
        offers_of(fake.element(fake.product("p3.2xlarge"), price, {}))


@pytest.mark.parametrize(
    "attributes",
    [
        {"tenancy": "Dedicated"},
        {"tenancy": "Host"},
        {"operatingSystem": "Windows"},
        {"operatingSystem": "RHEL"},
        {"capacitystatus": "UnusedCapacityReservation"},
        {"capacitystatus": "AllocatedCapacityReservation"},
        {"preInstalledSw": "SQL Std"},
        {"licenseModel": "Bring your own license"},
        {"marketoption": "Auction"},
        {"locationType": "AWS Local Zone", "regionCode": "us-west-2-lax-1"},
        {"locationType": "AWS Wavelength Zone"},
        {"regionCode": "us-gov-west-1"},
        {"regionCode": "", "location": "The Moon"},
    ],
    ids=lambda attributes: next(iter(attributes.values())),
)
def test_what_a_filter_lets_through_is_left_out(attributes):
    assert product(fake.product("p3.8xlarge")) is not None
    assert product(fake.product("p3.8xlarge", **attributes)) is None


def test_a_row_of_capacity_blocks_says_where_they_are_sold_and_no_price():
    row = fake.element(fake.product("p5.48xlarge", marketoption="CapacityBlock"), "1.0000000000", {})
    assert product(row["product"]).in_blocks
    assert offers_of(row) == []


def test_dedicated_hosts_and_other_products_are_left_out():
    for family in ("Dedicated Host", "Load Balancer", "Storage"):
        assert product(fake.product("p3.8xlarge") | {"productFamily": family}) is None


def test_bare_metal_and_rows_with_few_attributes_are_kept():
    metal = product(fake.product("g4dn.metal") | {"productFamily": "Compute Instance (bare metal)"})
    sparse = product({"sku": "S", "attributes": {"instanceType": "p3.8xlarge", "location": "EU (Ireland)"}})
    assert metal is not None
    assert sparse is not None
    assert (sparse.region, sparse.accelerated, metal.accelerated) == ("eu-west-1", False, True)


def test_machines_that_cannot_train_are_left_out():
    assert product(fake.product("dl2q.24xlarge", instanceFamily="Machine Learning ASIC Instances")) is None


M5_SPOT = [  # zone, dollars, when
    ("us-east-1a", "0.042300", "2021-02-08T23:58:38"),
    ("us-east-1a", "0.030000", "2021-02-07T06:50:17"),
    ("us-east-1b", "0.038900", "2021-02-08T21:46:09"),
    ("us-east-1c", "0.038000", "2021-02-07T04:09:17"),
    ("us-east-1c", "0.038100", "2021-02-08T20:38:39"),
    ("us-east-1d", "0.043100", "2021-02-08T19:14:31"),
    ("us-east-1f", "0.043700", "2021-02-09T01:40:10"),
]


def quotes(rows, description="Linux/UNIX", name="m5.large"):
    return [
        {
            "AvailabilityZone": zone,
            "InstanceType": name,
            "ProductDescription": description,
            "SpotPrice": price,
            "Timestamp": datetime.fromisoformat(at).replace(tzinfo=UTC),
        }
        for zone, price, at in rows
    ]


def test_a_regions_spot_rate_is_its_lowest_zones_latest_quote_with_the_median_beside():
    strangers = quotes([("us-east-1a", "0.01", "2021-02-09T02:00:00")], "Windows")
    strangers += quotes(
        [("us-east-1-bos-1a", "0.01", "2021-02-09T02:00:00"), ("us-west-2a", "0.01", "2021-02-09T02:00:00")]
    )
    (offer,) = spot_offers(quotes(M5_SPOT) + strangers, "us-east-1", {"m5.large": CPU}.get, LISTING)
    assert (offer.region, offer.hourly_rate) == ("us-east-1", Decimal("0.0381"))
    assert offer.flags == ("zone=us-east-1c", "zones=5", "spot_median=0.042300")
    assert offer.effective_from == datetime(2021, 2, 8, 20, 38, 39, tzinfo=UTC)
    assert offer.observed_at == NOW


def test_spot_of_the_virtual_private_cloud_counts_and_unknown_machines_do_not():
    rows = quotes(M5_SPOT[:1], "Linux/UNIX (Amazon VPC)") + quotes(M5_SPOT[:1], name="m9.large")
    assert [each.instance_type for each in spot_offers(rows, "us-east-1", {"m5.large": CPU}.get, LISTING)] == [
        "m5.large"
    ]


def test_a_zone_id_names_no_region_and_is_believed():
    (offer,) = spot_offers(
        quotes([("use1-az4", "0.04", "2021-02-09T02:00:00")]), "us-east-1", {"m5.large": CPU}.get, LISTING
    )
    assert offer.flags[0] == "zone=use1-az4"


def test_spot_quotes_of_another_shape_are_refused():
    with pytest.raises(SchemaChanged, match="spot price history"):
        list(spot_offers([{"InstanceType": "m5.large"}], "us-east-1", {"m5.large": CPU}.get, LISTING))


def plans(*rates):
    return list(savings_plan_offers(rates, "us-east-1", {"p3.8xlarge": CPU}.get, LISTING))


@pytest.mark.parametrize(
    ("payment", "upfront", "recurring"),
    [("No Upfront", "0", "7.5"), ("All Upfront", "197100", "0"), ("Partial Upfront", None, None)],
)
def test_a_savings_plans_rate_already_spreads_what_is_paid_upfront(payment, upfront, recurring):
    (offer,) = plans(fake.plan_rate("p3.8xlarge", "7.5", "EC2Instance", 3, payment))
    assert (offer.purchase_option, offer.term, offer.offering_class) == (
        PurchaseOption.SAVINGS_PLAN,
        "3y",
        "ec2_instance",
    )
    assert offer.hourly_rate == Decimal("7.5")
    assert offer.upfront == (upfront and Decimal(upfront))
    assert offer.recurring_hourly == (recurring and Decimal(recurring))


def test_compute_and_instance_plans_are_different_offers():
    both = plans(*(fake.plan_rate("p3.8xlarge", "7.5", plan, 1, "No Upfront") for plan in ("Compute", "EC2Instance")))
    assert len({each.key for each in both}) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"usageType": "UnusedBox:p3.8xlarge"},
        {"usageType": "USW2-DedicatedUsage:p3.8xlarge"},
        {"usageType": "HostBoxUsage:p3"},
        {"unit": "Request"},
        {"rate": "0.0"},
        {
            "savingsPlanOffering": fake.plan_rate("p3.8xlarge", "7.5", "SageMaker", 1, "No Upfront")[
                "savingsPlanOffering"
            ]
        },
    ],
    ids=str,
)
def test_other_savings_plan_rates_are_left_out(change):
    assert plans(fake.plan_rate("p3.8xlarge", "7.5", "Compute", 1, "No Upfront") | change) == []


@pytest.mark.parametrize(
    "properties", [{"productDescription": "Windows"}, {"tenancy": "dedicated"}, {"region": "eu-west-1"}], ids=str
)
def test_savings_plan_rates_for_other_machines_are_left_out(properties):
    assert plans(fake.plan_rate("p3.8xlarge", "7.5", "Compute", 1, "No Upfront", **properties)) == []


def test_savings_plans_in_another_currency_are_refused():
    rate = fake.plan_rate("p3.8xlarge", "7.5", "Compute", 1, "No Upfront")
    rate["savingsPlanOffering"]["currency"] = "EUR"
    with pytest.raises(SchemaChanged, match=r"p3\.8xlarge in EUR; expected USD"):
        plans(rate)


def blocks(*rows, **change):
    found = [
        {
            "InstanceType": "p5.48xlarge",
            "AvailabilityZone": "us-east-2a",
            "InstanceCount": 1,
            "StartDate": datetime(2025, 2, 15, 11, 30, tzinfo=UTC),
            "CapacityBlockDurationHours": hours,
            "UpfrontFee": fee,
            "CurrencyCode": "USD",
            **change,
        }
        for hours, fee in rows
    ]
    return list(capacity_block_offers(found, "us-east-2", {"p5.48xlarge": CPU}.get, LISTING))


def test_a_capacity_blocks_rate_divides_by_its_real_hours_and_the_cheapest_counts():
    (offer,) = blocks((19, "228"), (24, "283"))
    assert (offer.term, offer.hourly_rate, offer.upfront) == ("1d", Decimal(283) / 24, Decimal(283))
    assert offer.flags == ("zone=us-east-2a", "hours=24", "starts=2025-02-15T11:30Z", "available")
    assert (offer.available, offer.available_at) == (True, datetime(2025, 2, 15, 11, 30, tzinfo=UTC))
    (short,) = blocks((19, "228"))
    assert (short.term, short.hourly_rate) == ("1d", Decimal(12))


def test_a_capacity_blocks_fee_is_for_all_its_machines():
    (offer,) = blocks((24 * 14, "8064"), InstanceCount=2)
    assert (offer.term, offer.upfront, offer.hourly_rate) == ("14d", Decimal(4032), Decimal(12))


def test_capacity_blocks_in_another_currency_or_place_are_kept_out():
    assert blocks((24, "283"), AvailabilityZone="us-west-2a") == []
    with pytest.raises(SchemaChanged, match="CNY"):
        blocks((24, "283"), CurrencyCode="CNY")


def described(*rows, packaged=None):
    return described_machines(rows, packaged or {})


def row(name, gpus, vcpus=64, memory_mib=499712, **sections):
    return {
        "InstanceType": name,
        "VCpuInfo": {"DefaultVCpus": vcpus},
        "MemoryInfo": {"SizeInMiB": memory_mib},
        **({"GpuInfo": {"Gpus": gpus}} if gpus else {}),
        **sections,
    }


def gpu(name, count, mib, **more):
    return {"Name": name, "Manufacturer": "NVIDIA", "Count": count, "MemoryInfo": {"SizeInMiB": mib}, **more}


@pytest.mark.parametrize(
    ("name", "mib", "canonical"),
    [("V100", 16384, "V100"), ("V100", 32768, "V100-32GB"), ("A100", 40960, "A100-40GB"), ("A100", 81920, "A100-80GB")],
)
def test_memory_tells_chips_of_one_name_apart(name, mib, canonical):
    (machine,) = described(row("p9.16xlarge", [gpu(name, 8, mib)])).values()
    assert machine == Machine(canonical, 8, mib / 1024, 64, 488)


def test_trainium_stands_under_neuron():
    neuron = {"NeuronDevices": [{"Name": "Trainium", "Count": 16, "MemoryInfo": {"SizeInMiB": 32768}}]}
    (machine,) = described(row("trn1.32xlarge", None, NeuronInfo=neuron)).values()
    assert machine is not None
    assert (machine.accelerator, machine.accelerators) == ("Trainium", 16)


def test_our_table_knows_the_memory_that_ec2_understates():
    known = {"g6.xlarge": Machine("L4", 1, 24, 4, 16)}
    (machine,) = described(row("g6.xlarge", [gpu("L4", 1, 22888)], 4, 16384), packaged=known).values()
    assert machine == Machine("L4", 1, 24, 4, 16)


def test_ec2_overrules_our_table_on_how_many():
    known = {"g6.xlarge": Machine("L4", 2, 24, 4, 16)}
    (machine,) = described(row("g6.xlarge", [gpu("L4", 1, 22888)], 4, 16384), packaged=known).values()
    assert machine is not None
    assert machine.accelerators == 1


def test_shares_of_a_gpu_and_machines_without_are_none_and_strangers_are_not_guessed():
    found = described(
        row("g6f.xlarge", [gpu("L4", 0, 22888, GpuPartitionSize=0.125)]),
        row("gr6f.4xlarge", [gpu("L4", 1, 22888, GpuPartitionSize=0.5)]),
        row("t3.micro", None),
        row("p99.48xlarge", [gpu("Z9000", 8, 999999)]),
    )
    assert found == {"g6f.xlarge": None, "gr6f.4xlarge": None, "t3.micro": None}


def test_descriptions_of_another_shape_are_refused():
    with pytest.raises(SchemaChanged, match="DescribeInstanceTypes"):
        described({"InstanceType": "p3.2xlarge", "GpuInfo": {"Gpus": [{"Name": "V100"}]}})
