"""Reads logs in cells: whatever a stranger's file holds, it costs its own reading alone."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec import Raw, Struct, msgpack
from msgspec.structs import astuple

from own_runs.adding import RunRefused
from own_runs.logs.log import LogRefused, NothingYet
from pricing.cell import CONTEXT, MIB, Cell, Died, NoResult, TooMuch, limit_memory, limit_processor, refuse_network

T = TypeVar("T")


class Bounds(Struct, frozen=True):
    """What reading a log may take: memory, processor and time, and what it may hand over."""

    memory_mib: int
    processor_seconds: int
    seconds: int
    result_mib: int


LEAST = Bounds(256, 5, 20, 64)
PER_MIB = Bounds(32, 2, 4, 8)
MOST_MIB = 64


class OutOfBounds(LogRefused):
    """Reading a file takes more than it may; the message says of what."""

    def __init__(self, message: str) -> None:
        super().__init__(f"reading this takes more than {message}: keep fewer lines, of a log those of evaluations")


REFUSALS = {kind.__name__: kind for kind in (LogRefused, NothingYet)}


class _Outcome(Struct, frozen=True):
    """The packed `result`, or why there is none: the `kind` of the exception and its `message`, or the `errors` of RunRefused."""

    result: Raw = Raw(msgpack.encode(None))
    kind: str = ""
    message: str = ""
    errors: dict[str, str] = {}


def read_apart(kind: type[T], read: Callable[..., T], *arguments: object) -> T:
    """What `read`, a function of a module, makes of these arguments in a cell: a result of this kind. Raises its LogRefused, and
    OutOfBounds."""
    CONTEXT.set_forkserver_preload([__name__])
    bounds = _bounds(*arguments)
    cell = Cell.start({}, _outcome, bounds, read, arguments)
    cell.has_answered(bounds.seconds)
    try:
        outcome = msgpack.decode(cell.result(bounds.result_mib * MIB), type=_Outcome)
    except NoResult as nothing:
        raise OutOfBounds(_exceeded(nothing, bounds)) from None
    if outcome.errors:
        raise RunRefused(outcome.errors)
    if outcome.kind == MemoryError.__name__:
        raise OutOfBounds(f"{bounds.memory_mib} MiB of memory")
    if outcome.kind:
        raise REFUSALS[outcome.kind](outcome.message)
    return msgpack.decode(outcome.result, type=kind)


def _bounds(log: object = None, *_: object) -> Bounds:
    """The bounds for a log, a file or its content: they grow with every MiB of it, up to MOST_MIB."""
    size = log.stat().st_size if isinstance(log, Path) else len(log) if isinstance(log, bytes) else 0
    mib = min(size // MIB, MOST_MIB)
    return Bounds(*(least + mib * more for least, more in zip(astuple(LEAST), astuple(PER_MIB), strict=True)))


def _outcome(bounds: Bounds, read: Callable[..., object], arguments: tuple[object, ...]) -> bytes:
    limit_memory(bounds.memory_mib)
    limit_processor(bounds.processor_seconds)
    refuse_network()
    try:
        outcome = _Outcome(Raw(msgpack.encode(read(*arguments))))
    except RunRefused as refused:
        outcome = _Outcome(errors=dict(refused.errors))
    except OSError as error:
        outcome = _Outcome(kind=LogRefused.__name__, message=f"{error.filename}: {error.strerror}")
    except (LogRefused, MemoryError) as error:
        outcome = _Outcome(kind=type(error).__name__, message=str(error))
    return msgpack.encode(outcome)


def _exceeded(nothing: NoResult, bounds: Bounds) -> str:
    """What a cell without a result took too much of."""
    if isinstance(nothing, TooMuch):
        return f"{bounds.result_mib} MiB of what it says"
    if not isinstance(nothing, Died):
        return f"{bounds.seconds} s"
    if nothing.status >= 0:
        raise nothing  # a defect of the reader, which its own error output tells
    is_spent = nothing.status == -signal.SIGXCPU
    return f"{bounds.processor_seconds} s of processor time" if is_spent else f"{bounds.memory_mib} MiB of memory"
