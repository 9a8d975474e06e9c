"""AWS's public price list: read as a stream, in little memory, and never taken for whole when it isn't."""

import io
import json
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from fakes import aws as fake
from fakes.local import Fault

from costcalc.hardware import Machine
from costcalc.offers import PurchaseOption
from pricing.sources.aws import source as aws
from pricing.sources.aws.bulk import BLOCK_BYTES, bulk_offers, entries
from pricing.sources.aws.price_list import Origin
from pricing.sources.common.http import Http
from pricing.sources.source import SchemaChanged, SourceError

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ORIGIN = Origin("a test", NOW)
MACHINES = {"p3.8xlarge": Machine("V100", 4), "p3.2xlarge": Machine("V100", 1)}
RESERVED = {("1yr", "standard", "Partial Upfront"): ("3.9780000000", "34848")}


def bulk_file(elements, **layout):
    """A bulk file holding these price list elements."""
    terms = {}
    for each in elements:
        for option, found in each["terms"].items():
            terms.setdefault(option, {})[each["product"]["sku"]] = found
    return json.dumps(
        {
            "formatVersion": "v1.0",
            "disclaimer": 'Not an offer. See "terms" : { and } on the page.',
            "offerCode": "AmazonEC2",
            "publicationDate": "2026-11-01T00:00:00Z",
            "products": {each["product"]["sku"]: each["product"] for each in elements},
            "terms": terms,
            "attributesList": {},
        },
        **layout,
    ).encode()


ELEMENTS = [
    fake.element(fake.product("m5.large", instanceFamily="General purpose"), "0.096", RESERVED),
    fake.element(fake.product("p3.8xlarge"), "12.2400000000", RESERVED),
    fake.element(fake.product("p3.2xlarge", tenancy="Host"), "0.0000000000", {}),
    fake.element(fake.product("p99.48xlarge"), "99", {}),
]


def read(content, region="us-east-1"):
    return bulk_offers(io.BytesIO(content), region, MACHINES.get, ORIGIN)


def same(offers):
    return [(each.instance_type, each.purchase_option.value, round(each.hourly_rate, 4)) for each in offers]


EXPECTED = [("p3.8xlarge", "on_demand", Decimal("12.24")), ("p3.8xlarge", "reserved", Decimal("7.9561"))]


@pytest.mark.parametrize(
    "layout", [{}, {"indent": 2}, {"indent": 2, "separators": (",", " : ")}, {"separators": (",", ":")}], ids=str
)
def test_machines_that_we_know_are_priced_and_strangers_are_named(layout):
    offers, unknown = read(bulk_file(ELEMENTS, **layout))
    assert same(offers) == EXPECTED
    assert unknown == {"p99.48xlarge"}


def test_every_entry_of_every_section_is_seen():
    skus = {each["product"]["sku"] for each in ELEMENTS}
    seen = [(section, sku) for section, sku, _ in entries(io.BytesIO(bulk_file(ELEMENTS)))]
    assert {sku for section, sku in seen if section == "products"} == skus
    assert {sku for section, sku in seen if section == "OnDemand"} == skus
    assert len(seen) == 2 * len(skus) + 2


@pytest.mark.parametrize("shift", range(0, 130, 7))
def test_a_key_may_be_cut_by_the_end_of_a_block(shift):
    content = bulk_file(ELEMENTS)
    for key in (b'"products"', b'"terms"', b'"OnDemand"', b'"Reserved"'):
        padding = b" " * ((BLOCK_BYTES - shift + 8 - content.index(key)) % BLOCK_BYTES)
        moved = content.replace(key, padding + key)
        assert same(read(moved)[0]) == EXPECTED


def test_a_file_without_reservations_is_whole():
    offers, _ = read(bulk_file([fake.element(fake.product("p3.2xlarge"), "3.06", {})]))
    assert same(offers) == [("p3.2xlarge", "on_demand", Decimal("3.06"))]


def test_a_file_of_another_region_prices_nothing_here():
    with pytest.raises(SchemaChanged, match="eu-west-1 prices no machine"):
        read(bulk_file(ELEMENTS), "eu-west-1")


def test_wherever_a_file_breaks_off_it_is_refused():
    content = bulk_file(ELEMENTS)
    for end in range(0, len(content) - 1, 97):
        with pytest.raises(SchemaChanged):
            read(content[:end])
    with pytest.raises(SchemaChanged, match="breaks off"):
        read(content[:-1])


@pytest.mark.parametrize(
    "content", [b"", b"<html>sign in</html>", b"[]", b'{"products": {}}', b'{"products": [], "terms": {}}']
)
def test_what_is_no_price_list_is_refused(content):
    with pytest.raises(SchemaChanged, match=r"holds no|prices no machine|breaks off"):
        read(content)


def test_terms_before_products_are_refused():
    document = json.loads(bulk_file(ELEMENTS))
    turned = json.dumps({"terms": document["terms"], "products": document["products"]}).encode()
    with pytest.raises(SchemaChanged):
        read(turned)


