"""What the reference model learns, from rows whose truth is known."""

import math

import pytest
from msgspec.structs import replace
from support.speeds import PARTS, SHEETS, rate

from costcalc.throughput.reference_model import Setup
from science.fitting.reference_model import (
    ALIKE,
    FARTHEST,
    Observation,
    fit_reference_model,
    is_reference_row,
    observation,
    observations,
    terms,
)

WHO = "abcdef"


def row(images_per_second=3000.0, accelerator="new", accelerators=8, **given):
    usual = {"model": "resnet50", "stack": "mlperf", "framework_family": "mxnet", "global_batch_size": 8 * 256}
    return rate(images_per_second, accelerator, accelerators, **usual | given)


def seen(rate_each, organisation, accelerator="new", **given):
    setup = Setup(accelerator, 8, 1, 256.0, 2022, "mxnet")._replace(**given)
    return Observation(setup, organisation, math.log(rate_each))


def test_a_row_is_seen_as_a_setup_and_a_rate_of_one_accelerator():
    found = observation(
        row(3200.0, accelerators=32, nodes=4, global_batch_size=32 * 64, organisation="NVIDIA", year=2021)
    )
    assert found.setup == Setup("new", 8, 4, 64.0, 2021, "mxnet")
    assert found.organisation == "nvidia"
    assert found.log_rate == pytest.approx(math.log(100))
    assert observation(row(global_batch_size=None)).setup.batch == 256
    assert observation(row(includes_evaluation=True)).log_rate == pytest.approx(math.log(3000 * 1.006 / 8))


@pytest.mark.parametrize(
    "unlike", [{"stack": "other"}, {"model": "resnet18"}, {"image_size": 192}, {"accelerators": 0}]
)
def test_only_the_reference_network_at_its_size_is_learned_from(unlike):
    assert is_reference_row(row())
    assert not is_reference_row(replace(row(), **unlike))
    assert observations([row(), replace(row(), **unlike)], PARTS) == (observation(row()),)


def test_accelerators_without_a_line_are_left_out():
    assert observations([row(accelerator="Xeon")], PARTS) == ()


def test_what_was_seen_is_kept_of_each_accelerator():
    rows = [seen(400, who, year=year) for who, year in zip(WHO, (2020, 2021, 2023, 2021, 2022, 2022), strict=True)]
    rows += [seen(200, "a", "old", nodes=2)]
    model = fit_reference_model(rows, PARTS)
    assert model.years == {"new": (2020, 2023), "old": (2022, 2022)}
    assert model.networked == {"old"}
    assert model.default_intercept == pytest.approx(math.log(400))


def test_the_typical_batch_is_that_of_one_machine():
    batches = [(64.0, 1), (128.0, 1), (512.0, 1), (16.0, 4)]
    rows = [seen(400, who, batch=batch, nodes=nodes) for who, (batch, nodes) in zip(WHO, batches, strict=False)]
    assert fit_reference_model(rows, PARTS).typical["new"].batch == 128


def test_of_pods_alone_the_largest_share_is_typical():
    rows = [seen(400, who, batch=batch, nodes=4) for who, batch in zip(WHO, (16.0, 64.0), strict=False)]
    rows += [seen(300, "c", "slice", per_node=32, batch=40.0), seen(300, "d", "slice", per_node=16, batch=20.0)]
    typical = fit_reference_model(rows, PARTS).typical
    assert typical["new"].batch == 64
    assert typical["slice"].batch == 20  # sixteen are a machine, thirty-two a pod


def test_the_typical_software_is_the_median_of_what_it_adds():
    rows = [seen(math.exp(6 + 0.1 * (year - 2020)), who, year=year) for who in "abc" for year in (2020, 2021, 2023)]
    model = fit_reference_model(rows, PARTS)
    added = [model.software("new", year, "mxnet") for year in (2020, 2021, 2023)]
    assert added == sorted(added)
    assert model.typical["new"].software == pytest.approx(added[1])


