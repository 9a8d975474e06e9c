"""What a question states that changes no estimate of its answer, in a sentence that says what it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from api.questions.links import text_of
from costcalc.answers import Answer
from costcalc.query import DECLARED, DEFAULTS, EstimateQuery, usual_basis


def unused(answer: Answer, ask: Callable[[EstimateQuery], Answer]) -> Iterator[str]:
    """A sentence for each such parameter. Those of which the answer is the same without are found by asking again."""
    query, shown = answer.query, _shown(answer)
    usual = DEFAULTS | {"basis": usual_basis(query.purchase)}
    if query.pick == answer.named_first and not answer.owned:
        usual["pick"] = query.pick  # it leads, also where it would anyway
    for name, each in DECLARED.items():
        value = getattr(query, name)
        if each.param.concerns and value != usual[name] and _shown(ask(replace(query, **{name: usual[name]}))) == shown:
            yield f"{name}={text_of(value)} changes none of these estimates: it concerns {each.param.concerns}."


def _shown(answer: Answer) -> tuple[Any, ...]:
    """The figures of an answer."""
    names, picked = tuple(pick.name for pick in answer.picks), (pick.estimate for pick in answer.picks)
    estimates = (*answer.estimates, *answer.free, *picked, *(mine.estimate for mine in answer.owned))
    figures = tuple(replace(each, assumptions=()) for each in estimates)
    lead = answer.lead if answer.picks else None
    return answer.count, lead and lead.rank, names, figures, answer.rejections
