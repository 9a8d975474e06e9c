"""Every parameter says what to type when it is wrong, and reads what people type when it is right."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from api.questions.parsing import parse
from api.questions.schemas import AccuracySchema, CostSchema, LayoutSchema, ThroughputSchema, layout
from api.questions.suggestions import CALLED, Guesses, squeeze
from costcalc.offers import PurchaseOption
from costcalc.query import Discount
from costcalc.training import Metric

COST = CostSchema()


def values(**given):
    found, errors = parse(COST, {"model": ["resnet50"], "target": ["0.757"], **_lists(given)}, Guesses())
    assert errors == {}
    return found


def errors(**given):
    return parse(COST, {"model": ["resnet50"], "target": ["0.757"], **_lists(given)}, Guesses())[1]


def _lists(given):
    return {name: value if isinstance(value, list) else [value] for name, value in given.items()}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("75.7", "write the fraction 0.757"),
        ("75.7%", "write the fraction 0.757"),
        ("93", "write the fraction 0.93"),
        ("0,757", "must have a decimal point, as in 0.757"),
        ("0", "above 0 and below 1"),
        ("1", "above 0 and below 1"),
        ("-0.5", "above 0 and below 1"),
        ("100", "above 0 and below 1"),
        ("nan", "above 0 and below 1"),
        ("inf", "above 0 and below 1"),
        ("1e400", "above 0 and below 1"),
        ("1e-400", "above 0 and below 1"),
        ("0_7", "above 0 and below 1"),
        ("٠.٧", "above 0 and below 1"),
        ("best", "for example 0.757"),
    ],
)
def test_a_target_that_is_no_fraction_is_told_which(text, says):
    assert says in errors(target=text)["target"][0]


@pytest.mark.parametrize("text", ["0.757", ".757", "7.57e-1", "+0.757", " 0.757 "])
def test_targets_that_mean_the_same(text):
    assert values(target=text)["target"] == 0.757


def test_required_parameters_are_asked_for_with_an_example():
    assert parse(COST, {}, Guesses())[1] == {
        "model": ["missing: add model=resnet50"],
        "target": ["missing: add target=0.757"],
    }


def test_a_blank_value_counts_as_not_given():
    assert values(provider="", limit=" ", region=",") == values(region=",")
    assert "missing" in errors(target="")["target"][0]


def test_misspelt_parameters_name_the_nearest():
    found = errors(acelerator="V100", pruchase="spot", zzz="1")
    assert "did you mean accelerator" in found["acelerator"][0]
    assert "purchase" in found["pruchase"][0]
    assert "/docs" in found["zzz"][0]


@pytest.mark.parametrize(
    ("called", "name"),
    [("gpus", "accelerators"), ("gpu_count", "accelerators"), ("num-gpus", "accelerators"), ("GPU", "accelerator"),
     ("price", "max_cost"), ("budget", "max_cost"), ("hours", "max_hours"), ("accuracy", "target"), ("date", "as_of"),
     ("cloud", "provider"), ("instance", "instance_type"), ("machines", "nodes")],
)  # fmt: skip
def test_what_people_call_a_parameter_leads_to_its_name(called, name):
    assert errors(**{called: "8"})[called] == [f'unknown parameter "{called}": did you mean {name}?']


def test_only_parameters_of_the_path_are_suggested():
    assert parse(AccuracySchema(), {"price": ["8"]}, Guesses())[1]["price"] == [
        'unknown parameter "price": did you mean budget?'
    ]
    assert parse(ThroughputSchema(), {"gpus": ["8"]}, Guesses())[1]["gpus"] == [
        'unknown parameter "gpus": see /docs for all of them'
    ]


def test_each_word_leads_to_parameters_that_there_are():
    known = {name for schema in (CostSchema(), AccuracySchema()) for name in schema.fields}
    assert set(CALLED) <= known
    words = {word for words in CALLED.values() for word in words.split()}
    assert words == {squeeze(word) for word in words}


def test_cache_busters_are_ignored():
    assert errors(_="123", _update="x") == {}


def test_single_parameters_may_be_given_once():
    assert errors(target=["0.7", "0.8"])["target"] == ["given 2 times: give it once"]


def test_lists_repeat_or_take_commas_and_lose_duplicates():
    assert values(purchase=["spot", "on_demand,SPOT", "On-Demand"])["purchase"] == (
        PurchaseOption.SPOT,
        PurchaseOption.ON_DEMAND,
    )


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("limit", "0", "whole number from 1 to 1000"),
        ("limit", "1000000", "whole number from 1 to 1000"),
        ("limit", "2.5", "whole number"),
        ("limit", "1e999999", "whole number"),
        ("offset", "-1", "from 0"),
        ("max_hours", "0", "above 0"),
        ("max_cost", "-5", "above 0"),
        ("confidence", "1", "below 1"),
        ("confidence", "0", "above 0"),
        ("utilization", "1.1", "to 1"),
        ("utilization", "-0.1", "from 0"),
        ("nodes", "0", "from 1"),
        ("max_price_age", "x", "whole number"),
        ("metric", "top2", "did you mean top1 or top5"),
        ("purchase", "spto", "did you mean spot"),
        ("payment", "upfront", "no_upfront"),
        ("crossing", "last", "sustained"),
        ("term", "2mo", "1mo, 3mo, 6mo, 1y"),
        ("term", "0d", "14d"),
        ("frontier", "maybe", "true or false"),
        ("as_of", "2018-13-01", "2018-04-26"),
        ("as_of", "last week", "2018-04-26"),
        ("as_of", "20180426", "2018-04-26"),
        ("as_of", "2018-04-26T25:00", "2018-04-26"),
        ("as_of", "0001-01-01T00:00:00+14:00", "2018-04-26"),
        ("discount", "1", "0.12 or aws:0.12"),
        ("discount", ":0.1", "aws:0.12"),
        ("discount", "aws:ten", "0.12 or aws:0.12"),
        ("currency", "dollars", "USD or EUR"),
        ("sep", "&", ", ; | tab"),
        ("decimal", ";", ". or ,"),
    ],
)
def test_bad_values_say_what_to_type(name, text, says):
    assert says in errors(**{name: text})[name][0]


def test_long_values_are_refused_without_being_repeated():
    for name in COST.fields:
        message = parse(COST, {name: ["x" * 10_000]}, Guesses())[1][name][0]
        assert len(message) < 250, name


def test_many_values_are_refused():
    assert "at most 200" in errors(region=",".join(f"r{n}" for n in range(300)))["region"][0]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2018-04-26", datetime(2018, 4, 26, 23, 59, 59, tzinfo=UTC)),
        ("2018-04-26T12:30", datetime(2018, 4, 26, 12, 30, tzinfo=UTC)),
        ("2018-04-26T12:30:05Z", datetime(2018, 4, 26, 12, 30, 5, tzinfo=UTC)),
        ("2018-04-26T12:30:00+02:00", datetime(2018, 4, 26, 10, 30, tzinfo=UTC)),
        ("2018-04-26T12:30:00 02:00", datetime(2018, 4, 26, 10, 30, tzinfo=UTC)),  # a plus that nobody escaped
        ("2018-04-26 12:30:00", datetime(2018, 4, 26, 12, 30, tzinfo=UTC)),
    ],
)
def test_dates_mean_their_end_and_date_times_themselves(text, moment):
    assert values(as_of=text)["as_of"] == moment


def test_choices_flags_terms_and_money_have_their_types():
    found = values(metric="TOP5", frontier="Yes", term="1Y,014d", max_cost="99.90", limit="20.0")
    assert found["metric"] is Metric.TOP5
    assert (found["frontier"], found["term"], found["max_cost"]) == (True, ("1y", "14d"), Decimal("99.90"))
    assert (found["limit"], type(found["limit"])) == (20, int)


def test_discounts_for_all_and_for_one_provider():
    assert values(discount=["0.05,AWS:0.12", "aws:0.1"])["discount"] == (
        Discount(Decimal("0.05")),
        Discount(Decimal("0.12"), "aws"),
    )


def test_a_decimal_comma_brings_a_semicolon_unless_told_otherwise():
    def chosen(**given):
        return layout(parse(LayoutSchema(), _lists(given), Guesses())[0])

    assert chosen(decimal=",").sep == ";"
    assert chosen(decimal=",", sep="tab").sep == "\t"
    assert chosen().sep == ","
