"""Every parameter of a path is an option of its command: in the help with its choices, and completed in a shell."""

import os
import subprocess
from typing import get_args

import pytest
from click.shell_completion import BashComplete, FishComplete, ZshComplete
from click.testing import CliRunner
from support.live_server import COSTCALC, clean_environment
from support.sampled import sampled
from support.services import packaged_service

from api.cli.completion import one_word
from api.cli.main import main
from api.cli.options import MOST_OPTIONS
from api.forms.register import QUESTIONS
from api.questions.fields import Choice, Flag, Parameter
from api.questions.names import WHERE
from api.questions.suggestions import Guesses, squeeze
from api.questions.themes import THEME_OF, dashed
from costcalc.parameters import Part

SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
COMMANDS = {question.name: question.asked_in_terminal for question in QUESTIONS if question.command}
PARAMETERS = [
    (command, name, field)
    for command, schema in COMMANDS.items()
    for name, field in schema.fields.items()
    if isinstance(field, Parameter) and name != "token"
]


def help_of(command):
    every = "--help-all" if len(main.commands[command].options) > MOST_OPTIONS else "--help"
    return CliRunner().invoke(main, [command, every], env={"COLUMNS": "200"}).output


def completed(shell, line):
    words = line.split(" ")
    complete = SHELLS[shell](main, {}, "costcalc", "_COSTCALC_COMPLETE")
    return [each.value for each in complete.get_completions(words[1:-1], words[-1])]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_has_every_parameter_with_its_choices_under_a_theme(command):
    shown = help_of(command)
    arguments = {each.name for each in main.commands[command].params if each.param_type_name == "argument"}
    for _, name, field in (each for each in PARAMETERS if each[0] == command and each[1] not in arguments):
        assert f"--{dashed(name)}" in shown
        if isinstance(field, Choice) and name != "format":
            assert f"[{'|'.join(field.choices)}]" in shown or " ".join(field.choices) in " ".join(shown.split())


def test_help_shows_what_most_people_need_first():
    brief, whole = (
        CliRunner().invoke(main, ["cost", form], env={"COLUMNS": "80"}).output for form in ("--help", "--help-all")
    )
    assert brief.count("\n") < 95 < whole.count("\n")
    assert "--max-cost" in brief
    assert "--egress-rate" in whole
    assert "--egress-rate" not in brief
    assert "--help-all" in brief


def test_every_part_of_a_question_has_a_theme():
    assert THEME_OF.keys() == {*get_args(Part)}


def test_options_may_be_written_with_underscores(monkeypatch):
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: packaged_service())
    asked = ["cost", "resnet50", "0.757", "--limit=1"]
    answers = [CliRunner().invoke(main, [*asked, option]).output for option in ("--max-hours=2", "--max_hours=2")]
    assert answers[0] == answers[1]
    assert answers[0].startswith("Rent ")


@pytest.mark.parametrize(
    "words",
    ["cost --model resnet50 --target 0.757", "cost resnet50 --target=75.7%", "cost target=0.757 resnet50",
     "cost 0.757 --model resnet50", "resnet50 0.757 --limit=20", "ask resnet50 75.7%", "resnet50 75.7%"],
)  # fmt: skip
def test_a_question_is_understood_however_its_arguments_are_written(words, monkeypatch):
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: packaged_service())
    asked, usual = (CliRunner().invoke(main, each.split()).output for each in (words, "cost resnet50 0.757"))
    assert usual.startswith("Rent ")
    assert asked.endswith(usual)


def test_what_an_option_is_given_is_no_argument(monkeypatch):
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: packaged_service())
    answered = CliRunner().invoke(main, ["cost", "resnet50", "0.757", "--label", "model=foo"])
    assert answered.exit_code == 0
    assert answered.output.startswith("Rent ")


