"""The largest batch of a network on an accelerator: as measured, and modelled within the interval where it was not."""

import csv
from datetime import date, timedelta
from importlib import resources
from math import floor, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.evidence import largest_batch, load_evidence
from costcalc.evidence.largest_batch import GUESSED, MODELLED, FitQuestion, fits, nearest, networks
from costcalc.throughput.memory import HELD, HELD_OF_FAMILY, gib_per_image, most_images, room_gib
from costcalc.training import Tier

EVIDENCE = load_evidence()
TODAY, OF_THE_GUIDE = date(2026, 11, 20), date(2020, 2, 20)
GUIDE = ("nasnet_large", "deeplab_v3", "yolo_v3", "pix2pix_hd", "stylegan", "mask_rcnn")
CARDS = (
    "RTX 2060",
    "RTX 2070",
    "RTX 2080",
    "GTX 1080 Ti",
    "RTX 2080 Ti",
    "Titan RTX",
    "Quadro RTX 6000",
    "Quadro RTX 8000",
)
TRIED = [row for row in EVIDENCE.largest_batches if row.precision and row.model in EVIDENCE.models]
KNOWN = sorted(name for name, model in EVIDENCE.models.items() if model.activations_millions)


def fitted(models, cards, day=TODAY, precision="16bit", image_size=None):
    return list(fits(EVIDENCE, FitQuestion(tuple(models), tuple(cards), precision, image_size, day)))


def test_the_table_of_the_guide_is_given_back():
    found = fitted(GUIDE, CARDS, OF_THE_GUIDE)
    assert len(found) == 48
    assert {each.evidence for each in found} == {Tier.MEASURED}
    batches = {(each.model, each.accelerator): each.largest_batch for each in found}
    assert [batches["nasnet_large", card] for card in CARDS] == [4, 8, 8, 8, 8, 32, 32, 64]
    assert [batches["pix2pix_hd", card] for card in CARDS] == [0, 0, 0, 0, 0, 1, 1, 2]


DAYS = (
    date(2013, 7, 30),
    OF_THE_GUIDE,
    date(2020, 9, 20),
    date(2020, 11, 30),
    date(2020, 12, 2),
    date(2023, 12, 30),
    TODAY,
)


@pytest.mark.parametrize("day", DAYS)
def test_nothing_is_listed_before_its_release(day):
    listed = {each.accelerator for each in fitted(["resnet50"], EVIDENCE.accelerators, day)}
    cards = {each.accelerator for each in fitted(["resnet50"], EVIDENCE.accelerators)}
    text = (resources.files("costcalc.evidence") / "data" / "accelerators.csv").read_text("utf-8")
    told = {row["accelerator"]: row["released"] or row["introduced"] for row in csv.DictReader(text.splitlines())}
    later = {name for name in cards if told[name] > day.isoformat()[: len(told[name])]}
    earlier = {name for name in cards if told[name] < day.isoformat()[: len(told[name])]}
    assert not listed & later
    assert earlier <= listed


def test_in_february_2020_the_cards_of_the_guide_are_listed_and_the_30_series_is_not():
    listed = {each.accelerator for each in fitted(["resnet50"], EVIDENCE.accelerators, OF_THE_GUIDE)}
    assert set(CARDS) <= listed
    assert not [name for name in listed if name.startswith(("RTX 30", "RTX A", "A100"))]


@pytest.mark.parametrize(
    ("name", "day"),
    [("RTX 3060 Ti", date(2020, 12, 2)), ("RTX A6000", date(2020, 12, 31)), ("L40S", date(2023, 12, 31))],
)
def test_a_month_or_a_year_counts_from_its_end(name, day):
    assert EVIDENCE.accelerators[name].on_sale_from == day
    assert not fitted(["resnet50"], [name], day - timedelta(1))
    assert fitted(["resnet50"], [name], day)


def off(row, model):
    """How far the model is from the middle of the batch that ran and the one that did not, in ln."""
    chip = EVIDENCE.accelerators[row.accelerator]
    images = room_gib(np.array(chip.memory_gib), model) / gib_per_image(model, row.image_size, "fp16")
    return log(images / sqrt(row.largest_batch * row.next_tried))


