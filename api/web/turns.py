"""Turns between the plans of one process: after each row the next visitor has a turn, so that a long plan keeps nobody out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from heapq import heappop, heappush
from itertools import count
from threading import Event, Lock

from api.forms.plan import Turn
from api.questions.errors import Refused

MOST_OF_ONE = 8  # plans of one visitor that are answered at once


class Turns:
    """One plan works at a time. Visitors have turns one after another; of one's plans that which had the fewest goes first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._plans: Counter[str] = Counter()
        self._waiting: dict[str, list[tuple[int, int, Event]]] = {}
        self._arrivals = count()
        self._is_taken = False

    @contextmanager
    def plan(self, visitor: str) -> Iterator[Turn]:
        with self._lock:
            if self._plans[visitor] >= MOST_OF_ONE:
                raise Refused(429, f"you have {MOST_OF_ONE} plans in work: wait for one of them")
            self._plans[visitor] += 1
        try:
            yield partial(self._turn, visitor, count())
        finally:
            with self._lock:
                self._plans[visitor] -= 1
                self._plans += Counter()  # forgets who has none

    @contextmanager
    def _turn(self, visitor: str, turns: Iterator[int]) -> Iterator[None]:
        turn, taken = Event(), next(turns)
        with self._lock:
            if self._is_taken:
                heappush(self._waiting.setdefault(visitor, []), (taken, next(self._arrivals), turn))
            else:
                self._is_taken = True
                turn.set()
        turn.wait()
        try:
            yield
        finally:
            with self._lock:
                self._pass_on()

    def _pass_on(self) -> None:
        """To the visitor who had none for longest."""
        if not self._waiting:
            self._is_taken = False
            return
        visitor = next(iter(self._waiting))
        plans = self._waiting.pop(visitor)
        heappop(plans)[-1].set()
        if plans:
            self._waiting[visitor] = plans
