"""Pages and documents that a table tells how to read, against what others recorded of each."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED

from pricing.sources.common.page import offers, pages
from pricing.sources.source import SchemaChanged


@dataclass(frozen=True)
class Read:
    """What a source is to read: rates in dollars an hour by machine and way to buy, and the region of the first."""

    source: str
    region: str
    rates: dict[str, str]


READ = (
    Read(
        "coreweave",
        "us",
        {"4x GB200": "42", "8x B200": "68.80", "8x B200 spot": "34.11", "8x H100": "49.24", "8x H100 spot": "19.71",
         "8x A100-80GB": "21.60", "8x A100-80GB spot": "9.51", "8x L40S": "18"},
    ),
    Read(
        "crusoe",
        "unspecified",
        {"8x H200": "34.32", "8x H100": "31.20", "8x A100-80GB": "18.40", "1x A100-80GB-PCIe": "2", "1x L40S": "1.50",
         "8x MI300X": "27.60"},
    ),
    Read(
        "gcp-page",
        "us-central1",
        {"a4-highgpu-8g spot": "39.6336", "a4-highgpu-8g 1y": "88.9272", "a4-highgpu-8g 3y": "56.7072",
         "a3-ultragpu-8g": "84.806908493", "a3-ultragpu-8g spot": "50.874449096", "a3-ultragpu-8g 1y": "58.471933151",
         "a3-ultragpu-8g 3y": "37.208420822", "a3-megagpu-8g": "93.400712807", "a3-megagpu-8g spot": "55.894488548",
         "a3-megagpu-8g 1y": "64.206558727", "a3-megagpu-8g 3y": "40.650103355", "a3-highgpu-8g": "88.490000119",
         "a3-highgpu-8g spot": "52.962296548", "a3-highgpu-8g 1y": "61.383674231", "a3-highgpu-8g 3y": "38.864383195",
         "a2-ultragpu-8g": "40.550383123", "a2-ultragpu-8g spot": "24.329900274", "a2-highgpu-1g": "3.673385",
         "a2-highgpu-1g spot": "2.20401", "a2-highgpu-1g 1y": "2.31420704", "a2-highgpu-1g 3y": "1.285708338"},
    ),
    Read("hyperbolic", "us-east-1", {"1x H100": "3.19", "1x H100-PCIe": "2.75", "8x H100": "25.52", "8x H200": "31.92"}),
    Read(
        "hyperstack",
        "unspecified",
        {"8x H200": "31.92", "8x H100": "25.60", "8x H100-PCIe": "20.80", "1x H100-PCIe": "2.50", "1x RTX PRO 6000": "1.85",
         "8x A100-80GB": "12.80", "1x A100-80GB-PCIe": "1.35", "1x L40": "1", "8x B300": "59.20"},
    ),
    Read(
        "lambda-page",
        "any",
        {"gpu_8x_b200_sxm6": "53.52", "gpu_8x_h100_sxm5": "31.92", "gpu_8x_a100_80gb_sxm4": "22.32", "gpu_8x_a100": "15.92",
         "gpu_8x_v100": "6.32", "gpu_1x_gh200": "2.29", "gpu_1x_h100_sxm5": "4.29", "gpu_1x_a100": "1.99",
         "gpu_1x_a10": "1.29", "gpu_1x_a6000": "1.09"},
    ),
    Read(
        "nebius",
        "unspecified",
        {"8x B300": "76", "8x B200": "68", "8x H200": "43.20", "1x H200": "5.40", "8x H100": "36", "1x H100": "4.50",
         "1x RTX PRO 6000": "1.80"},
    ),
    Read(
        "together",
        "unspecified",
        {"8x H100": "31.92", "8x H100 7d": "29.52", "8x H100 31d": "27.60", "8x H100 91d": "25.52", "8x H200": "47.92",
         "8x H200 7d": "39.92", "8x H200 31d": "33.20", "8x H200 91d": "31.92", "8x B200": "65.52", "8x B200 7d": "63.92",
         "8x B200 31d": "62.32", "8x B200 91d": "54.32"},
    ),
    Read("voltage-park", "unspecified", {"8x H100 Ethernet": "15.92", "8x H100 InfiniBand": "19.92"}),
)  # fmt: skip


def answer(source):
    body = RECORDED[source].priced.body.decode()
    return json.loads(body) if pages()[source].form == "document" else body


def named(offer):
    """`8x H100`, `8x H100 spot`, `8x H100 7d`."""
    way = offer.term or ("spot" if offer.purchase_option.value == "spot" else "")
    return f"{offer.instance_type} {way}".strip()


@pytest.mark.parametrize("read", READ, ids=lambda read: read.source)
def test_each_rate_is_that_of_the_whole_machine_and_nothing_else_is_a_rate(read):
    found = offers(read.source, answer(read.source), NOW).offers
    assert {named(offer): offer.hourly_rate for offer in found} == {
        name: Decimal(rate) for name, rate in read.rates.items()
    }
    assert found[0].region == read.region


def test_every_page_of_the_table_is_read_here():
    assert {read.source for read in READ} == set(pages())


def test_the_regions_of_a_page_are_told_apart():
    regions = {offer.instance_type: offer.region for offer in offers("coreweave", answer("coreweave"), NOW).offers}
    assert (regions["8x H100"], regions["8x L40S"]) == ("us", "eu")


def test_what_a_page_states_of_one_accelerator_is_counted_for_the_machine():
    machines = {offer.instance_type: offer.machine for offer in offers("nebius", answer("nebius"), NOW).offers}
    assert (machines["8x H100"].vcpus, machines["8x H100"].memory_gib) == (128, 1600)
    assert (machines["1x H100"].vcpus, machines["1x H100"].memory_gib) == (16, 200)


def test_a_floor_is_no_rate_and_is_named():
    [gap] = offers("nebius", answer("nebius"), NOW).gaps
    assert gap.reason == (
        "of which only what they start from is stated left out: NVIDIA HGX H100, NVIDIA L40S with AMD CPU"
    )


@pytest.mark.parametrize(("day", "rate"), [(30, "3.85"), (31, "4.50")])
def test_an_announced_rate_holds_from_its_day(day, rate):
    found = offers("nebius", answer("nebius"), datetime(2026, 9, 1, 12, tzinfo=UTC) + timedelta(days=day - 1)).offers
    assert {named(offer): offer.hourly_rate for offer in found}["1x H100"] == Decimal(rate)


def test_what_google_states_but_does_not_sell_so_is_no_offer(httpserver):
    RECORDED["gcp-page"].serve(httpserver)
    found = RECORDED["gcp-page"].collect(httpserver.url_for("")).offers
    kept = {named(offer) for offer in found if offer.instance_type == "a3-ultragpu-8g"}
    assert kept == {"a3-ultragpu-8g spot", "a3-ultragpu-8g 1y", "a3-ultragpu-8g 3y"}


def test_a_rate_in_another_unit_is_not_taken():
    page = answer("crusoe").replace("$3.90/GPU-hr", "$2,847/GPU-month")
    found = offers("crusoe", page, NOW)
    assert "8x H100" not in {offer.instance_type for offer in found.offers}
    assert [gap.reason for gap in found.gaps] == [
        "rows that could not be read: '$2,847/GPU-month' is no rate by the hour"
    ]


@pytest.mark.parametrize("source", [name for name, page in pages().items() if page.parts])
def test_a_page_without_the_text_around_its_table_is_refused(source):
    for piece in {piece for part in pages()[source].parts for piece in part.between}:
        with pytest.raises(SchemaChanged, match=f"{source}: the page has a new layout"):
            offers(source, answer(source).replace(piece, ""), NOW)


def test_a_page_is_asked_as_by_a_browser(httpserver):
    RECORDED["coreweave"].serve(httpserver)
    RECORDED["coreweave"].collect(httpserver.url_for(""))
    [(asked, _)] = httpserver.log
    assert asked.headers["User-Agent"].startswith("Mozilla/5.0 (compatible; costcalc")
