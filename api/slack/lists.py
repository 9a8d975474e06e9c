"""Usage, what machines cost an hour, and complaints that say what to type."""

from __future__ import annotations

from collections.abc import Sequence

from api.reports.rates import RatesDocument
from api.slack.message import Message, escape, link
from costcalc.query import DECLARED

EXAMPLES = (
    ("/cost resnet50 0.757", "the five cheapest estimates"),
    ("/cost resnet50 75.7% on gcp spot under $50 within 4h", "in plain words"),
    ("/cost resnet50 top-5 93% on 8 H100 share", "shows the answer to the whole channel"),
    (
        "/cost resnet50 0.757 provider=aws,gcp purchase=committed_use term=1y currency=EUR",
        "any parameter as name=value",
    ),
    ("/cost trend resnet50 0.757", "what it cost before: any command of a terminal, by its name"),
    ("/cost models", "the models; with a name, its recipes and the accuracy that each reaches"),
    ("/cost tasks", "what can be trained besides networks on ImageNet"),
)
TRY = "Try `/cost resnet50 0.757`, or `/cost help`."
_HERE = (
    ("costcalc models lists", "/models lists"),
    ("/models lists", "/cost models lists"),
    ("see /docs for", "/cost help shows"),
)


def usage(base: str) -> Message:
    """Examples, and the names of the parameters that are used most."""
    shown = "\n".join(f"`{escape(typed)}`  {meaning}" for typed, meaning in EXAMPLES)
    usual = (name for name, each in DECLARED.items() if each.param.use == "everyday" and each.param.part != "goal")
    names = ", ".join(f"`{name}`" for name in usual)
    more = link(f"{base}/docs#get_cost", "all parameters")
    return Message.of(f"*What will a training cost, and how long will it take?*\n{shown}\nMost used: {names}; {more}.")


def complaint(messages: list[str]) -> Message:
    """What was not understood, and what to type."""
    lines = "\n".join(f"• {escape(_here(line))}" for line in messages)
    return Message.of(f"{lines}\n{TRY}")


def rates(document: RatesDocument, lines: Sequence[str], base: str) -> Message:
    """What machines cost an hour, and where all rates are."""
    told = "\n".join(map(escape, (*document.verdict, *lines)))
    return Message.of(f"{told}\n{link(f'{base}{document.link}', 'every rate')}")


def _here(line: str) -> str:
    """What HTTP's messages point to, as it is called here."""
    for there, here in _HERE:
        line = line.replace(there, here)
    return line
