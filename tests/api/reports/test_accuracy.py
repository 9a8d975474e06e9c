"""`/accuracy`: what a budget or a deadline buys is what `/cost` asks for it, and not a step more."""

import csv
import io
import re
from decimal import Decimal

import pytest

from costcalc.units import in_words

STEP = 0.0001


def get(client, more):
    response = client.get(f"/accuracy?model=resnet50&{more}")
    assert response.status_code == 200, response.text
    return response.json


@pytest.mark.parametrize(
    ("limits", "filters"),
    [
        ("budget=50", "provider=aws"),
        ("budget=10", "purchase=on_demand&currency=EUR"),
        ("max_hours=0.5", "provider=aws,gcp,azure"),
        ("budget=40&max_hours=1", "provider=gcp&purchase=on_demand,spot"),
        ("budget=3", "basis=effective&utilization=0.5&purchase=savings_plan,monthly"),
        ("budget=20", "metric=top5&as_of=2018-10-01&overheads=none"),
        ("budget=100", "runs=5&egress_gb=20&provider=aws"),
    ],
)
def test_it_is_the_last_step_that_cost_still_answers(client, limits, filters):
    found = get(client, f"{limits}&{filters}")
    accuracy = found["accuracy"]
    assert accuracy == round(accuracy, 4)
    within = f"/cost?model=resnet50&{limits.replace('budget', 'max_cost')}&{filters}"
    reached = client.get(f"{within}&frontier=true&limit=5&target={accuracy}").json
    assert found["estimates"] == reached["estimates"]
    assert reached["count"] == found["count"] > 0
    assert client.get(f"{within}&target={accuracy + STEP:.4f}").json["count"] == 0


def test_the_estimates_have_the_keys_of_cost_and_less_accuracy_never_costs_more(client):
    found = get(client, "budget=20&provider=aws")
    estimate = client.get("/cost?model=resnet50&target=0.7&limit=1").json["estimates"][0]
    assert list(found["estimates"][0]) == list(estimate)
    every = [found["estimates"][0], *found["less"]]
    for confirmed in (True, False):
        costs = [each["billed_cost"] for each in every if each["confirmed"] is confirmed]
        assert costs == sorted(costs, reverse=True)
    assert [each["target"] for each in found["less"]][:2] == [
        pytest.approx(found["accuracy"] - 0.001),
        pytest.approx(found["accuracy"] - 0.0025),
    ]
    assert f"{found['accuracy']:.4f} with " in found["message"]


def test_it_says_first_what_a_confirmed_rate_buys(client):
    message = get(client, "budget=50")["message"]
    [sure] = re.findall(r"^(0\.\d{4}) with .* Higher only with spot, ", message)
    page = client.get("/accuracy?model=resnet50&budget=50", headers={"Accept": "text/html"}).text
    assert re.findall(r'data-is="Accuracy" class="number">([\d.]+)<', page)[0] == f"{float(sure):g}"
    within = "/cost?model=resnet50&max_cost=50&limit=1"
    verdict = client.get(f"{within}&target={sure}").json["verdict"]
    assert verdict[0].startswith("Rent ")
    beyond = client.get(f"{within}&target={float(sure) + STEP:.4f}").json["verdict"]
    assert not beyond[0].startswith("Rent ")
    assert "unconfirmed" not in get(client, "budget=50&rates=confirmed&purchase=on_demand")["message"]


def test_without_limits_it_is_the_best_that_is_known(client):
    found = get(client, "provider=aws")
    assert "at any price" in found["message"]
    assert (found["budget"], found["max_hours"]) == (None, None)
    assert STEP < found["accuracy"] <= found["best_reached"]["accuracy"]


def test_it_goes_on_beyond_what_was_reached_where_cost_does(client):
    found = get(client, "provider=aws&confidence=0.2")
    assert found["accuracy"] > found["best_reached"]["accuracy"]
    assert client.get(f"/cost?model=resnet50&target={found['accuracy']}&provider=aws&confidence=0.2").json["count"]


@pytest.mark.parametrize(
    "filters", ["provider=aws", "provider=lambda&currency=EUR", "basis=effective&purchase=monthly"]
)
def test_too_little_money_is_answered_with_the_least_that_would_do(client, filters):
    found = get(client, f"budget=0.00001&{filters}")
    assert (found["accuracy"], found["estimates"], found["less"]) == (None, [], [])
    [least] = re.findall(r"costs (\d+\.\d\d) [A-Z]{3}: raise budget=", found["message"])
    assert get(client, f"budget={least}&{filters}")["accuracy"] is not None
    assert Decimal(least) > Decimal("0.01")
    assert get(client, f"budget={Decimal(least) - Decimal('0.01')}&{filters}")["accuracy"] is None


def test_too_little_time_is_answered_with_the_least_that_would_do(client):
    found = get(client, "max_hours=0.0001&budget=1000")
    [least] = re.findall(r"takes (\d+\.\d+) h: raise max_hours=", found["message"])
    assert found["accuracy"] is None
    assert get(client, f"max_hours={least}")["accuracy"] is not None


def test_a_free_tier_costs_nothing_but_says_how_long_one_waits(client):
    found = get(client, "budget=0.01&purchase=free")
    best = found["estimates"][0]
    assert best["billed_cost"] == 0
    assert best["calendar_hours"] > best["hours"]
    assert f"({in_words(best['calendar_hours'])} with waiting)" in found["message"]


def test_filters_that_leave_nothing_are_named(client):
    found = get(client, "budget=10&provider=lambda&purchase=savings_plan")
    assert (found["accuracy"], found["query"]["target"]) == (None, None)
    assert "No estimate answers this question" in found["message"]


def test_the_sheet_says_the_same(client):
    rows = list(csv.DictReader(io.StringIO(client.get("/accuracy.csv?model=resnet50&budget=20&provider=aws").text)))
    found = get(client, "budget=20&provider=aws")
    for row, estimate in zip(rows, found["estimates"], strict=True):
        assert float(row["accuracy"]) == float(row["target"]) == found["accuracy"]
        assert float(row["billed_cost"]) == estimate["billed_cost"]
    [row] = csv.DictReader(io.StringIO(client.get("/accuracy.csv?model=resnet50&budget=0.00001&provider=aws").text))
    assert row["message"].startswith("No estimate ")
    assert (row["accuracy"], row["billed_cost"]) == ("", "")


@pytest.mark.parametrize("more", ["target=0.7", "max_cost=4", "budget=0", "max_hours=-1", "frontier=true"])
def test_what_makes_no_sense_is_refused(client, more):
    assert client.get(f"/accuracy?model=resnet50&{more}").status_code == 400
