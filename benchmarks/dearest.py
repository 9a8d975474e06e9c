"""The dearest questions known of each path: how many milliseconds of processor each takes, beside the bound.

A question may take 250 ms, and 2 ms more for each row, or dot, that it is answered with. A workbook may take 700 ms more for
its sheets and formulas: opening it takes longer. A PNG may take 200 ms more. A plan is as many questions as it has rows, and
ends after 20 s. A comparison of two moments is two questions, as is one with a speed of the asker's own, from which all other
speeds are worked out. Hints that try changes of a question count as questions too. A slower or busier machine may take as much
longer as other work takes on it. Every question is asked with a target or filter that was not asked before, so nothing is
remembered.
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any
from urllib.parse import quote, urlencode

from api.forms.plan import MOST_SECONDS
from api.questions.schemas.training import CostSchema
from api.questions.words.understanding import LONGEST, MOST_WORDS
from api.service import Service
from api.settings import Settings
from api.stored import FixedPrices
from api.web.app import LONGEST_QUERY, create_app
from api.web.serving.server import keep_memory_small
from benchmarks.processor import peak_mib
from benchmarks.synthetic import NOW, catalogue, packaged
from benchmarks.timing import median, report, slowness
from costcalc.evidence import load_evidence

ROUNDS = 5
LONG_PLAN = 1000  # questions, which are asked once
MILLISECONDS, PER_ROW = 250, 2
FORMS = {".xlsx": 700, ".png": 200}
EVERYTHING = "model=resnet50&regions=all&recipes=all&max_price_age=36500&confidence=0.01"
TARGET = "&target={target}"
MOST_MILLISECONDS, USUAL_OFFERS = 2000, 100_000
"""Of a question at many offers; with more than the usual ones the process may hold 500 MiB, else 300."""
HOSTILE = {
    "unknown words": "zqxwabcdefghijklmnopqrstuvw",
    "words that begin networks": "vit",
    "misspelt networks": "resnets",
    "long numbers": "1" * 29,
}


@dataclass(frozen=True)
class Dear:
    """What to ask: `{target}` stands for one that was not asked before; `rows` answer it, and it holds so many `questions`."""

    what: str
    path: str
    body: str = ""
    rows: int = 0
    questions: int = 1

    @property
    def bound(self) -> int:
        """The most milliseconds of processor that it may take."""
        of_form = next((more for end, more in FORMS.items() if end in self.path), 0)
        return min(MILLISECONDS * self.questions, MOST_SECONDS * 1000) + PER_ROW * self.rows + of_form


def main(arguments: Sequence[str] = ()) -> bool:
    options = argparse.ArgumentParser("python -m benchmarks dearest", description=__doc__)
    options.add_argument(
        "--offers", type=int, help="a made-up store of so many, and the most memory that each question takes"
    )
    many = options.parse_args(arguments).offers
    service = Service(load_evidence(), FixedPrices(catalogue(many) if many else packaged()), lambda: NOW)
    client = create_app(service, Settings(cache_answers=0)).test_client()
    gc.collect()
    gc.freeze()  # as `costcalc serve` does
    if many:
        keep_memory_small()
        reached = [_is_small(client, dear, 300 if many <= USUAL_OFFERS else 500) for dear in _costs()]
    else:
        reached = [_measured(client, dear) for dear in dearest(service)]
    return all(reached)


def _is_small(client: Any, dear: Dear, most_mib: int) -> bool:
    """Whether a question about cost takes at most 2 s, and this process at most so much memory meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that of this question
    took, size = _asked(client, dear, 1)
    peak, most = peak_mib(), MOST_MILLISECONDS * slowness()
    figure = f"{took:,.0f} ms of processor for {size / 1024:,.0f} KiB, at most {peak:.0f} MiB"
    return report(dear.what, figure, f"at most {most:,.0f} ms and {most_mib} MiB", took <= most and peak <= most_mib)


def dearest(service: Service) -> Iterator[Dear]:
    """What is known to take long."""
    yield from _costs()
    yield from _lists()
    yield from _mistakes(service)
    yield from _plans(service)


def _costs() -> Iterator[Dear]:
    for name, questions in (("", 1), ("&sort=time", 1), ("&frontier=true", 1), ("&basis=effective", 1),
                            ("&currency=EUR&discount=0.1&runs=1000000", 1), ("&accelerators=720720", 1),
                            ("&nodes=100000", 1), ("&max_cost=0.01", 3), ("&as_of=2024-01-0{number}", 1),
                            ("&images_per_second=15{number}0@1xA100-40GB", 2)):  # fmt: skip
        asked = f"/cost?{EVERYTHING}{TARGET}{name}"
        yield Dear(f"/cost of everything{name.format(number=1)}", asked, rows=20, questions=questions)
    yield Dear("/cost of what nobody reaches", f"/cost?{EVERYTHING}&target=0.99{{number}}")
    for end, more in ((".csv", ""), (".csv", "&profile=focus"), (".xlsx", ""), ("", "")):
        yield Dear(f"/cost{end} of 1,000 rows{more}", f"/cost{end}?{EVERYTHING}{TARGET}&limit=1000{more}", rows=1000)
    for path, rows in (("/cost.svg", 100), ("/cost.png", 100), ("/cost.xlsx", 20), ("/", 120), ("/estimate", 20)):
        yield Dear(f"{path} of everything", f"{path}?{EVERYTHING}{TARGET}", rows=rows)
    then = f"/?{EVERYTHING}{TARGET}&as_of=2026-01-0{{number}}"
    yield Dear("/ of everything, then and now", then, rows=120, questions=2)
    nothing = f"/?{EVERYTHING}{TARGET}&max_cost=1e-6&as_of=2026-01-0{{number}}"
    yield Dear("/ of everything that nothing answers, with what brings more back", nothing, questions=4)
    for end in ("", ".csv", ".xlsx"):
        asked = f"/commitments{end}?{EVERYTHING}{TARGET}&limit=20&runs_per_month=1000000"
        yield Dear(f"/commitments{end} of 20 machines in 200 ways", asked, rows=200)
        own = f"{asked}&sort=time&images_per_second=1{len(end)}{{number}}0@1xA100-40GB"
        yield Dear(f"/commitments{end} of the 20 fastest, by a speed of the asker's own", own, rows=200, questions=2)
    few = EVERYTHING.replace("&recipes=all", "")
    yield Dear("/accuracy of everything", f"/accuracy?{few}&limit=100&budget=1{{target}}", rows=100)


