"""An answer that finds little says which change of the question brings most back, and what each change finds is true."""

from datetime import date, timedelta
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine import answer
from support.services import packaged_catalogue, packaged_service

from api.forms.cost import CostReport, cost_report
from api.reports.left_out import MOST_HINTS, MOST_TRIES, WORDS, left_out, nothing
from api.service import COST
from costcalc.units import in_words

SERVICE = packaged_service()


def asked(service=SERVICE, **parameters):
    """The answer to a question about resnet50 unless another model is named."""
    given = {"model": "resnet50", "target": "0.757"} | parameters
    catalogue = service.catalogue()
    values, _ = service.parse(COST, {name: [value] for name, value in given.items()}, catalogue)
    return cost_report(service, catalogue, values).answer


def test_a_target_that_recipes_reach_too_seldom_is_told_by_the_likeliest():
    told = nothing(asked(model="mobilenet_v2", target="0.72"))
    assert told == ("no recipe of mobilenet_v2 reaches 72 % in 90 % of runs; gluoncv-mobilenetv2-1.0 does in 48 %")


def test_a_task_without_a_speed_is_not_said_to_have_another_target():
    found = asked(model="bert-large", target="0.72", metric="mlm_accuracy", accelerator="Trainium", accelerators="16")
    assert nothing(found).startswith("no estimate answers this question; left out: offers ")


def of_query_string(query_string, service=SERVICE):
    """What the question behind a hint finds."""
    values, _ = service.parse(COST, parse_qs(query_string.removeprefix("?")), service.catalogue())
    return cost_report(service, service.catalogue(), values).answer


@pytest.mark.parametrize(
    ("parameters", "change"),
    [
        ({"accelerator": "RTX 2080 Ti"}, "max_price_age=2100"),
        ({"accelerator": "RTX 2080 Ti"}, "as_of=2021-05-20"),
        ({"accelerator": "RTX 2080 Ti", "as_of": "2019-06-01"}, "as_of=2021-05-20"),
        ({"accelerator": "TPU v3", "provider": "aws"}, "without accelerator"),
        ({"purchase": "spot", "term": "3y"}, "without term"),
        ({"max_hours": "0.001"}, "without max_hours"),
        ({"max_cost": "0.001", "purchase": "on_demand"}, "without max_cost"),
        ({"target": "0.85"}, "target=0.803"),
        ({"recipe": "riseml-2018-v100"}, "confidence=0.5"),
        ({"recipe": "riseml-2018-v100", "target": "0.764"}, "without recipe"),
        ({"accelerators": "7"}, "without accelerators"),
        ({"nodes": "1000"}, "without nodes"),
        ({"provider": "kaggle"}, "purchase=free"),
        ({"as_of": "2017-06-01", "accelerator": "H100"}, "without as_of"),
        ({"max_price_age": "0"}, "max_price_age=100"),
        ({"provider": "gcp", "region": "us-east-1", "max_cost": "0.01"}, "without max_cost"),
        (
            {"provider": "gcp", "instance_type": "p3.2xlarge", "max_cost": "0.01"},
            "without provider, instance_type, max_cost",
        ),
        ({"model": "vit_ti16", "target": "0.72"}, "model=deit_tiny"),
        ({"model": "mobilenet_v2", "target": "0.72"}, "target=0.717"),
        ({"model": "mobilenet_v2", "target": "0.72", "accelerator": "T4"}, "confidence=0.45"),
        ({"model": "resnetaa50d", "target": "0.8"}, "model=resnet50_v1c, target=0.775"),
    ],
)
def test_nothing_found_names_a_change_that_finds_something(parameters, change):
    found = asked(**parameters)
    assert found.count == 0
    [hint] = [hint for hint in found.hints if hint.change == change]
    assert 0 < hint.count == of_query_string(hint.query_string).count
    assert f"{hint.count:,} estimate" in hint.sentence
    told = "at today's prices" if change == "without as_of" else change.replace("without ", "without a filter on ")
    assert told in hint.sentence


def test_a_network_that_nobody_had_trained_by_then_is_told_so():
    first, instead, *_ = asked(model="convnext_base", target="0.83", as_of="2019-01-01").verdict
    assert first.startswith("No top-1 curve of convnext_base was published by 2019-01-01")
    assert instead.endswith("estimates at today's prices.")


def test_a_limit_is_told_with_the_least_that_meets_it():
    [hint] = asked(max_hours="0.001").hints
    fastest = next(pick.estimate for pick in asked(limit="1").picks if pick.name == "fastest")
    assert hint.sentence.endswith(f"without a filter on max_hours, the fastest in {in_words(fastest.calendar_hours)}.")
    [hint] = [hint for hint in asked(max_cost="0.001", purchase="on_demand").hints if hint.change == "without max_cost"]
    cheapest = asked(purchase="on_demand", limit="1").estimates[0]
    assert hint.sentence.endswith(f"without a filter on max_cost, the cheapest at ${cheapest.billed_cost:,.2f}.")


def test_a_network_without_recipes_is_told_which_one_is_the_same():
    [hint] = asked(model="vit_ti16", target="0.72").hints
    assert hint.sentence.endswith(
        " with model=deit_tiny: vit_ti16 has no recipe yet, and deit_tiny is the same network."
    )


