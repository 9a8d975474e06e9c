"""What `python -m tools.walk` counts is counted rightly; its aims are no limits."""

import ast
from decimal import Decimal

import pytest

from api.forms.register import QUESTIONS
from costcalc.money import cents
from tools import walk


def test_a_question_is_made_where_its_report_its_forms_or_its_schema_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(walk, "ROOT", tmp_path)
    (tmp_path / "api").mkdir()
    making = [
        "x = commitments_report()",
        "class CommitmentsSchema: ...",
        "from api.reports.commitments import Offered",
        "from api.reports import commitments",
    ]
    leading = [
        'a = "/commitments"',
        "`/commitments.csv`",
        "url_for('questions.commitments')",
        'return "commitments", {"model": "resnet50"}',
    ]
    silent = ["no_commitments_reported()", '"/commitments_of_old"', "all_commitments = 1", 'many(2, "commitments")']
    for number, text in enumerate([*making, *leading, *silent]):
        (tmp_path / "api" / f"{number:02}.py").write_text(text)
    made, led = walk.files_naming(next(each for each in QUESTIONS if each.name == "commitments"))
    assert [*made, *led] == [f"api/{number:02}.py" for number in range(len(making) + len(leading))]
    assert len(made) == len(making)


def test_every_question_is_made_in_its_row_of_the_register():
    for question in QUESTIONS:
        assert walk.REGISTER in walk.files_naming(question)[0]


def test_a_module_is_entered_once_however_often_it_is_called_in_a_row():
    with walk.steps() as walked:
        cents(cents(Decimal(1)))
    assert walked == ["costcalc.money"]


def test_a_warm_question_changes_module():
    assert walk.changes_of_module() > 1


@pytest.mark.parametrize(
    ("signature", "loose"),
    [("a: int", False), ("a: list[Any]", True), ("*, a: Any = 1", True), ("**a: Any", True), ("a", False)],
)
def test_any_counts_wherever_it_stands_in_a_signature(signature, loose):
    assert walk.has_any(ast.parse(f"def f({signature}) -> None: ...").body[0]) == loose
