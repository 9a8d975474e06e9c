"""The tools, asked in memory by the SDK's own client, beside what HTTP answers."""

import json
from dataclasses import replace

import anyio.from_thread
import jsonschema_rs
import pytest
from mcp.client.client import Client
from support.assistants import QUESTIONS
from support.own_training_runs import own_run
from support.prices import offer

from api.bootstrap import FixedPrices
from api.mcp.answers import KEPT
from api.mcp.server import answered, server_of
from api.mcp.tools import TOOLS, tool_named
from costcalc.catalogue.catalogue import Catalogue
from own_runs.runs import CurvePoint

SMALL = 24_000
"""Bytes of an answer that a conversation takes without losing its thread: about 6,000 tokens."""


def beside(asked):
    """What a coroutine function answers, in a thread of its own: a browser's driver may have left a loop in this one."""
    with anyio.from_thread.start_blocking_portal() as portal:
        return portal.call(asked)


def ask(service, name, **arguments):
    """What the tool answers a client of the SDK."""

    async def asked():
        async with Client(server_of(service)) as client:
            return await client.call_tool(name, arguments)

    return beside(asked)


def test_every_tool_is_listed_with_a_schema_that_takes_its_question(service):
    async def listed():
        async with Client(server_of(service)) as client:
            return (await client.list_tools()).tools

    schemas = {tool.name: tool.input_schema for tool in beside(listed)}
    assert set(schemas) == set(QUESTIONS) == {tool.name for tool in TOOLS}
    for name, question in QUESTIONS.items():
        assert jsonschema_rs.is_valid(schemas[name], question), name


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_answer_fits_a_conversation(service, name):
    found = ask(service, name, **QUESTIONS[name])
    assert not found.is_error
    (content,) = found.content
    assert json.loads(content.text) == found.structured_content
    assert len(content.text) < SMALL


def test_the_figures_are_those_of_http(service, client):
    found = ask(service, "cost", model="resnet50", target=0.757, provider=["aws", "gcp"], limit=7).structured_content
    whole = client.get(found["whole_answer"]).get_json()
    assert found["whole_answer"] == "/cost?model=resnet50&target=0.757&provider=aws&provider=gcp&limit=7"
    assert found["count"] == whole["count"]
    assert [pick["name"] for pick in found["picks"]] == [pick["name"] for pick in whole["picks"]]
    for short, full in zip(found["estimates"], whole["estimates"], strict=True):
        assert short == {key: full[key] for key in KEPT if full[key] is not None}


def test_own_runs_are_listed_and_can_be_asked_about(service):
    kept = (own_run().stored(),)
    mine = replace(service, runs=lambda: kept, _seen={}).seen_by(None)
    (found,) = ask(mine, "own_runs").structured_content["recipes"]
    assert (found["name"], found["metric"], found["reached"]) == ("my-run", "val_accuracy", pytest.approx(0.9 - 0.5**8))
    answer = ask(mine, "cost", model=found["name"], target=0.8, provider="aws").structured_content
    assert {estimate["recipe"] for estimate in answer["estimates"]} == {"my-run"}
    assert ask(service, "own_runs").structured_content["recipes"] == []


@pytest.mark.parametrize(("metric", "target"), [("val_loss", 2.5), ("bleu", 27), ("reward", -150)])
def test_targets_of_own_metrics_are_asked_for_in_their_units(service, metric, target):
    curve = tuple(CurvePoint(epoch, 600.0 * epoch, value) for epoch, value in enumerate((target * 2, target), 1))
    run = own_run(metric=metric, curve=curve, lower_is_better=target * 2 > target)
    mine = replace(service, runs=lambda: (run.stored(),), _seen={}).seen_by(None)
    question = {"model": run.name, "target": target, "provider": "aws", "crossing": "first"}
    assert jsonschema_rs.is_valid(tool_named("cost").input_schema(), question)
    assert not ask(mine, "cost", **question).is_error


def test_the_doctor_knows_old_prices(service):
    def found(**changed):
        answer = ask(replace(service, **changed), "doctor").structured_content
        return {each["subject"]: each for each in answer["findings"]}

    fresh = FixedPrices(Catalogue.from_offers([offer(observed_at=service.clock())], "fresh"))
    assert found(prices=fresh)["prices"]["state"] == "well"
    old = found()["prices"]
    assert (old["state"], old["remedy"]) == ("worth knowing", "costcalc prices refresh")


def test_what_is_not_known_is_in_the_answer(service):
    found = ask(service, "cost", model="resnet50", target=0.757, provider="cirrascale").structured_content
    assert {"rejections", "rejection_units", "hints", "best_reached"} <= set(found)
    assert "gaps" in found["prices"]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("cost", {"model": "resnet50", "target": 757}, "such as 0.757 or 75.7%"),
        ("cost", {"model": "resnet5O", "target": 0.757}, "resnet50"),
        ("cost", {"model": "resnet50", "target": 0.757, "providr": "aws"}, "provider"),
        ("cost", {"model": "resnet50", "target": 0.757, "sep": ";"}, "sep: this says how a sheet looks"),
        ("recipes", {}, "missing: write a model"),
        ("cots", {}, "cost"),
    ],
)
def test_a_wrong_question_is_answered_by_what_to_write(service, name, arguments, told):
    found = ask(service, name, **arguments)
    assert found.is_error
    assert told in found.content[0].text


def test_parameters_may_be_words_numbers_flags_or_lists(service):
    flags = answered(service, "cost", {"model": "resnet50", "target": "0.757", "frontier": True, "provider": "aws"})
    lists = answered(service, "cost", {"model": "resnet50", "target": 0.757, "frontier": "true", "provider": ["aws"]})
    assert not flags.is_error
    assert flags.structured_content["estimates"] == lists.structured_content["estimates"]


def test_parameters_of_sheets_are_not_offered():
    parameters = tool_named("cost").parameters()
    assert not {"sep", "decimal", "excel", "format", "profile", "token"} & set(parameters)
    assert {"model", "target", "purchase", "as_of", "max_cost"} <= set(parameters)
