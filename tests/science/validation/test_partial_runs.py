"""Runs of which only a part is known, scored."""

import pytest
from fakes.recipes import recipe
from msgspec.structs import replace
from support.mlperf_results import publish

from costcalc.training import Evaluation
from science.validation.convergence.partial_runs import (
    FFCV,
    SHARES,
    ends,
    ffcv_logs,
    longer,
    mlperf_logs,
    watched_scores,
)
from science.validation.published import load_published
from science.validation.scores import score


@pytest.fixture(scope="module")
def packaged():
    return load_published()


@pytest.fixture
def published(rows):
    """Four schedules of one family, and an unseen one."""

    def curve(end):
        return tuple(Evaluation(step, None, 1 - end * 3.5 ** (1 - step / 20), None) for step in range(1, 21))

    logs = {f"log-{end}": curve(end) for end in (0.20, 0.22, 0.24, 0.26)}
    base = publish(rows)
    recipes = tuple(recipe(name=name, family=FFCV, evaluations=found) for name, found in logs.items())
    return replace(
        base, evidence=replace(base.evidence, recipes=recipes), unseen_curves={FFCV: {"unseen": curve(0.23)}}
    )


@pytest.mark.parametrize("share", SHARES)
def test_logs_of_one_course_tell_each_other_s_end(published, share):
    logs = ffcv_logs(published)
    cases = ends(logs, share)
    assert [case.name for case in cases] == ["log-0.2", "log-0.22", "log-0.24", "log-0.26", "unseen"]
    assert max(abs(case.error) for case in cases) < 0.03 < max(abs(case.baseline_error) for case in cases)


def test_an_unseen_log_lends_nothing(published):
    without = ffcv_logs(replace(published, unseen_curves={}))
    assert [case.error for case in ends(without, 0.5)] == [case.error for case in ends(ffcv_logs(published), 0.5)][:-1]


def test_mlperf_s_logs_are_held_out_by_organisation(packaged):
    logs = mlperf_logs(packaged)
    assert not any("open" in log.family for log in logs)
    by_name = {log.name: log for log in logs}
    for case in ends(logs, 0.5)[:20]:
        log = by_name[case.name]
        assert sum(one.family == log.family and one.group != log.group for one in logs) >= 3


@pytest.mark.parametrize("share", SHARES)
def test_ranges_hold_as_many_ends_as_they_say(packaged, share):
    for logs in (ffcv_logs(packaged), mlperf_logs(packaged)):
        assert all(found.good for found in score("", ends(logs, share)).coverage)


def test_what_watching_says_of_a_target_beats_the_share_of_others_and_of_longer_runs_their_length(packaged):
    for found in watched_scores(packaged):
        assert found.chances >= 35
        assert found.score < found.baseline / 1.5
    for share in SHARES:
        cases = score("longer", longer(ffcv_logs(packaged), share))
        assert cases.mape < cases.baseline_mape / 2
