"""A price sheet at an address: every generation lists the same machines, all at one rate, so that half a generation shows."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

MACHINES = 150
PROVIDER = "acme"
HEADER = "provider,region,instance_type,accelerator,accelerators,purchase_option,currency,hourly_rate"


@dataclass
class Sheet:
    """`spoil` turns what is sent into something else; `stalls` sends half and then nothing."""

    generation: int = 0
    spoil: Callable[[bytes], bytes] = bytes
    stalls: bool = False
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)

    def content(self) -> bytes:
        rows = (
            f"{PROVIDER},region-{at},v100.{1 + at % 8},V100,{1 + at % 8},on_demand,USD,{self.rate}"
            for at in range(MACHINES)
        )
        return "\n".join([HEADER, *rows, ""]).encode()

    @property
    def rate(self) -> str:
        return f"{2 + self.generation / 100:.2f}"

    def behave(self) -> None:
        self.spoil, self.stalls = bytes, False

    @contextmanager
    def served(self) -> Iterator[Sheet]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"sheet": self}))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}/sheet.csv"
        try:
            yield self
        finally:
            self.closing.set()
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    sheet: Sheet

    def do_GET(self) -> None:
        body = self.sheet.spoil(self.sheet.content())
        self.send_response(200)
        self.send_header("Content-Type", "text/csv")
        self.send_header("Content-Length", str(len(body)))
        if body[:2] == b"\x1f\x8b":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        half = len(body) // 2 if self.sheet.stalls else len(body)
        self.wfile.write(body[:half])
        if self.sheet.stalls:
            self.sheet.closing.wait(20)

    def log_message(self, *_: object) -> None:
        return


def lies(chance: Random) -> Callable[[bytes], bytes]:
    """One of the ways in which an answer is not a sheet of this generation."""
    return chance.choice(
        [
            lambda _: b"<!doctype html><title>Sign in</title>",
            lambda _: b"",
            lambda _: bytes(range(256)) * 40,
            lambda body: body[: len(body) // 2],
            lambda body: body.replace(b"hourly_rate", b"price"),
            lambda body: body.replace(b",USD,", b",USD,-"),
            lambda body: body.replace(b",USD,", b",\xed\xa0\x80,"),
            lambda _: gzip.compress(bytes(200 * 1024 * 1024)),
        ]
    )
