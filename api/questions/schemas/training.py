"""The parameters of questions, as the fields of what is asked declare them, and what holds of several at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from marshmallow import Schema, ValidationError, pre_load, validates_schema
from msgspec import Struct

from api.questions.amounts import money
from api.questions.declared import fields_of
from api.questions.fields import Cost
from api.questions.schemas.layout import Access, Layout
from costcalc.parameters import Part
from costcalc.query import EstimateQuery, parameters_of

OWNED = parameters_of("owned")


class LayoutSchema(Schema):
    """Parameters that change how an answer is written, never its figures."""

    class Meta:
        """Those of every answer."""

        include = fields_of(Layout, "layout", "sheet") | fields_of(Access)


class OfferFilters(LayoutSchema):
    """Parameters that narrow the offers."""

    class Meta:
        """Those of questions about prices."""

        include = fields_of(EstimateQuery, "machine", "purchase", "date", "page", "words")


class TrainingSchema(OfferFilters):
    """The parameters of a training; those of `/cost`, and of other questions but for a few."""

    class Meta:
        """All that the engine can be asked."""

        include = fields_of(EstimateQuery)

    @pre_load
    def _signs_name_the_currency(self, given: dict[str, list[str]], **_: object) -> dict[str, list[str]]:
        """An amount with its currency is in that of the answer: it names it, or agrees with it."""
        texts = [(name, text) for name in given if isinstance(self.fields.get(name), Cost) for text in given[name]]
        codes = {name: amount.code for name, text in texts if (amount := money(text)) and amount.code}
        named = given.get("currency") or ([] if "currency" in self.fields else ["USD"])
        currency = named[0].upper() if named else next(iter(codes.values()), "USD")
        if wrong := [name for name, code in codes.items() if code != currency]:
            message = f"is in {{}} and the answer in {currency}: write both in one currency"
            raise ValidationError({name: [message.format(codes[name])] for name in wrong})
        return {**given, "currency": [currency]} if codes and not named else given

    @validates_schema
    def _own_machines_are_named(self, values: Mapping[str, object], **_: object) -> None:
        """Rejects facts about own machines when the question names none."""
        if not self._names_own_machines(values):
            message = "describes a machine that you own, but the question names none: add {}"
            raise ValidationError({name: [message.format(self.own_example)] for name in OWNED if name in values})

    own_example = "own=1xRTX4090"

    def _names_own_machines(self, values: Mapping[str, object]) -> bool:
        return "own" in values or "own" not in self.fields


class CostSchema(TrainingSchema):
    """The parameters of `/cost`, whose sheets finance departments read too."""

    class Meta:
        """A bill has columns of its own."""

        include = fields_of(Layout, "focus", "brief")

    @validates_schema
    def _focus_is_for_programs(self, values: Mapping[str, object], **_: object) -> None:
        """FOCUS prescribes decimal points and ISO dates."""
        wrong = [name for name in ("excel", "decimal") if values.get(name) not in (None, False, ".")]
        if wrong and values.get("profile") == "focus":
            message = "profile=focus has decimal points and ISO dates, as FOCUS prescribes: leave {} out"
            raise ValidationError({name: [message.format(name)] for name in wrong})


def schema(base: type[Schema], of: type[Struct], *parts: Part, without: Collection[str] = ()) -> type[Schema]:
    """The parameters of a question: those of its kind, these parts of what the engine is asked, and what its own structure
    declares, `without` some."""

    class Question(base):  # type: ignore[misc, valid-type]  # mypy takes no class that is an argument
        class Meta:
            include = {
                name: each for part in parts for name, each in fields_of(EstimateQuery, part).items()
            } | fields_of(of)
            exclude = (*without,)

    return Question
