"""Words for people are short, printable and point to something that exists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.questions.suggestions import clip, either, nearest, squeeze, unknown

KNOWN = ["resnet50", "resnet101", "TPU v2", "p3.8xlarge", "us-east-1"]


@given(st.text(max_size=400))
def test_an_echo_is_one_short_printable_line(text):
    assert clip(text).isprintable()
    assert len(clip(text)) < 100


@given(st.text(max_size=150))
def test_only_known_names_are_suggested(text):
    assert set(nearest(text, KNOWN)) <= set(KNOWN)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("resnet5O", "resnet50"),
        ("ResNet_50", "resnet50"),
        ("tpu-v2", "TPU v2"),
        ("p3.8xlrge", "p3.8xlarge"),
        ("useast1", "us-east-1"),
    ],
)
def test_slips_find_their_name(text, name):
    assert nearest(text, KNOWN)[0] == name


@pytest.mark.parametrize(
    ("text", "names"), [("fam-rn50-10ep", ["16ep", "17ep", "18ep"]), ("FAM-rn50-100ep", ["88ep", "80ep", "18ep"])]
)
def test_of_names_that_differ_in_a_number_the_nearest_are_suggested(text, names):
    known = [*KNOWN, *(f"fam-rn50-{epochs}ep" for epochs in (80, 88, 16, 17, 18)), "fam-rn18-16ep"]
    assert nearest(text, known) == [f"fam-rn50-{name}" for name in names]


def test_what_resembles_nothing_says_where_to_look():
    assert unknown("model", "zzzz", KNOWN, "/models lists them") == 'unknown model "zzzz": /models lists them'
    assert nearest("r" * 101, ["r" * 101]) == []


def test_lists_read_as_people_say_them():
    assert either(["a"]) == "a"
    assert either(["a", "b", "c"]) == "a, b or c"
    assert squeeze("A100-80GB PCIe") == "a10080gbpcie"
