"""Every parameter says what to type when it is wrong, and reads what people type when it is right."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.forms.accuracy import AccuracySchema
from api.forms.changes import ChangesSchema
from api.forms.plan import PlanSchema
from api.forms.throughput import ThroughputSchema
from api.questions import amounts, fields
from api.questions.parsing import parse
from api.questions.schemas.layout import layout
from api.questions.schemas.training import CostSchema, LayoutSchema
from api.questions.suggestions import CALLED, Guesses, squeeze
from costcalc.offer import PurchaseOption
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
        (text, "above 0 and at most 1 or a percentage, such as 0.757 or 75.7%")
        for text in (
            "0",
            "-0.5",
            "101",
            "100.1%",
            "0%",
            "nan",
            "inf",
            "1e400",
            "1e-400",
            "0_7",
            "٠.٧",
            "75.7.1",
            "%",
            "best",
        )
    ],
)
def test_a_target_that_is_no_accuracy_is_told_how_to_write_one(text, says):
    assert says in errors(target=text)["target"][0]


@pytest.mark.parametrize(
    "text", ["0.757", ".757", "7.57e-1", "+0.757", " 0.757 ", "75.7%", "75.7", "75.7 %", "0,757", "75,7", "75,7 %"]
)
def test_targets_that_mean_the_same(text):
    assert values(target=text)["target"] == 0.757


@pytest.mark.parametrize(("text", "target"), [("1", 1), ("1%", 0.01), ("1.01", 0.0101), ("100", 1), ("0.9%", 0.009)])
def test_a_number_above_1_is_a_percentage_and_so_is_any_with_its_sign(text, target):
    assert values(target=text)["target"] == target


def test_percentages_between_commas():
    given = {"model": ["resnet50"], "target": ["75.7%,76", "0.77"]}
    assert parse(PlanSchema(), given, Guesses())[0]["target"] == (0.757, 0.76, 0.77)


@pytest.mark.parametrize(
    ("text", "hours"),
    [("2 days", 48), ("1d", 24), ("within a day", 24), ("half a day", 12), ("90min", 1.5), ("4,5", 4.5), ("1 week", 168),
     ("< 3h", 3), ("two hours", 2), ("12", 12), ("1.5", 1.5)],
)  # fmt: skip
def test_hours_may_have_a_unit(text, hours):
    assert values(max_hours=text)["max_hours"] == hours


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [("$200", 200, "USD"), ("200 $", 200, "USD"), ("1,200.50", "1200.50", None), ("1.200 €", 1200, "EUR"),
     ("99.900", "99.9", None), ("€4,5", "4.5", "EUR"), ("1.5k", 1500, None), ("50 euros", 50, "EUR"), ("80 GBP", 80, "GBP")],
)  # fmt: skip
def test_an_amount_may_name_its_currency(text, amount, currency):
    found = values(max_cost=text)
    assert (found["max_cost"], found.get("currency")) == (Decimal(amount), currency)


def test_an_amount_in_another_currency_than_the_answer_s_is_refused():
    assert values(max_cost="$5", currency="usd")["currency"] == "USD"
    told = errors(max_cost="€5", own_price="3", own="1x4090", currency="USD")
    assert told == {"max_cost": ["is in EUR and the answer in USD: write both in one currency"]}
    assert "is in GBP" in errors(max_cost="£5", own_price="€3", own="1x4090", currency="EUR")["max_cost"][0]


def test_shares_may_be_percentages():
    found = values(confidence="95%", utilization="50 %", discount="aws:12%,5%", own="1x4090", own_resale="20%")
    assert (found["confidence"], found["utilization"], found["own_resale"]) == (0.95, 0.5, Decimal("0.2"))
    assert found["discount"] == (Discount(Decimal("0.05")), Discount(Decimal("0.12"), "aws"))
    assert "whole number" in errors(limit="50%")["limit"][0]


def test_required_parameters_are_asked_for_with_an_example():
    assert parse(COST, {}, Guesses())[1] == {
        "model": ["missing: add model=resnet50"],
    }


def test_a_blank_value_counts_as_not_given():
    assert values(provider="", limit=" ", region=",") == values(region=",")
    assert "missing" in errors(model="")["model"][0]


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
    assert set(CALLED) <= known | {"format", "explain"}
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
        ("offset", "-1", "of at least 0"),
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
        ("as_of", "31.04.2018", "2018-04-26"),
        ("as_of", "04/26/2018", "2018-04-26"),
        ("max_hours", "2 moons", "above 0"),
        ("max_cost", "5 apples", "above 0"),
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
        ("2018", datetime(2018, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2020-02", datetime(2020, 2, 29, 23, 59, 59, tzinfo=UTC)),
        ("26.04.2018", datetime(2018, 4, 26, 23, 59, 59, tzinfo=UTC)),
        ("3.4.2018", datetime(2018, 4, 3, 23, 59, 59, tzinfo=UTC)),
        ("April 2018", datetime(2018, 4, 30, 23, 59, 59, tzinfo=UTC)),
        ("26 apr 2018", datetime(2018, 4, 26, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_dates_mean_their_end_and_date_times_themselves(text, moment):
    assert values(as_of=text)["as_of"] == moment


def test_what_begins_with_a_month_or_a_year_begins_with_its_first_day():
    found, _ = parse(ChangesSchema(), {"since": ["2018"], "as_of": ["2019"]}, Guesses())
    assert (found["since"].date(), found["as_of"].date()) == (date(2018, 1, 1), date(2019, 12, 31))


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


def test_the_document_allows_the_days_that_there_are():
    allowed = re.compile(fields.Moment("when").schema()["pattern"])
    days = (
        f"{year}-{month:02}-{day:02}"
        for year in (1999, 2000, 2020, 2026, 2028)
        for month in range(14)
        for day in range(33)
    )
    assert [day for day in days if bool(allowed.match(day)) != (amounts.day(day) is not None)] == []


@pytest.mark.parametrize("text", ["2026-00", "2026-00-10", "2026-03-00", "00.04.2026"])
def test_no_month_is_0_and_no_day(text):
    assert amounts.day(text) is None


SPELT = (fields.Choice, fields.Flag, fields.Moment, fields.Terms, fields.Discounts, fields.OwnRates, fields.Currency)


@pytest.mark.parametrize("name", [name for name, field in CostSchema().fields.items() if isinstance(field, SPELT)])
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_what_the_document_spells_is_taken(name, data):
    field = CostSchema().fields[name]
    told = field.schema()
    pattern = next(each["pattern"] for each in told.get("anyOf", [told]) if "pattern" in each)
    text = data.draw(st.from_regex(re.compile(pattern, re.ASCII))).strip()
    assert field.deserialize([text]) is not None if text else not field.required
