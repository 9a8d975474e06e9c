"""A service of one worker to send requests to, as bytes over a socket; its processor time and memory are read from the system."""

from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.fuzz.grammar import SECRET, Request

COMMAND = "from api.cli.main import main; main()"
PATIENCE_SECONDS = 180
MIB = 1024 * 1024
NANOSECONDS_PER_MS = 1_000_000


@dataclass(frozen=True)
class Answer:
    """What came back: status 0 where the connection was closed without a word. `processor_ms` is what the worker worked."""

    status: int
    headers: dict[str, str]
    body: bytes
    processor_ms: float


@dataclass
class Server:
    """`costcalc serve` with one worker."""

    process: subprocess.Popen[bytes]
    port: int
    worker: int
    _connection: socket.socket | None = field(default=None)

    def ask(self, request: Request) -> Answer:
        """Sends the request and waits for its whole answer. Raises TimeoutError."""
        before = self._processor_ms()
        status, headers, body = self._sent(request)
        return Answer(status, headers, body, self._processor_ms() - before)

    def close(self) -> None:
        """Closes the connection that is kept open."""
        if self._connection:
            self._connection.close()

    def memory_mib(self) -> float:
        """Resident memory of the worker."""
        return int(Path(f"/proc/{self.worker}/statm").read_text().split()[1]) * resource.getpagesize() / MIB

    def is_alive(self) -> bool:
        """Whether the worker is still the one that was started."""
        return self.worker in _children(self.process.pid)

    def _sent(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        fresh = self._connection is None
        connection = self._connection or socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS)
        self._connection = None
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before all is sent: the answer says why
                connection.sendall(encoded(request))
            response = HTTPResponse(connection, method=request.method)
            response.begin()
            body = response.read()
        except (HTTPException, ConnectionError):
            connection.close()
            return (0, {}, b"") if fresh else self._sent(request)  # a kept connection may have been closed before
        if response.will_close or request.method == "TRACE":
            connection.close()
        else:
            self._connection = connection
        return response.status, dict(response.getheaders()), body

    def _processor_ms(self) -> float:
        total = 0
        for thread in Path(f"/proc/{self.worker}/task").iterdir():
            with suppress(FileNotFoundError):  # it has ended meanwhile
                total += int((thread / "schedstat").read_text().split()[0])
        return total / NANOSECONDS_PER_MS


def encoded(request: Request) -> bytes:
    """The request as it is sent; its length is told unless its headers tell another framing."""
    headers = {"Host": "service", **request.headers}
    if not {"Content-Length", "Transfer-Encoding"} & headers.keys() and (request.body or request.method == "POST"):
        headers["Content-Length"] = str(len(request.body))
    lines = [f"{request.method} {request.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + request.body


@contextmanager
def started() -> Iterator[Server]:
    """A server on a new store, until it is no longer needed."""
    with TemporaryDirectory(prefix="fuzz-") as folder:
        log = Path(folder) / "log"
        settings = {"COSTCALC_DATABASE_URL": f"sqlite:///{folder}/prices.sqlite3", "COSTCALC_SLACK_SIGNING_SECRET": SECRET,
                    "COSTCALC_WORKERS": "1", "COSTCALC_BIND": "127.0.0.1:0", "HOME": folder}  # fmt: skip
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, "serve"], env=os.environ | settings, stderr=output
            )
        try:
            server = _ready(process, log)
            yield server
            server.close()
        finally:
            process.terminate()
            process.wait()


def _ready(process: subprocess.Popen[bytes], log: Path) -> Server:
    """The server, once it answers. Raises RuntimeError with its log."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        found, workers = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text()), _children(process.pid)
        if found and workers:
            server = Server(process, int(found[1]), workers[0])
            if server.ask(Request("", "GET", "/readyz")).status == 200:
                return server
            server.close()
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {log.read_text()}")


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
