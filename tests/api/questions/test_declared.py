"""A parameter is declared once, as a field of what is asked; everything else follows from that."""

from decimal import Decimal
from typing import Annotated, Literal, get_args

import pytest
from click.testing import CliRunner
from msgspec import Struct
from support.openapi import inlined
from support.services import packaged_service

from api.cli.main import main
from api.mcp.tools import TOOLS
from api.questions.declared import fields_of
from api.questions.fields import Choice, Choices, Cost, Flag, Hours, Names, Number, NumberOrWord, Text
from api.questions.schemas.training import CostSchema
from api.questions.themes import dashed
from api.web.app import create_app
from api.web.interface import openapi
from api.web.interface.documents import shortened
from costcalc.parameters import Param, Part
from costcalc.query import DECLARED, DEFAULTS, EstimateQuery, parameters_of, reset

SETTLED = {"target_of", "method_of"}  # by the edge, never asked for
MINE = "model=resnet50&target=0.757&own=1xRTX4090&own_price=2000"


class Dummies(Struct):
    """A parameter of every type."""

    text: Annotated[str | None, Param("any text", "goal")] = None
    names: Annotated[tuple[str, ...], Param("some names", "goal")] = ()
    flag: Annotated[bool, Param("whether", "goal")] = False
    whole: Annotated[int | None, Param("how many", "goal", 3, low=1, high=9)] = None
    share: Annotated[float, Param("which share", "goal", 0.5, "share", above=0, below=1)] = 0.5
    paid: Annotated[Decimal | None, Param("how much", "goal", 3, "money", low=0, high=9)] = None
    lasts: Annotated[float | None, Param("how long", "goal", 3, "hours", low=0, high=9)] = None
    word: Annotated[Literal["a", "b"], Param("which word", "goal")] = "a"
    words: Annotated[tuple[Part, ...], Param("which words", "goal")] = ()
    either: Annotated[float | Literal["a"], Param("a word for a number", "goal", 3, low=0, high=9)] = "a"
    needed: Annotated[str | None, Param("a text of some", "goal", words=("x", "y"))] = None


def test_a_parameter_of_every_type_has_its_field():
    kinds = {name: type(field) for name, field in fields_of(Dummies).items()}
    assert kinds == {
        "text": Text, "names": Names, "flag": Flag, "whole": Number, "share": Number, "paid": Cost, "lasts": Hours,
        "word": Choice, "words": Choices, "either": NumberOrWord, "needed": Choice,
    }  # fmt: skip
    share = fields_of(Dummies)["share"]
    assert (share.parse("20%"), share.open_low, share.open_high) == (0.2, True, True)


def test_every_field_of_the_question_is_declared():
    assert {*EstimateQuery.__struct_fields__} - DECLARED.keys() == SETTLED
    assert DECLARED.keys() <= CostSchema().fields.keys()


def test_what_is_declared_stands_in_the_help_the_interface_and_the_assistants_list():
    shown = CliRunner().invoke(main, ["cost", "--help-all"], env={"COLUMNS": "200"}).output
    (asked,) = (tool.parameters() for tool in TOOLS if tool.name == "cost")
    described = {
        each["name"]: each["description"]
        for each in inlined(shortened(openapi.described(False, "")))["paths"]["/cost"]["get"]["parameters"]
    }
    for name, each in DECLARED.items():
        assert name in ("model", "target") or f"--{dashed(name)}" in shown
        assert described[name] == each.param.meaning
        assert name in asked or each.param.part == "words"


def test_resetting_parts_of_a_question_gives_their_defaults():
    asked = EstimateQuery("resnet50", 0.7, provider=("aws",), max_cost=Decimal(5), epochs=9)
    question = reset(asked, "machine", "limit", limit=3)
    assert question == EstimateQuery("resnet50", 0.7, epochs=9, limit=3)
    assert {name for part in get_args(Part) for name in parameters_of(part)} - DEFAULTS.keys() == {"model", "target"}


@pytest.fixture(scope="module")
def client():
    return create_app(packaged_service()).test_client()


BESIDE = (
    "provider=aws", "term=1y", "payment=no_upfront", "available=true", "max_price_age=1", "rates=confirmed",
    "accelerator=T4&max_cost=9000",
    "region=us-east-1", "accelerators=1", "accelerator=T4&regions=all", "accelerator=T4&sort=time", "purchase=spot",
    "accelerator=T4&max_hours=40",
)  # fmt: skip


@pytest.mark.parametrize("beside", BESIDE)
def test_break_evens_are_the_same_whatever_filters_stand_beside_them(client, beside):
    def break_even(question):
        rows = client.get(f"/cost?{question}&limit=1000").json["estimates"]
        return {each["break_even_hours"] for each in rows if each["purchase_option"] == "owned"}

    assert break_even(f"{MINE}&{beside}") == break_even(MINE) != {None}


def test_rates_that_nobody_confirms_are_counted_as_such_and_a_hint_brings_them_back(client):
    asked = "/cost?model=resnet50&target=0.757&provider=genesis-cloud"
    few, none = client.get(asked).json, client.get(f"{asked}&rates=confirmed").json
    assert (few["count"] > 0, none["count"]) == (True, 0)
    assert none["rejections"]["unconfirmed_price"] > 0
    assert "without rates" in [each["change"] for each in none["hints"]]
    assert "540 days" not in " ".join(none["verdict"])
