"""Asking sources side by side, each in a thread of its own that is abandoned when its time is up."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from traceback import extract_tb

from pricing.recording import Recording
from pricing.sources.common.http import Http, HttpError
from pricing.sources.source import Collected, Environment, SourceError, SourceSpec

for _chatty in ("botocore", "google.auth", "google.api_core"):
    logging.getLogger(_chatty).setLevel(logging.INFO)  # at DEBUG they write down signed requests, key ids included


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of asking one source: `collected`, or None and the `error` that people are shown."""

    name: str
    seconds: float
    collected: Collected | None = None
    error: str | None = None


def ask(spec: SourceSpec, environment: Environment, now: datetime, recording: Recording | None = None) -> Outcome:
    """One source's answer, observed at `now`; `recording` keeps what it was told.

    No exception leaves this function, and no secret is in its words.
    """
    started = time.monotonic()
    collected, error = None, None
    try:
        with closing(Http(recording=recording)) as http:
            collected = spec.build(environment, http).collect(now)
    except (SourceError, HttpError) as failure:
        error = str(failure).removeprefix(f"{spec.name}: ")
    except Exception as failure:  # noqa: BLE001  one source's defect must not cost the others their refresh
        error = _defect(failure)
    return Outcome(spec.name, time.monotonic() - started, collected, error)


def ask_all(
    specs: Sequence[SourceSpec], environment: Environment, now: datetime, limit_seconds: float
) -> Iterator[Outcome]:
    """Outcomes in the order they come in; a source that takes longer than the limit is left behind as failed."""
    outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    for spec in specs:
        _start(partial(_report, outcomes, spec, environment, now), spec.name)
    pending, deadline = {spec.name for spec in specs}, time.monotonic() + limit_seconds
    while pending:
        try:
            outcome = outcomes.get(timeout=max(deadline - time.monotonic(), 0))
        except queue.Empty:
            break
        pending.discard(outcome.name)
        yield outcome
    for name in sorted(pending):
        yield Outcome(name, limit_seconds, None, f"took longer than {limit_seconds:g} s")


def _report(outcomes: queue.SimpleQueue[Outcome], spec: SourceSpec, environment: Environment, now: datetime) -> None:
    outcomes.put(ask(spec, environment, now))


def _start(work: Callable[[], None], name: str) -> None:
    """A daemon thread: one that hangs keeps neither the refresh nor the end of the process waiting."""
    threading.Thread(target=work, name=f"prices-{name}", daemon=True).start()


def _defect(failure: Exception) -> str:
    """Type and place only: the text of a foreign exception may quote a request, and with it a key."""
    frames = [
        frame
        for frame in extract_tb(failure.__traceback__)
        if Path(frame.filename).is_relative_to(Path(__file__).parent)
    ]
    place = f" at {Path(frames[-1].filename).relative_to(Path(__file__).parent)}:{frames[-1].lineno}" if frames else ""
    return f"its answer could not be read ({type(failure).__name__}{place}); run `costcalc prices try` for this source"