def _lists() -> Iterator[Dear]:
    for end in ("", ".csv", ".xlsx"):
        yield Dear(f"/offers{end}, all", f"/offers{end}?as_of=2026-0{{number}}-01", rows=100)
    for end in ("", ".csv"):
        yield Dear(f"/offers/changes{end}, all", f"/offers/changes{end}?since=2018-01-0{{number}}", rows=100)
        yield Dear(f"/fit{end} of every network", f"/fit{end}?as_of=2026-0{{number}}-01", rows=1000)
        yield Dear(f"/throughput{end}, all", f"/throughput{end}?limit=1000000", rows=100)
    yield Dear("/throughput, the first 100", "/throughput", rows=100)
    for path, rows in (
        ("/models", 150),
        ("/models/resnet50", 3000),
        ("/openapi.json", 40),
        ("/docs", 40),
        ("/metrics", 0),
    ):
        yield Dear(path, path, rows=rows)


def _mistakes(service: Service) -> Iterator[Dear]:
    """Many values, many names, long ones: an address has at most 32,768 characters."""
    names = service.names(service.catalogue())
    some = [("instance_type", name) for name in names.instance_type if "," not in name][:200]
    yield Dear("/cost on 200 machine types", f"/cost?{EVERYTHING}{TARGET}&{urlencode(some)}", rows=20)
    yield Dear("/offers/history of 200 machine types", f"/offers/history?{urlencode(some)}", rows=100)
    wrong = "&".join(f"{kind}=" + ",".join(f"{kind[:3]}{number}x" for number in range(200)) for kind in
                     ("provider", "region", "instance_type", "accelerator", "recipe"))  # fmt: skip
    yield Dear("/cost with 1,000 wrong names", f"/cost?{EVERYTHING}{TARGET}&{wrong}")
    unknown = "&".join(f"accelerater{number}" for number in range(LONGEST_QUERY // 18))
    yield Dear("/cost with 1,800 unknown parameters", f"/cost?{EVERYTHING}{TARGET}&{unknown}")
    yield Dear("/cost with a long value", f"/cost?{EVERYTHING}{TARGET}&provider={'a' * 30_000}")
    yield Dear("a long path", f"/{'models' * 5000}")
    for what, word in HOSTILE.items():
        sentence = " ".join(f"{word}{number}" for number in range(MOST_WORDS - 1))
        yield Dear(f"/ask of {MOST_WORDS} {what}", f"/ask?q={quote(sentence[: LONGEST - 3])}+{{number}}")


def _plans(service: Service) -> Iterator[Dear]:
    rows = [{"model": "resnet50", "target": f"0.{number}{{number}}"} for number in range(6000, 7000)]
    everything = dict(
        pair.split("=") for pair in EVERYTHING.split("&")[1:] if pair.split("=")[0] in CostSchema().fields
    )
    yield Dear("POST /plan of 1,000 rows", "/plan", _body(rows), 1000, 1000)
    yield Dear(
        "POST /plan of 1,000 rows, each of everything", "/plan", _body([row | everything for row in rows]), 1000, 1000
    )
    yield Dear("POST /plan of 1,000 empty rows", f"/plan?{EVERYTHING}{TARGET}", _body([{}] * 1000), 1000)
    wrong = [{"model": f"resent{number}", "target": "0.7", "provider": f"amason{number}"} for number in range(1000)]
    yield Dear("POST /plan of 1,000 rows with wrong names", "/plan", _body(wrong), 1000)
    own = [{f"_{number}_{column}": "" for column in range(60)} for number in range(1000)]
    yield Dear("POST /plan.xlsx of 60,000 columns", "/plan.xlsx", _body(own))


def _body(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows)


def _measured(client: Any, dear: Dear) -> bool:
    rounds = 1 if dear.questions >= LONG_PLAN else ROUNDS
    found = [_asked(client, dear, number + 1) for number in range(rounds)]
    took, size, most = median([milliseconds for milliseconds, _ in found]), found[-1][1], dear.bound * slowness()
    figure = f"{took:.0f} ms of processor for {size / 1024:,.0f} KiB"
    return report(dear.what, figure, f"at most {most:,.0f} ms", took <= most)


def _asked(client: Any, dear: Dear, number: int) -> tuple[float, int]:
    fresh = {"target": f"0.70{number}", "number": str(number)}
    path = dear.path.format(**fresh)
    body = dear.body.replace("{number}", fresh["number"])
    started = process_time()
    response = client.post(path, data=body, content_type="application/json") if body else client.get(path)
    size = len(response.get_data())
    if response.status_code >= 500:
        raise RuntimeError(f"{path[:100]} answered {response.status_code}")
    return (process_time() - started) * 1000, size
