"""Asking sources in this process, for tests that change what sources do: another process would not see it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime

from pricing.sources.running import Outcome, ask
from pricing.sources.source import Environment, SourceSpec


def ask_here(
    specs: Sequence[SourceSpec], environment: Environment, now: datetime, limit_seconds: float
) -> Iterator[Outcome]:
    """In the place of `ask_all`: side by side too, without any limits."""
    with ThreadPoolExecutor() as pool:
        for done in as_completed(pool.submit(ask, spec, environment, now) for spec in specs):
            yield done.result()
