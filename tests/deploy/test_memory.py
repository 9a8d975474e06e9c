"""The memory that a server and a refresh may take is the same wherever they run; `python -m benchmarks load` needs no more."""

import re
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from benchmarks.load import Phases, fitted, service, shipped_mib
from benchmarks.refresh_memory import MOST_MIB

DEPLOY = Path(__file__).parents[2] / "deploy"
BUSY_MIB = 1126  # what two workers take while everybody asks the dearest questions
MIB = {"m": 1, "Mi": 1, "M": 1, "g": 1024, "Gi": 1024, "G": 1024}


def mib(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()
    return int(number) * MIB[unit]


def limits(kubernetes: str, service: str, unit: str) -> set[int]:
    """What a manifest of each kind allows."""
    document, *_ = yaml.safe_load_all((DEPLOY / "kubernetes" / kubernetes).read_text())
    spec = document["spec"]["template"]["spec"]
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"][service]
    described = ConfigParser(strict=False, interpolation=None)
    described.read(DEPLOY / "systemd" / unit)
    [container] = spec["containers"]
    return {
        mib(container["resources"]["limits"]["memory"]),
        mib(composed["mem_limit"]),
        mib(described["Service"]["MemoryMax"]),
    }


def test_a_server_may_take_the_same_everywhere():
    assert limits("web.yaml", "web", "costcalc.service") == {shipped_mib()}


def test_a_refresh_has_room_beside_busy_workers():
    assert shipped_mib() >= BUSY_MIB + 1.3 * MOST_MIB


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_pictures_workbooks_and_plans_of_a_thousand_rows_have_room(tmp_path):
    with service(tmp_path) as server:
        Phases(server, 1).ask_the_dearest()
        assert fitted(server.peak)
