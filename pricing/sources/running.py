"""Asking price sources, each in a cell of its own: what a hostile answer costs, it costs its own source alone.

A cell may allocate what its source's bounds say. Linux enforces that; elsewhere only the bounds of documents hold. As many run at
once as the memory that is set aside for them allows.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from math import ceil
from multiprocessing.connection import wait
from pathlib import Path
from traceback import extract_tb

from msgspec import Struct, msgpack
from msgspec.structs import replace

from costcalc.text import line
from pricing.cell import CONTEXT, Cell, Died, TooLate, TooMuch, limit_memory
from pricing.recording import Recording
from pricing.sources import SOURCES, specification
from pricing.sources.common.http import Http, HttpError
from pricing.sources.source import Collected, Environment, SourceError, SourceSpec

for _chatty in ("botocore", "google.auth", "google.api_core"):
    logging.getLogger(_chatty).setLevel(logging.INFO)  # at DEBUG they write down signed requests, key ids included

MEMORY_MIB = 320  # of all sources that are asked at one time
BYTES_OF_OFFER = 1024  # as it is handed over; most have 600


class Outcome(Struct, frozen=True):
    """What came of asking one source: `collected`, or None and the `error` that people are shown.

    `late` says that it was not waited for any longer.
    """

    name: str
    seconds: float
    collected: Collected | None = None
    error: str | None = None
    late: bool = False


def ask(spec: SourceSpec, environment: Environment, now: datetime, recording: Recording | None = None) -> Outcome:
    """One source's answer, observed at `now`; `recording` keeps what it was told.

    No exception leaves this function, and no secret is in its words.
    """
    started = time.monotonic()
    collected, error = None, None
    try:
        with closing(Http(recording=recording, most_mib=spec.bounds.document_mib)) as http:
            collected = spec.build(environment, http).collect(now)
    except (SourceError, HttpError) as failure:
        error = str(failure).removeprefix(f"{spec.name}: ")
    except MemoryError:
        error = _too_much_memory(spec)
    except Exception as failure:  # noqa: BLE001  one source's defect must not cost the others their refresh
        error = _defect(failure)
    return Outcome(spec.name, time.monotonic() - started, collected, error and line(error))


def ask_all(
    specs: Sequence[SourceSpec], environment: Environment, now: datetime, limit_seconds: float
) -> Iterator[Outcome]:
    """Outcomes in the order they come in; a source that takes longer than the limit is left behind as failed.

    Each has a share of the limit, and goes on beyond it as long as those that wait can still have theirs.
    """
    CONTEXT.set_forkserver_preload([__name__, *(SOURCES.modules[spec.name] for spec in specs)])
    deadline = time.monotonic() + limit_seconds
    share = limit_seconds / (1 + _rounds(specs))
    waiting, asking = list(specs), list[_Asking]()
    try:
        while asking or waiting:
            for spec in _fitting(waiting, [each.spec for each in asking]):
                waiting.remove(spec)
                cell = Cell.start(environment, _answer, spec.name, SOURCES.modules[spec.name], now)
                asking.append(_Asking(spec, cell))
            gives_way = deadline - share * _rounds(waiting)
            due = min(deadline, *(max(gives_way, each.cell.started + share) for each in asking))
            wait([each.cell.answer for each in asking], max(due - time.monotonic(), 0))
            now_is = time.monotonic()
            is_over = now_is >= deadline
            late = [each for each in asking if now_is >= max(gives_way, each.cell.started + share)]
            for each in [each for each in asking if is_over or each in late or each.cell.has_answered()]:
                asking.remove(each)
                yield each.outcome()
            if is_over:
                yield from (Outcome(spec.name, 0.0, None, "its turn did not come in time", True) for spec in waiting)
                return
    finally:
        for each in asking:
            each.cell.end()


def _rounds(specs: Sequence[SourceSpec]) -> int:
    """How many times these sources fill the memory."""
    return ceil(sum(spec.bounds.memory_mib for spec in specs) / MEMORY_MIB)


def _fitting(waiting: Sequence[SourceSpec], asking: Sequence[SourceSpec]) -> list[SourceSpec]:
    """Those of the waiting sources that there is memory for beside the others; one at least where nothing is asked."""
    room = MEMORY_MIB - sum(spec.bounds.memory_mib for spec in asking)
    fitting = list[SourceSpec]()
    for spec in waiting:
        if spec.bounds.memory_mib <= room or not (asking or fitting):
            fitting.append(spec)
            room -= spec.bounds.memory_mib
    return fitting


class _Asking(Struct, frozen=True):
    """A source that is asked, in its cell."""

    spec: SourceSpec
    cell: Cell

    def outcome(self) -> Outcome:
        """What it handed over, or why it handed over nothing. The cell ends."""
        late = False
        try:
            return msgpack.decode(self.cell.result(self.spec.bounds.offers * BYTES_OF_OFFER), type=Outcome)
        except TooLate:
            error, late = f"took longer than {self.cell.seconds:.0f} s", True
        except Died as died:
            error = f"{died}, perhaps for want of memory"
        except TooMuch:
            error = f"lists more than {self.spec.bounds.offers:,} offers"
        return Outcome(self.spec.name, self.cell.seconds, None, error, late)


def _answer(name: str, module: str, now: datetime) -> bytes:
    """What the cell of a source does: the outcome, packed."""
    spec = specification(name, module)
    limit_memory(spec.bounds.memory_mib)
    outcome = ask(spec, os.environ, now)
    try:
        return msgpack.encode(outcome)
    except MemoryError:
        return msgpack.encode(replace(outcome, collected=None, error=_too_much_memory(spec)))


def _too_much_memory(spec: SourceSpec) -> str:
    return f"its answers take more than {spec.bounds.memory_mib} MiB of memory"


def _defect(failure: Exception) -> str:
    """The type and place of an exception only: its text may quote a request, and with it a key."""
    if isinstance(failure, ModuleNotFoundError):
        return f"it needs the package {failure.name}, run: pip install 'costcalc[prices]'"
    here = Path(__file__).parent
    frames = [each for each in extract_tb(failure.__traceback__) if Path(each.filename).is_relative_to(here)]
    place = f" at {Path(frames[-1].filename).relative_to(here)}:{frames[-1].lineno}" if frames else ""
    return f"its answer could not be read ({type(failure).__name__}{place}); run `costcalc prices try` for this source"
