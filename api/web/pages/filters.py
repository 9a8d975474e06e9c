"""The filters of the first screen as people think of them: lists with counts, presets, limits, and what is asked for now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from api.questions.fields import Choice
from api.questions.links import text_of
from api.questions.spellings import ALONE
from api.reports.advice import Advice
from api.service import COST
from api.web.pages.address import Address
from costcalc.offer import PurchaseOption
from costcalc.parameters import Part
from costcalc.query import DECLARED, DEFAULTS, NARROWING, EstimateQuery, parameters_of

FEW = {"provider": 8, "accelerator": 6, "purchase": 9}
TITLES = {"provider": "Provider", "purchase": "How it is bought", "accelerator": "Accelerator"}
PRESETS = (
    ("Only what I can rent today", {"max_price_age": "30", "purchase": ["on_demand", "spot"]}),
    ("Only what was measured", {"evidence": "measured"}),
    ("Only the best trade-offs", {"frontier": "true"}),
)
LIMITS = (
    ("max_hours", "At most hours", "12"),
    ("max_cost", "At most dollars", "100"),
    ("accelerators", "Accelerators", "8"),
    ("as_of", "Prices as of", "2019-06-30"),
    ("region", "Region", "us-east-1"),
    ("instance_type", "Machine", "g5.xlarge"),
)
ELSEWHERE: tuple[Part, ...] = ("goal", "described", "stated", "language", "date", "page", "words")
"""Parts of a question that the page asks in other places, or not at all."""


class Choosable(NamedTuple):
    """A name in a list: how many estimates it would leave, whether it is chosen, and where a click leads."""

    name: str
    many: int
    chosen: bool
    url: str


@dataclass(frozen=True, slots=True)
class FilterList:
    """The names of one filter, those chosen and those of most estimates first; `more` are shown on demand."""

    parameter: str
    title: str
    first: list[Choosable]
    more: list[Choosable]


class Entry(NamedTuple):
    """A field of a form: its parameter, what stands in it, an example, and for a choice the words."""

    parameter: str
    title: str
    value: str
    example: str
    choices: tuple[str, ...] = ()
    meaning: str = ""


def lists(report: Advice, at: Address) -> Iterator[FilterList]:
    """The lists with counts."""
    counts = report.counts()
    for parameter, title in TITLES.items():
        chosen = [str(name) for name in getattr(report.query, parameter)]
        names = [_choosable(parameter, name, count, chosen, at) for name, count in counts[parameter]]
        names.sort(key=lambda each: not each.chosen)
        few = max(FEW[parameter], len(chosen))
        yield FilterList(parameter, title, names[:few], names[few:])


def _choosable(parameter: str, name: str, count: int, chosen: list[str], at: Address) -> Choosable:
    after = [each for each in chosen if each != name] if name in chosen else [*chosen, name]
    return Choosable(name, count, name in chosen, at(None, **{parameter: [ALONE.get(each, each) for each in after]}))


def presets(at: Address) -> Iterator[tuple[str, bool, str]]:
    """Each preset, whether it is chosen, and the address that turns it on, or off."""
    for name, values in PRESETS:
        chosen = all(at.given.get(key) in ([value], value) for key, value in values.items())
        yield name, chosen, at(**(dict.fromkeys(values) if chosen else values))


def chips(query: EstimateQuery, at: Address) -> Iterator[tuple[str, str]]:
    """What the question asks for beside the model and its target, with the address without it."""
    for name in at.given:
        if (
            name in DEFAULTS
            and DECLARED[name].param.part not in ("goal", "page")
            and name != "sort"
            and getattr(query, name) != DEFAULTS[name]
        ):
            value = _all_but(query.purchase) if name == "purchase" else text_of(getattr(query, name))
            yield f"{name}: {value.replace(',', ', ')}".replace("_", " "), at(**{name: None})


def _all_but(purchase: Sequence[PurchaseOption]) -> str:
    """Ways to rent as a question names them: `not spot` for all the others."""
    others = tuple(
        each for each in PurchaseOption if each not in (*purchase, PurchaseOption.OWNED, PurchaseOption.FREE)
    )
    return f"not {text_of(others)}" if 0 < len(others) < len(purchase) else text_of(purchase)


def cleared(at: Address) -> str:
    """The question without filters."""
    return at(None, **dict.fromkeys((*NARROWING, *parameters_of("price"), "frontier")))


def limits(at: Address) -> list[Entry]:
    """The limits that are a field each."""
    return [Entry(name, title, _value(at, name), example) for name, title, example in LIMITS]


def further(at: Address) -> list[Entry]:
    """The other parameters that change figures."""
    shown = {*TITLES, *(name for name, _, _ in LIMITS), *parameters_of(*ELSEWHERE)}
    return [entry(name, COST.fields[name], at) for name in DECLARED if name not in shown]


def entry(name: str, field: Any, at: Address, title: str | None = None) -> Entry:
    """The field of a parameter, with its meaning and its choices."""
    choices = tuple(field.choices) if isinstance(field, Choice) else ()
    example = "" if field.example is None else str(field.example)
    return Entry(name, title or name.replace("_", " ").capitalize(), _value(at, name), example, choices, field.meaning)


def _value(at: Address, name: str) -> str:
    return ", ".join(at.given.get(name, []))
