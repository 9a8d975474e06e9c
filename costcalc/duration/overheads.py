"""The time that a run takes beyond its training steps, with the assumed figures and their sources."""

from __future__ import annotations

import numpy as np

from costcalc.training import DATA_SET_GB
from costcalc.units import DAYS_PER_WEEK, HOURS_PER_DAY, SECONDS_PER_HOUR, Floats

STARTUP_HOURS = 300 / SECONDS_PER_HOUR
"""Booting and initialising, billed: 5 minutes; MLPerf initialisation alone is 49 s in the median, machines boot in 1-5 min."""
STARTUP_LOW_HOURS, STARTUP_HIGH_HOURS = 168 / SECONDS_PER_HOUR, 552 / SECONDS_PER_HOUR
"""The 10 and 90 % points of 2 to 10 minutes."""
OF_STARTUP = STARTUP_HOURS - STARTUP_LOW_HOURS, STARTUP_HIGH_HOURS - STARTUP_HOURS
STAGING_MB_PER_SECOND = 500
"""The rate at which the data set is brought to the machine."""
INITIALISING_HOURS = 49 / SECONDS_PER_HOUR
"""The part of the start-up that every run pays: MLPerf's median. Machines that are kept boot once, and hold the data set."""
CHECKPOINT_SECONDS = 20
EPOCHS_PER_CHECKPOINT = 10

SPOT_RESTART_HOURS = 0.1
SPOT_WRITE_HOURS = CHECKPOINT_SECONDS / SECONDS_PER_HOUR
ENDLESS_HOURS = 1_000_000.0
"""A century: work that interruptions stretch so far is never done."""


def staging_hours(data_set_gb: Floats) -> Floats:
    """Hours to bring a data set of this size to the machine."""
    return np.asarray(data_set_gb * 1000 / STAGING_MB_PER_SECOND / SECONDS_PER_HOUR)


def rewriting_hours(stored_gb: Floats) -> Floats:
    """Hours spent writing the data set in the format of a pipeline that does not read the usual one, such as FFCV's."""
    written = np.where(stored_gb == DATA_SET_GB, 0.0, stored_gb)
    return staging_hours(written)


def checkpoint_hours(epochs: Floats) -> Floats:
    """Hours spent writing checkpoints, one every ten epochs."""
    return np.floor(epochs / EPOCHS_PER_CHECKPOINT) * CHECKPOINT_SECONDS / SECONDS_PER_HOUR


def young_interval(hours_between: Floats) -> Floats:
    """The checkpoint interval that loses least: sqrt(2 d M) (Young 1974)."""
    interval: Floats = np.sqrt(2 * SPOT_WRITE_HOURS * hours_between)
    return interval


def interrupted_hours(hours: Floats, hours_between: Floats) -> Floats:
    """Expected wall time of `hours` of work when interruptions come at random, `hours_between` on average (Daly 2006).

    Each checkpoint interval x costs M e^(R/M) (e^(x/M) - 1) in expectation, R being the restart; the last one is shorter.
    At most ENDLESS_HOURS.
    """
    interval = np.minimum(young_interval(hours_between), np.maximum(hours, 1e-9))
    intervals = np.ceil(hours / interval)
    last = hours - (intervals - 1) * interval
    with np.errstate(over="ignore", invalid="ignore"):
        scale = hours_between * np.exp(SPOT_RESTART_HOURS / hours_between)
        whole = np.expm1((interval + SPOT_WRITE_HOURS) / hours_between)
        expected: Floats = scale * ((intervals - 1) * whole + np.expm1(last / hours_between))
    return np.fmin(expected, ENDLESS_HOURS)


def calendar_hours(hours: Floats, session_hours: Floats, hours_per_week: Floats) -> Floats:
    """Wall clock to the end where sessions end and quotas run out, NaN where they don't; work longer than a session restarts in
    each.

    A quota of seven sessions a week is a session a day, and the work is spread evenly over the days. Any other weekly quota
    is used at once and then waited for.
    """
    several = hours > session_hours
    restarts = np.ceil(hours / (session_hours - SPOT_RESTART_HOURS))
    used = hours + np.where(several, SPOT_RESTART_HOURS * restarts, 0)
    weeks = np.ceil(used / hours_per_week) - 1
    waited = np.where(weeks > 0, weeks * (DAYS_PER_WEEK * HOURS_PER_DAY - hours_per_week), 0)
    daily = several & (hours_per_week == DAYS_PER_WEEK * session_hours)
    return np.where(daily, used * HOURS_PER_DAY / session_hours, used + waited)
