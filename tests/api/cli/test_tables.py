"""Tables fit any terminal with their figures whole, and every command prints what its HTTP path answers."""

import json
import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.services import packaged_service

from api.cli.grid import Column, table
from api.cli.main import main

DAY = "2026-11-20"
PATHS = {
    "cost resnet50 0.757 --limit 5": "/cost?model=resnet50&target=0.757&limit=5",
    "cost efficientnet_b4 0.82 --purchase free,spot": "/cost?model=efficientnet_b4&target=0.82&purchase=free,spot",
    "accuracy resnet50 --budget 5": "/accuracy?model=resnet50&budget=5",
    "commitments resnet50 0.757 --limit 1": "/commitments?model=resnet50&target=0.757&limit=1",
    "offers --provider aws,alibaba": "/offers?provider=aws,alibaba",
    "changes --since 2026-06-01 --limit 30": "/offers/changes?since=2026-06-01&limit=30",
    "throughput --model resnet50 --limit 30": "/throughput?model=resnet50&limit=30",
}
UNDATED = {
    "models": "/models",
    "models ResNet-50": "/models/resnet50",
    "history p3.8xlarge": "/offers/history?instance_type=p3.8xlarge",
}
COMMANDS = [*(f"{command} --as-of {DAY}" for command in PATHS), *UNDATED]
FIGURE = re.compile(r"\d[\d,]*\.\d\d+")


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: packaged_service())

    def printed(command, width=None):
        ended = CliRunner().invoke(main, command.split(), env={"COLUMNS": width and str(width)})
        assert ended.exit_code == 0, ended.output
        return ended.stdout_bytes.decode()

    return printed


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_split(run, command, width):
    narrow, wide = run(command, width), run(command, 400)
    assert [line for line in narrow.splitlines() if len(line) > width and len(line.split()) > 1] == []
    assert set(FIGURE.findall(narrow)) <= set(FIGURE.findall(wide))


@pytest.mark.parametrize("command", COMMANDS)
def test_in_a_pipe_a_table_has_a_fixed_width(run, command):
    assert run(command) == run(command, 100)


def test_narrow_terminals_leave_columns_out_in_a_stated_order(run):
    left = [
        re.search(r"Left out to fit \d+ columns: (.*)\.", run("cost resnet50 0.757", width))
        for width in (130, 85, 80, 60)
    ]
    assert [found and found[1].split(", ") for found in left] == [
        None, ["share", "recipe"], ["share", "recipe"], ["share", "chance", "recipe"],
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize(("command", "path"), [*PATHS.items(), *UNDATED.items()])
def test_every_command_prints_what_its_path_answers(run, client, command, path, form):
    dated, asked = (f"{command} --as-of {DAY}", f"{path}&as_of={DAY}") if command in PATHS else (command, path)
    if form == "json":
        assert _same(json.loads(run(f"{dated} --format json")), client.get(asked).json)
    elif not path.startswith("/models"):
        assert run(f"{dated} --format csv").encode() == client.get(asked.replace("?", ".csv?")).data


def _same(ours, theirs):
    """The two documents without the moment at which each was asked for."""
    return all(ours[name] == theirs[name] or name == "until" for name in {*ours, *theirs})


def test_models_as_csv_have_the_figures_of_json(run, client):
    rows = run("models --format csv").splitlines()
    models = client.get("/models").json["models"]
    assert len(rows) == len(models) + 1
    assert all(row.startswith(f"{model['model']},") for row, model in zip(rows[1:], models, strict=True))


WORDS = st.text("abc-.9", min_size=1, max_size=12)


@given(
    rows=st.lists(st.tuples(st.lists(WORDS, max_size=4).map(" ".join), st.floats(0, 1e6)), max_size=5),
    width=st.integers(30, 120),
)
def test_a_table_keeps_every_figure_and_every_word_at_any_width(rows, width):
    columns = [
        Column("name", lambda row: row[0]),
        Column("figure", lambda row: f"{row[1]:,.2f}", figures=True),
        Column("more", lambda row: row[0], leave=1),
    ]
    lines = list(table(columns, rows, width))
    assert max(map(len, lines)) <= width
    assert all(any(f"{figure:,.2f}" in line for line in lines) for _, figure in rows)
    assert all(any(word in line for line in lines) for text, _ in rows for word in text.split())
