"""What widths of untimed networks rest on is what the scores of networks left out say."""

import math

import pytest

from costcalc.evidence.hub import INFERRED_WIDTH, SIZE_LAW, SIZE_WIDTH
from costcalc.evidence.parsing import hub_networks
from science.validation.networks import (
    by_inference,
    by_size,
    by_size_of_other_families,
    epochs_by_other_codes,
    half_width,
    main,
)


def test_the_law_of_size_is_that_of_the_networks(packaged_evidence):
    law, errors = by_size(packaged_evidence)
    assert law.tolist() == pytest.approx(SIZE_LAW, abs=0.002)
    assert half_width(errors) == pytest.approx(SIZE_WIDTH, abs=0.01)


def test_inference_tells_training_within_its_width():
    assert half_width(by_inference(hub_networks())) < INFERRED_WIDTH
    assert half_width(by_inference(hub_networks(), without_family=True)) == pytest.approx(INFERRED_WIDTH, abs=0.02)


def test_other_families_tell_less(packaged_evidence):
    _, errors = by_size(packaged_evidence)
    assert half_width(errors) < half_width(by_size_of_other_families(packaged_evidence)) < 1.1 * half_width(errors)


def test_a_code_is_told_by_others_alone(packaged_evidence):
    errors = list(epochs_by_other_codes(packaged_evidence))
    assert len(errors) > 200
    assert half_width(errors) > 0.3, "its own epochs would tell it exactly"


def test_all_are_printed(capsys, packaged_evidence):
    main()
    printed = capsys.readouterr().out
    assert "size alone" in printed
    assert f"within x/÷{math.exp(half_width(by_size(packaged_evidence)[1])):.2f}" in printed
