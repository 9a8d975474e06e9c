"""Rates drawn at random are printed beside the line of their source that has the figure."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from tools.check_rows import drawn, lines, said_by_source

LIST = """compute:
  a2-highgpu-1g:
    us-west1:
      hour: 9.9
    us-east1:
      hour: 3.673385
      month_1y: 1689.30
"""


def committed(folder: Path, name: str, text: str) -> str:
    """The commit of a clone with one list."""
    clone = folder / "owner+prices" / "repo"
    clone.mkdir(parents=True)
    (clone / name).write_text(text)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "list")):
        subprocess.run(["git", "-C", str(clone), *command], check=True)
    shown = subprocess.run(["git", "-C", str(clone), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return shown.stdout.strip()[:10]


@pytest.fixture
def mirrors(tmp_path: Path) -> tuple[Path, str]:
    """A clone with one list, and its commit."""
    return tmp_path, committed(tmp_path, "pricing.yml", LIST)


def rate(commit: str, hourly: str, option: str = "on_demand", region: str = "us-east1") -> dict[str, str]:
    return {
        **{"provider": "gcp", "region": region, "instance_type": "a2-highgpu-1g", "purchase_option": option},
        **{"term": "", "payment": "", "hourly_rate": hourly, "currency": "USD", "observed_at": "2024-06-13"},
        **{"upfront": "", "monthly": "", "parts": "", "source": f"owner/prices@{commit} pricing.yml"},
    }


def test_the_line_of_the_machine_and_region_is_printed(mirrors: tuple[Path, str]) -> None:
    folder, commit = mirrors
    known = [
        rate(commit, "3.673385"),
        rate(commit, "2.314109589", "committed_use"),
        rate(commit, "9.9"),
        rate(commit, "7"),
    ]
    printed = list(lines(known, folder))
    assert printed[1].endswith("pricing.yml: found, line 6: hour: 3.673385")
    assert printed[3].endswith("pricing.yml: found, line 7: month_1y: 1689.30"), "a month of it"
    assert [printed[place].endswith("pricing.yml: differs") for place in (5, 7)] == [True, True], (
        "another region's, and nobody's"
    )
    assert printed[-1] == "2 found, 2 differs, 0 source not at hand of 4"


def test_without_copies_the_source_alone_is_printed(mirrors: tuple[Path, str]) -> None:
    folder, commit = mirrors
    for known in (None, folder / "elsewhere"):
        assert list(lines([rate(commit, "3.673385")], known))[1].strip() == (
            f"owner/prices@{commit} pricing.yml: source not at hand"
        )


def test_the_same_seed_draws_the_same_rates() -> None:
    assert drawn(7, 20) == drawn(7, 20) != drawn(8, 20)
    assert all(row["source"] for row in drawn(1, 200))


PAGE = """<script>
    var _prices = {'us-east1': {'linux': {'ondemand': '3.673385'}}, 'us-west1': {'linux': {'ondemand': '9.9'}}};
</script>"""
MACHINES = [
    {"instance_type": "a2-highgpu-1g", "pricing": {"us-east1": {"ondemand": "3.673385"}, "us-west1": {"ondemand": 9.9}}}
]
PACKED = "".join(f"\\x{byte:02x}" for byte in gzip.compress(json.dumps(MACHINES).encode()))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("list.json", json.dumps(MACHINES), "a2-highgpu-1g / pricing / us-east1 / ondemand: 3.673385"),
        ("page.html", PAGE, "us-east1 / linux / ondemand: 3.673385"),
        ("data.go", f'var _data = []byte("{PACKED}")\n', "a2-highgpu-1g / pricing / us-east1 / ondemand: 3.673385"),
    ],
)
def test_a_list_on_one_line_is_read_by_what_its_figures_are_of(tmp_path: Path, name: str, text: str, line: str) -> None:
    commit = committed(tmp_path, name, text)
    row = rate(commit, "3.673385") | {"source": f"owner/prices@{commit} {name}"}
    assert said_by_source(row, tmp_path) == ("found", f"line 1: {line}")
    assert said_by_source(row | {"hourly_rate": "9.9"}, tmp_path)[0] == "differs", "another region's"


def test_a_slice_of_tpus_is_found_by_the_rate_of_a_chip(tmp_path: Path) -> None:
    commit = committed(tmp_path, "tpu.json", '{"TPU v6e": {"us-east1": {"On Demand (USD)": 2.7}}}')
    row = rate(commit, "86.4") | {"source": f"owner/prices@{commit} tpu.json", "instance_type": "v6e-32"}
    assert said_by_source(row, tmp_path) == ("found", "line 1: TPU v6e / us-east1 / On Demand (USD): 2.7")
