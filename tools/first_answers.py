"""What a person sees first of ten answers in the terminal: `python -m tools.first_answers`.

Writes tests/tools/first_answers.md from the packaged prices at a fixed moment, so that only the code and the tables change it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from api.formats.terminal.grid import View
from api.forms.ask import AskReport, terminal
from api.service import Service
from api.stored import FixedPrices
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from pricing.packaged.offers import read_packaged

DOCUMENT = Path(__file__).parents[1] / "tests" / "tools" / "first_answers.md"
MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
LINES, WIDTH = 16, 80
QUESTIONS = (
    "resnet50 75.7%",
    "how much for resnet-50 to 76 percent on aws, gcp or azure?",
    "resnet50 75.7% spot under $50 within 4h",
    "resnet50 top-5 93% on 8 H100",
    "resnet18 70% fastest",
    "efficientnet_b4 82% free",
    "rn50 76 aws frankfurt no spot",
    "resnet50 75.7% on my 4090",
    "resnet50 75.7% as of 2018-04-26",
    "resnet50 99%",
)
INTRODUCTION = f"""# First answers

What a terminal of {WIDTH} columns shows of ten questions at the packaged prices on {MOMENT:%Y-%m-%d}. The verdict, all but
the table of the picks, stands word for word in Slack, on the page, in workbooks and in JSON. `python -m tools.first_answers`
writes this document, and a test holds it to the code.
"""


def document() -> str:
    """The page as the code answers now."""
    catalogue = Catalogue.from_offers(read_packaged().offers, "packaged")
    service = Service(load_evidence(), FixedPrices(catalogue), lambda: MOMENT)
    shown = (_shown(question, terminal(AskReport(service, catalogue, question), View(WIDTH))) for question in QUESTIONS)
    return "\n".join([INTRODUCTION, *shown])


def _shown(question: str, lines: Iterator[str]) -> str:
    command = shlex.join(["costcalc", "ask", question])
    return "\n".join([f"## {question}\n", "```text", f"$ {command}", *islice(lines, LINES), "```\n"])


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
