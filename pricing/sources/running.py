"""Asking price sources, each in a process of its own: what a hostile answer costs, it costs its own source alone.

A process may allocate what its source's bounds say. Linux enforces that; elsewhere only the bounds of documents hold. As many
processes run at once as the memory that is set aside for them allows.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from traceback import extract_tb

from msgspec import Struct, msgpack
from msgspec.structs import replace

from costcalc.text import line
from pricing.recording import Recording
from pricing.sources import SOURCES, specification
from pricing.sources.common.http import MIB, Http, HttpError
from pricing.sources.source import Collected, Environment, SourceError, SourceSpec

for _chatty in ("botocore", "google.auth", "google.api_core"):
    logging.getLogger(_chatty).setLevel(logging.INFO)  # at DEBUG they write down signed requests, key ids included

MEMORY_MIB = 320  # of all sources that are asked at one time
BYTES_OF_OFFER = 1024  # as it is handed over; most have 600
STACK_BYTES = MIB  # of a thread; the usual eight count as allocated, however few are used
# Forks of one process that has imported what sources need share its memory; on macOS a fork cannot use the network.
CONTEXT = get_context("forkserver") if sys.platform == "linux" else get_context("spawn")


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
    waiting, asking = list(specs), list[_Process]()
    try:
        while asking or waiting:
            for spec in _fitting(waiting, [each.spec for each in asking]):
                waiting.remove(spec)
                asking.append(_Process.start(spec, environment, now))
            gives_way = deadline - share * _rounds(waiting)
            due = min(deadline, *(max(gives_way, each.started + share) for each in asking))
            wait([each.answer for each in asking], max(due - time.monotonic(), 0))
            now_is = time.monotonic()
            is_over = now_is >= deadline
            late = [each for each in asking if now_is >= max(gives_way, each.started + share)]
            for each in [each for each in asking if is_over or each in late or each.has_answered()]:
                asking.remove(each)
                yield each.outcome()
            if is_over:
                yield from (Outcome(spec.name, 0.0, None, "its turn did not come in time", True) for spec in waiting)
                return
    finally:
        for each in asking:
            each.end()


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


@dataclass(frozen=True, slots=True)
class _Process:
    """The process that asks one source, and the pipe through which it hands over its outcome."""

    spec: SourceSpec
    process: BaseProcess
    answer: Connection
    started: float

    @classmethod
    def start(cls, spec: SourceSpec, environment: Environment, now: datetime) -> _Process:
        answer, end = CONTEXT.Pipe(duplex=False)
        arguments = (end, spec.name, SOURCES.modules[spec.name], dict(environment), now)
        process = CONTEXT.Process(target=_answer, args=arguments, daemon=True)
        process.start()
        end.close()
        return cls(spec, process, answer, time.monotonic())

    @property
    def seconds(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.started

    def has_answered(self) -> bool:
        """Whether its outcome, or its end, can be read."""
        return self.answer.poll()

    def outcome(self) -> Outcome:
        """What it handed over, or why it handed over nothing. The process ends."""
        if not self.has_answered():
            self.end()
            return self._failed(f"took longer than {self.seconds:.0f} s", late=True)
        try:
            content = self.answer.recv_bytes(self.spec.bounds.offers * BYTES_OF_OFFER)
        except EOFError:
            self.process.join()
            return self._failed(f"its process ended with status {self.process.exitcode}, perhaps for want of memory")
        except OSError:
            return self._failed(f"lists more than {self.spec.bounds.offers:,} offers")
        finally:
            self.end()
        return msgpack.decode(content, type=Outcome)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.answer.close()

    def _failed(self, error: str, late: bool = False) -> Outcome:
        return Outcome(self.spec.name, self.seconds, None, error, late)


def _answer(end: Connection, name: str, module: str, environment: Mapping[str, str], now: datetime) -> None:
    """What the process of a source does. It ends with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever interrupts a refresh ends its processes
    os.environ.clear()
    os.environ.update(environment)
    threading.stack_size(STACK_BYTES)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    spec = specification(name, module)
    limit_memory(spec.bounds.memory_mib)
    outcome = ask(spec, environment, now)
    try:
        content = msgpack.encode(outcome)
    except MemoryError:
        content = msgpack.encode(replace(outcome, collected=None, error=_too_much_memory(spec)))
    end.send_bytes(content)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def limit_memory(mib: int) -> None:
    """This process can allocate no more than these MiB beyond what it has. Only Linux counts all that is allocated."""
    if sys.platform != "linux":
        return
    import resource

    allocated_pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = allocated_pages * resource.getpagesize() + mib * MIB
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)  # stays: the processes of a refresh have limits of their own
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


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
