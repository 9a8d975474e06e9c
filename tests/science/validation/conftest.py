"""Three organisations that measured two accelerators alike."""

from pathlib import Path

import pytest
from support.mlperf_results import mlperf_row, publish

from science.validation.held_out import Learner


@pytest.fixture(scope="session")
def rows():
    """Three organisations on each of two accelerators, in one machine and in two, the Y100 at half the rate."""
    return [
        mlperf_row(organisation, name, count, nodes, rate=rate * (0.96 if nodes > 1 else 1))
        for organisation in ("Ada", "Bob", "Cleo")
        for name, rate in (("X100", 2500.0), ("Y100", 1250.0))
        for count, nodes in ((4, 1), (8, 1), (16, 2))
    ]


@pytest.fixture(scope="session")
def learner(rows):
    return Learner(publish(rows))


@pytest.fixture(scope="session")
def method_page():
    return (Path(__file__).parents[3] / "docs" / "method.md").read_text("utf-8")