def test_changes_that_keep_every_filter_come_first_then_those_that_bring_more():
    hints = asked(provider="aws", purchase="spot", max_cost="50", max_hours="4").hints
    drops = ["without" in hint.change for hint in hints]
    assert drops == sorted(drops)
    for kind in (True, False):
        counts = [hint.count for hint in hints if ("without" in hint.change) is kind]
        assert counts == sorted(counts, reverse=True)


def test_of_a_few_only_what_was_left_out_is_brought_back():
    least = min(each.billed_cost for each in asked(limit="1000", purchase="on_demand").estimates)
    few = asked(max_cost=str(least), purchase="on_demand")
    assert 0 < few.count < 3
    assert [hint.change for hint in few.hints if "max_price_age" not in hint.change and "as_of" not in hint.change] == [
        "without max_cost"
    ]


def counting(service, **parameters):
    """The answer, and how many questions were answered for it."""
    asked_for = []

    class Counting(type(service)):
        def answered(self, asked):
            asked_for.append(asked.query)
            return super().answered(asked)

    return asked(Counting(service.evidence, service.prices, service.clock, service.sources), **parameters), asked_for


def test_an_answer_with_enough_estimates_asks_nothing_more():
    found, questions = counting(SERVICE)
    assert found.count > 3
    assert found.hints == ()
    assert len(questions) == 1
    frontier, questions = counting(SERVICE, frontier="true", instance_type="p3.8xlarge", purchase="on_demand")
    assert frontier.hints == ()
    assert len(questions) == 1


def test_at_most_twelve_questions_are_asked():
    everything = {"provider": "aws", "region": "us-east1", "instance_type": "p3.2xlarge", "accelerator": "T4",
                  "recipe": "riseml-2018-v100", "accelerators": "64", "nodes": "3", "purchase": "spot", "term": "3y",
                  "payment": "no_upfront", "max_hours": "0.1", "max_cost": "0.1", "target": "0.9"}  # fmt: skip
    found, questions = counting(SERVICE, **everything)
    assert len(questions) <= 1 + MOST_TRIES
    assert found.hints


def test_of_several_changes_together_those_that_cost_least_come_first():
    hint = asked(SERVICE, model="vit_l16", target="0.85", accelerator="TPU v4").hints[0]
    assert "accelerator" not in hint.change
    assert "confidence" not in hint.change


@pytest.mark.parametrize("years", [1, 3, 10])
def test_prices_that_have_all_grown_old_are_still_found(years):
    later = SERVICE.changed(clock=lambda: SERVICE.clock() + timedelta(days=366 * years))
    found = asked(later)
    if years > 1:
        assert found.count == 0
        assert {hint.change.partition("=")[0] for hint in found.hints} == {"max_price_age", "as_of"}
        assert all(of_query_string(hint.query_string, later).count == hint.count > 0 for hint in found.hints)


NAMES = SERVICE.names(SERVICE.catalogue())
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "provider": st.sampled_from(NAMES.provider),
        "region": st.sampled_from(NAMES.region),
        "accelerator": st.sampled_from(NAMES.accelerator),
        "purchase": st.sampled_from(["spot", "reserved", "on_demand", "monthly"]),
        "max_hours": st.sampled_from(["0.1", "5"]),
        "max_cost": st.sampled_from(["0.5", "20"]),
        "as_of": st.dates(date(2018, 1, 1), date(2026, 11, 1)).map(str),
        "target": st.sampled_from(["0.757", "0.78", "0.9"]),
    },
)


@given(parameters=FILTERS)
@settings(max_examples=15, deadline=None)
def test_no_question_is_a_dead_end(parameters):
    found = asked(**parameters)
    assert found.count or 1 <= len(found.hints) <= MOST_HINTS
    for hint in found.hints:
        assert of_query_string(hint.query_string).count == hint.count > found.count


@pytest.mark.parametrize("target", ["0.5", "0.9"])
def test_a_network_whose_speed_nobody_measured_leads_to_one_alike(target):
    hint, *_ = asked(model="mobilenet_v2_0_25", target=target).hints
    assert hint.change.startswith("model=mobilenet_0_25")
    why = "mobilenet_v2_0_25 has no measured speed yet, and mobilenet_0_25 is the nearest of its family."
    assert hint.sentence.endswith(f": {why}")


def test_of_two_steps_that_bring_back_as_much_the_nearer_one_is_named():
    changes = [hint.change for hint in asked(model="coat_lite_tiny", target="0.7734").hints]
    assert [change for change in changes if change.startswith("confidence")] == ["confidence=0.8"]


def test_the_engine_itself_gives_no_hints():
    report = CostReport(SERVICE, packaged_catalogue(), asked(max_hours="0.001").query)
    assert answer(report.query, SERVICE.evidence, packaged_catalogue(), SERVICE.clock()).hints == ()


def test_what_was_left_out_is_told_in_words():
    told = left_out(asked(max_hours="2", provider="aws", purchase="on_demand"))
    assert "recipes that never reach the target (" in told
    assert "offers last seen more than 540 days earlier (" in told
    assert "runs of more than 2.0 h (" in told
    assert "_" not in told


def test_every_reason_has_its_words():
    for parameters in (
        {},
        {"target": "0.99"},
        {"evidence": "measured"},
        {"accelerators": "7"},
        {"model": "alexnet"},
        {"max_cost": "1"},
        {"max_hours": "1"},
        {"as_of": "2018-04-26"},
        {"provider": "aws", "accelerator": "TPU v3"},
    ):
        reasons = set(asked(**parameters).rejections)
        assert reasons
        assert reasons <= set(WORDS)
