"""python -m benchmarks never_asked --against COMMIT: questions that were never asked before, with random filters.

Their number a second to eight clients, for this code, for an earlier commit, and for a bare Flask route under the same server
that returns the same bytes. All three run at the same time and are asked in turns, so that a busy machine slows them alike.
"""

from __future__ import annotations

import argparse
import http.client
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from benchmarks.clients.questions import parameters
from benchmarks.over_http import BARE, serving
from benchmarks.timing import median, report
from tools.cluster.cluster import COSTCALC, ROOT

CLIENTS, REQUESTS, ROUNDS = 8, 40, 7
SERVE = ("serve", "--workers", "2", "--bind")


def main(arguments: Sequence[str] = ()) -> bool:
    """Measures and reports."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks never_asked", description=__doc__)
    parser.add_argument("--against", help="an earlier commit of this repository, which is measured too")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder, ExitStack() as running:
        places = {"now": ROOT, **({given.against: checked_out(given.against, running)} if given.against else {})}
        ports = {name: running.enter_context(server(place, Path(folder) / name)) for name, place in places.items()}
        body = Path(folder) / "body.json"
        body.write_bytes(asked(ports["now"], Random(given.seed)))
        ports["bare"] = running.enter_context(serving([sys.executable, "-c", BARE], folder, str(body)))
        return compared(ports, Random(given.seed), given.against)


def compared(ports: dict[str, int], chance: Random, against: str | None) -> bool:
    """Asks them in turns and prints their medians; whether this code is twice as fast as the earlier commit."""
    rates: dict[str, list[float]] = {name: [] for name in ports}
    for _ in range(ROUNDS):
        for name, port in ports.items():
            rates[name].append(a_second(port, chance.getrandbits(32)))
    now, bare = median(rates["now"]), median(rates["bare"])
    print(f"     never-asked questions: {now:.0f} a second; a bare Flask route: {bare:.0f} ({now / bare:.0%} of it)")
    if against is None:
        return True
    before = median(rates[against])
    figure = f"{now:.0f} a second, {before:.0f} at {against}: {now / before:.1f} times"
    return report("never-asked questions", figure, "at least twice", now >= 2 * before)


def a_second(port: int, seed: int) -> float:
    """Answers a second to all clients."""
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda client: client_of(port, seed + client), range(CLIENTS)))
    return CLIENTS * REQUESTS / (time.perf_counter() - started)


def client_of(port: int, seed: int) -> None:
    """One client over one connection."""
    chance, connection = Random(seed), http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(REQUESTS):
        ask(connection, chance)
    connection.close()


def asked(port: int, chance: Random) -> bytes:
    """One answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = ask(connection, chance)
    connection.close()
    return body


def ask(connection: http.client.HTTPConnection, chance: Random) -> bytes:
    """Asks a question that nobody asked. Raises RuntimeError where it is not answered."""
    connection.request("GET", f"/cost?{urlencode(parameters(chance))}")
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {body[:200]!r}")
    return body


def checked_out(commit: str, running: ExitStack) -> Path:
    """A folder with the code of a commit, which goes at the end."""
    place = Path(running.enter_context(TemporaryDirectory())) / "code"
    subprocess.run(["git", "worktree", "add", "--detach", place, commit], cwd=ROOT, check=True, capture_output=True)
    running.callback(subprocess.run, ["git", "worktree", "remove", "--force", place], cwd=ROOT, check=True)
    return place


def server(place: Path, home: Path) -> AbstractContextManager[int]:
    """A server that runs the code of a folder."""
    home.mkdir()
    code = f"import sys; sys.path.insert(0, {str(place)!r}); {COSTCALC[2]}"
    return serving(["env", "COSTCALC_WAIT_SECONDS=60", COSTCALC[0], "-c", code, *SERVE], str(home))