def test_one_wild_row_widens_no_more_than_the_farthest_allowed():
    calm = [seen(400, who) for who in WHO]
    wild = [seen(each, who, "old") for who, each in zip(WHO, (200, 200, 200, 200, 200, 2e6), strict=True)]
    scatter = {name: use.scatter for name, use in fit_reference_model([*calm, *wild], PARTS).typical.items()}
    worst = fit_reference_model([*calm, *wild[:5], seen(2e9, "f", "old")], PARTS).typical["old"].scatter
    assert scatter["old"] == pytest.approx(worst, rel=0.05)
    assert scatter["new"] < 1 < scatter["old"] < (12 * 6 + ALIKE) / (6 + ALIKE)
    assert math.log(1e4) > FARTHEST


def test_images_per_joule_never_fall_from_one_vintage_to_the_next():
    """old made 0.8 images per joule in 2018, new 1 in 2022; a worse part of 2020 changes nothing."""
    worse = replace(PARTS["new"], name="worse", introduced=2020, power_watts=1000)
    rows = [seen(200, "a", "old"), seen(200, "b", "old"), seen(400, "a"), seen(400, "b"), seen(300, "a", "worse")]
    rows += [seen(9e9, "a", "slice")]  # another vendor's
    joules = fit_reference_model(rows, {**PARTS, "worse": worse}).data_sheets.images_per_joule
    assert joules == ((2018, 0.8), (2020, 0.8), (2022, 1.0))


def test_the_roofline_is_found_again():
    """Parts whose rates are exactly 1 / (0.03/F + 0.2/M)."""
    sheets = {
        name: replace(PARTS["new"], name=name, dense_16bit_tflops=flops, memory_bandwidth_gb_per_s=memory)
        for name, flops, memory in (("a", 100, 1000), ("b", 400, 1500), ("c", 900, 2000), ("d", 300, 3000))
    }
    rows = [
        seen(1 / (0.03 / part.dense_16bit_tflops + 0.2 / part.memory_bandwidth_gb_per_s), who, name)
        for name, part in sheets.items()
        for who in "ab"
    ]
    found = fit_reference_model(rows, sheets).data_sheets
    assert (found.tflop_per_image, found.gb_per_image) == (pytest.approx(0.03, rel=1e-3), pytest.approx(0.2, rel=1e-3))


def test_two_parts_are_too_few_to_move_the_roofline():
    found = fit_reference_model([seen(1, "a"), seen(1, "a", "old")], PARTS).data_sheets
    assert (found.tflop_per_image, found.gb_per_image) == (0.0412, 0.329)


def test_who_measured_is_told_apart_and_left_out_of_predictions():
    """Five say 400, one always 5 % more: the prediction is the five's."""
    rows = [seen(400, who) for who in "abcde"] + [seen(420, "f")]
    model = fit_reference_model(rows, PARTS)
    predicted = math.exp(model.log_rate(Setup("new", 8, 1, 256, 2022, "mxnet")))
    assert predicted == pytest.approx(400, rel=0.02)


def test_who_measured_has_effects_of_its_own_by_accelerator_system_and_machines():
    rows = [seen(400, "a"), seen(300, "a", nodes=4), seen(200, "b", "old")]
    assert {key[1:] for row in rows for key, *_ in terms(row, SHEETS) if key[0] == "organisation"} == {
        *(("a",), ("a", "new"), ("a", "new", "8", "1"), ("a", "new", "8", "4"), ("a", "machines")),
        *(("b",), ("b", "old"), ("b", "old", "8", "1")),
    }


def test_many_rows_of_one_organisation_count_as_less_than_as_many_organisations():
    others = [seen(400, who) for who in "abc"]
    alone, many = ([seen(440, who) for who in whose] for whose in ("ffffff", "ghijkl"))
    one, several = (
        fit_reference_model([*others, *rows], PARTS).log_rate(Setup("new", 8, 1, 256, 2022, "mxnet"))
        for rows in (alone, many)
    )
    assert math.log(400) < one < several < math.log(440)


def test_who_measured_is_not_kept_as_no_answer_reads_it():
    assert "organisation" not in {
        key[0] for key in fit_reference_model([seen(400, "a"), seen(300, "b")], PARTS).effects
    }
