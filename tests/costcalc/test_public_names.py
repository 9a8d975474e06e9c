"""The engine's public names come from the package itself, and importing it costs nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

import costcalc


def test_every_name_is_there():
    assert {getattr(costcalc, name).__name__ for name in costcalc.__all__} == set(costcalc.__all__)


def test_no_module_hides_a_name_once_it_is_imported():
    assert {path.stem for path in Path(costcalc.__file__).parent.iterdir()}.isdisjoint(costcalc.__all__)


def test_completion_shows_what_one_may_call_and_no_more():
    assert set(dir(costcalc)) == {*costcalc.__all__, "__version__"}


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'estimates'"):
        _ = costcalc.estimates


def test_the_package_alone_imports_none_of_its_rooms():
    script = (
        "import costcalc, sys; print(*(name for name in sys.modules if name.startswith(('costcalc.', 'numpy', 'api'))))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
