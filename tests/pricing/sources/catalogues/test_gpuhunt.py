import csv
import io
import zipfile
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from gpuhunt import CatalogItem
from gpuhunt._internal.models import AcceleratorVendor
from gpuhunt._internal.storage import CATALOG_V2_FIELDS, item_to_row
from support.recorded_sources import NOW, RECORDED, recorded, zipped

from pricing.sources.catalogues.gpuhunt import COLUMNS, offers, table
from pricing.sources.source import SchemaChanged

VERSION = "20261119-7"


def read(provider):
    return offers(io.BytesIO(recorded(f"gpuhunt/{provider}.csv")), provider, VERSION, NOW)


def by_key(provider):
    return {offer.key[1:4]: offer for offer in read(provider).offers}


def test_rates_are_taken_to_the_last_digit_and_marked_second_hand():
    offer = by_key("aws")["us-east-1", "p4d.24xlarge", "on_demand"]
    assert offer.hourly_rate == Decimal("21.9576")
    assert (offer.flags, offer.source) == (("second_hand",), "gpuhunt catalogue")
    assert (offer.machine.accelerator, offer.machine.accelerators) == ("A100-40GB", 8)
    assert (offer.billing_increment_seconds, offer.minimum_seconds) == (1, 60)  # AWS bills by the second


def test_the_day_of_the_catalogue_is_the_day_of_its_rates():
    assert {offer.observed_at for offer in read("aws").offers} == {datetime(2026, 11, 19, tzinfo=UTC)}


@pytest.mark.parametrize("version", ["latest", "20991231-1", "20269999"])
def test_a_version_that_names_no_past_day_is_of_today(version):
    file = io.BytesIO(recorded("gpuhunt/aws.csv"))
    assert {offer.observed_at for offer in offers(file, "aws", version, NOW).offers} == {
        datetime(2026, 11, 20, tzinfo=UTC)
    }


def test_fractions_hosts_without_accelerators_and_tpus_are_no_offers():
    assert {kind for _, kind, _ in by_key("aws")} == {"p4d.24xlarge", "g4dn.xlarge"}
    assert {kind for _, kind, _ in by_key("gcp")} == {"a2-highgpu-1g", "a2-ultragpu-8g"}


def test_googles_zones_become_regions_and_spot_the_cheapest_of_them():
    found = by_key("gcp")
    assert found["us-central1", "a2-highgpu-1g", "on_demand"].hourly_rate == Decimal("3.673385")
    assert found["us-central1", "a2-highgpu-1g", "spot"].hourly_rate == Decimal("1.7")


def test_calendar_mode_is_not_on_demand():
    assert not any("a3-highgpu" in kind for _, kind, _ in by_key("gcp"))


def test_runpods_machines_are_told_apart_by_count_and_cloud():
    rates = {key: offer.hourly_rate for key, offer in by_key("runpod").items()}
    assert rates == {
        ("unspecified", "1x A100-80GB-PCIe secure", "on_demand"): Decimal("1.64"),
        ("unspecified", "2x A100-80GB-PCIe secure", "on_demand"): Decimal("3.28"),
        ("unspecified", "1x A100-80GB-PCIe community", "on_demand"): Decimal("1.19"),
        ("unspecified", "1x H100 secure", "on_demand"): Decimal("2.99"),
        ("unspecified", "2x RTX A6000 secure", "on_demand"): Decimal("1.52"),
    }


def test_an_h100_of_unknown_form_is_not_guessed():
    file = io.BytesIO(recorded("gpuhunt/runpod.csv").replace(b"NVIDIA H100 80GB HBM3", b"h100.x1"))
    reasons = [gap.reason for gap in offers(file, "cloudrift", VERSION, NOW).gaps]
    assert reasons == ["machines that don't say SXM or PCIe left out: cloudrift h100.x1"]


def test_the_columns_are_those_that_gpuhunt_writes():
    item = CatalogItem(
        *("nebius", "gpu-h100-sxm_8gpu", "eu-north1", 0.1 + 0.2, 128, 1600.0, 8, "H100", 80.0, True, None),
        gpu_vendor=AcceleratorVendor.NVIDIA,
        flags=["some-flag"],
    )
    text = io.StringIO()
    writer = csv.DictWriter(text, CATALOG_V2_FIELDS)
    writer.writeheader()
    writer.writerow(item_to_row(item))
    [offer] = offers(io.BytesIO(text.getvalue().encode()), "nebius", VERSION, NOW).offers
    assert set(CATALOG_V2_FIELDS) > COLUMNS
    assert offer.hourly_rate == Decimal(repr(0.1 + 0.2))
    assert (offer.machine.accelerator, offer.flags) == ("H100", ("second_hand", "some-flag"))


def test_a_provider_without_a_catalogue_costs_the_others_nothing(httpserver):
    RECORDED["gpuhunt"].serve(httpserver)
    url = httpserver.url_for("")
    collected = RECORDED["gpuhunt"].collect(url, COSTCALC_GPUHUNT_PROVIDERS="aws, lambdalabs")
    assert {offer.provider for offer in collected.offers} == {"aws"}
    assert [gap.reason.split(":")[0] for gap in collected.faults] == ["lambdalabs"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", zipped("aws")[:-30], zipped("gcp")])
def test_what_is_no_catalogue_is_a_changed_schema(content):
    with pytest.raises(SchemaChanged, match="aws"):
        table(content, "aws")


def test_a_file_that_unpacks_into_gigabytes_is_not_unpacked(monkeypatch):
    monkeypatch.setattr("pricing.sources.catalogues.gpuhunt.LARGEST_BYTES", 1000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("aws.csv", "0" * 1001)
    with pytest.raises(SchemaChanged, match="larger"):
        table(packed.getvalue(), "aws")


def test_missing_columns_are_named():
    with pytest.raises(SchemaChanged, match=r"lacks .*gpu_count"):
        offers(io.BytesIO(b"instance_name,price\n"), "aws", VERSION, NOW)


def test_a_file_whose_packed_bytes_are_damaged_is_a_changed_schema():
    packed = bytearray(zipped("aws"))
    packed[60] ^= 0xFF
    with pytest.raises(SchemaChanged, match="the file is unreadable"):
        offers(table(bytes(packed), "aws"), "aws", VERSION, NOW)
