"""`costcalc sweep`: the questions of a sweep, answered on all cores or on Dask into a folder of Parquet files.

Each file holds some questions of one model. It appears whole or not at all, so that a second call answers what is missing.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from urllib.parse import quote

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from api.bootstrap import CannotStart, build_once, utc_now
from api.formats.csv_export import moment
from api.service import Service
from api.settings import Settings
from api.sweep.parquet import PARTITION, encoded
from api.sweep.questions import Sweep, knowing, questions, sweep

MANIFEST = "_sweep.json"  # readers of Parquet pass over names that start so
QUESTIONS_AT_ONCE = 64
CONNECT_SECONDS = 5


class SweepStopped(Exception):
    """The sweep cannot begin or go on; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder holds: the questions, the version of the prices, evidence and code that they are answered from, the
    moment of those that name none, and how many of them are in a file."""

    sweep: Sweep
    version: str
    now: str
    questions_at_once: int = QUESTIONS_AT_ONCE


@dataclass(frozen=True, slots=True)
class Workers:
    """Who answers: the workers of a Dask scheduler, or so many processes of this machine, by default one a core."""

    processes: int | None = None
    dask: str | None = None


def run(
    settings: Settings, folder: Path, axes: Sequence[str], options: Mapping[str, list[str]], workers: Workers
) -> str:
    """Answers what the folder does not hold yet, and says what it took. Raises Refused, CannotStart, SweepStopped."""
    manifest, started = _manifest(settings, folder, axes, options), time.monotonic()
    missing = {numbers: path for numbers, path in _files(folder, manifest) if not path.exists()}
    asked = sum(map(len, missing))
    with _progress(asked) as advance, _stopping(), _executor(workers) as executor:
        answers = executor.map(partial(part, settings, manifest), missing)
        for (numbers, path), answered in zip(missing.items(), answers, strict=True):
            _write(path, answered)
            advance(len(numbers))
    seconds = time.monotonic() - started
    return f"{folder} holds all {manifest.sweep.count:,} questions; {asked:,} were answered now, in {seconds:.1f} s"


def part(settings: Settings, manifest: Manifest, numbers: range) -> bytes:
    """These questions as Parquet; runs in a worker. Raises SweepStopped where its prices or its code are others."""
    return encoded(questions(_opened(settings, manifest), manifest.sweep, numbers), manifest.sweep.parameters)


@lru_cache(maxsize=1)
def _opened(settings: Settings, manifest: Manifest) -> Service:
    service = _as_begun(build_once(settings), settings, manifest.version)
    found = knowing(service, manifest.sweep) if service else None
    if found is None or _version(found) != manifest.version:
        raise SweepStopped(
            "a worker has other prices or another version of costcalc: install the same version everywhere, and give all "
            "workers the same COSTCALC_DATABASE_URL; where newer prices came in between, name another folder"
        )
    return found


def _version(service: Service) -> str:
    return service.version(service.catalogue().snapshot)


def _as_begun(service: Service, settings: Settings, version: str) -> Service | None:
    """The service, on the prices with which a sweep began; None where they are not kept, or other code answers now."""
    snapshot = version.partition("/")[0]
    if _version(service) == version:
        return service
    if service.version(snapshot) == version:
        with suppress(CannotStart):
            return build_once(settings, snapshot)
    return None


def _manifest(settings: Settings, folder: Path, axes: Sequence[str], options: Mapping[str, list[str]]) -> Manifest:
    """What the folder is to hold, written there where it is new. Raises SweepStopped where it holds something else."""
    kept = _kept(folder)
    now = kept.now if kept else moment(utc_now().replace(microsecond=0))
    service = build_once(settings)
    wanted = Manifest(sweep(service, axes, options, now), _version(service), now)
    if kept and kept.sweep != wanted.sweep:
        raise SweepStopped(f"{folder} holds other questions: name another folder, or repeat the command that began it")
    if kept and not _as_begun(service, settings, kept.version):
        raise SweepStopped(
            f"{folder} was begun with other prices, which are not kept any more, or with another version of costcalc "
            f"({kept.version}, now {wanted.version}): name another folder, so that all answers rest on the same"
        )
    if not kept:
        _write(folder / MANIFEST, msgspec.json.encode(wanted))
    return kept or wanted


def _kept(folder: Path) -> Manifest | None:
    """What the folder holds; None for one that is missing or empty. Raises SweepStopped for any other."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        if folder.is_dir() and any(each.name != f"_{MANIFEST}" for each in folder.iterdir()):
            raise SweepStopped(f"{folder} holds other files: name a new folder") from None
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise SweepStopped(f"{folder / MANIFEST} cannot be read: {error}; name a new folder") from error