class Lazily:
    """A file that is made while it is read."""

    def __init__(self, pieces):
        self.pieces, self.given = pieces, 0

    def read(self, amount):
        piece = next(self.pieces, b"")
        self.given += len(piece)
        return piece


def long_file(count):
    """`count` machines that we don't rent, then one that we do."""
    sold = [
        *(fake.element(fake.product(f"m{number}.large"), "0.096", RESERVED) for number in range(count)),
        ELEMENTS[1],
    ]
    yield b'{"products": {'
    yield from members(sold, lambda each: each["product"])
    yield b'}, "terms": {"OnDemand": {'
    yield from members(sold, lambda each: each["terms"]["OnDemand"])
    yield b'}, "Reserved": {'
    yield from members(sold, lambda each: each["terms"]["Reserved"])
    yield b"}}}"


def members(elements, value):
    for number, each in enumerate(elements):
        comma = "," if number else ""
        yield f"{comma}{json.dumps(each['product']['sku'])}: {json.dumps(value(each), indent=2)}".encode()


def test_a_long_file_is_not_held_in_memory():
    """The parser remembers each key, and nothing else of what we don't rent."""
    stream = Lazily(iter(list(long_file(3000))))
    tracemalloc.start()
    offers, _ = read_stream(stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert same(offers) == EXPECTED
    assert stream.given > 5e6
    assert peak < stream.given / 4


def read_stream(stream):
    return bulk_offers(stream, "us-east-1", {"p3.8xlarge": MACHINES["p3.8xlarge"]}.get, ORIGIN)


@pytest.fixture
def cloud(no_account):
    west = [fake.element(fake.product("p3.8xlarge", regionCode="us-west-2"), "12.24", {})]
    with fake.FakeAws(bulk={"us-east-1": bulk_file(ELEMENTS), "us-west-2": bulk_file(west)}).running() as running:
        yield running


def collect(cloud, regions="us-east-1,us-west-2"):
    given = {"COSTCALC_AWS_BULK_URL": cloud.url, "COSTCALC_AWS_REGIONS": regions}
    return aws.SPEC.build(given, Http(retries=0)).collect(NOW)


def test_without_credentials_the_public_list_is_read_region_by_region(cloud):
    collected = collect(cloud)
    assert {(each.region, each.purchase_option) for each in collected.offers} == {
        ("us-east-1", PurchaseOption.ON_DEMAND),
        ("us-east-1", PurchaseOption.RESERVED),
        ("us-west-2", PurchaseOption.ON_DEMAND),
    }
    assert {each.source for each in collected.offers} == {"AWS bulk price list"}
    assert [gap.reason for gap in collected.gaps] == [
        aws.NO_CREDENTIALS,
        "left out, no table names their accelerators: p99.48xlarge",
    ]


def test_a_region_without_a_file_is_a_fault_and_no_region_at_all_a_failure(cloud):
    collected = collect(cloud, "eu-west-1,us-east-1")
    [fault] = collected.faults
    assert "eu-west-1" in fault.reason
    assert {each.region for each in collected.offers} == {"us-east-1"}
    with pytest.raises(SourceError, match=r"public price list of eu-west-1: .* answered 404"):
        collect(cloud, "eu-west-1")


BREAKS_OFF = [Fault.TRUNCATED, Fault.HALF_JSON, Fault.WEB_PAGE]


@pytest.mark.parametrize("fault", BREAKS_OFF)
def test_a_file_that_breaks_off_is_read_once_more(cloud, fault):
    whole = collect(cloud)
    cloud.fail("bulk", fault, times=1)
    again = collect(cloud)
    assert (again.offers, again.faults) == (whole.offers, ())


@pytest.mark.parametrize(
    ("fault", "times"), [*((fault, 2) for fault in BREAKS_OFF), (Fault.BROKEN, 1), (Fault.FORBIDDEN, 1)]
)
def test_a_broken_file_is_a_fault_and_the_others_are_read(cloud, fault, times):
    cloud.fail("bulk", fault, times)
    collected = collect(cloud)
    assert {each.region for each in collected.offers} == {"us-west-2"}
    [broken] = collected.faults
    assert "public price list of us-east-1" in broken.reason


def test_a_refresh_of_all_sources_reads_the_large_files_only_if_asked(no_account):
    assert aws.SPEC.missing({}) == aws.LARGE_FILES
    asked = ({"COSTCALC_AWS_REGIONS": "us-east-1"}, {"COSTCALC_AWS_BULK_URL": "http://mirror.example"})
    credentials = ({"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}, {"AWS_ACCESS_KEY_ID": "half a key"})
    assert [aws.SPEC.missing(environment) for environment in (*asked, *credentials)] == [None] * 4


def test_a_word_that_is_no_region_is_not_put_into_an_address(cloud):
    with pytest.raises(SourceError, match=r"'\.\./secret' is no AWS region"):
        collect(cloud, "../secret")
    assert cloud.asked == []
