"""The answers in Python are those of HTTP, with its messages; a notebook shows them as a table and a picture."""

import html
import json
import subprocess
import sys
from datetime import date

import pytest
from msgspec.structs import force_setattr
from support.live_server import clean_environment
from support.services import packaged_service

import costcalc
from api.formats.json import to_json
from api.python import QUESTION, Session
from api.questions.schemas.training import CostSchema

CELLS = (
    "import costcalc\na = costcalc.cost('resnet50', 0.757, provider='aws')\na",
    "a.df()[['provider', 'billed_cost']].head(3)",
    "a.plot()",
)


@pytest.fixture(scope="module")
def session():
    return Session(packaged_service())


def test_the_figures_are_those_of_http(session, client):
    told = session.cost("ResNet-50", "75.7%", provider=["aws", "gcp"], purchase="on_demand", as_of=date(2026, 11, 1))
    query = "model=resnet50&target=0.757&provider=aws,gcp&purchase=on_demand&as_of=2026-11-01"
    whole = client.get(f"/cost?{query}").get_json()
    assert list(told.verdict) == whole["verdict"]
    assert [float(each.billed_cost) for each in told.estimates] == [each["billed_cost"] for each in whole["estimates"]]
    assert {pick["name"]: pick["estimate"]["rank"] for pick in whole["picks"]} == {
        pick.name: pick.estimate.rank for pick in told.answer.picks
    }
    assert told.cheapest == told.pick("cheapest") == told.answer.picks[0].estimate


@pytest.mark.parametrize(
    "asked",
    [
        {"model": "resnet50", "target": 0.757, "provider": "awss"},
        {"model": "resnet50", "target": 757},
        {"model": "resnex", "target": 0.7},
        {"model": "resnet50", "target": 0.757, "max_hour": 3, "spot": True},
    ],
)
def test_wrong_values_raise_with_the_message_of_http(session, client, asked):
    with pytest.raises(costcalc.Refused) as raised:
        session.cost(**asked)
    assert raised.value.detail == client.get("/cost", query_string=asked).get_json()["detail"]


def test_how_a_sheet_looks_is_no_question(session):
    assert CostSchema().fields.keys() - QUESTION.fields.keys() >= {"format", "excel", "token", "profile"}
    with pytest.raises(costcalc.Refused, match="unknown parameter"):
        session.cost("resnet50", 0.757, excel=True)


def test_what_is_not_found_is_said(session):
    told = session.cost("resnet50", 0.757, provider="aws", max_cost="0.01")
    assert told.cheapest is None
    assert not told.estimates
    assert told.verdict[0] in str(told)
    assert told.df().empty
    assert "<table>" not in told._repr_html_()


def test_the_table_is_text_and_no_markup(session):
    mine = session.cost("resnet50", 0.757, provider="lambda")
    force_setattr(mine.answer, "verdict", ("<script>alert(1)</script>",))
    assert html.escape("<script>") in mine._repr_html_()
    assert "<script>" not in mine._repr_html_()
    assert mine.cheapest.recipe in mine._repr_html_()


def test_a_notebook_asks_shows_and_draws(tmp_path):
    import nbformat  # takes two seconds, in every process that collects tests
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    patience = {"timeout": 240, "startup_timeout": 240}
    NotebookClient(notebook, **patience, resources={"metadata": {"path": str(tmp_path)}}).execute(
        env=clean_environment(tmp_path)
    )
    asked, framed, plotted = (cell.outputs[-1].data for cell in notebook.cells)
    assert "<table>" in asked["text/html"]
    assert "billed_cost" in framed["text/html"]
    assert plotted["image/svg+xml"].startswith("<svg")


def test_without_pandas_the_error_says_what_to_install():
    script = (
        "import sys; sys.modules['pandas'] = None\nimport costcalc\n"
        "try:\n    costcalc.cost('resnet50', 0.757, limit=1).df()\nexcept ImportError as error:\n    print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "a.df() needs the package pandas, run: pip install pandas\n"


@pytest.mark.parametrize(
    ("name", "asked", "path"),
    [
        ("ask", {"q": "what does an H100 cost per hour"}, "/ask"),
        ("compare", {"model": "resnet50", "target": 0.757, "a": "aws:p4d.24xlarge", "b": "H100"}, "/compare"),
        ("commitments", {"model": "resnet50", "target": 0.757, "provider": "aws", "limit": 2}, "/commitments"),
        ("trend", {"model": "resnet50", "target": 0.757, "every": "year"}, "/trend"),
        ("offers", {"accelerator": "H100", "limit": 3}, "/offers"),
        ("fit", {"model": "resnet18", "accelerator": "H100"}, "/fit"),
    ],
)
def test_other_questions_are_answered_with_the_document_of_http(session, client, name, asked, path):
    reply = getattr(session, name)(**asked) if hasattr(session, name) else session.reply(name, **asked)
    assert json.loads(to_json(reply.document)) == client.get(path, query_string=asked).json
    assert str(reply) == repr(reply) != ""
    assert getattr(reply, "verdict", None) == getattr(reply.document, "verdict", None)


def test_a_question_that_there_is_not_is_refused_with_the_nearest(session):
    with pytest.raises(costcalc.Refused, match='unknown question "trends": did you mean trend'):
        session.reply("trends", model="resnet50")


def test_a_list_is_a_table_of_pandas_and_nothing_else_is(session):
    offers = session.offers("H100", limit=3)
    assert offers.df()["accelerator"].tolist() == [each.accelerator for each in offers.document.offers]
    with pytest.raises(TypeError, match="answers no list"):
        session.compare("resnet50", "aws:p4d.24xlarge", "H100", 0.757).df()
    with pytest.raises(costcalc.Refused, match="unknown accelerator"):
        session.offers("H1000")
