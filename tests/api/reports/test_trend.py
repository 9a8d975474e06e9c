"""`/trend`: the cheapest pick of each date, and what it says about waiting."""

import math
import re
from itertools import pairwise

import pytest
from support.sampled import WHOLE, sampled

ASKED = "model=resnet50&target=0.757"
HISTORIES = ("model=resnet50&target=0.757", "model=resnet18&target=0.69", "model=vit_b16&target=0.8", "model=bert-large",
             "model=resnet50&target=0.93&metric=top5", "model=llama2-70b-lora", "model=unet3d")  # fmt: skip


@pytest.fixture(scope="module")
def trend(app):
    return app.test_client().get(f"/trend?{ASKED}").json


def test_each_point_is_the_cheapest_pick_of_its_date(client, trend):
    assert len(trend["points"]) >= 9
    for point in trend["points"][:: len(trend["points"]) - 1]:
        then = client.get(f"/cost?{ASKED}&purchase=on_demand&as_of={point['date']}").json["picks"][0]["estimate"]
        assert (point["cost"], point["estimate"]["recipe"]) == (then["billed_cost"], then["recipe"])


def test_the_machine_that_today_s_answer_names_instead_is_named(client, trend):
    cheapest = client.get(f"/cost?{ASKED}&purchase=on_demand").json["picks"][0]["estimate"]
    named = [line for line in trend["verdict"] if line.startswith("Today's answer names ")]
    assert [f"${cheapest['billed_cost']:,.2f}: " in line for line in named] == [True] * (
        cheapest["billed_cost"] > trend["points"][-1]["cost"]
    )


def test_each_point_is_what_cost_answers_as_of_that_day_and_says_what_changed(client):
    compared = 0
    for asked in sampled(HISTORIES, one_in=3):
        points = client.get(f"/trend?{asked}&as_of=2026-11-20").json["points"]
        compared += len(points)
        for before, point in zip([None, *points], points, strict=False):
            answer = client.get(f"/cost?{asked}&purchase=on_demand&as_of={point['date'][:10]}").json
            each = answer["picks"][0]["estimate"]
            assert (point["cost"], point["hours"]) == (each["billed_cost"], each["calendar_hours"])
            assert point["estimate"]["instance_type"] == each["instance_type"]
            then = before and before["estimate"]
            if before and point["change"] is None:
                assert (point["cost"], then["recipe"]) == (before["cost"], each["recipe"])
            elif before:
                assert " instead of " in point["happened"] or point["happened"] == "newer measurements"
                assert (point["change"] == "chips") == (then["instance_type"] != each["instance_type"])
    assert compared >= (40 if WHOLE else 15)


def test_what_was_worked_out_once_is_not_worked_out_again(app, client, monkeypatch):
    def answers():
        return client.get(f"/trend?model=resnet18&target=0.69&as_of=2026-11-20&_={len(asked)}").json["points"]

    asked = []
    first = answers()
    monkeypatch.setattr(type(app.extensions["costcalc"]), "answer", lambda *_: asked.append(1))
    assert answers() == first
    assert asked == []


def test_the_drivers_multiply_to_the_whole_change(trend):
    first, last = trend["points"][0]["cost"], trend["points"][-1]["cost"]
    assert math.prod(trend["drivers"].values()) == pytest.approx(last / first)


def test_how_often_a_fall_was_followed_by_another_is_counted(trend):
    costs = [point["cost"] for point in trend["points"]]
    fell = [later <= 0.9 * earlier for earlier, later in pairwise(costs)]
    said = " ".join(trend["verdict"])
    assert f"It fell by a tenth or more in {sum(fell)} of {len(fell)} years" in said
    assert re.search(r"waiting", said, re.I)


def test_a_date_before_all_prices_has_no_point(client):
    assert client.get(f"/trend?{ASKED}&provider=runpod&as_of=2018-06-01").json["points"] == []
