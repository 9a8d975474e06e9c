"""Words for people are short, printable and point to something that exists."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.questions import suggestions
from api.questions.suggestions import MOST_SEARCHES, clip, either, nearest, squeeze, unknown

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


@pytest.fixture
def searches(monkeypatch):
    """Every text that nearest names are looked for."""
    made = []
    monkeypatch.setattr(suggestions, "nearest", lambda text, known: made.append(text) or nearest(text, known))
    return made


def test_equally_near_names_come_in_one_order_however_they_are_listed():
    known = ["/cost", "/cost.csv", "/cost.png", "/cost.svg", "/cost.xlsx"]
    assert {tuple(nearest("/cost.pdf", order)) for order in permutations(known)} == {
        ("/cost", "/cost.png", "/cost.csv")
    }
    assert {tuple(nearest("rn7", order)) for order in permutations(["rn5", "rn9"])} == {("rn5", "rn9")}


WRONG = ",".join(f"wrong-{number}" for number in range(150))


@pytest.mark.parametrize("query", [f"recipe={WRONG}", f"region={WRONG}&instance_type={WRONG}", WRONG.replace(",", "&")])
def test_a_request_full_of_wrong_names_is_searched_for_a_few_of_them(client, searches, query):
    told = client.get(f"/cost?model=resnet50&target=0.757&{query}")
    assert told.status_code == 400
    assert sum(map(len, told.json["errors"].values())) >= 150
    assert len(searches) == MOST_SEARCHES


def test_so_are_the_rows_of_a_plan_and_a_slip_repeated_counts_once(client, searches):
    rows = "".join(f"resnet5O,0.757,{name}\n" for name in WRONG.split(","))
    told = client.post("/plan", data=f"model,target,recipe\n{rows}", content_type="text/csv").get_data(as_text=True)
    assert len(searches) == MOST_SEARCHES
    assert told.count("did you mean resnet50") == 150
