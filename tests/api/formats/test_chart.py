"""Cost against time as a picture: the figures of the API, drawn without asking anybody for anything."""

import re
import struct
import sys
from xml.etree import ElementTree

import pytest

from api.formats.charts.cost_and_time import MOST_NAMED, plot
from api.formats.charts.figure import Place, stepped
from api.reports.advice import Advice

SVG = "{http://www.w3.org/2000/svg}"
ASKED = "model=resnet50&target=0.757&provider=gcp&purchase=spot"


def drawing(client, path):
    return ElementTree.fromstring(client.get(path).data)


def words(tree):
    """What a pointer finds behind the signs of a drawing."""
    return [group.get("aria-label") for group in tree.iter(f"{SVG}g") if group.get("aria-label")]


def most_shown(found):
    costs = {pick["name"]: pick["estimate"]["billed_cost"] for pick in found["picks"]}
    return max(20 * costs["balanced"], *costs.values())


def plot_of(service, given):
    catalogue = service.catalogue()
    report = Advice(service, catalogue, service.question(given, catalogue)[0])
    return plot(report.answer, report.points)


def test_the_frontier_and_the_picks_are_drawn_with_the_figures_of_the_same_question(client):
    found = client.get(f"/cost?{ASKED}&limit=1000&sort=time").json
    picked, most = {pick["estimate"]["rank"] for pick in found["picks"]}, most_shown(found)
    every = [
        each
        for each in found["estimates"]
        if (each["frontier"] and each["billed_cost"] <= most) or each["rank"] in picked
    ]
    every.sort(key=lambda each: (each["calendar_hours"], each["billed_cost"]))
    told = words(drawing(client, f"/cost.svg?{ASKED}"))
    assert len(told) == len(every)
    for each, line in zip(every, told, strict=True):
        assert (
            f"${each['billed_cost']:,.2f} (${each['billed_cost_low']:,.2f} to ${each['billed_cost_high']:,.2f})" in line
        )
        assert each["instance_type"] in line


def test_a_cost_on_the_frontier_holds_until_a_faster_one_is_dearer():
    places = [Place("10%", "20%"), Place("30%", "50%"), Place("60%", "90%")]
    assert [tuple(place) for place in stepped(places)] == [
        ("10%", "20%"), ("30%", "20%"), ("30%", "50%"), ("60%", "50%"), ("60%", "90%")
    ]  # fmt: skip


def test_effective_costs_are_drawn_where_they_are_asked_for(client):
    asked = "/cost.svg?model=resnet50&target=0.757&basis=effective&currency=EUR"
    assert "EUR share of use" in "".join(drawing(client, asked).itertext())


def test_what_is_free_has_a_place(client):
    asked = "model=resnet50&target=0.757"
    free = client.get(f"/cost?{asked}").json["free"]
    text = "".join(drawing(client, f"/cost.svg?{asked}").itertext())
    assert free
    assert all(each["provider"] in text for each in free)


def test_the_picks_are_named(client):
    picks = client.get(f"/cost?{ASKED}").json["picks"]
    labels = [text for group in drawing(client, f"/cost.svg?{ASKED}").iter(f"{SVG}g") if "names" in group.get("class", "")
              for text in group.iter(f"{SVG}text")]  # fmt: skip
    named = [text for text in labels if "more" not in text.get("class")]
    assert sorted(name for text in named for name in text[0].text.split(", ")) == sorted(pick["name"] for pick in picks)
    assert len(named) <= len(labels) <= MOST_NAMED
    for pick in picks:
        [label] = [text for text in named if pick["name"] in text[0].text.split(", ")]
        assert f"${pick['estimate']['billed_cost']:,.2f}, " in "".join(label.itertext())
        assert pick["estimate"]["frontier"] or float(label.get("dy")) < 0, "below it runs the frontier"


