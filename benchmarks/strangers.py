"""python -m benchmarks strangers --logs 10000 --bombs 100: damaged logs and files made to cost much, while others ask.

Wanted: every log is read or refused, none with a 5xx but for lack of a turn; `/healthz` within 100 ms and `/cost` within twice
what it takes idle, in the median; all processes together below 700 MiB.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event
from time import perf_counter, sleep

from benchmarks.memory import sampled
from benchmarks.serving import server
from benchmarks.timing import median, p99, report

HEALTHY_MS, TIMES_IDLE, MOST_MIB = 100, 2, 700
AT_ONCE, IDLE_SECONDS, PAUSE_SECONDS = 4, 10, 0.1
FACTS = "keep=false&name=mine&dataset=mine&accelerator=V100&batch_size=8&samples_per_epoch=80&hours=1&metric=loss"
LOGS = (
    "epoch,loss,val_acc,timestamp\n1,0.5,0.6,2026-01-01T00:00:00\n2,0.4,0.7,2026-01-01T00:01:00\n",
    "Epoch 1/2\n10/10 - 3s 1ms/step - loss: 0.5 - val_acc: 0.6\nEpoch 2/2\n10/10 - 3s 1ms/step - loss: 0.4\n",
    json.dumps({"log_history": [{"epoch": 1.0, "step": 5, "loss": 0.5}, {"epoch": 2.0, "train_runtime": 9}]}),
    '{"_step": 1, "_timestamp": 1700000000, "loss": 0.5}\n{"_step": 2, "_timestamp": 1700000009, "loss": 0.4}\n',
    ':::MLLOG {"time_ms": 1, "key": "run_start"}\n:::MLLOG {"time_ms": 9, "key": "loss", "value": 0.5}\n',
    "{'loss': 0.5, 'epoch': 1.0}\n{'train_runtime': 9.0, 'epoch': 2.0}\n",
    "step 1/2 | loss 1.0 1.0 ms 1 tok/s\nstep 2/2 | loss 0.5 1.0 ms 1 tok/s\n",
)
ODD = (
    "1e999",
    "-1",
    "9" * 500,
    "nan",
    "inf",
    "",
    "[]",
    "{}",
    "null",
    "2026-13-45",
    "\0",
    "true",
    '"',
    "\n",
    ",",
    "\x1b[2K",
)
BOMBS = (
    gzip.compress(b"epoch 1: loss=1\n" * 16_000_000),
    b"step 1/2 | loss 1.0 1.0 ms 1 tok/s\nstep 1/2 | loss " + b"1" * 900_000,
    b"[" * 500_000,
    b'{"epoch": ' + b"9" * 900_000 + b"}",
    b"epoch,seconds,loss\n" + b"".join(b"%d,%d,1\n" % (2 + n // 2 + n % 2 * 9, n) for n in range(50_000)),
    b"epoch," + b",".join(b"val_loss%d" % n for n in range(1_900)) + b"\n" + (b"1" + b",1" * 1_900 + b"\n") * 240,
    b"2026-01-01 00:00:00 epoch 1 loss=1\n" * 28_000,
    b"Epoch 1: 100%|#| 9/9 [00:01<00:00, 1it/s, loss=1]\n" * 19_000,
    b"\x0a\x00" * 400_000,
    b":::MLLOG {" * 90_000,
)  # fmt: skip
"""Each below a mebibyte, which is what a server takes."""


def main(arguments: Sequence[str] = ()) -> bool:
    options = argparse.ArgumentParser("python -m benchmarks strangers", description=__doc__)
    options.add_argument("--logs", type=int, default=10_000)
    options.add_argument("--bombs", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args(arguments)
    with TemporaryDirectory() as folder:
        port, program = server(Path(folder))
        with program.running():
            assert program.process is not None
            idle = Asked(port)
            idle.meanwhile(lambda: sleep(IDLE_SECONDS))
            busy, statuses = Asked(port), Counter[int]()
            with sampled(program.process.pid) as peak:
                busy.meanwhile(lambda: statuses.update(sent(port, given.logs, given.bombs, Random(given.seed))))
    return judged(idle, busy, statuses, peak.mib)


class Asked:
    """How many milliseconds others waited for `/healthz` and for `/cost`, each time to a target that nobody asked for before."""

    def __init__(self, port: int) -> None:
        self._port, self._ended = port, Event()
        self.health: list[float] = []
        self.cost: list[float] = []
        self.failed = 0

    def meanwhile(self, work: Callable[[], object]) -> None:
        """Asks while work is done."""
        targets = (f"/cost?model=resnet50&target=0.7{number:06}" for number in count(id(self) % 10**5))
        with ThreadPoolExecutor() as pool:
            pool.submit(self._ask, iter(lambda: "/healthz", None), self.health)
            pool.submit(self._ask, targets, self.cost)
            try:
                work()
            finally:
                self._ended.set()

    def _ask(self, paths: Iterator[str], taken: list[float]) -> None:
        while not self._ended.wait(PAUSE_SECONDS):
            started = perf_counter()
            self.failed += asked(self._port, "GET", next(paths), b"") != 200
            taken.append(1000 * (perf_counter() - started))


def sent(port: int, logs: int, bombs: int, chance: Random) -> list[int]:
    """The statuses of so many damaged logs, and of bombs among them."""
    bodies = [damaged(chance) for _ in range(logs)] + [BOMBS[number % len(BOMBS)] for number in range(bombs)]
    chance.shuffle(bodies)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda body: asked(port, "POST", f"/recipes?{FACTS}", body), bodies))


def damaged(chance: Random) -> bytes:
    """A log of one of the kinds, with odd figures in place of some, cut, or with other signs in between."""
    text = chance.choice(LOGS)
    for _ in range(chance.randint(1, 3)):
        begin = chance.randint(0, len(text))
        end = min(begin + chance.randint(0, 12), len(text))
        text = text[:begin] + chance.choice((*ODD, chr(chance.randint(1, 0x2FFF)))) + text[end:]
    return text.encode() or b"\n"


def asked(port: int, method: str, path: str, body: bytes) -> int:
    """The status of an answer that was read to its end; 0 where the connection broke."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body or None)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def judged(idle: Asked, busy: Asked, statuses: Counter[int], mib: float) -> bool:
    print(f"     logs: {', '.join(f'{number} x {status}' for status, number in sorted(statuses.items()))}")
    broken = sum(number for status, number in statuses.items() if not status or (status >= 500 and status != 503))
    fine = report("logs answered with a fault of ours", str(broken), "none", not broken)
    fine &= report("other questions that failed", str(busy.failed), "none", not busy.failed)
    quick, slow = median(busy.health), p99(busy.health)
    fine &= report(
        "/healthz", f"median {quick:.0f} ms, p99 {slow:.0f} ms", f"below {HEALTHY_MS} ms", quick < HEALTHY_MS
    )
    before, now = median(idle.cost), median(busy.cost)
    figure = f"median {now:.0f} ms, {now / before:.1f} times idle"
    fine &= report("/cost", figure, f"at most {TIMES_IDLE} times", now <= TIMES_IDLE * before)
    return report("memory of all processes", f"at most {mib:.0f} MiB", f"below {MOST_MIB} MiB", mib < MOST_MIB) and fine
