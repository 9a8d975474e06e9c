"""What a process and all that it started hold together, and groups of processes that may hold no more (Linux control groups)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

SAMPLED_SECONDS = 0.05


@dataclass
class Peak:
    """The most that was seen."""

    mib: float = 0.0


@contextmanager
def sampled(process: int) -> Iterator[Peak]:
    """Meanwhile the proportional share of memory (PSS) of a process and all below it, twenty times a second."""
    peak, ended = Peak(), threading.Event()

    def look() -> None:
        while not ended.wait(SAMPLED_SECONDS):
            peak.mib = max(peak.mib, held_mib(process))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def held_mib(process: int) -> float:
    """What a process and all that it started hold, of what they share their part; 0 of those that ended."""
    held = 0
    with suppress(psutil.Error):
        for each in (parent := psutil.Process(process), *parent.children(recursive=True)):
            with suppress(psutil.Error):
                held += each.memory_full_info().pss
    return held / 2**20


@dataclass
class Group:
    """Processes that may hold `limit_mib` together; the kernel kills one where they would hold more, if it keeps the group."""

    limit_mib: int
    folder: Path | None = None
    peak: Peak = field(default_factory=Peak)

    def command(self, words: Sequence[str]) -> Sequence[str]:
        """What starts a program as one of them."""
        if self.folder is None:
            return words
        return ("sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *words)

    def killed(self) -> int | None:
        """How many of them the kernel killed; None where it keeps no group."""
        if self.folder is None:
            return None
        said = _read(self.folder / "memory.events") + _read(self.folder / "memory.oom_control")
        return int(said.partition("oom_kill ")[2].split()[0])


@contextmanager
def limited_group(limit_mib: int) -> Iterator[Group]:
    """A group below that of this process, or beside it, that ends empty. Says what is missing where none can be made."""
    group = Group(limit_mib)
    try:
        group.folder = _new_folder(limit_mib)
    except OSError as error:
        print(f"     no control group ({error}): the memory is only watched")
    try:
        yield group
    finally:
        if group.folder:
            _remove(group.folder)


def _new_folder(limit_mib: int) -> Path:
    """Version 1 has a tree for memory. In version 2, groups are made where the memory of those below is counted."""
    own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    name = f"costcalc-{os.getpid()}"
    if "memory" in own:
        folder, limit = Path(f"/sys/fs/cgroup/memory{own['memory']}") / name, "memory.limit_in_bytes"
    else:
        here = Path(f"/sys/fs/cgroup{own['']}")
        counted = (each for each in (here, *here.parents) if "memory" in _read(each / "cgroup.subtree_control"))
        folder, limit = next(counted, here) / name, "memory.max"
    folder.mkdir()
    (folder / limit).write_text(str(limit_mib * 2**20))
    return folder


def _remove(folder: Path) -> None:
    for _ in range(50):  # what was just killed is still there for a moment
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.1)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