def test_names_of_picks_above_the_frontier_are_on_their_right_where_none_of_it_runs(client):
    asked = "model=resnet50&target=0.757"
    above = {pick["name"] for pick in client.get(f"/cost?{asked}").json["picks"] if not pick["estimate"]["frontier"]}
    labels = [text for text in drawing(client, f"/cost.svg?{asked}").iter(f"{SVG}text")
              if len(text) and above & {*(text[0].text or "").split(", ")}]  # fmt: skip
    assert above
    assert labels
    assert all("end" not in label.get("class") or float(label.get("x")[:-1]) > 64 for label in labels)


def test_what_costs_far_more_than_the_balanced_pick_is_counted(client):
    asked = "model=resnet50&target=0.757"
    found = client.get(f"/cost?{asked}&limit=1000&rates=confirmed&purchase=on_demand").json
    most = most_shown(found)
    beyond = [each for each in found["estimates"] if each["runs_here"] and each["billed_cost"] > most]
    assert beyond
    assert f"+{len(beyond)} dearer than $" in "".join(drawing(client, f"/cost.svg?{asked}").itertext())


@pytest.mark.parametrize(
    ("path", "has"),
    [
        ("/trend.svg?model=resnet18&target=0.69", "resnet18 to 0.69 top-1: the price of this training"),
        ("/accuracy.svg?model=resnet18", "resnet18: the least cost of each accuracy"),
        ("/estimate.svg?model=resnet50&target=0.757&recipe=dawnbench-fastai-rn50-p3&recipes=all", "target 0.757"),
        ("/commitments.svg?model=resnet50&target=0.757&provider=aws", "hours of use in a month of 730"),
        ("/offers/history.svg?instance_type=p3.8xlarge", "aws p3.8xlarge: rates per hour"),
    ],
)
def test_every_chart_is_drawn_with_words_behind_its_signs(client, path, has):
    tree = drawing(client, path)
    assert has in "".join(tree.itertext())
    assert words(tree)


def test_a_history_has_every_rate_that_the_api_gives(client):
    asked = "instance_type=p3.8xlarge&purchase=on_demand"
    every = client.get(f"/offers/history?{asked}").json["history"]
    told = words(drawing(client, f"/offers/history.svg?{asked}"))
    assert [float(line.split(" ")[0].replace(",", "")) for line in told] == [each["hourly_rate"] for each in every]


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


def test_a_bad_question_is_told_as_everywhere(client):
    assert client.get("/cost.png?model=resnet50&target=757").json["errors"]["target"]
    assert client.get("/cost.svg?model=nope&target=0.7").status_code == 404
    assert "use /cost for json" in client.get(f"/cost.png?{ASKED}&format=json").json["detail"]


def test_a_picture_of_no_estimates_says_so(client):
    svg, png = (client.get(f"/cost.{kind}?model=resnet50&target=0.99") for kind in ("svg", "png"))
    assert "No estimate answers this question." in "".join(ElementTree.fromstring(svg.data).itertext())
    assert (png.status_code, png.data[:4]) == (200, b"\x89PNG")


def test_a_server_without_the_extra_says_what_to_install(client, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    refused = client.get(f"/cost.png?{ASKED}&nodes=1")
    assert refused.status_code == 501
    assert "pip install 'costcalc[server]'" in refused.json["detail"]


def test_of_many_estimates_the_frontier_is_drawn_and_some_of_the_others(service, monkeypatch):
    given = {"model": ["resnet50"], "target": ["0.757"]}
    every = plot_of(service, given)
    monkeypatch.setattr("api.formats.charts.cost_and_time.MOST_DRAWN", 50)
    some = plot_of(service, given)
    assert every.one_in == 1 < some.one_in
    assert some.area.count('class="front p') == every.area.count('class="front p') > 1
    assert some.area.count("<use") < every.area.count("<use")


def test_recipes_that_differ_in_length_alone_are_one_entry_of_the_legend(client):
    drawn = client.get("/accuracy.svg?model=resnet18").text
    assert re.search(r">ffcv-rn18, \d+ to \d+ epochs</text>", drawn)
    assert not re.search(r">ffcv-rn18-\d+ep</text>", drawn)
