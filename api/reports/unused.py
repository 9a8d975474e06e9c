"""What a question states that changes no estimate of its answer, in a sentence that says what it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace

from api.questions.errors import Refused
from api.questions.links import text_of
from costcalc.answers import Answer, Estimate
from costcalc.costing.rentals import discount_fraction
from costcalc.flat import flat
from costcalc.offer import BY_THE_TERM
from costcalc.query import ANY, DECLARED, DEFAULTS, EstimateQuery, usual_basis


def unused(query: EstimateQuery, ask: Callable[[EstimateQuery], Sequence[Answer]]) -> Iterator[str]:
    """A sentence for each such parameter. Those of which the answers are the same without are found by asking again."""
    usual = DEFAULTS | {"basis": usual_basis(query.purchase)}
    concerning = {name: each.param.concerns for name, each in DECLARED.items() if each.param.concerns}
    stated = [name for name in concerning if getattr(query, name) != usual[name]]
    if not stated:
        return
    answers = ask(query)
    used, shown = _plainly_used(query, answers), [*map(_shown, answers)]
    for name in stated:
        if not used.get(name) and _asked_without(replace(query, **{name: usual[name]}), ask) == shown:
            value = text_of(getattr(query, name))
            yield f"{name}={value} changes none of these estimates: it concerns {concerning[name]}."


def _plainly_used(query: EstimateQuery, answers: Sequence[Answer]) -> dict[str, bool]:
    """What the answers show to be used: nothing need be asked again."""
    first, estimates = answers[0], [*chain.from_iterable(map(_estimates, answers))]
    owned, bought = bool(first.owned), {(each.provider, each.purchase_option) for each in estimates if each.hourly_rate}
    return {
        "own_price": owned,
        "own_watts": owned,
        "electricity": owned,
        "pue": owned,
        "pick": query.pick == first.named_first and not owned,
        "took_on": query.took is not None,  # its cost of then is a sentence
        "kind": query.took is not None and query.model != ANY,  # a published run states it
        "fx": query.currency in {rate.currency for rate in query.fx},  # without it, some have no rate at all
        "discount": any(discount_fraction(query, *each) for each in bought),
        "overheads": bool(estimates),
        "utilization": any(option in BY_THE_TERM for _, option in bought),
        "storage_rate": bool(query.storage_gb and bought),
        "egress_rate": bool(query.egress_gb and bought),
    }


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
    names = tuple(pick.name for pick in answer.picks)
    figures = tuple(replace(flat(each), assumptions=()) for each in _estimates(answer))
    lead = answer.lead if answer.picks else None
    return answer.count, lead and lead.rank, names, figures, answer.rejections


def _estimates(answer: Answer) -> Iterator[Estimate]:
    """All that an answer shows."""
    yield from (*answer.estimates, *answer.free)
    yield from (pick.estimate for pick in answer.picks)
    yield from (mine.estimate for mine in answer.owned)
