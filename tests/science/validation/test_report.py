import json
import math

import pytest

from science.validation.convergence.chances import Brier
from science.validation.convergence.own_runs import Reliability
from science.validation.regret import Regret
from science.validation.report import Report
from science.validation.scores import Coverage, Goal, Score

INSIDE, OUTSIDE = (
    Coverage(0.8, 0.8, 0.7, 0.9, math.log(1.05)),
    Coverage(0.9, 0.5, 0.4, 0.6, math.log(1.1), by_rule=True),
)
MET, MISSED = Goal(0.05, 0.5), Goal(0.01, 0.2)


def row(name, goal=None):
    return Score(name, 12, 0.08, 0.04, 0.03, 0.123, -0.0123, (INSIDE, OUTSIDE), goal)


@pytest.fixture
def report():
    scores = (row("speeds"), row("a goal met", MET), row("a goal missed, with a longer name", MISSED))
    regrets = {"schedule length": Regret(41, 0.034, 0.75)}
    chances = (Brier("lars", 9, 18, 0.95, 0.9449, 0.04758, 0.04),)
    bins = {"own runs": (Reliability(12, 0.55, 0.5), Reliability(3, 0.99, 1.0))}
    return Report("evidence", "0123456789abcdef", scores, regrets, chances, bins)


CELLS = "12 8.0 4.0 0.50 {} 3.0 12.3 -1.2 1.050 0.80 (0.70-0.90) 1.100 by rule 0.50 (0.40-0.60) !"


@pytest.mark.parametrize(("place", "asked"), [(0, ""), (1, "5.0 % or 0.50"), (2, "1.0 % or 0.20 !")])
def test_a_row_shows_errors_goals_and_what_lay_inside(report, place, asked):
    line = report.text().splitlines()[1 + place]
    assert line.split() == [*report.scores[place].experiment.split(), *CELLS.format(asked).split()]


def test_the_page_shows_what_readers_need_of_a_row(report):
    row = "| speeds | 12 | 8.0 | 4.0 | 3.0 | -1.2 | 1.050 | 0.80 (0.70-0.90) |"
    assert report.markdown().splitlines()[2] == row


def test_markdown_is_one_table_and_a_list(report):
    heading, ruler, *rows = report.markdown().splitlines()
    assert heading.startswith("| experiment | n | baseline, % | ours, % |")
    assert ruler.startswith("| --- | ---: | ---: |")
    assert {line.count("|") for line in (heading, ruler, *rows[:3])} == {9}
    assert rows[3] == ""
    assert all(line.startswith("- ") for line in rows[4:])
    assert report.markdown().endswith(".\n")


def test_the_remarks_say_regret_chances_and_tables(report):
    assert report.text().splitlines()[-4:] == [
        "Selection regret, schedule length: mean 3.4 %, worst 75.0 %, 41 choices.",
        "Chance of success, lars: said 0.950, reached 0.945, Brier score 0.0476 (0.0400 by the share of others), "
        "18 chances of 9 runs.",
        "Said and reached (chances), own runs: 0.55 and 0.50 (12), 0.99 and 1.00 (3).",
        "Evidence evidence; frozen groups 0123456789abcdef.",
    ]


def test_text_is_aligned_names_left_and_figures_right(report):
    heading, *rows = report.text().splitlines()[:4]
    longest = len(report.scores[2].experiment)
    assert [line[: longest + 2].strip() for line in rows] == [each.experiment for each in report.scores]
    end = heading.index("ours, %") + len("ours, %")
    assert [line[:end].endswith("4.0") for line in rows] == [True] * 3
    assert all(line == line.rstrip() for line in (heading, *rows))
    assert report.text().splitlines()[4] == ""


def test_json_holds_every_figure(report):
    printed = json.loads(report.to_json())
    assert report.to_json().startswith('{\n  "evidence"')
    assert (printed["evidence"], printed["splits"]) == ("evidence", "0123456789abcdef")
    assert printed["scores"][1]["goal"] == {"mape": 0.05, "share": 0.5}
    assert printed["scores"][0]["coverage"][0]["half_width"] == pytest.approx(math.log(1.05))
    assert printed["regrets"]["schedule length"]["choices"] == 41
    assert printed["chances"][0]["baseline"] == 0.04
