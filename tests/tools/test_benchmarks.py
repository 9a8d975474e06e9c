"""The benchmarks that nobody runs every day still start: what they import exists."""

from importlib import import_module

import pytest

from benchmarks import against
from benchmarks.__main__ import ALL, LONG
from benchmarks.processor import line


@pytest.mark.parametrize("name", [*ALL, *LONG])
def test_each_has_what_it_imports(name):
    benchmark = import_module(f"benchmarks.{name}")
    assert callable(getattr(benchmark, "main" if name in LONG else "run"))


def test_figures_of_the_processor_are_read_as_they_are_printed():
    printed = "\n".join(line(what, 814.2) for what in ("warm question at 100,000 offers, ms", "cold command, ms"))
    assert against.FIGURE.findall(printed) == [
        ("warm question at 100,000 offers, ms", "814.2000"),
        ("cold command, ms", "814.2000"),
    ]
