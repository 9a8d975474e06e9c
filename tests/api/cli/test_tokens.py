"""`costcalc tokens`: examples are counted where they lie."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import main
from own_runs.counting import BYTES_PER_TOKEN


def run(*words):
    return CliRunner().invoke(main, ["tokens", *map(str, words)])


@pytest.mark.parametrize(
    ("name", "text", "examples"),
    [
        ("a.jsonl", '{"messages": [{"role": "user", "content": "hi"}, {"content": "hello"}]}\n\n{"text": "bye"}\n', 2),
        ("a.json", '[{"prompt": "a", "completion": "b"}, "c", {"n": 3, "t": "d"}]', 3),
        ("a.csv", 'question,answer\n"what, now",this\nmore,that\n', 2),
        ("a.txt", "one\n\ntwo\nthree\n", 3),
    ],
)
def test_every_kind_of_file_is_counted(tmp_path, name, text, examples):
    path = tmp_path / name
    path.write_text(text)
    assert json.loads(run(path, "--format", "json").stdout)["examples"] == examples


def test_tokens_follow_the_bytes_of_the_texts_and_say_so(tmp_path):
    path = tmp_path / "examples.jsonl"
    path.write_text("".join(json.dumps({"text": "x" * many}) + "\n" for many in (420, 840)))
    counted = json.loads(run(path, "--format", "json").stdout)
    assert counted == {"examples": 2, "tokens": 300, "longest": 200, "by_bytes": True, "mean": 150.0}
    told = run(path).stdout
    assert f"at {BYTES_PER_TOKEN} bytes a token" in told
    assert "costcalc cost llama-3.1-8b --method lora --tokens 300 --length 200" in told


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.parquet", b"PAR1", "write it as JSON lines"),
        ("a.jsonl", b"{\n", "line 1 is no JSON"),
        ("a.txt", b"\xff\xfe", "not in UTF-8"),
        ("a.csv", b"header\n", "has no examples"),
    ],
)
def test_what_is_no_list_of_examples_is_refused(tmp_path: Path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    result = run(path)
    assert result.exit_code
    assert says in result.output
