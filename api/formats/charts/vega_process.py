"""vl-convert in a process of its own: it brings a JavaScript engine, whose memory no process that answers shall carry.

The process starts with the first picture and ends with the one that started it, however that ends.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

from api.questions.errors import Refused

NO_CHARTS = "this server draws no pictures: it needs the package vl-convert-python, run: pip install 'costcalc[server]'"
PICTURES = 500  # then a new process begins with little memory
PATIENCE_SECONDS = 30


class NotDrawn(Exception):
    """The process failed to draw; the message has the library's words."""


@dataclass
class VegaProcess:
    """Draws one picture at a time."""

    _lock: Lock = field(default_factory=Lock)
    _process: subprocess.Popen[bytes] | None = None
    _pipe: Connection | None = None
    _drawn: int = 0

    def call(self, function: str, *arguments: Any, **options: Any) -> Any:
        """What this function of vl-convert returns. Raises Refused where it is not installed, and NotDrawn."""
        if find_spec("vl_convert") is None:
            raise Refused(501, NO_CHARTS)
        with self._lock:
            try:
                return self._call(function, arguments, options)
            except (EOFError, OSError):  # the process was killed, perhaps for its memory: another one tries
                self.close()
                return self._call(function, arguments, options)

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._process and self._pipe:
            self._pipe.close()
            self._process.kill()
            self._process.wait()
        self._process = self._pipe = None

    def _call(self, *request: Any) -> Any:
        if self._drawn >= PICTURES or self._process is None:
            self.close()
            self._start()
        assert self._pipe is not None
        self._drawn += 1
        self._pipe.send(request)
        if not self._pipe.poll(PATIENCE_SECONDS):
            self.close()
            raise NotDrawn(f"a picture took longer than {PATIENCE_SECONDS} s")
        result, error = self._pipe.recv()
        if error is not None:
            raise NotDrawn(error)
        return result

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._drawn = 0


def serve(pipe: Connection) -> None:
    """Calls the library for the other end of the pipe until that is closed."""
    import vl_convert

    while True:
        try:
            function, arguments, options = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((getattr(vl_convert, function)(*arguments, **options), None))
        except Exception as error:  # noqa: BLE001  the other end shall know, whatever the library raises
            pipe.send((None, str(error).partition("\n")[0]))


VEGA = VegaProcess()
atexit.register(VEGA.close)

if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
