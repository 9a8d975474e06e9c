"""A log that is still being written."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from own_runs.following import FollowedLog
from own_runs.logs.log import LogRefused
from own_runs.placing import placed

HEADER = "epoch,seconds,acc\n"
ROWS = [f"{epoch},{60 * epoch},0.{epoch}\n" for epoch in range(1, 10)]


def epochs(log):
    return [point.epochs for point in log.points]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.csv"


def test_a_half_written_line_waits_for_its_end(path):
    path.write_text(HEADER + ROWS[0] + "2,12")
    followed = FollowedLog(path)
    assert epochs(followed.look()) == [1]
    path.write_text(HEADER + ROWS[0] + ROWS[1])
    assert [(point.epochs, point.seconds) for point in followed.look().points] == [(1, 60), (2, 120)]


@pytest.mark.parametrize("header", [HEADER, ""], ids=["header again", "rows alone"])
def test_a_rotated_log_goes_on(path, header):
    path.write_text(HEADER + "".join(ROWS[:3]))
    followed = FollowedLog(path)
    followed.look()
    path.rename(path.with_suffix(".1"))
    assert epochs(followed.look()) == [1, 2, 3]  # away for a moment
    for written in (4, 5, 6):
        path.write_text(header + "".join(ROWS[3:written]))
        assert epochs(followed.look()) == list(range(1, written + 1))


def test_a_run_that_went_on_from_a_checkpoint_keeps_its_clock_and_counts_epochs_once(path):
    path.write_text(HEADER + "".join(ROWS[:3]))
    followed = FollowedLog(path)
    followed.look()
    path.write_text(HEADER + "3,50,0.31\n4,110,0.4\n")
    points = placed(followed.look(), counts_repeated=True).points
    assert {point.epochs: point.seconds for point in points} == {1: 60, 2: 120, 3: 230, 4: 290}


def test_a_log_that_is_rewritten_with_more_columns_is_read_anew(path):
    path.write_text("epoch,step,loss\n0,9,3.5\n")
    followed = FollowedLog(path)
    followed.look()
    path.write_text("epoch,step,loss,acc\n0,9,3.5,\n0,9,,0.4\n1,19,2.5,\n")
    log = followed.look()
    assert (log.metrics(), len(log.points)) == (("loss", "acc"), 3)


def test_a_document_that_is_being_rewritten_is_read_when_it_is_whole(tmp_path):
    def state(count):
        entries = [{"epoch": n, "step": 10 * n, "eval_accuracy": 0.1 * n} for n in range(1, count + 1)]
        return json.dumps({"best": count, "log_history": entries}, indent=1)

    path = tmp_path / "trainer_state.json"
    path.write_text(state(2))
    followed = FollowedLog(path)
    assert epochs(followed.look()) == [1, 2]
    path.write_text(state(3)[:40])
    assert epochs(followed.look()) == [1, 2]
    path.write_text(state(3))
    assert epochs(followed.look()) == [1, 2, 3]


def test_a_file_that_is_not_there_is_named(path):
    with pytest.raises(LogRefused, match=r"log\.csv: No such file"):
        FollowedLog(path).look()


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_what_never_ends_or_begins_is_not_read(tmp_path, kind):
    os.mkfifo(pipe := tmp_path / "pipe")
    endless = {"device": Path("/dev/zero"), "pipe": pipe, "folder": tmp_path}[kind]
    with pytest.raises(LogRefused, match="is not a file"):
        FollowedLog(endless).look()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_however_a_log_grows_it_ends_as_a_whole(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("grows") / "log.csv"
    whole, at = HEADER + "".join(ROWS), len(HEADER + ROWS[0])
    path.write_text(whole[:at])
    followed = FollowedLog(path)
    for step in steps:
        followed.look()
        at += step
        path.write_text(whole[:at])
    path.write_text(whole)
    assert epochs(followed.look()) == list(range(1, 10))