def test_the_interval_holds_eight_of_ten_measured_batches():
    known = [
        abs(off(row, EVIDENCE.models[row.model])) for row in TRIED if EVIDENCE.models[row.model].activations_millions
    ]
    guessed = [abs(off(row, replace(EVIDENCE.models[row.model], activations_millions=None))) for row in TRIED]
    assert len(known) > 100
    assert 0.8 <= np.mean(np.array(known) <= MODELLED) <= 0.97
    assert 0.75 <= np.mean(np.array(guessed) <= GUESSED) <= 0.9


def test_what_a_family_holds_is_what_was_measured():
    by_family = {}
    for row in TRIED:
        model = EVIDENCE.models[row.model]
        if model.activations_millions:
            by_family.setdefault(model.family, []).append(off(row, model))
    for family, errors in by_family.items():
        if len(errors) > 1:
            assert abs(np.mean(errors)) < 0.2, family
    assert set(HELD_OF_FAMILY) <= set(by_family)
    assert HELD not in HELD_OF_FAMILY.values()


def test_the_guide_s_nasnet_is_within_the_model_s_interval_on_most_cards():
    model = EVIDENCE.models["nasnet_large"]
    inside = 0
    for row in (row for row in EVIDENCE.largest_batches if row.model == "nasnet_large" and "Lambda" in row.source):
        images = float(room_gib(np.array(EVIDENCE.accelerators[row.accelerator].memory_gib), model))
        images /= gib_per_image(model, 331, "fp16")
        inside += row.largest_batch * np.exp(-MODELLED) <= images <= row.next_tried * np.exp(MODELLED)
    assert inside == 8


@given(st.sampled_from(KNOWN), st.floats(1, 300), st.floats(1, 300), st.integers(32, 1024), st.integers(32, 1024))
def test_more_memory_holds_no_less_and_larger_images_no_more(name, memory, other, size, other_size):
    model = EVIDENCE.models[name]
    (less, more), (small, large) = sorted((memory, other)), sorted((size, other_size))
    images = lambda gib, side: float(most_images(np.array(gib), model, side, "fp16"))  # noqa: E731
    assert images(less, size) <= images(more, size)
    assert floor(max(images(memory, large), 0)) <= floor(max(images(memory, small), 0))
    assert images(memory, size) >= float(most_images(np.array(memory), model, size, "fp32")) or images(memory, size) < 0


@pytest.mark.parametrize("name", ["nasnet_large", "deeplab_v3", "resnet152", "vgg16", "resnet50"])
def test_of_all_cards_the_larger_holds_no_less(name):
    found = sorted(fitted([name], EVIDENCE.accelerators), key=lambda each: each.memory_gib)
    assert len(found) > 60
    best = 0
    for each in found:
        assert each.largest_batch_low <= each.largest_batch <= each.largest_batch_high
        if each.evidence is not Tier.MEASURED:
            assert each.largest_batch_high >= best
            best = max(best, each.largest_batch)


def test_what_does_not_fit_is_refused_with_the_nearest_card_that_holds_it():
    asked = FitQuestion(("pix2pix_hd",), ("RTX 2080 Ti",), "16bit", None, OF_THE_GUIDE)
    (unfit,) = fits(EVIDENCE, asked)
    assert not unfit.fits
    holds = nearest(EVIDENCE, asked, unfit)
    assert holds.fits
    assert holds.memory_gib == 24


def test_cards_and_measurements_of_later_are_not_known():
    assert fitted(["resnet50"], ["RTX 4090"], OF_THE_GUIDE) == []
    assert fitted(["nasnet_large"], ["RTX 2080 Ti"], date(2019, 5, 1))[0].evidence is Tier.MODELLED


def test_every_network_that_can_be_asked_about_is_answered():
    found = {each.model for each in fitted(networks(EVIDENCE), ["H100"])}
    assert found == set(networks(EVIDENCE))


def test_of_many_fits_those_alone_are_worked_out_that_are_looked_at(monkeypatch):
    looked, on = [], largest_batch._Network.on
    monkeypatch.setattr(largest_batch._Network, "on", lambda network, chip: looked.append(chip) or on(network, chip))
    found = fits(EVIDENCE, FitQuestion(networks(EVIDENCE), tuple(EVIDENCE.accelerators), "16bit", None, TODAY))
    part = list(found[100:103])
    assert (len(found) > 50_000, len(part), len(looked)) == (True, 3, 3)
    assert part == list(found.of_the_first(2))[100:103]
