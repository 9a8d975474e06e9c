"""The table of what was stated beside what we find: every statement is answered, and the page has them all."""

import re
from pathlib import Path

from tools import reading

PAGE = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text("utf-8")
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \|", re.MULTILINE)


def test_every_statement_is_answered_for_then_and_today_and_stands_in_the_page():
    table = reading.table()
    assert ROW.findall(table) == ROW.findall(PAGE.partition(reading.BEGIN)[2].partition(reading.END)[0])
    assert [int(number) for number, _ in ROW.findall(table)] == [each.number for each in reading.STATEMENTS]
    assert "| 18 | VGG-16 has about 140 million parameters | 138.36 million | the same | yes |" in table
    assert "| yes |" in next(line for line in table.splitlines() if line.startswith("| 1 |"))


def test_the_commands_are_such_as_the_terminal_takes():
    from api.cli.main import main

    assert {each.command.split()[1] for each in reading.STATEMENTS} <= set(main.commands)