def _files(folder: Path, manifest: Manifest) -> Iterator[tuple[range, Path]]:
    for model, numbers in manifest.sweep.parts(manifest.questions_at_once):
        yield numbers, folder / f"{PARTITION}={quote(model)}" / f"{numbers.start:09d}.parquet"


def _write(path: Path, content: bytes) -> None:
    """The whole file or none: it gets its name when it lies on the disk. Raises SweepStopped."""
    unfinished = path.with_name(f"_{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise SweepStopped(f"{path} cannot be written: {error.strerror}; the same command goes on from here") from error


@contextmanager
def _executor(workers: Workers) -> Iterator[Executor]:
    if workers.dask is not None:
        with _dask(workers.dask) as executor:
            yield executor
        return
    with ProcessPoolExecutor(workers.processes, get_context("spawn"), _end_with_parent) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """A worker process whose parent was killed would wait for ever for its next questions."""
    parent = parent_process()

    def wait() -> None:
        if parent:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    """The workers of the scheduler at this address. Raises SweepStopped where Dask is missing, does not answer, or goes away."""
    try:
        from distributed import Client, KilledWorker
    except ModuleNotFoundError:
        raise SweepStopped("--dask needs the package distributed: pip install 'costcalc[sweep]'") from None
    try:
        asyncio.run(_reach(address))
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        why = str(error) or f"nothing came for {CONNECT_SECONDS} s"
        raise SweepStopped(f"no Dask scheduler answers at {address}: {why}") from error
    with client, client.get_executor() as executor:
        if not client.scheduler_info()["workers"]:
            print(f"the Dask scheduler at {address} has no worker yet; waiting for one", file=sys.stderr)
        try:
            yield executor
        except CancelledError:
            raise SweepStopped(
                f"the Dask scheduler at {address} went away: the same command goes on from here"
            ) from None
        except KilledWorker:
            raise SweepStopped(
                "several Dask workers were ended, each by the same questions, perhaps for want of memory: the same command goes "
                "on from here"
            ) from None


async def _reach(address: str) -> None:
    """Raises OSError, ValueError or TypeError where no scheduler answers: Client alone waits without end for what is none."""
    from distributed.comm import connect
    from distributed.security import Security

    async with asyncio.timeout(CONNECT_SECONDS):
        found = await connect(address, **Security().get_connection_args("client"))
        await found.close()


@contextmanager
def _stopping() -> Iterator[None]:
    """Says in words that a worker process or the person ended it."""
    try:
        yield
    except BrokenProcessPool:
        raise SweepStopped(
            "a worker process was ended from outside, perhaps for want of memory: the same command goes on; with --workers 1 "
            "it takes least"
        ) from None
    except KeyboardInterrupt:
        raise SweepStopped("stopped; the same command goes on from here") from None


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Shows how many questions are answered on a terminal, and elsewhere in a line for each tenth of them."""
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (TextColumn("questions answered"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task, done = progress.add_task("", total=total), 0

        def advance(count: int) -> None:
            nonlocal done
            if not console.is_terminal and (done + count) * 10 // total > done * 10 // total:
                console.print(f"{done + count:,} of {total:,} questions answered", soft_wrap=True)
            done += count
            progress.update(task, completed=done)

        yield advance
