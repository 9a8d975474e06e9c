"""`costcalc serve`: gunicorn, each worker with its own catalogue and its own watcher of new snapshots."""

from __future__ import annotations

import os
import sys
import tempfile
from socket import socket
from typing import Any

import gunicorn.http.message
import gunicorn.util
from gunicorn.app.base import BaseApplication

from api.formats.json import to_json
from api.settings import Settings
from api.web.problems import PROBLEM_TYPE, problem
from costcalc.evidence import Evidence, load_evidence

LONGEST_REQUEST_LINE = 65_536  # gunicorn stops at 8190 and answers in its own form; our own limits come after it
UNREADABLE = {
    400: "this is not a valid HTTP request: percent-encode every character of the address that is not ASCII",
    414: f"the address is too long: it may have at most {LONGEST_REQUEST_LINE} bytes",
    431: "a header is too long, or there are too many headers",
}
BOOT_FAILED = 3  # the exit status by which gunicorn's master knows that starting again is of no use


class Server(BaseApplication):
    """The production server. Evidence is read once, before the fork; prices are loaded by each worker."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._evidence: Evidence = load_evidence()
        super().__init__()

    def load_config(self) -> None:
        """Our settings in gunicorn's words."""
        chosen: dict[str, Any] = {
            "bind": self._settings.bind,
            "workers": self._settings.workers,
            "worker_class": "gthread",
            "threads": self._settings.threads,
            "keepalive": 30,
            "timeout": 60,
            "graceful_timeout": 10,
            "limit_request_line": LONGEST_REQUEST_LINE,
            "loglevel": "warning",
            "proc_name": "costcalc",
            "control_socket_disable": True,  # one in the home folder that all servers would share; new in gunicorn 25
            "when_ready": _announce,
            "child_exit": _forget,
        }
        for name, value in chosen.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        """The application, in a worker."""
        from api.bootstrap import build
        from api.web.app import create_app
        from pricing.packaged.tables import PackagedTableError

        try:
            return create_app(build(self._settings, self._evidence), self._settings)
        except PackagedTableError as error:
            print(f"costcalc: {error}", file=sys.stderr)
            sys.exit(BOOT_FAILED)


def serve(settings: Settings) -> None:
    """Serves until stopped. Raises TableError when the evidence is corrupt."""
    gunicorn.http.message.MAX_REQUEST_LINE = LONGEST_REQUEST_LINE  # type: ignore[misc]
    gunicorn.util.write_error = _refuse  # what never reaches the application is refused in our form all the same
    with tempfile.TemporaryDirectory(prefix="costcalc-metrics-") as folder:
        os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder)
        Server(settings).run()


def _refuse(sock: socket, status_int: int, reason: str, mesg: str) -> None:
    body = to_json(problem(status_int, UNREADABLE.get(status_int, reason)))
    head = f"HTTP/1.1 {status_int} {reason}\r\nConnection: close\r\nContent-Type: {PROBLEM_TYPE}\r\nContent-Length: {len(body)}"
    gunicorn.util.write_nonblock(sock, f"{head}\r\n\r\n".encode("latin-1") + body)


def _announce(server: Any) -> None:
    places = ", ".join(str(listener) for listener in server.LISTENERS)
    print(f"costcalc answers on {places} with {server.num_workers} workers", file=sys.stderr, flush=True)


def _forget(_server: Any, worker: Any) -> None:
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
