"""`costcalc serve`: granian, each worker with its own catalogue and its own watcher of new snapshots.

Granian waits for slow clients outside Python: a connection that says nothing holds no thread and is cut off after HEADER_SECONDS.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import MPServer
from granian.server.mp import WorkerProcess

from api.settings import Settings
from api.web.serving.refreshing import Refreshing
from api.web.serving.request import SEND_SECONDS, Asgi
from api.web.serving.watchdog import end_if_deaf, tell_systemd
from costcalc.evidence import Evidence, load_evidence
from pricing.packaged.catalogue import packaged_catalogue

HEADER_SECONDS = 10
STOP_SECONDS = 15
TELL_AGAIN_SECONDS = 1
LISTEN_SECONDS = 0.05
# https://www.gnu.org/software/libc/manual/html_node/Malloc-Tunable-Parameters.html
M_ARENA_MAX, HEAPS = -8, 2
M_MMAP_THRESHOLD, LARGE_BYTES = -3, 256 * 1024
TRIM_SECONDS = 30
MOST_CONNECTIONS = 20_000  # of one worker; each costs some 10 kB
SWITCH_SECONDS = 0.001  # after which a thread that works lets another go on; Python's own is 0.005


class CannotListen(Exception):
    """The address is taken, or is not this machine's; the message says which."""


class _Bell:
    """Granian's loop waits on it. It holds no lock, as an Event does, in the midst of which a signal may ring it again."""

    _rung = False

    def set(self) -> None:
        self._rung = True

    def clear(self) -> None:
        self._rung = False

    def wait(self) -> None:
        while not self._rung:
            time.sleep(LISTEN_SECONDS)


class _Server(MPServer):
    """Granian tells a worker once to stop, which a worker misses that has loaded but not begun to serve; ours tells it again.

    Granian forgets a stop that comes while it notices a dead worker, as when Ctrl-C reaches all processes; ours stops.

    Granian keeps an answer for as long as its client reads nothing; on Linux, ours ends that connection after SEND_SECONDS.

    Granian never misses a worker that lives and does not answer; ours ends by itself.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.main_loop_interrupt = _Bell()  # type: ignore[assignment]

    @staticmethod
    @WorkerProcess.wrap_target  # type: ignore[untyped-decorator]
    def _spawn_asgi_worker(number: int, app: Asgi, sock: Any, ipc: Any, loop: Any, *others: Any) -> None:
        end_if_deaf(loop)
        MPServer._spawn_asgi_worker.__wrapped__(number, app, _impatient(sock), ipc, loop, *others)

    def _respawn_workers(self, *arguments: Any, **named: Any) -> None:
        if self.interrupt_signal:
            self.main_loop_interrupt.set()
        else:
            super()._respawn_workers(*arguments, **named)

    def _stop_workers(self) -> None:
        threading.Thread(target=self._tell_again, daemon=True).start()
        super()._stop_workers()  # type: ignore[no-untyped-call]

    def _tell_again(self) -> None:
        while self.wrks:
            time.sleep(TELL_AGAIN_SECONDS)
            for worker in list(self.wrks):
                with suppress(ProcessLookupError):
                    worker.terminate()  # type: ignore[no-untyped-call]


class _NoCrashLoop(dict[int, float]):
    """Granian stops for good when one worker dies twice within six seconds; ours starts it again each time."""

    def __setitem__(self, worker: int, moment: float) -> None:
        pass


def serve(settings: Settings) -> None:
    """Serves until stopped. Evidence is read once, before the workers are forked; each worker loads the prices.

    Raises TableError when a table is corrupt, and CannotListen.
    """
    evidence = load_evidence()
    packaged_catalogue()  # read only to be checked: a corrupt table shall stop the server, not its workers one by one
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="costcalc-workers-") as folder:
        os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder)
        server = _Server(
            "costcalc",
            **_place(settings.bind),
            interface=Interfaces.ASGINL,
            workers=settings.workers,
            loop=Loops.uvloop,
            http=HTTPModes.http1,
            websockets=False,
            backlog=4096,
            backpressure=MOST_CONNECTIONS,
            http1_settings=HTTP1Settings(header_read_timeout=HEADER_SECONDS * 1000),
            log_level=LogLevels.warning,
            respawn_failed_workers=True,
            workers_kill_timeout=STOP_SECONDS,
        )
        server.respawned_wrks = _NoCrashLoop()
        note = Path(folder, "store")
        refreshing = Refreshing(settings, settings.refresh, note) if settings.refresh else None
        server.on_startup(threading.Thread(target=_announce, args=(server, refreshing), daemon=True).start)
        if refreshing:
            server.on_shutdown(refreshing.stop)
        server.serve(target_loader=_loader(settings, evidence, note), wrap_loader=False)


def _loader(settings: Settings, evidence: Evidence, note: Path) -> Callable[[], Asgi]:
    master = os.getpid()

    def load() -> Asgi:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # granian forks its workers deaf, until they have loaded
        from api.bootstrap import build
        from api.web.serving import ahead
        from api.web.serving.access_log import log_to_stderr
        from api.web.serving.front import create_front  # prometheus_client reads PROMETHEUS_MULTIPROC_DIR once

        log_to_stderr(logging.getLogger("costcalc.changes"))
        threading.Thread(target=_stop_without, args=(master,), daemon=True).start()
        Finalize(None, os._exit, (0,), exitpriority=-1)  # at its end; an answer whose client has left waits on
        keep_memory_small()
        sys.setswitchinterval(SWITCH_SECONDS)
        service = build(settings, evidence, note)
        front = create_front(service, settings)
        ahead.begin(service)
        gc.freeze()  # what stays for good is not looked through again, so that garbage is collected sooner
        return front

    return load


def _stop_without(master: int) -> None:
    """Ends a worker whose master was killed: else it would answer on, with nobody to stop it."""
    while os.getppid() == master:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def keep_memory_small() -> None:
    """Gives memory back: glibc has a heap for each thread, and keeps what was freed."""
    with suppress(AttributeError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(M_ARENA_MAX, HEAPS)
        library.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        threading.Thread(target=_give_back, args=(library.malloc_trim,), daemon=True).start()


def _give_back(trim: Callable[[int], int]) -> None:
    while True:
        trim(0)
        time.sleep(TRIM_SECONDS)


def _impatient(sock: Any) -> Any:
    """What a worker listens on, a port of Linux or what all workers share, in granian's two forms."""
    port, shared = sock
    if port is None or port.is_uds():
        return sock
    shared = port.build()
    listening = socket.socket(fileno=shared.get_fd())
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SEND_SECONDS * 1000)  # its connections inherit it
    listening.detach()
    return None, shared


