"""Several clients that ask a running service with short pauses, and note every answer that is not the one they wanted."""

import http.client
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fakes.slack import form, signed

CLIENTS = 3
PAUSE_SECONDS = 0.1  # what restarts meanwhile has the processor


@dataclass
class Asking:
    """What clients met: the number of good answers, and the others as status or error with the request."""

    port: int
    headers: dict[str, str]
    good: int = 0
    failures: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def wait_for(self, more: int, seconds: float = 120) -> None:
        """Returns after so many more answers."""
        wanted, deadline = self.good + len(self.failures) + more, time.monotonic() + seconds
        while self.good + len(self.failures) < wanted:
            assert time.monotonic() < deadline, f"{self.good} answers and {self.failures[:5]} after {seconds} s"
            time.sleep(0.02)

    def ask(self) -> None:
        """One client: a question that is never asked again, then a plan, then a slash command, and so on."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self._stop.wait(PAUSE_SECONDS):
            method, path, body, headers = question(next(self._numbers))
            try:
                connection.request(method, path, body, {**self.headers, **headers})
                response = connection.getresponse()
                told = response.read()
                met = None if response.status == 200 else f"{response.status} {told[:200]!r}"
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                met = repr(error)
            if met is None:
                self.good += 1
            else:
                self.failures.append(f"{method} {path}: {met}")
        connection.close()


def question(number: int) -> tuple[str, str, bytes | None, dict[str, str]]:
    """Method, path, body and headers of a request, which no other number gives."""
    if number % 10 == 3:
        return (
            "POST",
            "/plan",
            b"model,target\nresnet50,%f\n" % (0.70 + number % 5000 / 100_000),
            {"Content-Type": "text/csv"},
        )
    if number % 10 == 7:
        body = form("resnet50 0.757", trigger_id=f"{time.monotonic_ns()}.{number}")
        return "POST", "/slack/cost", body, signed(body)
    return "GET", f"/cost?model=resnet50&target=0.757&max_hours={100 + number}&limit={1 + number % 7}", None, {}


@contextmanager
def asking(port: int, **headers: str) -> Iterator[Asking]:
    """Clients that ask the service at this port meanwhile."""
    clients = Asking(port, headers)
    threads = [threading.Thread(target=clients.ask, daemon=True) for _ in range(CLIENTS)]
    for each in threads:
        each.start()
    try:
        yield clients
    finally:
        clients._stop.set()
        for each in threads:
            each.join(60)
