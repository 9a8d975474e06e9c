"""Two records are the same only where their bytes are; each changed sentence is told once."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.forms.register import QUESTIONS
from tools import record
from tools.record.__main__ import main
from tools.record.running import steady

OLD, NEW = 'Rates of "spot" move; an old sentence.', 'Rates of "spot" move; a new sentence.'
JSON, CSV, TEXT = "Content-Type: application/json", "Content-Type: text/csv; charset=utf-8", ""


def write(folder, *answers):
    folder.mkdir()
    for number, (kind, body) in enumerate(answers, 1):
        (folder / f"{number:03}.answer").write_text(f"GET /{number}\n200\n{kind}\n\n{body}", newline="")
    return folder


def answers(sentence, rate="2.5"):
    document = json.dumps({"assumptions": [sentence, "the same"], "rate": 0}, separators=(",", ":")).replace("0", rate)
    quoted = sentence.replace('"', '""')
    return (JSON, document), (CSV, f'rate,assumptions\r\n{rate},"{quoted}"\r\n'), (TEXT, f"{sentence}\n")


@pytest.fixture
def told(tmp_path):
    """What `compare` prints of two records, and its exit status."""

    def compare(before, after, allowed=None):
        folders = [write(tmp_path / "before", *before), write(tmp_path / "after", *after)]
        options = []
        if allowed is not None:
            (tmp_path / "allowed.txt").write_text(allowed)
            options = ["--allow", tmp_path / "allowed.txt"]
        done = CliRunner().invoke(main, ["compare", *map(str, [*folders, *options])])
        return done.exit_code, done.output

    return compare


class TestCompare:
    def test_equal_bytes_are_the_same(self, told):
        assert told(answers(OLD), answers(OLD)) == (0, "3 of 3 the same\n")

    def test_a_changed_sentence_is_told_once_with_its_count(self, told):
        status, text = told([(TEXT, OLD), (TEXT, OLD)], [(TEXT, NEW), (TEXT, NEW)])
        assert status == 1
        assert text.count(OLD) == text.count(NEW) == 1
        assert "2 times, in 001, 002:" in text
        assert text.endswith("001 differs: GET /1\n002 differs: GET /2\n0 of 2 the same\n")

    @pytest.mark.parametrize("allowed", ["an old sentence => a new sentence\n", f"{OLD} => {NEW}\n"])
    def test_an_accepted_sentence_is_no_difference(self, told, allowed):
        status, text = told(answers(OLD), answers(NEW), allowed)
        assert (status, text) == (0, "3 of 3 the same but for the accepted sentences, 1 in all\n")

    def test_an_accepted_sentence_hides_no_other_change(self, told):
        status, text = told(answers(OLD), answers(NEW, rate="2.50"), f"{OLD} => {NEW}\n")
        assert status == 1
        assert "- rate: 2.5\n  + rate: 2.50" in text
        assert '- "rate":2.5}\n  + "rate":2.50}' in text
        assert OLD not in text
        assert "1 of 3 the same but for the accepted sentences, 1 in all" in text

    def test_an_accepted_sentence_hides_no_other_change_of_its_line(self, told):
        assert told([(TEXT, f"{OLD} 2.5")], [(TEXT, f"{NEW} 2.50")], f"{OLD} => {NEW}\n")[0] == 1

    def test_an_accepted_sentence_may_still_stand_elsewhere(self, told):
        assert told([(TEXT, f"{OLD}\n{OLD}")], [(TEXT, f"{NEW}\n{OLD}")], f"{OLD} => {NEW}\n")[0] == 0

    def test_bytes_that_differ_in_no_line_differ(self, told):
        assert told([(JSON, "[1, 2]")], [(JSON, "[1,2]")])[0] == 1

    def test_the_port_of_a_server_and_the_digest_of_a_script_are_no_difference(self, told):
        before, after = (f"curl http://127.0.0.1:{port}/cost /page.js?v={port}" for port in (40001, 50002))
        assert told([(TEXT, before)], [(TEXT, after)])[0] == 0

    def test_a_missing_answer_differs(self, told):
        status, text = told(answers(OLD), answers(OLD)[:2])
        assert status == 1
        assert "003 differs: GET /3" in text

    def test_a_line_more_is_told_alone(self, told):
        status, text = told([(TEXT, "a\nb\nc")], [(TEXT, "a\nb\nnew\nc")])
        assert status == 1
        assert "  - \n  + new" in text


def test_every_question_of_the_register_is_asked():
    with (Path(record.__path__[0]) / "questions.csv").open(newline="") as sheet:
        asked = {row["place"].partition("?")[0] for row in csv.DictReader(sheet)}
    assert {each.path for each in QUESTIONS if "{" not in each.path} <= asked


def test_ids_that_depend_on_the_snapshot_are_numbered_and_figures_are_not():
    body = b"20261121T213257Z-529eb6eb,9c22e80d047fa047,3f7c4cef9784b072,9c22e80d047fa047,0.1827777777777777"
    assert steady(body) == b"SNAPSHOT-529eb6eb,ID 1,ID 2,ID 1,0.1827777777777777"
