"""Rates drawn at random are printed beside the line of their source that has the figure."""

import subprocess
from pathlib import Path

import pytest

from tools.check_rows import drawn, lines

LIST = """compute:
  a2-highgpu-1g:
    us-west1:
      hour: 9.9
    us-east1:
      hour: 3.673385
      month_1y: 1689.30
"""


@pytest.fixture
def mirrors(tmp_path: Path) -> tuple[Path, str]:
    """A clone with one list, and its commit."""
    clone = tmp_path / "owner+prices" / "repo"
    clone.mkdir(parents=True)
    (clone / "pricing.yml").write_text(LIST)
    name = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in (("init", "-q"), ("add", "."), (*name, "commit", "-qm", "list")):
        subprocess.run(["git", "-C", str(clone), *command], check=True)
    shown = subprocess.run(["git", "-C", str(clone), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return tmp_path, shown.stdout.strip()[:10]


def rate(commit: str, hourly: str, option: str = "on_demand", region: str = "us-east1") -> dict[str, str]:
    return {
        **{"provider": "gcp", "region": region, "instance_type": "a2-highgpu-1g", "purchase_option": option},
        **{"term": "", "payment": "", "hourly_rate": hourly, "currency": "USD", "observed_at": "2024-06-13"},
        **{"upfront": "", "monthly": "", "source": f"owner/prices@{commit} pricing.yml"},
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
    assert printed[1].endswith("pricing.yml: line 6: hour: 3.673385")
    assert printed[3].endswith("pricing.yml: line 7: month_1y: 1689.30"), "a month of it"
    assert [printed[place].endswith("pricing.yml") for place in (5, 7)] == [True, True], (
        "another region's, and nobody's"
    )
    assert printed[-1].startswith("2 of 4 figures were found")


def test_without_copies_the_source_alone_is_printed(mirrors: tuple[Path, str]) -> None:
    folder, commit = mirrors
    for known in (None, folder / "elsewhere"):
        assert list(lines([rate(commit, "3.673385")], known))[1].strip() == f"owner/prices@{commit} pricing.yml"


def test_the_same_seed_draws_the_same_rates() -> None:
    assert drawn(7, 20) == drawn(7, 20) != drawn(8, 20)
    assert all(row["source"] for row in drawn(1, 200))
