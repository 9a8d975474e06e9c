"""`/compare`: two machines for the same training, and the rate at which the answer turns."""

from decimal import Decimal

import pytest
from fakes.offers import offer
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.services import packaged_service

from costcalc.answers import Estimate
from costcalc.comparison import ALL, HALF, NOTHING, comparison, correlation
from costcalc.costing.bills import Bill, Terms
from costcalc.money import cents
from costcalc.query import EstimateQuery

CASE = "/compare?model=resnet50&target=0.757"
RATES = st.decimals("0.05", 100, places=2)
HOURS = st.floats(0.1, 200)
WIDTHS = st.floats(1.01, 1.5)


@pytest.fixture(scope="module")
def base():
    service = packaged_service()
    return service.answer(EstimateQuery("resnet50", 0.757, limit=1), service.catalogue()).estimates[0]


def with_figures(part, figures):
    return part._replace(**figures) if isinstance(part, tuple) else replace(part, **figures)


def changed(estimate, **parts):
    """The estimate with other figures in these parts."""
    others = {name: with_figures(getattr(estimate.parts, name), figures) for name, figures in parts.items()}
    return Estimate(replace(estimate.parts, **others))


def side(base, rate, hours, width, recipe="one"):
    bill = Bill(offer(hourly_rate=rate), Terms())
    cost, times = bill.effective(Decimal(repr(hours))), Decimal(repr(width))
    return changed(
        base,
        recipe={"name": recipe},
        candidate={"time": base.parts.candidate.time._replace(hours=hours), "calendar_hours": hours},
        machines={"bill": bill},
        money={
            "hourly_rate": rate,
            "effective": cents(cost),
            "effective_low": cost / times,
            "effective_high": cost * times,
        },
    )


@given(RATES, RATES, HOURS, HOURS, WIDTHS)
def test_comparing_b_with_a_mirrors_comparing_a_with_b(base, rate, other_rate, hours, other_hours, width):
    a, b = side(base, rate, hours, 1.2), side(base, other_rate, other_hours, width, "another")
    there, back = comparison(a, b), comparison(b, a)
    assert there.price_ratio * back.price_ratio == pytest.approx(1)
    assert there.speed_ratio * back.speed_ratio == pytest.approx(1)
    assert there.probability == pytest.approx(back.probability)
    assert there.cost_per_hour_saved == back.cost_per_hour_saved
    if a.effective_cost != b.effective_cost:
        assert {there.cheaper, back.cheaper} == {"a", "b"}
        assert (there.cheaper == "b") == (there.speed_ratio > there.price_ratio)


@given(RATES, RATES, HOURS, HOURS, WIDTHS)
def test_at_the_break_even_rate_both_cost_the_same(base, rate, other_rate, hours, other_hours, width):
    a, b = side(base, rate, hours, width), side(base, other_rate, other_hours, width)
    turns = float(comparison(a, b).break_even_hourly_rate)
    assert turns * other_hours == pytest.approx(float(rate) * hours, rel=1e-3)  # billed by the second


def test_the_probability_is_that_of_two_normal_errors(base):
    a, b = side(base, Decimal(1), 10.0, 1.2), side(base, Decimal(1), 12.0, 1.2, "another")
    assert correlation(a, b) == HALF
    assert comparison(a, b).probability == pytest.approx(0.9, abs=0.001)  # ln 1.2 apart, and as wide by 1.28 deviations


def test_errors_go_together_where_recipe_and_accelerators_are_shared(base):
    another, larger = {"name": "another"}, {"accelerators": 64}
    assert correlation(base, base) == ALL
    assert correlation(base, changed(base, recipe=another)) == HALF
    assert correlation(base, changed(base, machines=larger)) == HALF
    assert correlation(base, changed(base, recipe=another, candidate={"offer": offer()})) == NOTHING
    same, dearer = side(base, Decimal(1), 10.0, 1.2), side(base, Decimal("1.01"), 10.0, 1.2)
    assert comparison(same, dearer).probability == 1


