import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from costcalc.hardware import Machine
from costcalc.offer import PurchaseOption
from pricing.packaged import names as naming
from pricing.packaged.machine_facts import packaged_machines
from pricing.sources.gcp.machines import (
    TPU_GENERATIONS,
    Inventory,
    MachineType,
    built_in,
    family,
    listed_shapes,
    offers,
    packaged_shapes,
    tpu_slices,
)
from pricing.sources.gcp.skus import ON_DEMAND, Rate, RateBook, Sku, Use, rate_book, read_sku

RECORDINGS = Path(__file__).parents[3] / "recordings" / "gcp"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
PACKAGED = packaged_machines("gcp")
A3_HIGH_8G = built_in("a3-highgpu-8g", family("a3-highgpu-8g"), PACKAGED["a3-highgpu-8g"])
SLICES = {shape.instance_type: shape for shape in tpu_slices()}


@pytest.fixture(scope="module")
def recorded():
    """Every offer from the recorded SKUs, by region, type, option and term."""
    pages = [json.loads(path.read_text()) for path in sorted(RECORDINGS.glob("skus_[!k]*.json"))]
    read = [read_sku(sku) for page in pages for sku in page["skus"]]
    book = rate_book(sku for sku in read if isinstance(sku, Sku))
    found, _ = offers((*packaged_shapes(PACKAGED), *SLICES.values()), book, NOW)
    return {(o.region, o.instance_type, o.purchase_option.value, o.term): o for o in found}


def _parts(offer):
    return {part.name: part.hourly for part in offer.parts}


def test_a2_highgpu_1g_is_the_sum_of_three_real_skus(recorded):
    offer = recorded["us-central1", "a2-highgpu-1g", "on_demand", None]
    assert offer.hourly_rate == Decimal("3.673385")
    assert _parts(offer) == {
        "1 x A100-40GB": Decimal("2.933908"),
        "12 vCPU": 12 * Decimal("0.031611"),
        "85 GiB memory": 85 * Decimal("0.004237"),
    }
    assert offer.source == "Google Cloud Billing Catalog: 039F-D0DA-4055, 2922-40C5-B19F, 2390-DCAF-DA38"
    assert offer.machine == Machine("A100-40GB", 1, 40, 12, 85)
    assert (offer.observed_at, offer.currency, offer.billing_increment_seconds, offer.minimum_seconds) == (
        NOW,
        "USD",
        1,
        60,
    )


@pytest.mark.parametrize(
    ("region", "instance_type", "rate"),
    [
        ("us-central1", "a2-highgpu-8g", 8 * Decimal("3.673385")),
        (
            "us-central1",
            "a2-megagpu-16g",
            Decimal("96") * Decimal("0.031611") + 1360 * Decimal("0.004237") + 16 * Decimal("2.933908"),
        ),
        ("us-east1", "n1-standard-8+1xV100", Decimal("2.48") + 2 * Decimal("0.189999")),
        ("us-east5", "v5p-12288", Decimal("25804.80")),
        ("us-east5", "v5p-8", Decimal("16.80")),
        ("us-south1", "v6e-8", Decimal("21.6")),
        ("asia-south2", "v5litepod-4", Decimal("5.76528")),
        ("us-central1", "tpu7x-8", Decimal(48)),
        ("us-central1", "v2-8", Decimal("4.5") + Decimal("0.189999")),
        ("us-central1", "v2-32", Decimal(24)),
        ("us-central2", "v4-8", Decimal("12.88")),
    ],
)
def test_whole_machines_and_slices_cost_what_was_published(recorded, region, instance_type, rate):
    offer = recorded[region, instance_type, "on_demand", None]
    assert offer.hourly_rate == rate
    assert sum(part.hourly for part in offer.parts) == rate


def test_bundled_local_ssd_is_billed_by_the_month_of_730_hours(recorded):
    offer = recorded["us-central1", "a3-megagpu-8g", "on_demand", None]
    assert _parts(offer)["6000 GiB local SSD"] == (6000 * Decimal("0.08") / 730).quantize(Decimal("1e-12"))
    assert float(offer.hourly_rate) == pytest.approx(
        208 * 0.026924 + 1872 * 0.002344 + 8 * 10.344276 + 480 / 730, abs=1e-9
    )


def test_a_spot_board_keeps_its_host_on_demand(recorded):
    offer = recorded["us-central1", "v2-8", "spot", None]
    assert _parts(offer) == {"Cloud TPU v2-8": Decimal("1.35"), "host n1-standard-4": Decimal("0.189999")}
    assert offer.machine == Machine("TPU v2", 4, 16, 4, 15)


@pytest.mark.parametrize(
    "instance_type",
    ["a4-highgpu-8g", "a4x-highgpu-4g", "a3-ultragpu-8g", "a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g"],
)
def test_what_google_sells_by_reservation_and_spot_only_is_not_offered_on_demand(instance_type):
    kind = family(instance_type)
    shape = built_in(instance_type, kind, Machine(kind.accelerator, 8, 80, 208, 1872))
    spot = Use(PurchaseOption.SPOT)
    priced = [(item.part, use, 1) for item in shape.items for use in (ON_DEMAND, spot)]
    found, _ = offers([shape, A3_HIGH_8G], _book(*priced, *[(i.part, ON_DEMAND, 1) for i in A3_HIGH_8G.items]), NOW)
    options = {(offer.instance_type, offer.purchase_option.value) for offer in found}
    assert ("a3-highgpu-8g", "on_demand") in options
    assert (instance_type, "on_demand") not in options
    assert ((instance_type, "spot") in options) == (instance_type != "a4x-highgpu-4g")


