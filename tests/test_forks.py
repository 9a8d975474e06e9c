"""Forks run every test once, tell what came of each, end what they began, and are replaced where one dies."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = """
import os, pathlib, pytest
from support.forks import Forks

def pytest_configure(config): config.pluginmanager.register(Forks(2))

@pytest.fixture(scope="session", autouse=True)
def begun():
    pathlib.Path(f"begun-{os.getpid()}").touch()
    yield
    pathlib.Path(f"begun-{os.getpid()}").unlink()
"""
ONE = """
import os, pytest, sys
COLLECTED_BY = os.getpid()
KEPT = sys.stderr  # as libraries do

def test_what_a_library_kept_can_be_written_to(): KEPT.write("kept"); assert KEPT.fileno()

def test_another_process_runs_it(): assert os.getppid() == COLLECTED_BY
def test_it_fails(): print("what it said"); assert 1 == 2
def test_it_dies(): os.kill(os.getpid(), 9)
def test_it_runs_all_the_same(): assert os.getppid() == COLLECTED_BY
"""
OTHER = """
import pytest, threading, time

@pytest.mark.timeout(0.3)
def test_it_hangs():
    threading.Thread(target=time.sleep, args=(60,), daemon=True, name="beside it").start()
    time.sleep(60)
def test_what_was_printed_elsewhere_is_not_told(): assert 3 == 4
"""


def ended(folder, *options):
    """`pytest` on these files with the plugins of this repository alone."""
    for name, text in {"begun": SHARED, "test_one": ONE, "test_other": OTHER}.items():
        (folder / f"{name}.py").write_text(text)
    plugins = ("-p", "begun", "-p", "pytest_timeout", "--import-mode", "importlib")
    command = [sys.executable, "-m", "pytest", *plugins, "-q", "--rootdir", folder, *options, folder]
    path = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, env={**os.environ, **path}, cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )


def test_forks_run_every_test_once_and_one_that_dies_is_a_failure(tmp_path):
    told = ended(tmp_path)
    assert told.stdout.splitlines()[-1].startswith("4 failed, 3 passed"), told.stdout + told.stderr
    assert "FAILED test_one.py::test_it_dies" in told.stdout
    assert "The process of this test ended." in told.stdout
    assert "Failed: Timeout (>0.3s) from pytest-timeout" in told.stdout
    assert "Stack of beside it" in told.stdout
    assert told.stdout.count("what it said") == 2, "in the line of the test, and as what it printed"
    assert told.returncode == 1
    assert len(list(tmp_path.glob("begun-*"))) == 1, "of the one that died"


def test_the_first_failure_ends_them_all_if_a_person_wants_that(tmp_path):
    told = ended(tmp_path, "-x", "--deselect", "test_one.py::test_it_dies")
    assert "stopping after 1 failures" in told.stdout, told.stdout + told.stderr
    assert told.returncode == 1
    assert not list(tmp_path.glob("begun-*"))
