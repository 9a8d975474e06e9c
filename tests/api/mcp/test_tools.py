"""The tools, asked in memory by the SDK's own client, beside what HTTP answers."""

import json
from types import SimpleNamespace

import anyio.from_thread
import jsonschema_rs
import pytest
import yaml
from mcp.client.client import Client
from support.assistants import QUESTIONS
from support.own_training_runs import own_run
from support.prices import offer

from api.mcp.actions import ACTIONS
from api.mcp.answers import KEPT, MOST, fitting
from api.mcp.server import Desk, answered, server_of
from api.mcp.tools import RESOURCES, TOOLS
from api.stored import FixedPrices, KnownRuns
from costcalc.catalogue.catalogue import Catalogue
from own_runs.runs import CurvePoint

SMALL = 16_000
"""Characters of an answer of 4,000 tokens."""
FEW = 12_000
"""The same of the definitions of all tools together: 3,000 tokens."""
EVERY = {*(tool.name for tool in TOOLS), *(action.name for action in ACTIONS)}

COST = next(tool for tool in TOOLS if tool.name == "cost")


def beside(asked):
    """What a coroutine function answers, in a thread of its own: a browser's driver may have left a loop in this one."""
    with anyio.from_thread.start_blocking_portal() as portal:
        return portal.call(asked)


def ask(service, name, **arguments):
    """What the tool answers a client of the SDK."""

    async def asked():
        async with Client(server_of(Desk(service))) as client:
            return await client.call_tool(name, arguments)

    return beside(asked)


def found_by(service, name, **arguments):
    """The same as plain values."""
    told = ask(service, name, **arguments)
    assert not told.is_error, told.content[0].text
    return json.loads(told.content[0].text)


def listed(service):
    async def asked():
        async with Client(server_of(Desk(service))) as client:
            return (await client.list_tools()).tools

    return beside(asked)


def test_the_definitions_of_all_tools_are_short(service):
    every = listed(service)
    assert {tool.name for tool in every} == EVERY
    assert sum(len(tool.model_dump_json(exclude_none=True, by_alias=True)) for tool in every) < FEW


def test_every_tool_is_listed_with_a_schema_that_takes_its_question(service):
    schemas = {tool.name: tool.input_schema for tool in listed(service)}
    assert set(QUESTIONS) == {tool.name for tool in TOOLS}
    for name, question in QUESTIONS.items():
        assert jsonschema_rs.is_valid(schemas[name], question), name


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_answer_fits_a_conversation(service, name):
    found = ask(service, name, **QUESTIONS[name])
    assert not found.is_error
    (content,) = found.content
    assert found.structured_content is None  # it would be the same once more
    assert len(content.text) < SMALL
    assert json.loads(content.text)["whole_answer"].startswith("http://127.0.0.1:8000/")


def test_the_figures_are_those_of_http(service, client):
    found = found_by(service, "cost", model="resnet50", target=0.757, provider=["aws", "gcp"], limit=3)
    address = found["whole_answer"].removeprefix("http://127.0.0.1:8000")
    assert address == "/cost?model=resnet50&target=0.757&provider=aws&provider=gcp&limit=3"
    whole = client.get(address).get_json()
    assert next(iter(found)) == "verdict"
    assert found["verdict"] == whole["verdict"]
    assert found["count"] == whole["count"]
    assert [pick["name"] for pick in found["picks"]] == [pick["name"] for pick in whole["picks"]]
    for short, full in zip(found["estimates"], whole["estimates"], strict=True):
        assert short.keys() == {key for key in KEPT if full[key] is not None}
        assert short["billed_cost"] == full["billed_cost"]
        assert short["hours"] == pytest.approx(full["hours"], rel=1e-3)


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("models", {}, "/models"),
        ("models", {"model": "resnet18"}, "/models/resnet18"),
        ("recipes", {"model": "resnet18"}, "/models/resnet18"),
    ],
)
def test_the_address_of_a_model_has_its_name_in_the_path(service, client, name, arguments, path):
    address = found_by(service, name, **arguments)["whole_answer"]
    assert address == f"http://127.0.0.1:8000{path}"
    assert client.get(path).status_code == 200


def test_own_runs_are_listed_and_can_be_asked_about(service):
    kept = (own_run().stored(),)
    mine = service.changed(runs=KnownRuns(kept))  # as the command makes it
    (found,) = found_by(mine, "own_runs")["recipes"]
    assert (found["name"], found["metric"], found["reached"]) == (
        "my-run",
        "val_accuracy",
        pytest.approx(0.9 - 0.5**8, rel=1e-3),
    )
    answer = found_by(mine, "cost", model=found["name"], target=0.8, provider="aws")
    assert {estimate["recipe"] for estimate in answer["estimates"]} == {"my-run"}
    assert "recipes" not in found_by(service, "own_runs")


