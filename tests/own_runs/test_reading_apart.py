"""A log is read in a process of its own, which takes no more than it may and knows nothing of the server."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from msgspec.structs import replace

from own_runs import reading_apart
from own_runs.logs.log import LogRefused, NothingYet, TrainingLog
from own_runs.logs.reading import read_log, read_text
from own_runs.reading_apart import LEAST, OutOfBounds, read_apart
from pricing.cell import MIB, Died

LINES = "".join(f"Epoch {epoch}: val_acc=0.{epoch:02}\n" for epoch in range(1, 90)).encode()


def test_what_is_read_apart_is_what_is_read_here():
    assert read_apart(TrainingLog, read_text, LINES, "run.log") == read_text(LINES, "run.log")


@pytest.mark.parametrize(
    ("bound", "read", "arguments", "told"),
    [
        ({"memory_mib": 32}, bytes, (64 * MIB,), "32 MiB of memory"),
        ({"processor_seconds": 1, "seconds": 200}, sum, (range(10**12),), "1 s of processor time"),
        ({"seconds": 1}, time.sleep, (60,), "1 s"),
        ({"result_mib": 1}, bytes, (2 * MIB,), "1 MiB of what it says"),
        ({}, signal.raise_signal, (signal.SIGKILL,), "256 MiB of memory"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what a process allocates")
def test_what_takes_too_much_is_ended_and_said(monkeypatch, bound, read, arguments, told):
    monkeypatch.setattr(reading_apart, "LEAST", replace(LEAST, **bound))
    with pytest.raises(OutOfBounds, match=f"reading this takes more than {told}: keep fewer lines"):
        read_apart(bytes, read, *arguments)


def test_a_reader_begins_without_the_program_that_starts_it(tmp_path):
    (program := tmp_path / "program.py").write_text(
        "from own_runs.reading_apart import read_apart\n"
        "print('begun')\n"
        "if __name__ == '__main__':\n"
        "    print(read_apart(int, sum, [1, 2]))\n"
    )
    command = [sys.executable, program]
    ran = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": "."}, capture_output=True, text=True, timeout=100, check=True
    )
    assert ran.stdout.split() == ["begun", "3"]


def test_a_longer_file_may_take_longer(monkeypatch, tmp_path):
    (log := tmp_path / "run.log").write_bytes(LINES + b"noise and no figures\n" * 200_000)
    monkeypatch.setattr(reading_apart, "LEAST", replace(LEAST, memory_mib=0))
    assert len(read_apart(TrainingLog, read_log, log).points) == 89


def test_a_defect_of_a_reader_is_none_of_the_log(capfd):
    with pytest.raises(Died, match="ended with status 1"):
        read_apart(str, LINES.index, b"nothing")


@pytest.mark.parametrize(("content", "kind"), [(b"", NothingYet), (b"\xff" * 99, LogRefused)])
def test_a_refusal_is_that_of_the_reader(content, kind):
    with pytest.raises(kind) as refused:
        read_apart(TrainingLog, read_text, content, "run.log")
    assert type(refused.value) is kind


def test_a_file_that_cannot_be_opened_is_a_refusal(tmp_path):
    with pytest.raises(LogRefused, match=r"gone\.log: No such file"):
        read_apart(str, (tmp_path / "gone.log").read_text)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux refuses the network")
def test_a_reader_has_no_network_and_no_secrets(monkeypatch):
    monkeypatch.setenv("COSTCALC_API_TOKENS", "hers")
    assert read_apart(str, os.getenv, "COSTCALC_API_TOKENS", "nothing") == "nothing"
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(LogRefused, match="not permitted"):
        read_apart(str, socket.create_connection, server.getsockname())