def test_two_machines_of_one_kind_cost_more_and_say_what_an_hour_saved_costs(client):
    found = client.get(f"{CASE}&a=aws:p3.16xlarge&b=aws:p3.16xlarge:2").get_json()
    assert (found["a"]["nodes"], found["b"]["nodes"]) == (1, 2)
    assert found["cheaper"] == "a"
    assert found["price_ratio"] == 2 > found["speed_ratio"] > 1
    more = found["b"]["effective_cost"] - found["a"]["effective_cost"]
    assert found["cost_per_hour_saved"] == pytest.approx(more / (found["a"]["hours"] - found["b"]["hours"]), rel=0.01)
    assert any("pays if an hour of waiting is worth more" in sentence for sentence in found["verdict"])


def test_a_machine_of_one_s_own_against_a_rented_one(client):
    found = client.get(f"{CASE}&a=own:1x RTX 4090&b=verda:1V100.6V:spot&own_price=0").get_json()
    assert (found["a"]["provider"], found["b"]["purchase_option"]) == ("own", "spot")
    turns = found["break_even_hourly_rate"]
    assert (found["cheaper"] == "a") == (turns < found["b"]["hourly_rate"])


def test_sixty_four_processors_against_eight_gpus_on_their_own_logs(client):
    """DAWNBench's entries of 2018: 64 x c5.18xlarge cost more than one p3.16xlarge, at eight times its rate."""
    tail = "metric=top5&target=0.93&as_of=2018-10-01&overheads=none&crossing=first&confidence=0.3"
    found = client.get(f"/compare?model=resnet50&{tail}&a=aws:c5.18xlarge:64&b=aws:p3.16xlarge").get_json()
    assert found["cheaper"] == "b"
    assert found["price_ratio"] == pytest.approx(24.48 / (64 * 3.06))


def test_a_machine_that_one_provider_alone_has_needs_no_provider(client):
    alone, named = (client.get(f"{CASE}&{tail}").json for tail in (
        "a=p3.8xlarge&b=P3.16xlarge:2:on-demand", "a=aws:p3.8xlarge&b=aws:p3.16xlarge:2:on_demand"
    ))  # fmt: skip
    assert alone["a"]["provider"] == "aws"
    assert alone == named


@pytest.mark.parametrize(
    ("tail", "name", "told"),
    [
        ("b=aws:p3.16xlarge", "a", "missing: add a=aws:p4d.24xlarge"),
        (
            "a=aws&b=aws:p3.16xlarge",
            "a",
            "must be an accelerator, such as H100, provider:instance_type, such as aws:p3.16xlarge, or own:",
        ),
        ("a=awz:p3.2xlarge&b=aws:p3.16xlarge", "a", "did you mean aws"),
        ("a=aws:p3.3xlarge&b=aws:p3.16xlarge", "a", "p3.2xlarge"),
        ("a=nosuch&b=p3.16xlarge", "a", "must be an accelerator"),
        ("a=p3.2xlarge:often&b=p3.16xlarge", "a", "neither a number of machines nor a way to buy them"),
        ("a=aws:p3.2xlarge:0&b=aws:p3.16xlarge", "a", "neither a number of machines nor a way to buy them"),
        ("a=own:9xfoo&b=aws:p3.16xlarge", "a", "unknown accelerator"),
        ("a=aws:p3.2xlarge:free&b=aws:p3.16xlarge", "a", "no estimate for aws:p3.2xlarge:free"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_type(client, tail, name, told):
    response = client.get(f"{CASE}&{tail}")
    assert response.status_code == 400
    assert told in response.get_json()["errors"][name][0]


def test_an_accelerator_stands_for_the_best_that_has_it(client):
    answer = client.get(f"{CASE}&a=8x+V100&b=aws:p3.8xlarge:spot").json
    assert answer["a"]["accelerator"] in ("V100", "V100-32GB")
    assert answer["a"]["accelerators"] == 8
    asked = "accelerator=V100&accelerators=8&purchase=on_demand&basis=effective&limit=1"
    assert (
        answer["a"]["effective_cost"]
        == client.get(f"/cost?{CASE.partition('?')[2]}&{asked}").json["estimates"][0]["effective_cost"]
    )


def test_the_csv_has_a_row_for_each_machine(client):
    lines = client.get(f"{CASE.replace('compare', 'compare.csv')}&a=aws:p3.8xlarge&b=aws:p3.16xlarge").text.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["side", "a", "b"]
