"""Mutants of a toy module: one that its tests cannot tell from the original survives, the others are killed."""

from pathlib import Path

import pytest

from tools.mutants import AREAS, Baseline, main, mutants
from tools.mutants_page import HEAD, reasons

ROOT = Path(__file__).parents[2]

MODULE = '''"""A toy."""

def clip(value: int, low: int = 0) -> int:
    """Not below `low`."""
    return low if value < low else value

'''
TESTS = """from toy.clipping import clip

def test_clip():
    assert [clip(-1), clip(3), clip(4, 5)] == [0, 3, 5]
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A checkout with one module, and a cache of its own."""
    root = tmp_path / "checkout"
    (root / "toy").mkdir(parents=True)
    (root / "toy/clipping.py").write_text(MODULE)
    (root / "test_toy.py").write_text(TESTS)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


def test_only_what_no_test_holds_survives(toy, capsys):
    survivor = (
        "clipping.py:5\n    - return low if value < low else value\n    + return low if value <= low else value\n"
    )
    assert main(["toy", "--tests", "test_toy.py"]) == 1
    assert capsys.readouterr().out == f"toy/{survivor}2 of 3 mutants killed (66.7%); 3 are possible.\n"
    assert (toy / "toy/clipping.py").read_text() == MODULE


def test_a_share_that_is_enough_passes(toy, capsys):
    assert main(["toy/clipping.py", "--tests", "test_toy.py", "--count", "1", "--least", "0"]) == 0
    assert "of 1 mutants killed" in capsys.readouterr().out


def test_tests_that_fail_without_a_change_are_told(toy):
    (toy / "test_toy.py").write_text("def test_wrong():\n    assert False\n")
    with pytest.raises(SystemExit, match="fail before any change"):
        main(["toy", "--tests", "test_toy.py"])


def test_the_likeliest_tests_come_first_and_slow_ones_not_at_all(tmp_path):
    (tmp_path / "module.py").write_text("a = b + c\nd = e + f")
    seconds = {"other.py::a": 1.0, "other.py::b": 9.0, "test_module.py::c": 2.0, "same.py::d": 3.0, "same.py::e": 4.0}
    setups = {"other.py": 0.0, "test_module.py": 1.0, "same.py": 5.0}
    measured = Baseline(seconds, setups, {"module.py": {"1": [4], "2": [3]}})
    first = mutants(tmp_path, ["module.py"])[0]
    ordered = ["same.py::e", "test_module.py::c", "same.py::d", "other.py::a", "other.py::b"]
    assert measured.tests_for(first, 25.0) == ordered
    assert measured.tests_for(first, 24.9) == ordered[:-1]
    assert measured.tests_for(first, 8.9) == ["test_module.py::c", "other.py::a"]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("a = b < c", ["a = b <= c"]),
        ("a = b is None", ["a = b is not None"]),
        ("a = b + 1", ["a = b - 1", "a = b + 2"]),
        ("a = b and c", ["a = b or c"]),
        ("a = not b", ["a = b"]),
        ("a = b[-1:]", ["a = b[:]", "a = b[1:]", "a = b[-2:]"]),
        ("a = 730.5", ["a = 1461.0"]),
        ("a: Literal[1] = True", ["a: Literal[1] = False"]),
        ("def f(a=0): raise ValueError(1)", ["def f(a=1):\n    raise ValueError(1)", "def f(a=0):\n    pass"]),
        ("if a: b += c", ["if not a:\n    b += c", "if a:\n    pass", "if a:\n    b -= c"]),
        ("a = f'{1}'; b = 'text'; assert 1 < 2", []),
    ],
)
def test_changes(tmp_path, line, after):
    (tmp_path / "module.py").write_text(line)
    assert [mutant.source() for mutant in mutants(tmp_path, ["module.py"])] == after


PAGE = """# Mutants

## engine

1 of 2 mutants killed.

## toy/clipping.py

none yet

## other
"""


def test_a_page_keeps_the_reason_beside_a_survivor(toy, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    asked = ["toy/clipping.py", "--tests", "test_toy.py", "--least", "0", "--into", str(page)]
    main(asked)
    row = (
        "| `toy/clipping.py` | `return low if value < low else value` | `return low if value <= low else value` |  |\n"
    )
    section = f"## toy/clipping.py\n\n2 of 3 mutants killed (66.7%); 3 are possible.\n\n{HEAD}{row}\n## other\n"
    assert page.read_text() == PAGE.partition("## toy")[0] + section
    explained = page.read_text().replace("|  |\n", "| equal values are the same |\n")
    page.write_text(explained)
    main(asked)
    assert page.read_text() == explained


def test_an_area_has_its_modules_and_its_tests():
    for area in AREAS.values():
        assert all((ROOT / path).exists() for path in (*area.folders, *area.tests))


def test_every_survivor_on_the_page_is_explained():
    listed = reasons((ROOT / "docs/mutants.md").read_text("utf-8"))
    assert listed
    assert [survivor for survivor, reason in listed.items() if len(reason) < 10] == []
    assert all((ROOT / where).exists() for where, _, _ in listed)
