"""`/ask`: a question in a sentence, how it is understood, and the answer to what is understood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlencode

from marshmallow import Schema
from msgspec import Meta, Struct
from msgspec.structs import replace

from api.questions.declared import fields_of
from api.questions.errors import BadParameters, NotFound
from api.questions.schemas.layout import Access, Layout
from api.questions.values import Values
from api.questions.words.elsewhere import elsewhere
from api.questions.words.understanding import Understanding
from api.reports.cost import CostDocument, CostReport
from api.reports.named import with_a_target, with_its_energy, with_its_month, with_one_of
from api.reports.rates import RatesDocument, rates_of
from api.reports.unnamed import with_a_network
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.parameters import Param
from costcalc.query import EstimateQuery

PAID_FOR = "Your machine counts as paid for; own_price= says what it cost."


EITHER = Meta(
    extra_json_schema={
        "anyOf": [
            *({"$ref": f"#/components/schemas/{each.__name__}"} for each in (CostDocument, RatesDocument)),
            {"type": "null"},
        ]
    }
)
"""What a sentence is answered with: msgspec describes no union of two documents."""


class AskParameters(Struct):
    """The sentence."""

    # fmt: off
    q: Annotated[str, Param(
        "a question in a sentence",
        "goal", "resnet50 to 76% on aws in frankfurt, no spot", "sentence", use="everyday")]
    format: Annotated[Literal["json"] | None, Param(
        "format of the answer; overrides the Accept header",
        "layout", "json")] = None
    # fmt: on


class AskSchema(Schema):
    """The parameters of `/ask`."""

    class Meta:
        """An answer to a sentence comes as JSON alone."""

        include = fields_of(Access) | fields_of(AskParameters)


@dataclass(frozen=True, slots=True)
class AskDocument:
    """The JSON answer. `understood` are the parameters of `/cost`, several values with commas between them; `ignored` are words
    without a meaning of their own; `corrected` has misspelt words with those they were read as. `asked` names everything else
    that was written, or is missing, with what to type instead, which the answer leaves out; where no network is named, it says
    which one is answered. `link` asks exactly what is answered. `answer` is that of `/cost`, or the rates
    of machines where these are asked for; null where there is none."""

    sentence: str
    understood: dict[str, str]
    ignored: tuple[str, ...]
    corrected: dict[str, str]
    asked: tuple[str, ...]
    link: str
    answer: Annotated[Any, EITHER]


@dataclass(frozen=True)
class AskReport:
    """One sentence to one service about one snapshot."""

    service: Service
    catalogue: Catalogue
    sentence: str

    name: ClassVar[str] = "ask"
    rest: ClassVar[None] = None

    @cached_property
    def understanding(self) -> Understanding:
        """How the sentence is understood; a value that no question takes is asked about."""
        return self._checked[0]

    @property
    def cost(self) -> CostReport | None:
        return self._checked[1]

    @property
    def layout(self) -> Layout:
        """How the sentence wants its answer written."""
        return self._checked[2]

    @property
    def rates(self) -> RatesDocument | None:
        """What machines cost an hour, where the sentence asks for that."""
        return self._rates[1]

    @cached_property
    def _rates(self) -> tuple[Understanding, RatesDocument | None]:
        meant = self.service.understand(self.sentence, self.catalogue)
        if not meant.asks_rates:
            return meant, None
        try:
            meant, report = rates_of(self.service, self.catalogue, meant)
            return meant, report.document()
        except BadParameters as refused:
            return _refused(meant, refused), None

    @cached_property
    def _checked(self) -> tuple[Understanding, CostReport | None, Layout]:
        meant, _ = self._rates
        return (meant, None, Layout()) if meant.asks_rates else self._answered(meant)

    def _answered(self, meant: Understanding) -> tuple[Understanding, CostReport | None, Layout]:
        try:
            if meant.lacks_only_network:
                named = with_a_network(self.service, self.catalogue, meant)
                meant = (
                    replace(named, asked=(*elsewhere(self.sentence, named.answered), *named.asked))
                    if named.chosen
                    else named
                )
            elif (
                meant.several and "took" not in meant.parameters and {"model"} & {*meant.parameters, *meant.several[0]}
            ):
                meant = with_one_of(self.service, self.catalogue, meant)
            if not meant.is_question:
                return meant, None, Layout()
            meant = self._with_own_price(meant)
            report, layout = self._report(meant)
            aimed = with_a_target(meant, report)
            if aimed is not meant:
                meant, (report, layout) = aimed, self._report(aimed)
            meant = with_its_month(with_its_energy(meant, report), report)
        except (BadParameters, NotFound) as refused:
            return _refused(meant, refused), None, Layout()
        return meant, report, layout

    def _with_own_price(self, meant: Understanding) -> Understanding:
        """A user's own machine that nobody knows a price of counts as paid for, as it does where money is limited."""
        if self._has_its_price(self.service.question(meant.answered, self.catalogue)[0]):
            return meant
        paid = replace(meant, chosen={**meant.chosen, "own_price": ["0"]}, choice=(*meant.choice, PAID_FOR))
        self.service.own_offers(self.service.question(paid.answered, self.catalogue)[0])
        return paid

    def _has_its_price(self, query: EstimateQuery) -> bool:
        """Whether the price of a user's own machine is known, and no limit of money would count it."""
        if query.own and query.max_cost is not None and query.own_price is None:
            return False
        try:
            self.service.own_offers(query)
        except BadParameters:
            return False
        return True

    def _report(self, meant: Understanding) -> tuple[CostReport, Layout]:
        query, layout = self.service.question(meant.answered, self.catalogue)
        return CostReport(self.service, self.catalogue, query), layout

    @property
    def link(self) -> str:
        """The parameters that ask exactly what is answered, as a query string."""
        given = {name: ",".join(values) for name, values in self.understanding.answered.items()}
        return urlencode(given, safe=",:*")

    def document(self) -> AskDocument:
        meant = self.understanding
        return AskDocument(
            sentence=self.sentence,
            understood={name: ",".join(values) for name, values in meant.parameters.items()},
            ignored=meant.ignored,
            corrected=dict(meant.corrected),
            asked=(*meant.choice, *meant.asked),
            link=self.rates.link if self.rates else f"/cost?{self.link}",
            answer=self.cost.document() if self.cost else self.rates,
        )


def _refused(meant: Understanding, refused: BadParameters | NotFound) -> Understanding:
    """A sentence that states what no question takes: what is wrong with it is all that is said."""
    lines = tuple(f"{name}: {line}" for name, lines in refused.errors.items() for line in lines)
    return replace(meant, asked=lines, is_question=False)


def ask_report(service: Service, catalogue: Catalogue, values: Values) -> AskReport:
    """The report that parsed parameters of `/ask` ask for."""
    return AskReport(service, catalogue, values["q"])
