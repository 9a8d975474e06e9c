"""Clients in a process of their own: python -m benchmarks.clients.client PORT CONNECTIONS SECONDS RATE SEED MIX.

Requests come at random moments, RATE a second on average, whether or not earlier ones were answered; with RATE 0 each client
asks again as soon as it was answered. The clients have addresses of their own, as visitors do. The server ends a connection that
waited for HEADER_SECONDS, perhaps just as a request is sent: as every browser does, a client then asks on another (RFC 9110,
9.2.2: all these requests may be repeated). Writes the answers to standard output.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from time import monotonic

import msgspec
import uvloop

from benchmarks.clients.questions import MIXES, Question

PATIENCE_SECONDS = 30
WAITED_SECONDS = 5  # from which on it may have been ended for that
SPREAD = 8
ADDRESSES = 50  # of the loopback network, on which Linux answers to each
REFUSED_SECONDS = 0.1  # before a client asks again that found nobody
MOST_CONNECTIONS = 4000  # opened only where all others wait for an answer


class Answered(msgspec.Struct, array_like=True):
    """`due` counts from the start, `seconds` from the moment at which the request was due. Status BROKEN is a broken connection,
    LEFT one that the client closed when its patience ended."""

    kind: str
    is_new: bool
    status: int
    due: float
    seconds: float


BROKEN, LEFT = 0, 1


@dataclass
class Clients:
    """Connections to one port, the one that waited longest first."""

    port: int
    asked: Iterator[Question]
    started: float = field(default_factory=monotonic)
    idle: deque[Connection] = field(default_factory=deque)
    answers: list[Answered] = field(default_factory=list)
    opened: int = 0

    async def closed_loop(self, clients: int, seconds: float) -> None:
        """Their connections take turns: of a few, nearly all may be one worker's."""
        self.idle.extend([await self._open() for _ in range(SPREAD * clients)])
        await asyncio.gather(*(self._without_pause(self.started + seconds) for _ in range(clients)))

    async def open_loop(self, connections: int, seconds: float, rate: float, chance: Random) -> None:
        self.idle.extend([await self._open() for _ in range(connections)])
        due, running = monotonic(), set()
        while due < self.started + seconds:
            due += chance.expovariate(rate)
            await asyncio.sleep(max(0, due - monotonic()))
            job = asyncio.create_task(self._once(due))
            running.add(job)
            job.add_done_callback(running.discard)
        await asyncio.gather(*running)

    async def _without_pause(self, until: float) -> None:
        while monotonic() < until:
            await self._once(monotonic())

    async def _once(self, due: float) -> None:
        question = next(self.asked)
        try:
            status = await asyncio.wait_for(self._ask(question.wire), PATIENCE_SECONDS)
        except TimeoutError:
            status = LEFT
        except (OSError, EOFError, ValueError):
            status = BROKEN
        self.answers.append(Answered(question.kind, question.is_new, status, due - self.started, monotonic() - due))

    async def _ask(self, wire: bytes) -> int:
        """The status of an answer. Servers end connections that wait: then it is asked on another."""
        while self.idle:
            connection = self.idle.popleft()
            with suppress(Ended):
                return await self._on(connection, wire)
        try:
            connection = await self._open()
        except OSError:
            await asyncio.sleep(REFUSED_SECONDS)
            raise
        return await self._on(connection, wire)

    async def _on(self, connection: Connection, wire: bytes) -> int:
        try:
            status = await connection.ask(wire)
        except BaseException:  # also one that the client left
            connection.writer.close()
            self.opened -= 1
            raise
        connection.used = monotonic()
        self.idle.append(connection)
        return status

    async def _open(self) -> Connection:
        if self.opened >= MOST_CONNECTIONS:
            raise OSError("too many connections wait for an answer")
        address = f"127.0.1.{self.opened % ADDRESSES + 1}"
        streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20, local_addr=(address, 0))
        self.opened += 1
        return Connection(*streams)


class Ended(ConnectionError):
    """The server ended a connection that had waited, before it said anything."""


@dataclass
class Connection:
    """One that is kept."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: float = field(default_factory=monotonic)

    async def ask(self, wire: bytes) -> int:
        """The status of an answer that was read to its end. Raises ValueError for one that is no HTTP."""
        if self.reader.at_eof():
            raise Ended
        has_waited = monotonic() - self.used > WAITED_SECONDS
        self.writer.write(wire)
        try:
            first = await self.reader.readexactly(1)
        except (ConnectionError, EOFError):
            raise Ended if has_waited else BrokenPipeError from None
        head = (first + await self.reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" in head:
            while size := int(await self.reader.readline(), 16):
                await self.reader.readexactly(size + 2)
            await self.reader.readline()
        else:
            await self.reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]))
        return int(head.split(b" ", 2)[1])


async def main(port: int, connections: int, seconds: float, rate: float, seed: int, mix: str) -> None:
    """Asks, and writes what was answered."""
    clients = Clients(port, MIXES[mix](seed))
    if rate:
        await clients.open_loop(connections, seconds, rate, Random(seed))
    else:
        await clients.closed_loop(connections, seconds)
    sys.stdout.buffer.write(msgspec.msgpack.encode(clients.answers))


if __name__ == "__main__":
    given = sys.argv[1:]
    uvloop.run(main(int(given[0]), int(given[1]), float(given[2]), float(given[3]), int(given[4]), given[5]))
