"""A server that means harm: the first part of a path says how it answers whatever is asked below it."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

from fakes.local import Handler, served

MIB = 2**20


@cache
def bomb() -> bytes:
    """A gibibyte of spaces, packed into one mebibyte."""
    return gzip.compress(b" " * (16 * MIB)) * 64


@cache
def wide() -> bytes:
    """A JSON document below the bound of documents, of which a parser makes 150 MiB of empty lists."""
    return b"[" + b"[]," * (7 * MIB // 3) + b"[]]"


class _Hostile(Handler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.do_GET()

    def do_GET(self) -> None:
        with suppress(OSError):  # whoever asked has had enough
            KINDS[self.path.split("/")[1]](self)
        self.close_connection = True

    def begin(self, **headers: str) -> None:
        """A body of no known length follows."""
        self.send_response(200)
        for name, value in {"Content-Type": "application/json", "Connection": "close", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def endless(self) -> None:
        self.begin()
        self.wfile.write(b'{"products": {"')
        while not self.closing.is_set():
            self.wfile.write(b"x" * MIB)

    def bomb(self) -> None:
        self.begin(Content_Encoding="gzip")
        self.wfile.write(bomb())

    def wide(self) -> None:
        self.begin()
        self.wfile.write(wide())

    def slow(self) -> None:
        self.begin()
        while not self.closing.wait(0.2):
            self.wfile.write(b" ")


KINDS: dict[str, Callable[[_Hostile], None]] = {
    "endless": _Hostile.endless,
    "bomb": _Hostile.bomb,
    "wide": _Hostile.wide,
    "slow": _Hostile.slow,
}


@contextmanager
def hostile() -> Iterator[str]:
    """The address to which a kind is added: `http://127.0.0.1:1234/bomb`."""
    with served(None, _Hostile) as url:
        yield url
