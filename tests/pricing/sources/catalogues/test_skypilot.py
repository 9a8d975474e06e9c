from datetime import UTC, datetime
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, recorded

from costcalc.offer import RatePart
from pricing.sources.catalogues.skypilot import cloud_offers
from pricing.sources.source import SchemaChanged

FOLDER = "/skypilot-org/skypilot-catalog/master/catalogs/v8"


def read(cloud):
    return cloud_offers(recorded(f"skypilot/{cloud}.csv"), cloud, NOW)


def by_key(cloud):
    return {offer.key[1:4]: offer for offer in read(cloud).offers}


def test_googles_host_and_accelerator_are_added():
    offer = by_key("gcp")["us-central1", "a2-highgpu-1g", "on_demand"]
    assert offer.hourly_rate == Decimal("0.73948") + Decimal("2.933908")
    assert offer.parts == (
        RatePart("vCPUs and memory", Decimal("0.73948")),
        RatePart("accelerators", Decimal("2.933908")),
    )
    assert (offer.machine.accelerator, offer.flags) == ("A100-40GB", ("second_hand",))


def test_a_regions_spot_rate_is_its_cheapest_zone():
    assert by_key("gcp")["us-central1", "a2-highgpu-1g", "spot"].hourly_rate == Decimal("0.29576") + Decimal("1.46694")
    assert by_key("aws")["us-east-1", "p3.2xlarge", "spot"].hourly_rate == Decimal("0.731200")


def test_a_machine_without_its_accelerators_price_is_refused_by_name():
    assert not any(region == "us-west3" for region, _, _ in by_key("gcp"))
    reasons = [gap.reason for gap in read("gcp").gaps]
    assert "Google machines without the accelerator's price refused: a2-highgpu-1g us-west3" in reasons


def test_an_on_demand_rate_that_is_calendar_mode_is_refused_and_its_spot_rate_kept():
    found = by_key("gcp")
    assert ("us-central1", "a2-ultragpu-2g", "on_demand") not in found
    assert found["us-central1", "a2-ultragpu-2g", "spot"].hourly_rate == Decimal("1.09956") + Decimal("3.928")
    assert found["us-east5", "a2-ultragpu-2g", "on_demand"].hourly_rate == Decimal("2.19924") + Decimal("8.84839")
    reasons = [gap.reason for gap in read("gcp").gaps]
    refused = "A100-80GB us-central1, H100 us-central1"
    assert f"Google's on-demand rates that look like calendar mode refused: {refused}" in reasons


def test_an_on_demand_rate_far_below_other_regions_is_refused_though_above_spot():
    found = by_key("gcp")
    assert ("us-central1", "a3-highgpu-1g", "on_demand") not in found
    assert found["us-east4", "a3-highgpu-1g", "on_demand"].hourly_rate == Decimal("1.18251") + Decimal("9.79655")


def test_machines_whose_local_ssd_is_not_in_the_sum_say_so():
    flags = by_key("gcp")["us-east5", "a2-ultragpu-2g", "on_demand"].flags
    assert flags == ("second_hand", "without_local_ssd")


def test_what_a_provider_says_itself_on_that_day_comes_later_and_holds():
    assert {offer.observed_at for offer in read("aws").offers} == {datetime(2026, 11, 20, tzinfo=UTC)}


def test_tpu_slices_count_chips_or_cores():
    found = by_key("gcp")
    v6e, v5p = found["us-central1", "v6e-8", "on_demand"], found["us-east5", "v5p-8", "on_demand"]
    assert (v6e.machine.accelerator, v6e.machine.accelerators, v6e.hourly_rate) == ("TPU v6e", 8, Decimal("21.6"))
    assert (v5p.machine.accelerator, v5p.machine.accelerators, v5p.hourly_rate) == ("TPU v5p", 4, Decimal("16.8"))


