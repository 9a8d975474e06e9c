"""`costcalc sweep`: one question of `/cost` for each combination of the values of some parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from api.bootstrap import FixedPrices
from api.questions.errors import BadParameters, NotFound
from api.questions.parsing import Arguments
from api.questions.schemas.trainings import SweepSchema
from api.questions.spellings import between_commas
from api.reports.left_out import nothing
from api.service import Service, query_of
from api.sweep.axes import Axis, axes
from costcalc.answers import Answer

SCHEMA = SweepSchema()
EVERY_MODEL = "all"
OUTERMOST = ("model", "as_of")  # what takes longest to work out anew changes least often


@dataclass(frozen=True, slots=True)
class Question:
    """One combination, numbered from 1: the texts of its parameters, and its answer or why it was refused."""

    number: int
    given: Arguments
    answer: Answer | None
    refused: str | None

    @property
    def message(self) -> str | None:
        """Why there is no estimate; None where there is one."""
        return self.refused if self.answer is None else None if self.answer.estimates else nothing(self.answer)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every combination of the values of `axes`, the model first; `fixed` has the other parameters."""

    axes: tuple[Axis, ...]
    fixed: tuple[Axis, ...]

    @property
    def count(self) -> int:
        """How many questions there are."""
        return prod(len(axis.texts) for axis in self.axes)

    @property
    def models(self) -> tuple[str, ...]:
        """The models, by the names that we give them."""
        return self.axes[0].texts

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters that are given."""
        return tuple(axis.name for axis in (*self.axes, *self.fixed))

    def given(self, number: int) -> dict[str, list[str]]:
        """The texts of the question of this number, from 1: the last axis changes with every one."""
        rest, texts = number - 1, {axis.name: list(axis.texts) for axis in self.fixed}
        for axis in reversed(self.axes):
            rest, place = divmod(rest, len(axis.texts))
            texts[axis.name] = [axis.texts[place]]
        return {name: texts[name] for name in self.parameters}

    def parts(self, most: int) -> Iterator[tuple[str, range]]:
        """The numbers in runs of at most `most`, each of one model, with that model."""
        each = self.count // len(self.models)
        for place, model in enumerate(self.models):
            end = (place + 1) * each + 1
            yield from ((model, range(at, min(at + most, end))) for at in range(end - each, end, most))


def sweep(service: Service, written: Iterable[str], options: Mapping[str, list[str]], now: str) -> Sweep:
    """The questions of these axes, with these options for all; those that name no date ask at `now`.

    Raises BadParameters, NotFound where a value cannot be used: before anything is asked.
    """
    swept = {axis.name: axis for axis in axes(written, SCHEMA)}
    for name in set(swept) & set(options):
        raise BadParameters({name: ["given for all questions, and swept: leave one out"]})
    models = swept["model"].texts if "model" in swept else options.get("model", ())
    swept["model"] = Axis("model", tuple(_models(service, models)))
    ordered = sorted(swept.values(), key=lambda axis: OUTERMOST.index(axis.name) if axis.name in OUTERMOST else 2)
    dated = options if "as_of" in swept else {"as_of": [now], **options}
    made = Sweep(tuple(ordered), tuple(Axis(name, tuple(texts)) for name, texts in dated.items() if name not in swept))
    _check(service, made)
    return made


def _models(service: Service, texts: Sequence[str]) -> Iterable[str]:
    if not texts:
        raise BadParameters({"model": ["missing: add model=resnet50, or model=all for every model"]})
    if list(texts) == [EVERY_MODEL]:
        return sorted(service.evidence.models)
    return dict.fromkeys(service.model(name).name for name in between_commas(*texts))


def _check(service: Service, made: Sweep) -> None:
    """Raises BadParameters where a value is wrong, whatever it is combined with."""
    catalogue, first = service.catalogue(), made.given(1)
    service.question(first, catalogue)
    for axis in made.axes:
        for text in axis.texts:
            service.question({**first, axis.name: [text]}, catalogue)


def knowing(service: Service, made: Sweep) -> Service:
    """The service on prices that know every moment of the sweep, which are read from the store once."""
    texts = [text for axis in (*made.axes, *made.fixed) if axis.name == "as_of" for text in axis.texts]
    moments = (SCHEMA.fields["as_of"].deserialize([text]) for text in texts)
    return replace(service, prices=FixedPrices(service.at(service.catalogue(), *moments)))


def questions(service: Service, made: Sweep, numbers: Iterable[int]) -> Iterator[Question]:
    """The questions of these numbers with their answers, as `/cost` gives them."""
    catalogue = service.catalogue()
    for number in numbers:
        given = made.given(number)
        try:
            query = query_of(service.parse(SCHEMA, given, catalogue)[0])
            yield Question(number, given, service.answer(query, catalogue), None)
        except (BadParameters, NotFound) as refused:
            yield Question(number, given, None, refused.detail)