def test_spot_that_google_marks_on_demand_is_spot(recorded):
    assert recorded["us-central1", "a4-highgpu-8g", "spot", None].hourly_rate == 8 * Decimal("4.9542")


def test_a_commitment_is_paid_by_the_hour_for_its_whole_term(recorded):
    offer = recorded["europe-west4", "v5p-128", "committed_use", "3y"]
    assert offer.payment is not None
    assert (offer.hourly_rate, offer.recurring_hourly, offer.upfront, offer.payment.value) == (
        *(64 * Decimal("1.911"),) * 2,
        Decimal(0),
        "no_upfront",
    )


def test_calendar_mode_and_machines_without_a_core_rate_are_no_offers(recorded):
    assert not [key for key in recorded if key[0] == "asia-south2" and key[1].startswith("v5p")]
    assert not [key for key in recorded if key[0] == "asia-east1"]  # only a commitment for vCPUs is listed there


def _chips(name):
    return SLICES[name].machine.accelerators


def test_slices_of_v2_to_v4_v5p_and_7x_count_cores_those_of_v5e_and_v6e_chips():
    names = ("v2-8", "v3-2048", "v4-4096", "v5litepod-8", "v5p-12288", "v6e-256", "tpu7x-8")
    assert [_chips(name) for name in names] == [4, 1024, 2048, 8, 6144, 256, 4]


def test_slices_agree_with_the_packaged_machine_types():
    kinds = tuple(generation.prefix for generation in TPU_GENERATIONS)
    packaged = {name: machine for name, machine in PACKAGED.items() if name.startswith(kinds)}
    assert len(packaged) > 40
    for name, machine in packaged.items():
        assert SLICES[name].machine == machine


def test_every_packaged_accelerator_machine_can_be_billed():
    billed = {shape.instance_type for shape in packaged_shapes(PACKAGED)} | SLICES.keys()
    assert {name for name, machine in PACKAGED.items() if machine.accelerators} == billed & PACKAGED.keys()


def test_packaged_machines_hold_the_accelerator_their_family_is_billed_for():
    for shape in packaged_shapes(PACKAGED):
        assert shape.machine == PACKAGED[shape.instance_type]
        assert shape.items[0].label == f"{shape.machine.accelerators} x {shape.machine.accelerator}"
        listed = MachineType(shape.instance_type, "us-central1-a", shape.machine.vcpus or 0, shape.machine.memory_gib or 0,
                             shape.items[0].part, shape.machine.accelerators)  # fmt: skip
        if "+" not in shape.instance_type:
            assert listed_shapes(Inventory((listed,)), {})[0][0].items == shape.items


def test_families_and_naming_agree_on_googles_accelerator_types():
    shapes = packaged_shapes(PACKAGED)
    assert len({shape.items[0].part for shape in shapes}) == 13
    for shape in shapes:
        assert naming.accelerator("gcp", shape.items[0].part) == shape.machine.accelerator


def _book(*rates):
    return RateBook({(part, use, "us-central1"): Rate(Decimal(rate), part) for part, use, rate in rates}, ())


def test_a_machine_that_lacks_a_parts_rate_is_left_out_by_name():
    shapes = [shape for shape in packaged_shapes(PACKAGED) if shape.instance_type == "a2-ultragpu-1g"]
    found, gaps = offers(
        shapes, _book(("nvidia-a100-80gb", ON_DEMAND, 4), ("A2 vCPU", ON_DEMAND, 1), ("A2 GiB", ON_DEMAND, 1)), NOW
    )
    assert found == ()
    assert gaps == ("no rate for local SSD, a part of a2-ultragpu-1g",)


def test_spot_above_on_demand_is_flagged():
    spot = Use(PurchaseOption.SPOT)
    found, _ = offers([SLICES["v6e-1"]], _book(("TPU v6e", ON_DEMAND, 2), ("TPU v6e", spot, 3)), NOW)
    assert {offer.purchase_option.value: offer.flags for offer in found} == {
        "on_demand": (),
        "spot": ("spot_above_on_demand",),
    }


def test_listed_machine_types_are_offered_only_in_the_regions_of_their_zones():
    inventory = Inventory(
        (
            MachineType("a2-highgpu-1g", "us-central1-a", 12, 85, "nvidia-tesla-a100", 1),
            MachineType("a2-highgpu-1g", "us-central1-f", 12, 85, "nvidia-tesla-a100", 1),
            MachineType("a2-highgpu-1g", "asia-east1-c", 12, 85, "nvidia-tesla-a100", 1),
            MachineType("n1-standard-8", "us-central1-a", 8, 30),
            MachineType("n1-standard-8", "us-west1-a", 8, 30),
            MachineType("n1-standard-16", "us-west1-b", 16, 60),
            MachineType("g4-standard-6", "us-west1-b", 6, 22, "nvidia-rtx-pro-6000", 1),
            MachineType("ct5lp-hightpu-4t", "us-west1-b", 112, 192, "ct5lp", 4),
            MachineType("a9-highgpu-8g", "us-west1-b", 6, 22, "nvidia-r100", 8),
        ),
        {("nvidia-tesla-v100", "us-west1-a"): 8, ("nvidia-tesla-v100", "us-west1-b"): 1},
    )
    shapes, gaps = listed_shapes(inventory, PACKAGED)
    assert {shape.instance_type: set(shape.regions or ()) for shape in shapes} == {
        "a2-highgpu-1g": {"us-central1", "asia-east1"},
        "n1-standard-8+1xV100": {"us-west1"},
    }
    assert gaps == ("machine types not known here: a9-highgpu-8g (8 x nvidia-r100)",)
