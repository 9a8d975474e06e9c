"""Plans take turns, so that a long one keeps nobody out."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.asgi import ask, run
from support.services import packaged_service

from api.questions.errors import Refused
from api.service import Service
from api.settings import Settings
from api.web import turns as turning
from api.web.app import create_app
from api.web.serving.front import create_front
from api.web.turns import Turns
from tools.cluster.cluster import wait_for

ROW_SECONDS = 0.01
MANY, FEW = 100, 3


@pytest.fixture
def slow(monkeypatch):
    """A service that takes a while for each row of a plan."""
    answer = Service.answer

    def slowly(*asked):
        time.sleep(ROW_SECONDS)
        return answered

    service = packaged_service()
    question, _ = service.question({"model": ["resnet50"], "target": ["0.757"], "limit": ["1"]}, service.catalogue())
    answered = answer(service, question, service.catalogue())
    monkeypatch.setattr(Service, "answer", slowly)
    return service


def sheet(rows):
    lines = (f"resnet50,{0.7 + row / 10_000:.4f}\n" for row in range(rows))
    return "model,target\n" + "".join(lines)


@pytest.mark.parametrize("visitor", ["10.0.0.1", "10.0.0.2"])
def test_a_short_plan_is_answered_while_long_ones_are_in_work(slow, visitor):
    """Also where both come from the same address, as from behind a proxy."""
    done = []

    async def send(app, rows, client):
        headers = [(b"content-type", b"text/csv"), (b"content-length", b"1")]
        got = await ask(app, "/plan", method="POST", headers=headers, pieces=(sheet(rows).encode(),), client=client)
        done.append(rows)
        return got

    async def crowd():
        app = create_front(slow, Settings())
        long = [asyncio.create_task(send(app, MANY + number, "10.0.0.1")) for number in range(4)]
        await asyncio.sleep(0.3)
        short = await send(app, FEW, visitor)
        return [short, *[await each for each in long]]

    assert [(got["status"], got["body"].count(b"again")) for got in run(crowd())] == [(200, 0)] * 5
    assert done[0] == FEW


def worked_in_turn(visitor, rows, after):
    """The names of plans row by row: three of visitor a, and one of this visitor that comes after so many rows. While a row is
    worked on, every other plan that is under way waits for its turn."""
    turns, worked, under_way = Turns(), [], {"a1", "a2", "a3"}

    def work(visitor, rows, name):
        with turns.plan(visitor) as turn:
            for row in range(rows):
                with turn():
                    worked.append(name)
                    if len(worked) == after:
                        under_way.add("late")
                    if row == rows - 1:
                        under_way.remove(name)
                    while sum(map(len, turns._waiting.values())) < len(under_way - {name}):
                        time.sleep(0.001)

    with ThreadPoolExecutor(4) as pool:
        plans = [pool.submit(work, "a", 40, name) for name in ("a1", "a2", "a3")]
        wait_for(lambda: "late" in under_way)
        for each in [*plans, pool.submit(work, visitor, rows, "late")]:
            each.result()
    return worked


def test_a_visitors_short_plan_goes_before_their_long_ones():
    worked = worked_in_turn("a", 3, after=30)
    first = worked.index("late")
    assert worked[first : first + 5].count("late") == 3, (
        "but for the row that each of the others was just about to work on"
    )
    assert len(worked) == 123


def test_visitors_have_turns_one_after_another_however_many_plans_they_send():
    worked = worked_in_turn("b", 20, after=5)
    first = worked.index("late")
    while_b = worked[first : len(worked) - worked[::-1].index("late")]
    assert while_b.count("late") >= len(while_b) // 3, "one of three: another plan of a waits when the turn of one ends"
    assert {"a1", "a2", "a3"} <= set(while_b)
    assert len(worked) == 140


def test_a_visitor_has_so_many_plans_at_once_and_not_more(monkeypatch):
    monkeypatch.setattr(turning, "MOST_OF_ONE", 1)
    turns = Turns()
    with turns.plan("a"):
        with pytest.raises(Refused, match="wait for one of them") as refused, turns.plan("a"):
            pass
        with turns.plan("b"):
            pass
    with turns.plan("a"):
        pass
    assert refused.value.status == 429


def test_a_row_that_fails_passes_the_turn_on():
    turns = Turns()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), turns.plan("a") as turn, turn():
            raise ZeroDivisionError
    entered = threading.Event()

    def follow():
        with turns.plan("a") as turn, turn():
            entered.set()

    with turns.plan("a") as turn, turn():
        threading.Thread(target=follow, daemon=True).start()
        wait_for(lambda: turns._waiting)
        assert not entered.is_set()
    assert entered.wait(60)


def test_too_many_plans_are_told_when_to_come_again(slow, monkeypatch):
    monkeypatch.setattr(turning, "MOST_OF_ONE", 0)
    refused = create_app(slow).test_client().post("/plan", data=sheet(1), content_type="text/csv")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
