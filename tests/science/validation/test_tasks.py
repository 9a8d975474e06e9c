"""What tasks are scored beside: what no model at all makes of a result."""

import math
from datetime import timedelta

import pytest
from msgspec.structs import replace

from costcalc.tasks.tables import results, tasks
from science.validation import single_runs
from science.validation.tasks import CHIP, COUNT, SAME, Predicted, judged, without_model

ONE = replace(results()["rnnt"][0], accelerators=8, minutes=100.0, repeats=False, outlier=False)


def another(**changes):
    return replace(ONE, organisation="Another", **changes)


def test_without_a_model_the_nearest_round_of_the_nearest_count_answers():
    same_count = another(minutes=110.0)
    older = another(minutes=150.0, published=ONE.published - timedelta(days=180))
    half, quarter = another(minutes=190.0, accelerators=4), another(minutes=500.0, accelerators=2)
    assert without_model(ONE, [half, older, same_count]) == pytest.approx(math.log(1.1))
    assert without_model(ONE, [quarter, half]) == pytest.approx(math.log(190 * 0.5**0.9 / 100))


def test_without_a_model_outliers_and_other_chips_tell_nothing():
    assert without_model(ONE, [another(outlier=True), another(accelerator="TPU v9"), another(repeats=True)]) is None
    assert without_model(ONE, []) is None


def predicted(organisation, off, kind=SAME):
    result = replace(ONE, organisation=organisation)
    return Predicted(result, kind, off, 0.1, None, None, None, (), None)


def test_ranges_are_as_wide_as_the_results_of_all_others_needed_them():
    """Those of an organisation whose results lie far off are no wider for that; another's are."""
    near = [predicted(name, 0.1, kind) for name in "abc" for kind in (SAME, COUNT, CHIP) for _ in range(5)]
    far = [predicted("far", 0.4, kind) for kind in (SAME, COUNT, CHIP) for _ in range(5)]
    found = list(judged([*near, *far]))
    assert len(found) == len(near) + len(far)
    assert all(case.half_width == pytest.approx(0.1) for case in found if case.result.organisation == "far")
    assert all(case.half_width > 0.1 for case in found if case.result.organisation == "a")


def test_single_runs_are_counted_by_their_length_and_by_what_is_bought(monkeypatch):
    monkeypatch.setattr(single_runs, "logged", lambda: {(ONE.task, ONE.name): (14.0, 100.0, 130.0, 300.0)})
    shown = [line.split() for line in single_runs.lines([predicted("a", 0.0)], {ONE.task: 0.2})]
    found = {" ".join(words[:-2]): words[-2:] for words in shown[1:]}
    assert found["1 to 3 h"] == ["2", "100%"]
    assert found["below 15 min"] == found["above 3 h"] == ["1", "0%"]
    assert found["all"] == found[SAME] == found["up to 8 accelerators"] == ["4", "50%"]


def test_logged_minutes_are_those_of_published_results():
    published = {(name, result.name): result for name in tasks() for result in results()[name]}
    for name, minutes in single_runs.logged().items():
        assert len(minutes) > 1
        assert min(minutes) * 0.5 < published[name].minutes < max(minutes) * 3
