"""A missing program leaves a test out and the last line names it; with CI=true the test fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.left_out import last_line

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest
from tools.cluster.program import installed

def test_alone():
    installed("no-such-program", "its-package")

@pytest.fixture(scope="session")
def program():
    return installed("no-such-program", "its-package")

def test_one(program): pass
def test_two(program): pass
def test_three(): pytest.skip("a reason")
def test_four(): pass
"""


@pytest.mark.parametrize(
    ("ci", "workers", "counts", "last"),
    [
        (
            "false",
            ["--forks", "1"],
            "1 passed, 4 skipped",
            "Tests left out: 3 for want of no-such-program, 1 for a reason above; on Debian: apt-get install its-package",
        ),
        ("true", [], "2 failed, 1 passed, 2 errors", "2 failed, 1 passed, 2 errors"),
    ],
)
def test_a_missing_program_leaves_a_test_out_but_not_with_ci(tmp_path, ci, workers, counts, last):
    (tmp_path / "test_them.py").write_text(TESTS)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", *workers, "-q", "--rootdir", tmp_path, tmp_path],
        env={**os.environ, "CI": ci, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    told = ended.stdout.splitlines()
    assert any(line.startswith(counts) for line in told), ended.stdout + ended.stderr
    assert told[-1].startswith(last)
    assert ended.returncode == (ci == "true")


def test_the_last_line_names_every_program_and_one_command():
    assert (
        last_line(
            [
                "Skipped: nginx is not installed; on Debian: apt-get install nginx-light",
                "Skipped: chromium is not installed; on Debian: apt-get install chromium",
                "chromium is not installed; on Debian: apt-get install chromium",
            ]
        )
        == "Tests left out: 2 for want of chromium, 1 for want of nginx; on Debian: apt-get install chromium nginx-light"
    )
