"""Cost against time as a picture: the figures of the API, drawn without asking anybody for anything."""

import struct
import sys
from xml.etree import ElementTree

import pytest

from api.formats.charts import cost_and_time
from api.reports.cost import CostReport

ASKED = "model=resnet50&target=0.757&provider=gcp&purchase=spot"


@pytest.fixture(scope="module")
def spec(service):
    return spec_of(service, {"model": ["resnet50"], "target": ["0.757"], "provider": ["gcp"], "purchase": ["spot"]})


def spec_of(service, given):
    """The chart of a question."""
    catalogue = service.catalogue()
    return cost_and_time.spec(CostReport(service, catalogue, service.question(given, catalogue)[0]))


def may_be_picked(each, missed):
    """Whether an estimate meets what picks should, but for what none meets."""
    met = {
        "runs_here": each["runs_here"],
        "rentable": "purchase=" in ASKED or each["purchase_option"] == "on_demand",
        "confirmed": each["confirmed"],
    }
    return all(holds for name, holds in met.items() if name not in missed)


def test_its_points_are_the_estimates_of_the_same_question(client, spec):
    found = client.get(f"/cost?{ASKED}&limit=1000").json
    every = [each for each in found["estimates"] if may_be_picked(each, found["missed"])]
    drawn = spec["data"]["values"]
    assert [(each["rank"], each["hours"], each["frontier"]) for each in drawn] == [
        (each["rank"], each["hours"], each["frontier"]) for each in every
    ]
    for end in ("", "_low", "_high"):
        costs = [each[f"billed_cost{end}"] for each in every]
        assert [each[f"cost{end}"] for each in drawn] == pytest.approx(costs, abs=0.0051)


def test_the_line_through_the_frontier_keeps_a_cost_until_a_faster_one_is_dearer(spec):
    [line] = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert line["mark"]["interpolate"] == "step-after"
    assert line["transform"] == [{"filter": "datum.frontier"}]


def test_effective_costs_are_drawn_where_they_are_asked_for(service):
    effective = spec_of(
        service, {"model": ["resnet50"], "target": ["0.757"], "basis": ["effective"], "currency": ["EUR"]}
    )
    assert effective["layer"][1]["encoding"]["y"]["title"] == "EUR share of use"


def test_what_is_free_has_a_place(service):
    points = spec_of(service, {"model": ["resnet50"], "target": ["0.757"], "purchase": ["free"]})["data"]["values"]
    assert points
    assert all(0 < each["cost_low"] <= each["cost"] for each in points)


def test_the_picks_are_named(client, spec):
    picks = client.get(f"/cost?{ASKED}").json["picks"]
    named = {each["name"]: each["hours"] for each in spec["layer"][-1]["data"]["values"]}
    assert sorted(name for names in named for name in names.split(", ")) == sorted(pick["name"] for pick in picks)
    assert {pick["estimate"]["calendar_hours"] for pick in picks} == set(named.values())


def test_what_waits_stands_where_it_ends_on_the_calendar(service):
    given = {"model": ["efficientnet_b4"], "target": ["0.82"], "purchase": ["free"]}
    points = spec_of(service, given)["data"]["values"]
    answer = service.answer(service.question(given, service.catalogue())[0], service.catalogue())
    waiting = answer.picks[0].estimate
    assert waiting.calendar_hours > waiting.hours
    assert [points[0][name] for name in ("hours", "hours_low", "hours_high")] == [waiting.calendar_hours] * 3


def test_png(client):
    response = client.get(f"/cost.png?{ASKED}")
    assert (response.status_code, response.content_type) == (200, "image/png")
    assert response.data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", response.data[16:24])
    assert width > height > 300
    assert len(response.data) < 1_000_000
    again = client.get(f"/cost.png?{ASKED}", headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_svg_asks_nobody_for_anything(client):
    response = client.get(f"/cost.svg?{ASKED}")
    assert (response.status_code, response.content_type.partition(";")[0]) == (200, "image/svg+xml")
    tree = ElementTree.fromstring(response.data)
    assert "cost against time" in "".join(tree.itertext())
    assert "prefers-color-scheme:dark" in response.get_data(as_text=True)
    links = [value for node in tree.iter() for name, value in node.attrib.items() if name.endswith("href")]
    assert [link for link in links if not link.startswith("#")] == []


def test_nothing_of_a_drawn_picture_is_clipped_which_makes_a_png_slow(client, spec):
    assert any("params" in layer for layer in spec["layer"]), "a browser may zoom"
    assert "clip-path" not in client.get(f"/cost.svg?{ASKED}").text


def test_a_screen_reader_hears_each_estimate_once(client, spec):
    drawn = ElementTree.fromstring(client.get(f"/cost.svg?{ASKED}").data)
    told = [mark for mark in drawn.iter() if "machine: " in mark.get("aria-label", "")]
    assert len(told) == len(spec["data"]["values"])


def test_a_bad_question_is_told_as_everywhere(client):
    assert client.get("/cost.png?model=resnet50&target=757").json["errors"]["target"]
    assert client.get("/cost.svg?model=nope&target=0.7").status_code == 404
    assert "use /cost for json" in client.get(f"/cost.png?{ASKED}&format=json").json["detail"]


def test_a_picture_of_no_estimates_says_so(client):
    svg, png = (client.get(f"/cost.{kind}?model=resnet50&target=0.99") for kind in ("svg", "png"))
    assert "No estimate answers this question." in "".join(ElementTree.fromstring(svg.data).itertext())
    assert (png.status_code, png.data[:4]) == (200, b"\x89PNG")


def test_a_server_without_the_extra_says_what_to_install(client, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    refused = client.get(f"/cost.svg?{ASKED}&nodes=1")
    assert refused.status_code == 501
    assert "pip install 'costcalc[server]'" in refused.json["detail"]


def test_a_picture_that_cannot_be_drawn_is_asked_for_again(client, monkeypatch):
    monkeypatch.setattr("api.formats.charts.drawing.VEGA_LITE", "none")
    response = client.get("/cost.svg?model=resnet50&target=0.7123")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert response.json["detail"] == "the picture could not be drawn now; ask again in a few seconds"


def test_of_many_estimates_the_frontier_is_drawn_and_some_of_the_others(service, monkeypatch):
    """With regions=all&recipes=all there are 770,000: the library ran out of memory over them, and the answer was a 500."""
    given = {"model": ["resnet50"], "target": ["0.757"]}
    every = spec_of(service, given)
    monkeypatch.setattr(cost_and_time, "MOST_DRAWN", 100)
    some = spec_of(service, given)
    whole, drawn = every["data"]["values"], some["data"]["values"]
    front = [row for row in whole if row["frontier"]]
    assert len(drawn) <= 100 + len(front) < len(whole)
    assert [row for row in drawn if row["frontier"]] == front
    one_in = 1 + len(whole) // 100
    assert f"; one in {one_in} of the others is drawn" in some["title"]["subtitle"]
    assert "is drawn" not in every["title"]["subtitle"]
