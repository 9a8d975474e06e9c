"""A request has a share of the processor: past it there is an honest part of the answer, or a refusal."""

from itertools import count

import pytest

from api import budget
from api.budget import SECONDS, Spent, affordable


@pytest.fixture
def each_question_takes_a_second(monkeypatch):
    seconds = count()
    monkeypatch.setattr(budget, "thread_time", lambda: next(seconds))


def test_the_newest_dates_are_answered_and_the_others_named(client, each_question_takes_a_second):
    asked = "/trend?model=resnet18&target=0.69&as_of=2026-11-20&every=quarter"
    trend = client.get(asked)
    assert trend.status_code == 200
    assert len(trend.json["points"]) == SECONDS - 1
    assert trend.json["points"][-1]["date"].startswith("2026-11-20")
    assert trend.json["verdict"][-1] == (
        "November 2025 and before take more processor time than a question may: ask for them by as_of, or less often."
    )
    assert set(trend.json["drivers"].values()) == {None}


def test_a_question_without_parts_is_refused(client, monkeypatch):
    monkeypatch.setattr("api.web.health.SECONDS_OF_PROCESSOR", -1)
    refused = client.get("/cost?model=resnet18&target=0.68")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "takes more than 5 s of processor time: ask for fewer dates, rows or machines" in refused.json["detail"]


def test_a_command_takes_what_it_takes(each_question_takes_a_second):
    for _ in range(99):
        budget.check()


def test_a_share_ends_with_its_request(each_question_takes_a_second):
    def questions():
        for number in range(99):
            budget.check()
            yield number

    with budget.budget(5), budget.budget(2):
        assert [*affordable(questions())] == [0, 1]
    with pytest.raises(Spent), budget.budget(3):
        [*questions()]
    assert len([*questions()]) == 99
