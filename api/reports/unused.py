"""What a question states that changes no estimate of its answer, in a sentence that says what it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from api.questions.errors import Refused
from api.questions.links import text_of
from costcalc.answers import Answer
from costcalc.flat import flat
from costcalc.query import ANY, DECLARED, DEFAULTS, EstimateQuery, usual_basis


def unused(query: EstimateQuery, ask: Callable[[EstimateQuery], Sequence[Answer]]) -> Iterator[str]:
    """A sentence for each such parameter. Those of which the answers are the same without are found by asking again."""
    usual = DEFAULTS | {"basis": usual_basis(query.purchase)}
    concerning = {name: each.param.concerns for name, each in DECLARED.items() if each.param.concerns}
    stated = [name for name in concerning if getattr(query, name) != usual[name]]
    if not stated:
        return
    first, *_ = answers = ask(query)
    shown = [*map(_shown, answers)]
    plainly_used = {
        "own_price": bool(first.owned),
        "pick": query.pick == first.named_first and not first.owned,
        "took_on": query.took is not None,  # its cost of then is a sentence
        "kind": query.took is not None and query.model != ANY,  # a published run states it
        "fx": query.currency in {rate.currency for rate in query.fx},  # without it, some have no rate at all
    }
    for name in stated:
        if not plainly_used.get(name) and _asked_without(replace(query, **{name: usual[name]}), ask) == shown:
            value = text_of(getattr(query, name))
            yield f"{name}={value} changes none of these estimates: it concerns {concerning[name]}."


def _asked_without(
    query: EstimateQuery, ask: Callable[[EstimateQuery], Sequence[Answer]]
) -> list[tuple[Any, ...]] | None:
    """The figures of a question, or None where it is refused: a machine without its watts, say."""
    try:
        return [*map(_shown, ask(query))]
    except Refused:
        return None


def _shown(answer: Answer) -> tuple[Any, ...]:
    """The figures of an answer."""
    names, picked = tuple(pick.name for pick in answer.picks), (pick.estimate for pick in answer.picks)
    estimates = (*answer.estimates, *answer.free, *picked, *(mine.estimate for mine in answer.owned))
    figures = tuple(replace(flat(each), assumptions=()) for each in estimates)
    lead = answer.lead if answer.picks else None
    return answer.count, lead and lead.rank, names, figures, answer.rejections
