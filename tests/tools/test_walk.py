"""The house stays easy to walk through: the limits of `python -m tools.walk`."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

from costcalc.money import cents
from tools import walk

ROOT = Path(__file__).parents[2]


def test_a_question_enters_few_modules_and_no_room_is_too_full(tmp_path):
    command = [sys.executable, "-m", "tools.walk"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={"HOME": str(tmp_path)}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_module_is_entered_once_however_often_it_is_called_in_a_row():
    with walk.steps() as walked:
        cents(cents(Decimal(1)))
    assert walked == ["costcalc.money"]


def test_a_circle_of_rooms_passes_every_limit(monkeypatch):
    monkeypatch.setattr(walk, "rooms", lambda package: {"a": {"b"}, "b": {"a"}, "c": set()})
    assert len(walk.floors("any")) > walk.MOST_FLOORS
    monkeypatch.setattr(walk, "rooms", lambda package: {"a": {"b"}, "b": {"c"}, "c": set()})
    assert walk.floors("any") == ["a", "b", "c"]
