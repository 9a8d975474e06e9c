"""What widths of untimed networks rest on is what the scores of networks left out say."""

import math

import pytest

from costcalc.evidence.hub import INFERRED_WIDTH
from costcalc.evidence.parsing import hub_networks
from own_runs.by_word import SIZE_LAW, SIZE_WIDTH
from science.validation.networks import by_inference, by_size, half_width, main


def test_the_law_of_size_is_that_of_the_networks(packaged_evidence):
    law, errors = by_size(packaged_evidence)
    assert law.tolist() == pytest.approx(SIZE_LAW, abs=0.05)
    assert half_width(errors) == pytest.approx(SIZE_WIDTH, abs=0.05)


def test_inference_tells_training_within_its_width():
    assert half_width(by_inference(hub_networks())) < INFERRED_WIDTH


def test_both_are_printed(capsys):
    main()
    printed = capsys.readouterr().out
    assert "size alone" in printed
    assert f"{math.exp(SIZE_WIDTH):.2f}" in printed