def _place(bind: str) -> dict[str, Any]:
    """Where to listen, in granian's words. Raises CannotListen."""
    if bind.startswith("unix:"):
        return {"uds": Path(bind.removeprefix("unix:"))}
    host, _, port = bind.rpartition(":")
    host = host.strip("[]")
    with closing(socket.socket(_family(host))) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, int(port)))  # workers share it by SO_REUSEPORT, which tells nobody that it is taken
        except OSError as error:
            raise CannotListen(f"cannot listen on {bind}: {error.strerror}; choose another with --bind") from None
        return {"address": host, "port": trial.getsockname()[1]}  # of 0 a free one


def _announce(server: Any, refreshing: Refreshing | None) -> None:
    """Says where, as soon as a worker listens there; from then on prices are kept fresh."""
    place = server.bind_uds or f"http://{server.bind_addr}:{server.bind_port}"
    where = str(server.bind_uds) if server.bind_uds else (server.bind_addr, server.bind_port)
    connect = partial(_connected, socket.AF_UNIX if server.bind_uds else _family(server.bind_addr), where)
    while not _is_listening(connect):
        time.sleep(0.05)
    print(f"costcalc answers on {place} with {server.workers} workers", file=sys.stderr, flush=True)
    threading.Thread(target=tell_systemd, args=(connect,), daemon=True).start()
    if refreshing:
        refreshing.run()


def _connected(family: socket.AddressFamily, where: Any) -> socket.socket:
    connection = socket.socket(family)
    try:
        connection.connect(where)
    except OSError:
        connection.close()
        raise
    return connection


def _is_listening(connect: Callable[[], socket.socket]) -> bool:
    with suppress(OSError), closing(connect()):
        return True
    return False


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
