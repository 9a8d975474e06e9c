"""How much processor a request may take: whatever asks several questions looks at it before each further one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time
from typing import TypeVar

from api.questions.errors import Refused

SECONDS = 5.0
T = TypeVar("T")
_end: ContextVar[float] = ContextVar("end", default=math.inf)
"""The moment of this thread's processor at which its request has had its share; commands have no end."""


class Spent(Refused):
    """503: the request has had its share of the processor."""

    def __init__(self) -> None:
        super().__init__(
            503, f"this takes more than {SECONDS:g} s of processor time: ask for fewer dates, rows or machines"
        )


@contextmanager
def budget(seconds: float) -> Iterator[None]:
    """What this thread works on may take so many seconds of processor."""
    token = _end.set(thread_time() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


def check() -> None:
    """Raises Spent where the share is had."""
    if thread_time() > _end.get():
        raise Spent


def affordable(items: Iterable[T]) -> Iterator[T]:
    """Those items, each of which takes questions, that the share is enough for."""
    try:
        yield from items
    except Spent:
        return
