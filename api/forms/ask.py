"""`/ask`: a question in a sentence, how it is understood, and the answer to what is understood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from shlex import join
from typing import Annotated, Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlencode

from marshmallow import Schema
from msgspec import Meta
from msgspec.structs import replace

from api.formats.blocks import Block, Say
from api.formats.terminal.grid import View, paragraph
from api.forms import cost
from api.forms.code import Code
from api.forms.cost import CostDocument, CostReport
from api.questions.errors import BadParameters, NotFound
from api.questions.schemas.layout import Access, Layout
from api.questions.schemas.training import schema
from api.questions.themes import ARGUMENTS, dashed
from api.questions.values import Values
from api.questions.words.elsewhere import elsewhere
from api.questions.words.understanding import Understanding
from api.reports.left_open import with_a_network, with_a_target, with_its_energy, with_one_of
from api.reports.rates import RatesDocument, rates_of
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


class AskParameters(Access, frozen=True, kw_only=True):
    """The sentence, whose answer comes as JSON alone."""

    # fmt: off
    q: Annotated[str, Param(
        "a question in a sentence",
        "goal", "resnet50 to 76% on aws in frankfurt, no spot", "sentence", use="everyday")]
    format: Annotated[Literal["json"] | None, Param(
        "format of the answer; overrides the Accept header",
        "layout", "json")] = None
    # fmt: on


AskSchema = schema(Schema, AskParameters)


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


class Answered(NamedTuple):
    """How a sentence is understood, where a value that no question takes is asked about; what answers it, costs or what machines
    cost an hour; and how it wants that written."""

    understanding: Understanding
    cost: CostReport | None = None
    layout: Layout = Layout()
    rates: RatesDocument | None = None

    @classmethod
    def refused(cls, meant: Understanding, refused: BadParameters | NotFound) -> Answered:
        """A sentence that states what no question takes: what is wrong with it is all that is said."""
        lines = tuple(f"{name}: {line}" for name, lines in refused.errors.items() for line in lines)
        return cls(replace(meant, asked=lines, is_question=False))


@dataclass(frozen=True)
class AskReport:
    """One sentence to one service about one snapshot."""

    service: Service
    catalogue: Catalogue
    sentence: str

    name: ClassVar[str] = "ask"
    rest: ClassVar[None] = None

    @cached_property
    def answered(self) -> Answered:
        """The answer, as far as there is one."""
        meant = self.service.understand(self.sentence, self.catalogue)
        return self._of_rates(meant) if meant.asks_rates else self._of_cost(meant)

    def _of_rates(self, meant: Understanding) -> Answered:
        try:
            meant, report = rates_of(self.service, self.catalogue, meant)
            return Answered(meant, rates=report.document())
        except BadParameters as refused:
            return Answered.refused(meant, refused)

    def _of_cost(self, meant: Understanding) -> Answered:
        try:
            if meant.lacks_only_network:
                meant = with_a_network(self.service, self.catalogue, meant)
                if meant.chosen:
                    meant = replace(meant, asked=(*elsewhere(self.sentence, meant.answered), *meant.asked))
            elif (
                meant.several and "took" not in meant.parameters and {"model"} & {*meant.parameters, *meant.several[0]}
            ):
                meant = with_one_of(self.service, self.catalogue, meant)
            if not meant.is_question:
                return Answered(meant)
            meant = self._with_own_price(meant)
            report, layout = self._report(meant)
            aimed = with_a_target(meant, report)
            if aimed is not meant:
                meant, (report, layout) = aimed, self._report(aimed)
            meant = with_its_energy(meant, report)
        except (BadParameters, NotFound) as refused:
            return Answered.refused(meant, refused)
        return Answered(meant, report, layout)

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
        given = {name: ",".join(values) for name, values in self.answered.understanding.answered.items()}
        return urlencode(given, safe=",:*")

    def document(self) -> AskDocument:
        meant, cost, _, rates = self.answered
        return AskDocument(
            sentence=self.sentence,
            understood={name: ",".join(values) for name, values in meant.parameters.items()},
            ignored=meant.ignored,
            corrected=dict(meant.corrected),
            asked=(*meant.choice, *meant.asked),
            link=rates.link if rates else f"/cost?{self.link}",
            answer=cost.document() if cost else rates,
        )


def ask_report(service: Service, catalogue: Catalogue, values: Values) -> AskReport:
    """The report that parsed parameters of `/ask` ask for."""
    return AskReport(service, catalogue, values["q"])


LONGEST_COMMAND = 300  # nobody uses one that names every cloud but one


def blocks(report: AskReport) -> Iterator[Block]:
    """How the sentence is understood, and its answer."""
    meant, answer, _, rates = report.answered
    yield Say([*meant.lines, *(rates.verdict if rates else ())])
    yield from cost.blocks(answer) if answer else ()


def terminal(report: AskReport, view: View) -> Iterator[str]:
    """The answer as lines; if the sentence is not a question, what to type."""
    meant, answer, _, rates = report.answered
    if rates:
        lines = (*meant.lines, *rates.verdict, f"Exactly: {command('offers', meant.answered)}")
        yield from (text for line in lines for text in paragraph(line, view.width, 4))
        return
    exactly = command("cost", meant.answered)
    for line in (*meant.lines, *([f"Exactly: {exactly}"] if answer and len(exactly) <= LONGEST_COMMAND else [])):
        yield from paragraph(line, view.width, 4)
    if answer:
        yield ""
        yield from cost.terminal(answer, view)


def command(name: str, parameters: Mapping[str, list[str]]) -> str:
    """The command of this name that asks these parameters."""
    options = ((f"--{dashed(name)}", ",".join(values)) for name, values in parameters.items() if name not in ARGUMENTS)
    arguments = (parameters[name][0] for name in ARGUMENTS if name in parameters)
    return join(["costcalc", name, *arguments, *(word for pair in options for word in pair)])


CODE: Code[AskReport] = Code(AskSchema, ask_report, AskDocument, blocks=blocks, terminal=terminal)
