"""Who does not answer is ended and begun anew: a deaf worker by itself, a deaf server by systemd."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import socket
import time
from collections.abc import Callable
from contextlib import closing

DEAF_SECONDS = 15
BEAT_SECONDS = 1
ASK_SECONDS = 5
ALIVE = b"GET /healthz HTTP/1.0\r\n\r\n"


def end_if_deaf(loop: asyncio.AbstractEventLoop) -> None:
    """Ends this process once its loop has not turned for DEAF_SECONDS, whatever holds the interpreter; standard error then says
    where every thread was."""

    def beat() -> None:
        faulthandler.dump_traceback_later(DEAF_SECONDS, exit=True)
        loop.call_later(BEAT_SECONDS, beat)

    loop.call_soon(beat)


def tell_systemd(connect: Callable[[], socket.socket]) -> None:
    """Says that the server is ready, and from then on every BEAT_SECONDS that it answers, while it does. Returns at once where
    systemd does not listen (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET", "").replace("@", "\0", 1)
    if not address:
        return
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as systemd:
        systemd.sendto(b"READY=1", address)
        while True:
            if _answers(connect):
                systemd.sendto(b"WATCHDOG=1", address)
            time.sleep(BEAT_SECONDS)


def _answers(connect: Callable[[], socket.socket]) -> bool:
    try:
        with closing(connect()) as connection:
            connection.settimeout(ASK_SECONDS)
            connection.sendall(ALIVE)
            return b" 200 " in connection.recv(100)
    except OSError:
        return False
