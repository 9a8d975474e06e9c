"""Cells: processes of their own for what strangers wrote. What a hostile document costs, it costs its own reading alone."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType

from msgspec import Struct

MIB = 2**20
STACK_BYTES = MIB  # of a thread; the usual eight count as allocated, however few are used
# Forks of one process that has imported what cells need share its memory; on macOS a fork cannot use the network.
CONTEXT = get_context("forkserver") if sys.platform == "linux" else get_context("spawn")
# https://docs.kernel.org/userspace-api/seccomp_filter.html; numbers of linux/prctl.h, linux/audit.h and asm/unistd.h
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ARCHITECTURE, CALL = 4, 0  # where they stand in what a filter sees
ALLOWED, REFUSED = 0x7FFF0000, 0x00050001  # with EPERM
SOCKET = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The architecture as the kernel names it, and its call that opens a socket."""
YIELDS = 10  # to processes that answer
STARTING = threading.Lock()


class NoResult(Exception):
    """A cell handed over nothing that is taken."""


class TooLate(NoResult):
    """It is not waited for any longer."""


class TooMuch(NoResult):
    """It hands over more than it may."""


class Died(NoResult):
    """Its process ended with this `status`; minus the number of a signal."""

    def __init__(self, status: int) -> None:
        super().__init__(f"its process ended with status {status}")
        self.status = status


class Cell(Struct, frozen=True):
    """A process that does one piece of work, and the pipe through which it hands over the result."""

    process: BaseProcess
    answer: Connection
    started: float

    @classmethod
    def start(cls, environment: Mapping[str, str], work: Callable[..., bytes], *arguments: object) -> Cell:
        """Starts a cell whose environment is this and no more. Work bounds itself, by the functions below, once it has imported
        what it needs. The cell ends with the process that started it."""
        answer, end = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=_live, args=(end, dict(environment), work, arguments), daemon=True)
        with _without_program():
            process.start()
        end.close()
        return cls(process, answer, time.monotonic())

    @property
    def seconds(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.started

    def has_answered(self, within_seconds: float = 0.0) -> bool:
        """Whether its result, or its end, can be read."""
        return self.answer.poll(within_seconds)

    def result(self, most_bytes: int) -> bytes:
        """What it handed over by now. Raises NoResult. The process ends."""
        try:
            if not self.has_answered():
                raise TooLate
            return self.answer.recv_bytes(most_bytes)
        except EOFError:
            self.process.join()
            raise Died(self.process.exitcode or 0) from None
        except OSError:
            raise TooMuch from None
        finally:
            self.end()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.answer.close()


@contextmanager
def _without_program() -> Iterator[None]:
    """A cell works by functions of modules; multiprocessing would import the program that runs here into each."""
    with STARTING:
        program, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = program


def _live(
    end: Connection, environment: Mapping[str, str], work: Callable[..., bytes], arguments: tuple[object, ...]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever interrupts a command ends its cells
    os.environ.clear()
    os.environ.update(environment)
    threading.stack_size(STACK_BYTES)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    end.send_bytes(work(*arguments))


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


def limit_processor(seconds: int) -> None:
    """This process works for so many seconds, after those that answer, and is then ended by SIGXCPU; not on Windows, where only
    the time that others wait for it is bounded."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    os.nice(YIELDS)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def refuse_network() -> None:
    """This thread, and those that it starts, open no socket from now on. Linux sees to it."""
    if sys.platform != "linux" or platform.machine() not in SOCKET:
        return
    architecture, socket = SOCKET[platform.machine()]
    steps = (
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_IF_EQUAL, 0, 2, architecture),
        (LOAD, 0, 0, CALL),
        (JUMP_IF_EQUAL, 0, 1, socket),
        (RETURN, 0, 0, REFUSED),
        (RETURN, 0, 0, ALLOWED),
    )
    program = _Filter(len(steps), b"".join(struct.pack("HBBI", *step) for step in steps))
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    library.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))


class _Filter(ctypes.Structure):
    """`struct sock_fprog`"""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))
