"""What `python -m tools.walk` counts is counted rightly; its aims are no limits."""

import ast
from decimal import Decimal

import pytest

from api.questions.register import QUESTIONS, question_of
from costcalc.money import cents
from tools import walk


def test_a_question_is_named_by_the_files_that_hold_its_path_its_report_or_its_schema(monkeypatch, tmp_path):
    monkeypatch.setattr(walk, "ROOT", tmp_path)
    (tmp_path / "api").mkdir()
    naming = [
        'a = "/fit"',
        "x = fit_report()",
        "class FitSchema: ...",
        'question_of("fit")',
        "`/fit.csv`",
        "from api.reports.fit import Fits",
        "from api.reports import fit",
        'return "fit", {"model": "resnet50"}',
    ]
    silent = ["profit_report()", '"/fitting"', "benefit = 1", "fit = 2", 'many(2, "fit")']
    for number, text in enumerate([*naming, *silent]):
        (tmp_path / "api" / f"{number}.py").write_text(text)
    assert walk.files_naming(question_of("fit")) == [f"api/{number}.py" for number in range(len(naming))]


def test_every_question_is_named_by_its_row_of_the_register():
    for question in (each for each in QUESTIONS if "{" not in each.path):
        assert "api/questions/register.py" in walk.files_naming(question)


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
