"""What a person sees first of ten answers in the terminal: `python -m tools.first_answers`.

Writes docs/first-answers.md from the packaged prices at a fixed moment, so that only the code and the tables change it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qsl

from api.bootstrap import FixedPrices
from api.cli.cost import cost_lines
from api.cli.grid import View
from api.questions.links import to_url
from api.reports.cost import CostReport
from api.service import Service
from api.slack.reply import Replier
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from costcalc.query import EstimateQuery
from pricing.packaged.offers import read_packaged

DOCUMENT = Path(__file__).parents[1] / "docs" / "first-answers.md"
MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
LINES, WIDTH = 24, 100
QUESTIONS = (
    "resnet50 75.7%",
    "resnet50 75.7% on aws, gcp, azure",
    "resnet50 75.7% spot under $50 within 4h",
    "resnet50 top-5 93% on 8 H100",
    "resnet18 70% fastest",
    "efficientnet_b4 82% free",
    "resnet50 75.7% on aws reserved 1y effective currency=EUR",
    "resnet50 75.7% as of 2018-04-26",
    'resnet50 75.7% accelerator="RTX 2080 Ti"',
    "resnet50 99%",
)
INTRODUCTION = f"""# First answers

What the terminal shows of ten questions at the packaged prices on {MOMENT:%Y-%m-%d}. The verdict, above the table, stands
word for word in Slack, on the page, in workbooks and in JSON. `python -m tools.first_answers` writes this document, and a test
holds it to the code.
"""


def document() -> str:
    """The page as the code answers now."""
    service = Service(
        load_evidence(), FixedPrices(Catalogue.from_offers(read_packaged().offers, "packaged")), lambda: MOMENT
    )
    return "\n".join([INTRODUCTION, *(part for question in QUESTIONS for part in _answers(service, question))])


def _answers(service: Service, question: str) -> Iterator[str]:
    replier = Replier(service)
    _, query, _ = replier.question(question, service.catalogue())
    yield f"## {question}\n"
    yield _shown(f"$ {_command(query)}", cost_lines(CostReport(service, service.catalogue(), query), View(WIDTH)))


def _command(query: EstimateQuery) -> str:
    """The same question in the terminal."""
    given = dict(parse_qsl(to_url(query).partition("?")[2]))
    goal = ["costcalc", "cost", given.pop("model"), given.pop("target")]
    options = (word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value))
    return shlex.join([*goal, *options])


def _shown(asked: str, lines: Iterator[str] | list[str]) -> str:
    return "\n".join(["```text", asked, *islice(lines, LINES), "```\n"])


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
