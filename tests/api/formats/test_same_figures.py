"""Questions asked everywhere: JSON, CSV, FOCUS, command line, Slack and plans agree to the cent."""

import csv
import io
import json
import re
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from urllib.parse import parse_qsl

import pytest
from click.testing import CliRunner
from support.sampled import sampled
from support.services import packaged_service
from support.slack import answered, table_of

from api.cli import answers as terminal
from api.cli.main import main

GOALS = (
    ("resnet50", "0.757"),
    ("resnet50", "0.764"),
    ("resnet50", "0.749"),
    ("resnet18", "0.70"),
    ("resnet50", "0.93&metric=top5"),
)
TERMS = (
    "",
    "provider=aws,gcp&purchase=on_demand",
    "currency=EUR&provider=aws,azure",
    "currency=JPY&purchase=savings_plan,committed_use,reserved&utilization=0.4",
    "runs=20&provider=aws&purchase=on_demand,savings_plan&basis=effective",
    "runs=300&discount=aws:0.12&provider=aws,lambda&storage_gb=149&egress_gb=25",
    "storage_gb=149&storage_rate=0.031&currency=GBP&fx=GBP:0.77&sort=time",
    "purchase=monthly,capacity_block,spot&max_price_age=3650&regions=all&discount=0.07",
    "frontier=true&overheads=none&crossing=first&recipes=all",
    "as_of=2018-10-01&sort=time&crossing=first&max_hours=400",
)
FIFTY = [f"model={model}&target={target}&limit=5&{terms}".rstrip("&") for model, target in GOALS for terms in TERMS]
QUESTIONS = sampled(FIFTY, one_in=3)  # of each of the terms, and of each goal
COSTS = tuple(f"{kind}_cost{end}" for kind in ("billed", "effective") for end in ("", "_low", "_high"))
HOURS = ("hours", "hours_low", "hours_high")
CENT = Decimal("0.01")


def cents(value):
    return Decimal(str(value)).quantize(CENT, ROUND_HALF_UP)


@pytest.fixture(scope="module")
def asked(slack_app):
    """Every question with its estimates by JSON."""
    client = slack_app.test_client()
    answers = {query: json.loads(client.get(f"/cost?{query}").data, parse_float=Decimal) for query in QUESTIONS}
    return {query: answer["estimates"] for query, answer in answers.items()}


@pytest.fixture
def client(slack_app):
    return slack_app.test_client()


def figures(estimate):
    return [cents(estimate[name]) for name in COSTS]


def as_read(rows):
    return [figures(row) for row in rows]


def test_nearly_all_questions_have_an_answer(asked):
    assert len(FIFTY) == 50
    assert sum(bool(estimates) for estimates in asked.values()) >= 0.9 * len(asked)
    assert sum(map(len, asked.values())) > 4 * len(asked)


@pytest.mark.parametrize("query", QUESTIONS)
def test_components_add_up_and_hours_times_rate_are_the_effective_cost(asked, query):
    beside = {"data set storage", "data egress"}
    for each in asked[query]:
        assert sum(line["amount"] for line in each["components"]) == each["billed_cost"]
        extra = sum(line["amount"] for line in each["components"] if line["name"] in beside)
        effective = Decimal(str(each["hours"])) * Decimal(str(each["hourly_rate"])) + extra
        assert abs(effective - each["effective_cost"]) <= Decimal("0.02")


@pytest.mark.parametrize("query", QUESTIONS)
def test_csv(client, asked, query):
    rows = list(csv.DictReader(io.StringIO(client.get(f"/cost.csv?{query}").text)))
    assert as_read(rows) == as_read(asked[query])
    for row, each in zip(rows, asked[query], strict=True):
        assert [float(row[name]) for name in HOURS] == pytest.approx([float(each[name]) for name in HOURS], rel=1e-5)


@pytest.mark.parametrize("query", QUESTIONS)
def test_focus(client, asked, query):
    rows = list(csv.DictReader(io.StringIO(client.get(f"/cost.csv?{query}&profile=focus").text)))
    ranges = {int(row["x_Rank"]): (Decimal(row["x_CostLow"]), Decimal(row["x_CostHigh"])) for row in rows}
    assert ranges == {each["rank"]: (each["billed_cost_low"], each["billed_cost_high"]) for each in asked[query]}
    billed = {
        int(rank): sum(Decimal(row["BilledCost"]) for row in charges)
        for rank, charges in groupby(rows, key=lambda row: row["x_Rank"])
    }
    assert billed == {each["rank"]: each["billed_cost"] for each in asked[query]}


@pytest.mark.parametrize("query", QUESTIONS)
def test_command_line(monkeypatch, tmp_path, asked, query):
    monkeypatch.setattr(terminal, "build_once", lambda settings: packaged_service())
    monkeypatch.setenv("HOME", str(tmp_path))
    given = dict(parse_qsl(query))
    flags = ["--frontier"] if given.pop("frontier", None) else []
    options = [f"--{name}={value}" for name, value in given.items() if name not in ("model", "target")]
    printed = CliRunner().invoke(main, ["cost", given["model"], given["target"], *flags, *options, "--format", "json"])
    assert printed.exit_code == 0, printed.output
    assert as_read(json.loads(printed.stdout, parse_float=Decimal)["estimates"]) == as_read(asked[query])


@pytest.mark.parametrize("query", QUESTIONS)
def test_slack(client, asked, query):
    given = dict(parse_qsl(query))
    words = [f"{name}={value}" for name, value in given.items() if name not in ("model", "target")]
    payload = answered(client, " ".join([given["model"], given["target"], *words]))
    shown = table_of(payload)[1:] if asked[query] else []
    for row, each in zip(shown, asked[query], strict=True):
        assert amounts(row[6]) == [each["billed_cost"]]
        assert amounts(row[7]) == [each["billed_cost_low"], each["billed_cost_high"]]
        decimals = 2 if each["hours"] < 100 else 1 if each["hours"] < 1000 else 0
        assert row[4].partition(" ")[0] == f"{each['hours']:,.{decimals}f}"


def amounts(text):
    return [Decimal(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.\d+", text)]


def test_plan(client, asked):
    """All questions in one sheet, which has no `frontier`: the best of each is the pick of the same question."""
    given = [
        {name: text for name, text in parse_qsl(query) if name not in ("limit", "frontier")} for query in QUESTIONS
    ]
    rows = client.post("/plan", json=given).json["rows"]
    for row, query, estimates in zip(rows, given, asked.values(), strict=True):
        assert (row["error"] is None) == bool(estimates)
        if estimates:
            picks = json.loads(client.get("/cost", query_string=query).data, parse_float=Decimal)["picks"]
            lead = "fastest" if query.get("sort") == "time" else "cheapest"
            assert figures(row["estimate"]) in [figures(pick["estimate"]) for pick in picks if pick["name"] == lead]