@pytest.mark.parametrize(("metric", "target"), [("val_loss", 2.5), ("bleu", 27), ("reward", -150)])
def test_targets_of_own_metrics_are_asked_for_in_their_units(service, metric, target):
    curve = tuple(CurvePoint(epoch, 600.0 * epoch, value) for epoch, value in enumerate((target * 2, target), 1))
    run = own_run(metric=metric, curve=curve, lower_is_better=target * 2 > target)
    mine = service.changed(runs=KnownRuns((run.stored(),))).seen_by(None)
    question = {"model": run.name, "target": target, "provider": "aws", "crossing": "first"}
    assert jsonschema_rs.is_valid(COST.input_schema(), question)
    assert not ask(mine, "cost", **question).is_error


def test_the_doctor_knows_old_prices(service):
    def found(**changed):
        answer = found_by(service.changed(**changed), "doctor")
        return {each["subject"]: each for each in answer["findings"]}

    fresh = FixedPrices(Catalogue.from_offers([offer(observed_at=service.clock())], "fresh"))
    assert found(prices=fresh)["prices"]["state"] == "well"
    old = found()["prices"]
    assert (old["state"], old["remedy"]) == ("worth knowing", "costcalc prices refresh")


def test_what_is_not_known_is_in_the_answer(service):
    found = found_by(service, "cost", model="resnet50", target=0.757, provider="cirrascale")
    assert {"rejections", "best_reached"} <= set(found)


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
    flags = answered(
        Desk(service), "cost", {"model": "resnet50", "target": "0.757", "frontier": True, "provider": "aws"}
    )
    lists = answered(
        Desk(service), "cost", {"model": "resnet50", "target": 0.757, "frontier": "true", "provider": ["aws"]}
    )
    assert not flags.is_error
    assert json.loads(flags.content[0].text)["estimates"] == json.loads(lists.content[0].text)["estimates"]


def test_parameters_of_sheets_are_not_offered():
    parameters = COST.parameters()
    assert not {"sep", "decimal", "excel", "format", "profile", "token"} & set(parameters)
    assert {"model", "target", "purchase", "as_of", "max_cost"} <= set(parameters)


def test_what_is_too_long_loses_the_ends_of_its_lists_and_says_so():
    found = fitting({"verdict": ["a"], "rows": [{"n": number, "text": "x" * 90} for number in range(400)]})
    assert len(json.dumps(found)) <= MOST
    assert found["left_out"] == {"rows": 400 - len(found["rows"])}


def test_the_method_and_every_parameter_can_be_read(service):
    async def read():
        async with Client(server_of(Desk(service))) as client:
            known = (await client.list_resources()).resources
            return {str(one.uri): (await client.read_resource(one.uri)).contents[0].text for one in known}

    texts = beside(read)
    assert set(texts) == {one.uri for one in RESOURCES}
    assert "8 of 10" in texts["costcalc://method"]
    assert all(f"- {name} (" in texts["costcalc://parameters"] for name in COST.parameters())


def test_a_launch_file_a_look_at_a_log_and_a_run_of_ones_own(service, tmp_path):
    told = found_by(
        service, "launch", model="resnet50", target=0.757, to="skypilot", provider="aws", run="python train.py"
    )
    assert yaml.safe_load(told["file"])["run"].strip().endswith("python train.py")
    log = tmp_path / "run.csv"
    log.write_text("epoch,seconds,top1\n1,100,0.3\n2,200,0.5\n")
    seen = found_by(service, "watch", log=str(log), rate=36, planned_epochs=10, metric="top1", target=0.5)
    assert (seen["verdict"], float(seen["spent"])) == ("reached", 2.0)
    kept = []
    keeping = service.changed(keeper=SimpleNamespace(add=lambda run, by: kept.append(run)))
    lacking = ask(keeping, "add_run", log=str(log))
    assert lacking.is_error
    assert "accelerator: missing" in lacking.content[0].text
    facts = {"dataset": "mine", "accelerator": "1xV100", "batch_size": 8, "samples_per_epoch": 80}
    assert found_by(keeping, "add_run", log=str(log), **facts)["reached"] == 0.5
    assert len(kept) == 1


def test_a_refresh_names_what_it_cannot_ask(service, tmp_path):
    desk = Desk(service, database=f"sqlite:///{tmp_path}/prices.sqlite3")
    told = answered(desk, "refresh", {"source": "awss"})
    assert told.is_error
    assert "aws" in told.content[0].text
