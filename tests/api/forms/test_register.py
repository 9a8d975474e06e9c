"""Every row of the register names code that exists, and every surface has every question."""

import pytest
from marshmallow import Schema
from support.services import packaged_service

from api.cli.main import main
from api.formats.blocks import Part, Say
from api.forms.question import FILES
from api.forms.register import QUESTIONS
from api.mcp.tools import TOOLS
from api.web.interface.openapi import OPERATIONS

NOT_EXAMPLES = {"ask": {"q": "resnet50 to 76%"}, "history": {"instance_type": "p3.8xlarge"}}
QUESTIONS_BY_NAME = {question.name: question for question in QUESTIONS}


def test_names_and_paths_are_unique():
    assert len(QUESTIONS_BY_NAME) == len({question.path for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=list(QUESTIONS_BY_NAME))
def test_a_row_has_what_its_code_answers(question):
    assert isinstance(question.schema, Schema)
    assert isinstance(question.asked_in_terminal, Schema)
    assert bool(question.chart) == bool(question.code.figure)
    assert question.code.table or question.code.blocks or question.code.terminal or question.code.html


@pytest.mark.parametrize("question", QUESTIONS, ids=list(QUESTIONS_BY_NAME))
def test_every_surface_has_the_question(question):
    paths = {operation.path: operation for operation in OPERATIONS if operation.method == "get"}
    assert paths[question.path].sheets == question.files
    assert {f"{question.path}.{kind}" for kind in question.endings if kind not in FILES} <= set(paths)
    is_printed = question.code.terminal or question.code.table or question.code.blocks
    assert question.command is None or (question.name in main.commands and is_printed)
    assert question.tool is None or (question.tool.name or question.name) in {tool.name for tool in TOOLS}


@pytest.mark.parametrize("question", [each for each in QUESTIONS if "{" not in each.path], ids=lambda each: each.name)
def test_every_question_is_answered_in_blocks(question):
    """So a surface is one loop over them."""
    service = packaged_service()
    catalogue = service.catalogue()
    given = question.example or NOT_EXAMPLES.get(question.name, {"model": "resnet50", "target": "0.757"})
    wanted = {name: [text] for name, text in given.items() if name in question.schema.fields}
    report = question.code.report(service, catalogue, service.parse(question.schema, wanted, catalogue)[0])
    assert any(_says_something(block) for block in question.code.answer(report))


def _says_something(block):
    if isinstance(block, Part):
        return any(map(_says_something, block.blocks))
    return bool(getattr(block, "lines", ()) if isinstance(block, Say) else getattr(block, "rows", ()))