@pytest.mark.parametrize(
    ("words", "told"),
    [("cost resnet50 --target", "--target needs a value"), ("prise refresh", "did you mean costcalc prices"),
     ("ask", "Missing argument 'Q...'")],
)  # fmt: skip
def test_what_cannot_be_a_question_is_refused(words, told):
    refused = CliRunner().invoke(main, words.split())
    assert refused.exit_code == 2
    assert told in refused.output


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("costcalc co", ["commitments", "compare", "cost"]),
        ("costcalc cost resnet1", ["resnet101", "resnet152", "resnet18"]),
        ("costcalc cost resnet50 0.757 --max-", ["--max-hours", "--max-cost", "--max-price-age"]),
        ("costcalc cost resnet50 0.757 --crossing ", ["first", "isotonic", "sustained"]),
        ("costcalc cost resnet50 0.757 --crossing s", ["sustained"]),
        ("costcalc cost resnet50 0.757 --purchase spot,on", ["spot,on_demand"]),
        ("costcalc offers --provider aw", ["aws"]),
        ("costcalc offers --provider gcp,aw", ["gcp,aws"]),
        ("costcalc offers --accelerator rtx-2080", ["RTX-2080-Ti"]),
        ("costcalc offers --format ", ["table", "json", "csv"]),
        ("costcalc history p3.8", ["p3.8xlarge"]),
        ("costcalc prices refresh aws la", ["lambda"]),
    ],
)
@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_values_complete(shell, line, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    found = completed(shell, line)
    assert [value for value in found if value in expected] == expected
    assert all(value.casefold().startswith(line.split(" ")[-1].casefold()) for value in found)


def test_a_store_out_of_reach_completes_nothing(monkeypatch):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", "postgresql://me@127.0.0.1:1/prices")
    assert completed("bash", "costcalc offers --provider aw") == []


def test_every_completed_name_is_one_word_that_means_that_name():
    service = packaged_service()
    names = service.names(service.catalogue())
    for kind in WHERE:
        for word in one_word(getattr(names, kind)):
            assert " " not in word
            assert squeeze(word) in map(squeeze, names.resolve(kind, word, Guesses()))


def test_a_real_bash_completes(tmp_path):
    line = "costcalc cost resnet50 0.757 --crossing su"
    commands = f"""
        eval "$(_COSTCALC_COMPLETE=bash_source costcalc)"
        COMP_WORDS=({line}); COMP_CWORD=5
        _costcalc_completion costcalc
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{os.path.dirname(COSTCALC)}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", commands],
        env=clean_environment(tmp_path, PATH=path),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert done.stdout == "sustained\n"


def test_flags_take_no_value():
    flags = {name for _, name, field in PARAMETERS if isinstance(field, Flag)}
    assert flags >= {"frontier", "excel"}
    for option in main.commands["cost"].options:
        assert option.is_flag == (option.name in flags)


@pytest.mark.parametrize("group", ["", "prices", "recipes", "mcp"])
def test_no_command_is_summed_up_in_half_a_sentence(group):
    shown = CliRunner().invoke(main, [*group.split(), "--help"], terminal_width=80).output
    summaries = shown.partition("Commands:\n")[2].splitlines()
    assert summaries
    assert [line for line in summaries if not line.endswith(".") or line.endswith("...")] == []


HABITS = {
    "cost resnet50 0.757 --json": "cost resnet50 0.757 --format json",
    "cost resnet50 0.757 --csv": "cost resnet50 0.757 --format csv",
    "cost resnet50 0.757 --spot": "cost resnet50 0.757 --purchase spot",
    "cost resnet50 0.757 --on-demand": "cost resnet50 0.757 --purchase on_demand",
    "cost resnet50 0.757 --record": "cost resnet50 0.757 --training record",
    "cost resnet50 0.757 --cloud=aws": "cost resnet50 0.757 --provider aws",
    "cost resnet50 0.757 -v": "cost resnet50 0.757 --explain",
    "cost --model resnet50 --accuracy 0.757": "cost resnet50 0.757",
    "cost resnet50 0.757 --gpu v100 --gpus 8 --top 2": "cost resnet50 0.757 --accelerator V100 --accelerators 8 --limit 2",
    "estimate bert-large": "cost bert-large",
    "prices T4": "offers T4",
    "rates --gpu T4": "offers T4",
    "list": "models",
}


@pytest.mark.parametrize("typed", sampled(HABITS, one_in=3))
def test_what_other_tools_call_so_is_understood_where_it_has_one_meaning(monkeypatch, typed):
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: packaged_service())
    ours, theirs = (CliRunner().invoke(main, command.split()) for command in (HABITS[typed], typed))
    assert ours.exit_code == theirs.exit_code == 0
    assert theirs.stdout == ours.stdout


def test_help_and_the_version_are_found_as_elsewhere():
    assert CliRunner().invoke(main, ["help"]).output == CliRunner().invoke(main, ["--help"]).output
    assert CliRunner().invoke(main, ["help", "cost"]).output == CliRunner().invoke(main, ["cost", "--help"]).output
    assert ", version " in CliRunner().invoke(main, ["-V"]).output
    assert ", version " in CliRunner().invoke(main, ["version"]).output


@pytest.mark.parametrize("form", ["json", "csv", "txt"])
def test_an_answer_is_written_into_a_file_whose_ending_is_its_format(monkeypatch, tmp_path, form):
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: packaged_service())
    asked, file = ["offers", "T4", "--limit", "2", "--as-of", "2026-11-20"], tmp_path / f"rates.{form}"
    written = CliRunner().invoke(main, [*asked, "-o", str(file)])
    assert (written.exit_code, written.output) == (0, "")
    printed = CliRunner().invoke(main, [*asked, "--format", "table" if form == "txt" else form])
    assert file.read_bytes() == printed.stdout_bytes
