"""The process that draws: replaced when it dies or is old, and gone with the process that started it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from api.formats.charts import vega_process
from api.formats.charts.vega_process import NotDrawn, VegaProcess

CHART = {"data": {"values": [{}]}, "mark": "point"}


@pytest.fixture
def vega():
    process = VegaProcess()
    yield process
    process.close()


def drawn(vega):
    return vega.call("vegalite_to_svg", CHART, vl_version="5.21", allowed_base_urls=[])


def test_the_library_is_in_another_process(vega):
    modules = set(sys.modules)
    assert drawn(vega).startswith("<svg")
    assert "vl_convert" not in set(sys.modules) - modules


def test_a_killed_process_is_replaced(vega):
    drawn(vega)
    killed = vega._process
    killed.kill()
    killed.wait()
    assert drawn(vega).startswith("<svg")
    assert vega._process.pid != killed.pid


def test_an_old_process_is_replaced(vega, monkeypatch):
    monkeypatch.setattr(vega_process, "PICTURES", 2)
    pids = [drawn(vega) and vega._process.pid for _ in range(4)]
    assert (pids[0] == pids[1], pids[1] == pids[2], pids[2] == pids[3]) == (True, False, True)


def test_what_cannot_be_drawn_says_why_and_the_process_lives_on(vega):
    with pytest.raises(NotDrawn, match=r"Unsupported Vega-Lite version string none$"):
        vega.call("vegalite_to_svg", CHART, vl_version="none")
    assert drawn(vega).startswith("<svg")


STARTER = """
import time
from api.formats.charts.vega_process import VEGA
VEGA.call("get_local_tz")
print(VEGA._process.pid, flush=True)
time.sleep(60)
"""


def test_it_ends_with_the_process_that_started_it():
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE, text=True) as starter:
        process = Path("/proc", starter.stdout.readline().strip())
        assert process.exists()
        starter.kill()
    deadline = time.monotonic() + 10
    while process.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not process.exists()
