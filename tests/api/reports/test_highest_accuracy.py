"""The highest accuracy that fits, found in few questions."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.own_training_runs import own_run

from api.reports.within_reach import STEPS, highest, last_that, most_allowed
from api.stored import KnownRuns
from api.web.app import create_app
from own_runs.runs import CurvePoint


@given(st.integers(0, STEPS - 1), st.integers(0, STEPS))
def test_it_is_the_highest_step_that_fits_and_is_found_in_few_questions(last, limit):
    asked = []

    def fits(target):
        asked.append(target)
        return round(target * STEPS) <= last

    found = highest(fits, limit / STEPS)
    wanted = min(last, limit, STEPS - 1)
    assert found == (wanted / STEPS if wanted else None)
    assert len(asked) <= 15
    assert all(0 < target < 1 for target in asked)


@pytest.mark.parametrize(("limit", "steps"), [(0.7637, 7637), (0.28999, 2899), (1.0, 9999)])
def test_the_limit_is_cut_to_steps(limit, steps):
    assert highest(lambda _: True, limit) == steps / STEPS


@pytest.mark.parametrize(("lower_is_better", "values"), [(False, (0.2, 0.5, 0.6)), (True, (4.5, 3.0, 2.5))])
def test_the_best_value_of_ones_own_metric_within_a_budget(service, lower_is_better, values):
    curve = tuple(CurvePoint(epoch, 600.0 * epoch, value) for epoch, value in enumerate(values, 1))
    run = own_run(metric="score", curve=curve, lower_is_better=lower_is_better)
    mine = service.changed(runs=KnownRuns((run.stored(),)))
    client = create_app(mine).test_client()
    asked = f"/accuracy?model={run.name}&provider=aws&purchase=on_demand&crossing=first"
    whole = client.get(f"{asked}&budget=10000").get_json()
    assert (whole["accuracy"], "The run reached no better value" in whole["message"]) == (values[-1], True)
    by_target = [
        client.get(
            f"/cost?model={run.name}&target={value}&provider=aws&purchase=on_demand&crossing=first&limit=1&sort=cost"
        ).get_json()["estimates"][0]["billed_cost"]
        for value in values
    ]
    middle = (float(by_target[1]) + float(by_target[2])) / 2
    assert client.get(f"{asked}&budget={middle}").get_json()["accuracy"] == values[1]
    nothing = client.get(f"{asked}&budget=0.01").get_json()
    assert (nothing["accuracy"], "raise budget=" in nothing["message"]) == (None, True)
    assert client.get(f"{asked}&budget=50&target=3").status_code == 400


@pytest.mark.parametrize("fitting", range(6))
def test_the_last_that_fits_is_found(fitting):
    targets = (9.0, 7.0, 5.0, 3.0, 1.0)
    assert last_that(lambda target: target in targets[:fitting], targets) == (targets[fitting - 1] if fitting else None)


@pytest.mark.parametrize(("picked", "counted", "most"), [(0.2, 0.3, 0.2), (0.0, 0.3, 0.3), (0.0, 0.0, None)])
def test_what_picks_reach_comes_before_what_any_estimate_reaches(picked, counted, most):
    def ask(target):
        picks = ("cheapest",) if target <= picked else ()
        return SimpleNamespace(picks=picks, missed=(), count=int(target <= counted)) if target <= 0.3 else None

    assert most_allowed(ask, (0.1, 0.2, 0.3, 0.4)) == most
