"""What the whole sentence decides once every span is read, in stages: the training, the machines, then one value of each."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

from api.questions.amounts import number
from api.questions.fields import Parameter
from api.questions.schemas.training import CostSchema
from api.questions.suggestions import either
from api.questions.words import for_what, on_what
from api.questions.words.messages import OFTEN
from api.questions.words.reading import CURRENCIES, Asked, Reading
from api.questions.words.tables import not_asked
from api.questions.words.vocabulary import Vocabulary
from costcalc.offer import BY_THE_TERM, PurchaseOption

STORED = "storage_gb="  # for a month
COMPARED = ("model", "target", "as_of", "precision", "compilation", "pipeline", "training")
"""What a sentence may have several values of to compare them."""
OF_SIDES = ("accelerator", "instance_type", "provider", "region", "purchase", "term")
LIMITS = ("max_hours", "max_cost")
ON_DEMAND, SPOT = PurchaseOption.ON_DEMAND.value, PurchaseOption.SPOT.value
WEIGHED = frozenset([SPOT, *(option.value for option in BY_THE_TERM)])


def settle(reading: Reading, words: Vocabulary) -> None:
    """Decides the training, then the machines, and finally that each single-valued parameter has one value."""
    for stage in STAGES:
        stage(reading, words)


def _bought(reading: Reading, _: Vocabulary) -> None:
    """What other clouds call reserved is committed use at Google. Whether spot is worth it is answered beside machines on demand;
    whether a commitment is, by a question of its own."""
    values, kinds = reading.values, reading.values.get("purchase", [])
    if values.get("provider") == ["gcp"]:
        at_google = {"reserved": PurchaseOption.COMMITTED_USE.value}
        kinds[:] = dict.fromkeys(at_google.get(kind, kind) for kind in kinds)
    weighed = values.pop("weighed", None)
    if weighed and kinds and {*kinds} <= WEIGHED:
        kinds[:] = [SPOT, ON_DEMAND] if kinds == [SPOT] else [ON_DEMAND]
    if weighed and len(kinds) == 2 and not reading.sides:
        reading.sides = tuple({"purchase": [kind]} for kind in kinds)


def _money(reading: Reading, _: Vocabulary) -> None:
    """Amounts are of the one currency that is written beside them."""
    codes = reading.values.pop(CURRENCIES, [])
    if codes[1:]:
        reading.ask("", f"Which currency: {either(codes)}? Write every amount in one of them", stops=True)
    elif codes and codes != ["USD"]:
        reading.put("currency", codes[0])


def _term(reading: Reading, _: Vocabulary) -> None:
    """How long somebody goes on training is no term, `every day for a year`, nor is how often, `40 runs of resnet50 a month`."""
    values, kinds = reading.values, {*reading.values.get("purchase", ())}
    if "storage_gb" in values or any(OFTEN in asked.message or STORED in asked.message for asked in reading.asked):
        terms = values.pop("term", [])
        kept = [term for term in terms if kinds - {ON_DEMAND, SPOT} and term != "1mo"]
        reading.ignored += [term for term in terms if term not in kept]
        values.update({"term": kept} if kept else {})


def _one_each(reading: Reading, _: Vocabulary) -> None:
    """Several values of a parameter that has one are none: which is meant is asked, or all are compared where nothing else is."""
    alone = {"model", "method"} if reading.other_task else {"method"}
    for name in [name for name, values in reading.values.items() if len(values) > 1 and name in _single() - alone]:
        _one(reading, name, reading.values.pop(name))


def _one(reading: Reading, name: str, values: list[str]) -> None:
    if name in LIMITS:
        reading.put(name, min(values, key=Decimal))
        reading.ask("", f"the lowest of several limits counts: {name} {either(values)}")
        return
    reading.unclear.add(name)
    is_second = name in COMPARED and bool(reading.sides)
    if name in COMPARED and not is_second:
        reading.sides = tuple({name: [value]} for value in values)
    choices = [f"{float(value) * 100:g}%" if name == "target" and number(value) else value for value in values]
    reading.asked.insert(0, Asked("", f"{which(name)} {either(choices)}?", stops=is_second))


def which(name: str) -> str:
    """How a line begins that asks which of several values of a parameter is meant."""
    return f"Which {name.replace('_', ' ')}:"


@cache
def _single() -> frozenset[str]:
    fields = CostSchema().fields.items()
    return frozenset(name for name, field in fields if isinstance(field, Parameter) and not field.listed)


def _compared(reading: Reading, _: Vocabulary) -> None:
    """What is compared differs in one condition: `spot at aws or on demand at gcp` are two questions."""
    several = [name for name in OF_SIDES if len(reading.values.get(name, ())) > 1]
    if several[1:] and len([word for word in reading.ignored if word.casefold() in on_what.COMPARES]) == 1:
        reading.ask(
            "", f"Compare {' and '.join(several)} one at a time: the answer is for all of them together", stops=True
        )


def _redundant(reading: Reading, _: Vocabulary) -> None:
    """What a parameter makes redundant: `credits` once their amount is given."""
    rows, given = not_asked(), reading.values
    reading.need_not_ask(lambda asked: asked.about.casefold() in rows and rows[asked.about.casefold()].unless in given)


STAGES = (
    for_what.contest, for_what.method, for_what.targets, for_what.data_set, _bought, _money, _term,
    on_what.sides, on_what.regions, on_what.memory, for_what.samples,
    on_what.counts, on_what.owned,
    _one_each, _compared, _redundant, on_what.hours, on_what.one_version, on_what.speed,
)  # fmt: skip
