"""What answers share: each thing is worked out when an answer first needs it, and kept while there is room for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from cachetools import LRUCache

from costcalc.fields import names_of

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

MOST_BYTES = 64 * 2**20  # the matrix of ResNet-50 holds 9 MiB, those of four networks together 33
MOST_BYTES_OF_OWN_RUNS = 32 * 2**20
ENTRY_BYTES = 250  # of an entry of a mapping, its key and its value


class Shelf:
    """Things by name, at most so many bytes of them; what was used least recently gives way. What is larger than half
    of it is known for as long as somebody holds it."""

    def __init__(self, most_bytes: int) -> None:
        self._things: LRUCache[Hashable, Any] = LRUCache(most_bytes, about_bytes)
        self._large = WeakValueDictionary[Hashable, Any]()
        self._lock = Lock()

    @property
    def size_bytes(self) -> int:
        """The memory that the things take, approximately."""
        return int(self._things.currsize)

    def recall(self, name: Hashable, work_out: Callable[[], T]) -> T:
        """The thing of this name, worked out if it is not here.

        A name holds evidence and catalogues by weak references: the shelf keeps none of them alive.
        """
        with self._lock:
            if name in self._things:
                kept: T = self._things[name]
                return kept
        large = self._large.get(name)
        thing = work_out() if large is None else large
        is_large = 2 * about_bytes(thing) > self._things.maxsize
        with self._lock:
            (self._large if is_large else self._things)[name] = thing
        return thing


class Few(dict[K, T]):
    """A few small things by name, each of about so many bytes: where there would be more, all are forgotten."""

    def __init__(self, most: int, bytes_each: int) -> None:
        self._most = most
        self.about_bytes = most * bytes_each  # when it is full

    def recall(self, name: K, work_out: Callable[..., T], *of: Any) -> T:
        """The thing of this name, worked out from the arguments if it is not here."""
        thing = self.get(name)
        if thing is None:
            thing = work_out(*of)
            if len(self) >= self._most:
                self.clear()
            self[name] = thing
        return thing

    def recall_all(self, work_out: Callable[..., T], named: Iterable[tuple[K, Sequence[Any]]]) -> list[T]:
        """The things of these names, each worked out of what stands beside its name if it is not here."""
        get = self.get
        return [get(name) or self.recall(name, work_out, *of) for name, of in named]


class Memory:
    """All that answers share. What follows from users' own runs stands on a shelf of its own and pushes nothing else out. Large
    things `in_use` are known by name for as long as an answer holds them."""

    def __init__(self, most_bytes: int = MOST_BYTES, most_bytes_of_own_runs: int = MOST_BYTES_OF_OWN_RUNS) -> None:
        self.in_use = WeakValueDictionary[Hashable, Any]()
        self._shared, self._of_own_runs = Shelf(most_bytes), Shelf(most_bytes_of_own_runs)

    def shelf(self, of_own_run: bool) -> Shelf:
        """The shelf for what follows from a user's own run, or for all else."""
        return self._of_own_runs if of_own_run else self._shared

    @property
    def size_bytes(self) -> int:
        """The memory that all of it takes, approximately."""
        return self._shared.size_bytes + self._of_own_runs.size_bytes


def about_bytes(thing: object) -> int:
    """The memory that a thing takes: what it states itself, else that of its arrays and mappings."""
    stated = getattr(thing, "about_bytes", None)
    return ENTRY_BYTES + _bytes_in(thing) if stated is None else int(stated)


def _bytes_in(thing: object) -> int:
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, Mapping):
        return ENTRY_BYTES * len(thing)
    names = getattr(thing, "_fields", ()) or names_of(type(thing))
    return sum(_bytes_in(getattr(thing, name)) for name in names)
