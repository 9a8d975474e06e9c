"""`/trend`: the cheapest pick of each date, and what it says about waiting."""

import math
import re
from itertools import pairwise

import pytest

ASKED = "model=resnet50&target=0.757"


@pytest.fixture(scope="module")
def trend(app):
    return app.test_client().get(f"/trend?{ASKED}").json


def test_each_point_is_the_cheapest_pick_of_its_date(client, trend):
    assert len(trend["points"]) >= 9
    for point in trend["points"][:: len(trend["points"]) - 1]:
        then = client.get(f"/cost?{ASKED}&purchase=on_demand&as_of={point['date']}").json["picks"][0]["estimate"]
        assert (point["cost"], point["estimate"]["recipe"]) == (then["billed_cost"], then["recipe"])


def test_the_drivers_multiply_to_the_whole_change(trend):
    first, last = trend["points"][0]["cost"], trend["points"][-1]["cost"]
    assert math.prod(trend["drivers"].values()) == pytest.approx(last / first)


def test_how_often_a_fall_was_followed_by_another_is_counted(trend):
    costs = [point["cost"] for point in trend["points"]]
    fell = [later <= 0.9 * earlier for earlier, later in pairwise(costs)]
    said = " ".join(trend["verdict"])
    assert f"In {sum(fell)} of {len(fell)} years it fell" in said
    assert re.search(r"waiting", said, re.I)


def test_a_date_before_all_prices_has_no_point(client):
    assert client.get(f"/trend?{ASKED}&provider=runpod&as_of=2018-06-01").json["points"] == []
