"""`TESTS=whole`, as every night: all cases instead of a sample, more examples, and the measurements that take minutes."""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

WHOLE = os.environ.get("TESTS") == "whole"
Case = TypeVar("Case")


def sampled(cases: Iterable[Case], one_in: int, first: int = 0) -> Sequence[Case]:
    """One in so many of the cases; all of them at night."""
    return [*cases] if WHOLE else [*cases][first::one_in]
