"""Clients in a process of their own: python -m benchmarks.client PORT CONNECTIONS SECONDS RATE SEED MIX.

Requests come at random moments, RATE a second on average, whether or not earlier ones were answered; with RATE 0 AT_ONCE clients
ask again as soon as they were answered. Connections, from addresses of their own as visitors have, take turns. Writes the answers
to standard output. A library of HTTP would take ten times the processor, which the server needs.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from time import monotonic

import msgspec
import uvloop

from benchmarks.questions import MIXES, Question

PATIENCE_SECONDS = 30
KEPT_SECONDS = 5  # of a connection that waits: the server ends it after ten
AT_ONCE = 8
ADDRESSES = 50  # of the loopback network, on which Linux answers to each
REFUSED_SECONDS = 0.1  # before a client asks again that found nobody
BROKEN, LEFT = 0, 1  # the status where a connection broke, and where the client's patience ended


class Answered(msgspec.Struct, array_like=True):
    """`due` counts from the start, `seconds` from the moment at which the request was due."""

    kind: str
    is_new: bool
    status: int
    due: float
    seconds: float


@dataclass
class Connection:
    """One that is kept."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: float = field(default_factory=monotonic)

    async def ask(self, question: Question) -> int:
        """The status of an answer that was read to its end. Raises ValueError for one that is no HTTP."""
        self.writer.write(question.wire)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" in head:
            while size := int(await self.reader.readline(), 16):
                await self.reader.readexactly(size + 2)
            await self.reader.readline()
        else:
            await self.reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]))
        self.used = monotonic()
        return int(head.split(b" ", 2)[1])


@dataclass
class Clients:
    """Connections to one port, the one that waited longest first."""

    port: int
    asked: Iterator[Question]
    idle: deque[Connection] = field(default_factory=deque)
    opened: int = 0
    started: float = field(default_factory=monotonic)
    answers: list[Answered] = field(default_factory=list)

    async def without_pause(self, seconds: float) -> None:
        while monotonic() < self.started + seconds:
            await self._once(monotonic())

    async def at_random(self, seconds: float, rate: float, chance: Random) -> None:
        due, jobs = monotonic(), []
        while due < self.started + seconds:
            due += chance.expovariate(rate)
            await asyncio.sleep(max(0, due - monotonic()))
            jobs.append(asyncio.create_task(self._once(due)))
        await asyncio.gather(*jobs)

    async def _once(self, due: float) -> None:
        question = next(self.asked)
        try:
            status = await asyncio.wait_for(self._ask(question), PATIENCE_SECONDS)
        except TimeoutError:
            status = LEFT
        except (OSError, EOFError, ValueError):
            status = BROKEN
        self.answers.append(Answered(question.kind, question.is_new, status, due - self.started, monotonic() - due))

    async def _ask(self, question: Question) -> int:
        while self.idle and monotonic() - self.idle[0].used > KEPT_SECONDS:
            self.idle.popleft().writer.close()
        connection = self.idle.popleft() if self.idle else await self.open()
        try:
            status = await connection.ask(question)
        except BaseException:  # also where the client left
            connection.writer.close()
            raise
        self.idle.append(connection)
        return status

    async def open(self) -> Connection:
        self.opened += 1
        address = f"127.0.1.{self.opened % ADDRESSES + 1}"
        try:
            opened = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20, local_addr=(address, 0))
        except OSError:
            await asyncio.sleep(REFUSED_SECONDS)
            raise
        return Connection(*opened)


async def main(port: int, connections: int, seconds: float, rate: float, seed: int, mix: str) -> None:
    """Asks, and writes what was answered."""
    clients = Clients(port, MIXES[mix](seed))
    clients.idle.extend([await clients.open() for _ in range(connections)])
    if rate:
        await clients.at_random(seconds, rate, Random(seed))
    else:
        await asyncio.gather(*(clients.without_pause(seconds) for _ in range(AT_ONCE)))
    sys.stdout.buffer.write(msgspec.msgpack.encode(clients.answers))


if __name__ == "__main__":
    given = sys.argv[1:]
    uvloop.run(main(int(given[0]), int(given[1]), float(given[2]), float(given[3]), int(given[4]), given[5]))
