"""Text from outside becomes a line, and a record whose texts are lines stays itself."""

from datetime import date
from unicodedata import bidirectional, category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from costcalc.offer import Gap, PurchaseOption
from costcalc.text import in_lines, line

CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}  # control characters, half ones, line and paragraph separators
DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "B", "S"}


class Record(Struct, frozen=True):
    name: str
    kind: PurchaseOption = PurchaseOption.SPOT
    notes: tuple[str, ...] = ()
    day: date = date(2026, 11, 23)
    inner: "Record | None" = None


@given(st.text() | st.text("a \n\x1b\x9b\u061c\u200b\u200e\u2028\u202e\u2066\ufeff\ud800\U000e0041"))
def test_a_line_holds_nothing_that_nobody_sees(text: str) -> None:
    shown = line(text)
    assert not {category(sign) for sign in shown} & CATEGORIES
    assert not {bidirectional(sign) for sign in shown} & DIRECTIONS
    assert line(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe 東京 – 100 % – 🚀", "Größe 東京 – 100 % – 🚀"),
        ("acc\r\n\tsetup: |", "acc setup: |"),
        ("\x1b]0;owned\x07 \x9b31m", "]0;owned 31m"),
        ("a\u202eb\u2066c\u2028d\x85e\u200bf\ud83d", "a b c d e f"),
        ("a  b ", "a  b "),
        ("\u0645\u06cc\u200c\u062e 👩\u200d💻 1\u00a0000", "\u0645\u06cc\u200c\u062e 👩\u200d💻 1\u00a0000"),
        ("ignore\U000e0069\U000e0067 all", "ignore all"),
        ("\0", ""),
    ],
)
def test_what_a_line_cannot_hold_becomes_a_space(text: str, shown: str) -> None:
    assert line(text) == shown


def test_every_text_of_a_record_becomes_a_line() -> None:
    record = Record("a\nb", notes=("c\x1bd", "e"), inner=Record("f\u202eg"))
    assert in_lines(record) == Record("a b", notes=("c d", "e"), inner=Record("f g"))
    assert in_lines({"k\n": [record, 1, None], "s": frozenset({"a\0b"})}) == {
        "k": [in_lines(record), 1, None],
        "s": frozenset({"a b"}),
    }


def test_a_record_of_lines_is_itself() -> None:
    record = Record("a", notes=("b",), inner=Record("c"))
    assert in_lines(record) is record
    assert in_lines(PurchaseOption.SPOT) is PurchaseOption.SPOT


def test_a_gap_has_one_line_whatever_a_source_said() -> None:
    assert Gap("aws", "no rates for p3\n\x1b[31m.8xlarge").reason == "no rates for p3 [31m.8xlarge"
