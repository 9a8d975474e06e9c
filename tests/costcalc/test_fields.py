"""Records filled from others: a field that was renamed on one side is no default in silence."""

import re

import pytest
from msgspec import Struct

from costcalc.fields import filled


class Card(Struct):
    name: str
    memory_gib: float | None = None


class Row(Struct):
    name: str
    memory_gib: float | None = None
    price: float | None = None


def test_the_first_source_that_has_a_field_gives_it():
    assert filled(Row, Card("A", 16.0), Card("B"), price=2.0) == Row("A", 16.0, 2.0)


@pytest.mark.parametrize("as_usual", [(), ("memory_gib",), ("price", "memory_gib")])
def test_what_no_source_has_is_named_or_refused(as_usual):
    with pytest.raises(TypeError, match=re.escape("must come from a source, or be left as usual")):
        filled(Row, Card("A"), as_usual=as_usual)
    assert filled(Row, Card("A"), as_usual=["price"]) == Row("A")
