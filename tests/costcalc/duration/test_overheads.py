"""Time beyond training: interruptions against a simulation, sessions and quotas by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costcalc.duration import overheads
from costcalc.duration.overheads import calendar_hours, checkpoint_hours, interrupted_hours, young_interval


def simulated(work: float, between: float, trials: int = 20_000) -> float:
    """Mean wall time of many spot runs: a checkpoint every Young interval, a restart after each interruption."""
    random = np.random.default_rng(7)
    interval = float(young_interval(np.array(between)))
    lengths = [interval + overheads.SPOT_WRITE_HOURS] * (int(np.ceil(work / interval)) - 1)
    lengths.append(work - interval * len(lengths))
    elapsed = np.zeros(trials)
    for length in lengths:
        waiting, needed = np.arange(trials), np.full(trials, length)
        while len(waiting):
            survived = random.exponential(between, len(waiting))
            elapsed[waiting] += np.minimum(survived, needed)
            waiting = waiting[survived < needed]
            needed = np.full(len(waiting), length + overheads.SPOT_RESTART_HOURS)
    return float(elapsed.mean())


@pytest.mark.parametrize(("work", "between"), [(8, 12), (8, 48), (0.2, 12), (30, 3), (2, 0.75)])
def test_interruptions_cost_what_a_simulation_says(work, between):
    expected = float(interrupted_hours(np.array([work]), np.array([between]))[0])
    assert expected == pytest.approx(simulated(work, between), rel=0.01)
    assert expected > work


def test_eight_hours_at_an_interruption_in_twelve_take_four_percent_more():
    assert float(young_interval(np.array(12.0)) * 60) == pytest.approx(22, abs=0.1)
    assert float(interrupted_hours(np.array([8.0]), np.array([12.0]))[0]) == pytest.approx(8 * 1.04, rel=0.005)


@given(st.floats(0.01, 200), st.floats(1, 100))
def test_more_work_and_more_interruptions_take_longer(work, between):
    at = interrupted_hours(np.array([work, work * 1.1, work]), np.array([between, between, between / 2]))
    assert work < at[0] < at[1]
    assert at[0] < at[2]


@pytest.mark.parametrize("work", [0.001, 8.0, 1000.0])
def test_work_that_is_never_done_has_an_end_in_numbers(work):
    for between in (12 / 7_777, 12 / 1_000_000):
        assert float(interrupted_hours(np.array([work]), np.array([between]))[0]) == overheads.ENDLESS_HOURS


def test_checkpoints_are_every_ten_epochs():
    assert (checkpoint_hours(np.array([9.9, 10, 84])) * 3600).tolist() == pytest.approx([0, 20, 160])


def on_the_calendar(*figures):
    return float(calendar_hours(*(np.array([figure], float) for figure in figures))[0])


@pytest.mark.parametrize(
    ("hours", "session", "week", "calendar"),
    [
        (60, None, None, 60),
        (5, 12, None, 5),
        (12, 12, 84, 12),
        (60, 12, None, 60.6),  # six sessions, each begun by a restart
        (60, 12, 84, 60.6 / 12 * 24),  # 12 h a day: 5.05 days
        (20, 9, 30, 20.3),
        (29.6, 9, 30, 30),  # the whole quota of one week
        (60, 9, 30, 2 * 168 + 0.7),
        (31, None, 30, 169),
        (90, None, 30, 2 * 168 + 30),
    ],
)
def test_calendars_by_hand(hours, session, week, calendar):
    assert on_the_calendar(hours, session, week) == pytest.approx(calendar)


@given(st.floats(0.1, 500), st.none() | st.floats(1, 24), st.none() | st.floats(10, 168))
def test_a_calendar_is_never_shorter_than_the_work(hours, session, week):
    assert on_the_calendar(hours, session, week) >= hours * (1 - 1e-12)
