"""The axes of a sweep: lists, ranges of dates and numbers, and what to write instead of a wrong one."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as some

from api.questions.errors import BadParameters
from api.questions.schemas.trainings import SweepSchema
from api.sweep.axes import Axis, axes, lines

SCHEMA = SweepSchema()


def texts(written):
    [axis] = axes([written], SCHEMA)
    return list(axis.texts)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("target=0.75, 0.757,0.75", ["0.75", "0.757"]),
        ("target=0.7..0.73/0.01", ["0.7", "0.71", "0.72", "0.73"]),
        ("target=0.5,0.7..0.8/0.06", ["0.5", "0.7", "0.76"]),
        ("nodes=1..7/2", ["1", "3", "5", "7"]),
        ("provider=aws,gcp,aws+gcp", ["aws", "gcp", "aws,gcp"]),
        ("purchase=spot,reserved+savings_plan", ["spot", "reserved,savings_plan"]),
        ("instance_type=n1-highmem-16+2xV100", ["n1-highmem-16+2xV100"]),
        ("as_of=2018-11..2019-02/1mo", ["2018-11-01", "2018-12-01", "2019-01-01", "2019-02-01"]),
        ("as_of=2024-01-31..2024-04-30/1mo", ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]),
        ("as_of=2024-02-29..2026-03-01/1y", ["2024-02-29", "2025-02-28", "2026-02-28"]),
        ("as_of=2026-01-01..2026-01-16/1w", ["2026-01-01", "2026-01-08", "2026-01-15"]),
        ("as_of=2026-01-01T12:00:00+02:00", ["2026-01-01T12:00:00+02:00"]),
        ("max-hours=1,2", ["1", "2"]),
    ],
)
def test_values(written, wanted):
    assert texts(written) == wanted


def test_every_axis_keeps_its_place():
    assert axes(["target=0.7", "model=a,b"], SCHEMA) == [Axis("target", ("0.7",)), Axis("model", ("a", "b"))]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (["resnet50"], "write NAME=VALUE,VALUE,..."),
        (["target="], "target: has no values"),
        (["targets=0.7"], "did you mean target,"),
        (["format=csv"], 'unknown parameter "format"'),
        (["target=0.7", "target=0.8"], "write all its values behind one ="),
        (["target=0.7..0.8"], "such as 0.70..0.80/0.01"),
        (["target=0.8..0.7/0.01"], "such as 0.70..0.80/0.01"),
        (["target=0.7..0.8/0"], "such as 0.70..0.80/0.01"),
        (["target=0..1/0.00001"], "such as 0.70..0.80/0.01, for at most 100,000 values"),
        (["target=0.7..nan/0.1"], "such as 0.70..0.80/0.01"),
        (["as_of=2018-05..2026-11"], "such as 2018-05..2026-11/1mo"),
        (["as_of=2018-05..2026-11/1h"], "steps are d, w, mo and y"),
        (["as_of=2018-05..2026-13/1d"], "steps are d, w, mo and y"),
        (["as_of=0001-01..9999-12/1d"], "steps are d, w, mo and y"),
        (["as_of=2018-05..9999-12/99999y"], "steps are d, w, mo and y"),
        (["model=a..b/1"], "only dates and numbers have ranges"),
    ],
)
def test_wrong_ones_say_what_to_write(written, told):
    with pytest.raises(BadParameters) as refused:
        axes(written, SCHEMA)
    assert told in refused.value.detail


@given(some.dates(date(2017, 1, 1), date(2030, 1, 1)), some.integers(1, 24), some.integers(0, 40))
def test_months_keep_their_day_or_end_the_month(begin, step, count):
    months = begin.year * 12 + begin.month - 1 + step * count
    last = date(months // 12, months % 12 + 1, 28)
    found = [date.fromisoformat(text) for text in texts(f"as_of={begin}..{max(begin, last)}/{step}mo")]
    assert found[0] == begin
    assert found == sorted(set(found))
    for number, each in enumerate(found):
        assert each.year * 12 + each.month == begin.year * 12 + begin.month + step * number
        assert each.day == begin.day or (each.day < begin.day and (each.month in (2, 4, 6, 9, 11)) and each.day >= 28)


def test_a_file_lists_one_a_line():
    assert lines("# my grid\n\n model=a,b \ntarget=0.7\n") == ["model=a,b", "target=0.7"]
