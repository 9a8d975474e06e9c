"""The colours of charts are told apart by everybody, on light and on dark paper, and are the same on the page."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import api.web
from api.formats.charts.figure import DARK, LIGHT, PALETTE, told_apart

SEEN = {  # Machado, Oliveira and Fernandes (2009), severity 1, on linear light
    "normal": np.eye(3),
    "no red cones": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green cones": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue cones": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_CONES = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
TO_OKLAB = [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
DRESSES = {"light": (LIGHT.palette, LIGHT.paper), "dark": (DARK.palette, DARK.paper)}


def light(colour):
    """Linear light of a colour as `#rrggbb`."""
    value = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def oklab(linear):
    return np.array(TO_OKLAB) @ np.cbrt(np.array(TO_CONES) @ np.clip(linear, 0, 1))


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("eyes", SEEN)
def test_no_two_colours_look_alike(dress, eyes):
    looks = [oklab(np.array(SEEN[eyes]) @ light(colour)) for colour in DRESSES[dress][0]]
    assert min(np.linalg.norm(one - other) for one, other in combinations(looks, 2)) > 0.08


@pytest.mark.parametrize("dress", DRESSES)
def test_every_colour_stands_out_from_the_paper(dress):
    colours, paper = DRESSES[dress]
    for colour in colours:
        low, high = sorted(float(light(each) @ [0.2126, 0.7152, 0.0722]) for each in (colour, paper))
        assert (high + 0.05) / (low + 0.05) >= 3  # WCAG 1.4.11


def test_more_names_than_colours_have_other_signs():
    names = [f"name {number}" for number in range(2 * len(PALETTE) + 1)]
    entries = told_apart(names)
    assert list(entries) == names
    assert len({(entry.colour, entry.sign) for entry in entries.values()}) == len(names)


def test_the_page_has_the_same_colours():
    style = Path(api.web.__file__).with_name("static").joinpath("style.css").read_text()
    found = re.findall(r"--p\d: light-dark\((#\w{6}), (#\w{6})\);", style)
    assert found == list(zip(DRESSES["light"][0], DRESSES["dark"][0], strict=True))