def test_a_whole_pod_of_v5p_has_6144_chips():
    pod = by_key("gcp")["us-east5", "v5p-12288", "on_demand"]
    assert (pod.machine.accelerators, pod.hourly_rate) == (6144, 6144 * Decimal("4.20"))


def test_seven_hundred_dollars_mean_unknown():
    found = by_key("gcp")
    assert not any(region == "us-central2" for region, _, _ in found)
    assert ("southamerica-west1", "v6e-8", "on_demand") in found
    assert ("southamerica-west1", "v6e-8", "spot") not in found


def test_hosts_without_accelerators_added_ones_and_older_tpus_are_no_offers():
    assert {kind for _, kind, _ in by_key("gcp")} == {
        "a2-highgpu-1g",
        "a2-ultragpu-2g",
        "a3-highgpu-1g",
        "v6e-8",
        "v5p-8",
        "v5p-12288",
    }


def test_other_clouds_price_the_whole_machine():
    found = by_key("aws")
    assert found["us-east-1", "p3.2xlarge", "on_demand"].hourly_rate == Decimal("3.06")
    assert {kind for _, kind, _ in found} == {"p3.2xlarge", "p4d.24xlarge"}
    assert ("us-west-2", "p4d.24xlarge", "on_demand") not in found  # an empty price is unknown


@pytest.mark.parametrize("content", [b"", b"InstanceType,Price\n", b"\xff\xfe\x00", b"<!doctype html>"])
def test_another_file_is_a_changed_schema(content):
    with pytest.raises(SchemaChanged):
        cloud_offers(content, "aws", NOW)


def test_a_cloud_whose_rates_cannot_be_is_a_fault(httpserver):
    RECORDED["skypilot"].serve(httpserver)
    row = "BM.GPU{0},L40S,{0},8.0,61.0,,{1},,any,\n"
    odd = recorded("skypilot/aws.csv").decode().splitlines()[0].removesuffix(",Arch") + "\n"
    odd += row.format(4, "11.8") + row.format(8, "5.9")
    httpserver.expect_request(f"{FOLDER}/oci/vms.csv").respond_with_data(odd)
    collected = RECORDED["skypilot"].collect(httpserver.url_for(""), COSTCALC_SKYPILOT_CLOUDS="oci,gcp")
    assert {offer.provider for offer in collected.offers} == {"gcp"}
    assert any(gap.reason.startswith("oci: its prices were not taken over") for gap in collected.faults)


def test_a_cloud_without_a_file_costs_the_others_nothing(httpserver):
    RECORDED["skypilot"].serve(httpserver)
    httpserver.expect_request(f"{FOLDER}/nebius/vms.csv").respond_with_data("", status=404)
    collected = RECORDED["skypilot"].collect(httpserver.url_for(""), COSTCALC_SKYPILOT_CLOUDS="gcp,nebius")
    assert {offer.provider for offer in collected.offers} == {"gcp"}
    assert any(gap.reason.startswith("nebius: ") and "404" in gap.reason for gap in collected.faults)


def test_shadeforms_memory_is_in_gib_and_an_h100_without_a_form_is_named():
    machines = {offer.instance_type: offer.machine for offer in read("shadeform").offers}
    assert {name: (one.accelerator, one.accelerators) for name, one in machines.items()} == {
        "massedcompute_A6000x8": ("RTX A6000", 8),
        "lambdalabs_H100-sxm5x2": ("H100", 2),
        "denvr_A100-sxm4x8": ("A100-40GB", 8),
    }
    assert {offer.flags for offer in read("shadeform").offers} == {("second_hand", "marketplace")}
    assert "machines that don't say SXM or PCIe left out: shadeform paperspace_H100" in [
        gap.reason for gap in read("shadeform").gaps
    ]


def test_a_rate_is_as_old_as_its_file(httpserver):
    source = RECORDED["skypilot"]
    source.serve(httpserver)
    offers = source.collect(httpserver.url_for("").rstrip("/")).offers
    assert {offer.observed_at for offer in offers} == {datetime(2026, 11, 18, tzinfo=UTC)}
