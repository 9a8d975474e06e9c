"""python -m benchmarks load --minutes 10: a mixed load of 200 connections, then twice what the service can do, then the dearest.

Capacity is the rate at which 8 clients that never pause are answered, as soon as it no longer rises: until then the memories of
the workers fill, and an answer takes up to five times as long. The load is 80 % of that. Wanted: no error, the memory of
each worker flat within 5 % after the first minute, p99 within three times that of a tenth of the capacity. Then twice the
capacity for half a minute: what is refused is refused within a second, and five seconds later everything is answered again.
All of it, and a minute of the dearest questions, in the memory that `deploy/kubernetes/web.yaml` gives a server.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil
import yaml

from benchmarks.client import AT_ONCE, BROKEN, LEFT, PATIENCE_SECONDS, Answered
from benchmarks.memory import Peak, meanwhile, sampled
from benchmarks.questions import SECRET
from benchmarks.serving import server
from benchmarks.timing import median, p99, report
from tools.cluster.cluster import DEPLOY, children

CONNECTIONS = 200
FULL, IDLE, OVERLOAD = 0.8, 0.1, 2.0
OVERLOAD_SECONDS, RECOVERY_SECONDS, DEAREST_SECONDS = 30, 15, 60
REFUSED = (429, 503)
MEASURED_SECONDS, IDLE_SECONDS, MEDIAN_SECONDS = 30, 60, 20
RISING = 1.05


def main(arguments: Sequence[str] = ()) -> bool:
    parser = argparse.ArgumentParser(prog="python -m benchmarks load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder, service(Path(folder)) as asked:
        phases = Phases(asked, given.seed)
        capacity = phases.capacity()
        idle = phases.ask("a tenth of the capacity", IDLE_SECONDS, IDLE * capacity)
        with asked.memory() as memory:
            loaded = phases.ask("80 % of the capacity", given.minutes * 60, FULL * capacity)
        fine = loaded_well(loaded, idle, memory)
        over = phases.ask("twice the capacity", OVERLOAD_SECONDS, OVERLOAD * capacity)
        after = phases.ask("afterwards", RECOVERY_SECONDS, IDLE * capacity)
        fine &= refused_well(over, after)
        phases.ask_the_dearest()
        return fitted(asked.peak) and fine


@dataclass
class Server:
    """`costcalc serve` with two workers, as shipped."""

    port: int
    process: int
    peak: Peak

    @contextmanager
    def memory(self) -> Iterator[list[dict[int, float]]]:
        """Meanwhile the MiB of each worker, once a second."""
        seen: list[dict[int, float]] = []
        with meanwhile(lambda: seen.append({worker: resident_mib(worker) for worker in children(self.process)}), 1):
            yield seen


@dataclass
class Phases:
    """One after another, each with questions of its own."""

    server: Server
    seed: int
    asked: int = field(default=0)

    def capacity(self) -> float:
        """Answers a second to clients that do not pause, when it no longer rises."""
        rates = [0.0]
        while len(rates) < 3 or rates[-1] > RISING * rates[-2]:
            answers = self._ask(MEASURED_SECONDS, 0)
            rates.append(sum(each.status == 200 for each in answers) / MEASURED_SECONDS)
            print(
                f"     {AT_ONCE} clients that do not pause: {rates[-1]:.0f} a second; {statuses(answers)}",
                flush=True,
            )
        return rates[-1]

    def ask(self, name: str, seconds: float, rate: float) -> list[Answered]:
        """The answers to requests that come at this rate."""
        answers = self._ask(seconds, rate)
        print(f"     {name}: {len(answers) / seconds:.0f} requests a second; {statuses(answers)}")
        for kind in sorted({each.kind for each in answers}):
            tell_times(kind, [each.seconds * 1000 for each in answers if each.kind == kind and each.status == 200])
        return answers

    def ask_the_dearest(self) -> None:
        """Clients ask nothing but what takes most memory; some have no patience for the answer."""
        answers = self._ask(DEAREST_SECONDS, 0, "dearest")
        print(f"     the dearest questions: {statuses(answers)}")

    def _ask(self, seconds: float, rate: float, mix: str = "mixed") -> list[Answered]:
        self.asked += 1
        given = (self.server.port, CONNECTIONS, seconds, rate, self.seed * 1000 + self.asked, mix)
        command = [sys.executable, "-m", "benchmarks.client", *map(str, given)]
        return msgspec.msgpack.decode(
            subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout, type=list[Answered]
        )


def shipped_mib() -> int:
    """The memory that the manifest gives a server."""
    deployment, *_ = yaml.safe_load_all((DEPLOY / "kubernetes" / "web.yaml").read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return int(container["resources"]["limits"]["memory"].removesuffix("Mi"))


@contextmanager
def service(folder: Path) -> Iterator[Server]:
    """A server that answers meanwhile."""
    port, program = server(folder, COSTCALC_SLACK_SIGNING_SECRET=SECRET)
    with program.running():
        assert program.process is not None
        with sampled(program.process.pid) as peak:
            yield Server(port, program.process.pid, peak)


def loaded_well(loaded: list[Answered], idle: list[Answered], memory: list[dict[int, float]]) -> bool:
    """Whether what was promised for a full load held."""
    failed = [each for each in loaded if each.status != 200]
    fine = report("errors under full load", str(len(failed)), "none", not failed)
    quick, slow = (p99([each.seconds * 1000 for each in answers]) for answers in (idle, loaded))
    fine &= report(
        "p99 under full load",
        f"{slow:.0f} ms, {slow / quick:.1f} times that of idle",
        "at most 3 times",
        slow <= 3 * quick,
    )
    warm = memory[min(60, len(memory) // 3) :]
    for worker in warm[0]:
        fine &= stayed(worker, [each.get(worker, 0.0) for each in warm])
    return fine


def stayed(worker: int, mib: list[float]) -> bool:
    """Whether a worker's memory is flat, by the medians of the first and the last MEDIAN_SECONDS: an answer that is being written
    takes some MiB for a moment."""
    first, last = median(mib[:MEDIAN_SECONDS]), median(mib[-MEDIAN_SECONDS:])
    grown = last / first - 1
    figure = f"{first:.0f} MiB, then {grown:+.1%}, at most {max(mib):.0f}"
    return report(f"memory of worker {worker}", figure, "at most 5 % after the first minute", grown <= 0.05)


def refused_well(over: list[Answered], after: list[Answered]) -> bool:
    """Whether what was promised for twice the capacity held."""
    refused = [each.seconds for each in over if each.status in REFUSED]
    broken = sum(each.status not in (200, *REFUSED) for each in over)
    slowest = max(refused, default=0.0)
    figure = f"{len(refused)} of {len(over)}, the slowest in {slowest:.2f} s; {broken} broken"
    fine = report("refused at twice the capacity", figure, "within 1 s, none broken", slowest <= 1 and not broken)
    late = [each for each in after if each.status != 200 and each.due > 5]
    return report("errors later than 5 s after that", str(len(late)), "none", not late) and fine


def fitted(peak: Peak) -> bool:
    """Whether the server had memory enough all the time."""
    most = shipped_mib()
    return report("memory of all processes", f"at most {peak.mib:.0f} MiB", f"below {most} MiB", peak.mib < most)


def tell_times(kind: str, taken: list[float]) -> None:
    """The milliseconds that answers of one kind took."""
    if len(taken) > 1:
        print(f"        {kind}: {len(taken)}, p50 {median(taken):.0f} ms, p99 {p99(taken):.0f} ms", flush=True)


def statuses(answers: list[Answered]) -> str:
    """How many answers had which status."""
    counted = Counter(each.status for each in answers)
    words = {BROKEN: "broken", LEFT: f"left by the client after {PATIENCE_SECONDS} s"}
    return ", ".join(f"{count} x {words.get(status, status)}" for status, count in sorted(counted.items()))


def resident_mib(process: int) -> float:
    """The memory that a process holds now; 0 where it ended."""
    with suppress(psutil.Error):
        return psutil.Process(process).memory_info().rss / 2**20
    return 0.0
