"""python -m benchmarks refresh_memory: `costcalc prices refresh` of every source where all mean harm, and where one does.

Harm is an answer without end, a bomb (1 MiB that unpacks to 1 GiB), a document whose parsed form is many times as large, and an
answer that drips. Wanted: all processes of a refresh together stay below 700 MiB, and beside one hostile source all others are
published. Where honest sources come too late on a busy machine, all are asked again with twice the time. The sources answer with
the recordings and fakes of the tests. `--together endless bomb` is done in a few minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.memory import sampled
from benchmarks.timing import report
from pricing.editions import public_key
from pricing.refresh import LIMIT_VARIABLE
from pricing.sources import SOURCES
from pricing.store.store import Store
from tools.cluster.cluster import COSTCALC
from tools.cluster.program import clean_environment

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from fakes import aws
from fakes.azure import FakeAzure
from fakes.edition import KEY, edition
from fakes.gcp import COMPUTE, FakeGcp
from fakes.hostile import KINDS, hostile
from pytest_httpserver import HTTPServer
from support.prices import offer
from support.recorded_sources import RECORDED, recorded

MOST_MIB = 700
MOST_TRIES = 3
LATE = ("took longer than", "its turn did not come")  # how the error of a source begins that was not waited for


def main(arguments: Sequence[str] = ()) -> bool:
    parser = argparse.ArgumentParser(prog="python -m benchmarks refresh_memory", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="the time limit of each refresh")
    parser.add_argument(
        "--together", action="store_true", help="leave out refreshes in which one source alone means harm"
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"some of {', '.join(KINDS)}")
    given = parser.parse_args(arguments)
    if unknown := set(given.kinds) - set(KINDS):
        parser.error(f"no harm is called {', '.join(sorted(unknown))}")
    kinds = given.kinds or tuple(KINDS)
    with honest_sources() as good, hostile() as url, TemporaryDirectory() as folder:
        bad = {kind: {name: harmful(name, good[name], f"{url}/{kind}") for name in SOURCES} for kind in kinds}
        refreshes = Refreshes(Path(folder), given.seconds)
        fine = refreshes.fine("every source honest", good, ())
        for kind in kinds:
            fine &= refreshes.fine(f"every source {kind}", bad[kind], SOURCES)
        for name, kind in () if given.together else zip(SOURCES, cycle(kinds), strict=False):
            fine &= refreshes.fine(f"{name} alone {kind}", {**good, name: bad[kind][name]}, (name,))
    return fine


@dataclass
class Refreshes:
    """One after another, each into a store of its own."""

    folder: Path
    seconds: int
    count: int = 0

    def fine(self, what: str, settings: Mapping[str, Mapping[str, str]], harmful: Sequence[str]) -> bool:
        """Whether they stayed below the limit, and the last published just the sources that mean no harm."""
        tries = [self._refreshed(settings, self.seconds)]
        while (late := tries[-1].late(harmful)) and len(tries) < MOST_TRIES:
            print(f"     too late on this machine: {', '.join(late)}; asked again with twice the time", flush=True)
            tries.append(self._refreshed(settings, self.seconds * 2 ** len(tries)))
        errors, most = tries[-1].errors, max(each.mib for each in tries)
        wrong = [name for name in settings if bool(errors[name]) != (name in harmful)]
        for name in wrong:
            print(f"     {name}: {errors[name] or 'published'}")
        fine = report(f"memory, {what}", f"{most:.0f} MiB", f"below {MOST_MIB} MiB", most < MOST_MIB)
        figure = f"{sum(not error for error in errors.values())} in {tries[-1].seconds:.0f} s"
        return report(f"published, {what}", figure, f"{len(settings) - len(harmful)}", not wrong) and fine

    def _refreshed(self, settings: Mapping[str, Mapping[str, str]], limit_seconds: int) -> Refreshed:
        self.count += 1
        store = f"sqlite:///{self.folder}/{self.count}.sqlite3"
        given = {name: text for each in settings.values() for name, text in each.items()}
        given |= {"COSTCALC_DATABASE_URL": store, LIMIT_VARIABLE: str(limit_seconds), "HOME": str(self.folder)}
        started = time.perf_counter()
        command = (*COSTCALC, "prices", "refresh", *settings)
        process = subprocess.Popen(
            command, env=clean_environment(**given), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        with sampled(process.pid) as peak:
            said = process.communicate()[0].decode()
        seconds, states = time.perf_counter() - started, {state.name: state for state in Store(store).status()}
        errors = {name: states[name].error if name in states else f"not asked: {said}" for name in settings}
        return Refreshed(peak.mib, seconds, errors)


@dataclass(frozen=True)
class Refreshed:
    """What a refresh held at most, how long it took, and by source its error, if any."""

    mib: float
    seconds: float
    errors: Mapping[str, str | None]

    def late(self, harmful: Sequence[str]) -> list[str]:
        """The honest sources that were not waited for."""
        return [name for name, error in self.errors.items() if error and error.startswith(LATE) and name not in harmful]


@contextmanager
def honest_sources() -> Iterator[dict[str, dict[str, str]]]:
    """By source, the settings by which it asks servers that mean no harm."""
    with ExitStack() as stack:
        server = stack.enter_context(HTTPServer(threaded=True))
        for name, source in RECORDED.items():
            source.serve(server, f"/{name}")
        skus = json.loads(recorded("gcp/skus_compute_engine.json"))["skus"]
        items = json.loads(recorded("azure/retail_prices.json"))["Items"]
        elements = [aws.element(aws.product("p3.8xlarge"), "12.24", {})]
        google = stack.enter_context(FakeGcp({COMPUTE: skus}).server().running())
        microsoft = stack.enter_context(FakeAzure(items).server().running())
        amazon = stack.enter_context(aws.FakeAws(elements=elements).running())
        url = server.url_for("").rstrip("/")
        yield {
            **{name: source.environment(f"{url}/{name}") for name, source in RECORDED.items()},
            "edition": {"COSTCALC_PRICES_LATEST": edition(offer()).serve(server), "COSTCALC_EDITION_TRUSTED": public_key(KEY)},
            "aws": {"AWS_ENDPOINT_URL": amazon.url, "COSTCALC_AWS_REGIONS": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"},
            "gcp": {f"COSTCALC_GCP_{api}_URL": google.url for api in ("BILLING", "COMPUTE", "TPU")},
            "azure": {"COSTCALC_AZURE_PRICES_URL": microsoft.url},
        }  # fmt: skip


def harmful(name: str, good: Mapping[str, str], url: str) -> dict[str, str]:
    """The settings by which a source asks there. Google's prices stay honest, so that its own library is asked too."""
    if name == "gcp":
        return {**good, "COSTCALC_GCP_COMPUTE_URL": url}
    return {variable: url if text.startswith("http") else text for variable, text in good.items()}
