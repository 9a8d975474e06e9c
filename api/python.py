"""The answers in Python: `costcalc.cost("resnet50", 0.757, provider="aws")`, with the names, messages and figures of HTTP."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from api.bootstrap import build_once
from api.formats import words
from api.formats.csv_export import columns_of
from api.formats.sheet_columns import estimate_columns, shared_columns
from api.formats.terminal.grid import PIPED_WIDTH, View
from api.forms.question import Question
from api.forms.register import QUESTIONS
from api.questions.asked import query_of
from api.questions.errors import NotFound, Refused
from api.questions.parsing import as_texts
from api.questions.schemas.training import LayoutSchema, TrainingSchema
from api.questions.suggestions import unknown
from api.reports.advice import Advice
from api.service import Service
from api.settings import read_settings
from costcalc.answers import Answer, Estimate

QUESTION = TrainingSchema(exclude=tuple(LayoutSchema().fields))
NO_PANDAS = "a.df() needs the package pandas, run: pip install pandas"


@dataclass(frozen=True)
class Session:
    """Evidence and prices, read once for any number of questions. New prices need a new session."""

    service: Service

    def cost(self, model: str = "", target: Any = None, **parameters: Any) -> CostAnswer:
        """What it costs, and how long it takes, to train `model` to `target`; the `parameters` are those of `GET /cost`.

        Those that take several values take a list too. Raises Refused with the message that HTTP answers.
        """
        given = {"model": model, "target": target, **parameters}
        arguments = {name: as_texts(value) for name, value in given.items() if value is not None}
        catalogue = self.service.catalogue()
        values, _ = self.service.parse(QUESTION, arguments, catalogue)
        return CostAnswer(Advice(self.service, catalogue, query_of(values)))

    def ask(self, q: str, **parameters: Any) -> Reply:
        """A question in a sentence: how it is understood, and its answer, as `GET /ask`."""
        return self.reply("ask", q=q, **parameters)

    def compare(self, model: str, a: str, b: str, target: Any = None, **parameters: Any) -> Reply:
        """Two machines for the same training, as `GET /compare`: `compare("resnet50", "H100", "aws:p4d.24xlarge")`."""
        return self.reply("compare", model=model, a=a, b=b, target=target, **parameters)

    def commitments(self, model: str, target: Any = None, **parameters: Any) -> Reply:
        """Above how many hours a month each commitment costs less than on demand, as `GET /commitments`."""
        return self.reply("commitments", model=model, target=target, **parameters)

    def trend(self, model: str, target: Any = None, **parameters: Any) -> Reply:
        """What a training cost at past dates, as `GET /trend`."""
        return self.reply("trend", model=model, target=target, **parameters)

    def offers(self, accelerator: Any = None, **parameters: Any) -> Reply:
        """The current rates, as `GET /offers`."""
        return self.reply("offers", accelerator=accelerator, **parameters)

    def reply(self, question: str, /, **parameters: Any) -> Reply:
        """The answer to any question by the name of its command: `reply("mlperf", model="bert-large")`.

        Raises Refused with the message that HTTP answers, or for a question that there is not.
        """
        known = {question.name: question for question in QUESTIONS if "{" not in question.path}
        if question not in known:
            raise NotFound(unknown("question", question, known, f"known are {', '.join(known)}"), "question")
        asked, catalogue = known[question], self.service.catalogue()
        arguments = {name: as_texts(value) for name, value in parameters.items() if value is not None}
        values, _ = self.service.parse(asked.asked_in_terminal, arguments, catalogue)
        return Reply(asked, asked.code.report(self.service, catalogue, values))


def session() -> Session:
    """A session on the store, or on the packaged prices where there is none; the settings are those of the environment.

    Raises StoreError where the store cannot be read, and TableError for a corrupt table.
    """
    return Session(build_once(read_settings(os.environ)))


def cost(model: str = "", target: Any = None, **parameters: Any) -> CostAnswer:
    """The answer to one question, as `Session.cost` gives it."""
    return session().cost(model, target, **parameters)


def ask(q: str, **parameters: Any) -> Reply:
    """A question in a sentence, as `Session.ask` answers it."""
    return session().ask(q, **parameters)


def compare(model: str, a: str, b: str, target: Any = None, **parameters: Any) -> Reply:
    """Two machines for the same training, as `Session.compare` answers."""
    return session().compare(model, a, b, target, **parameters)


def commitments(model: str, target: Any = None, **parameters: Any) -> Reply:
    """Commitments beside on demand, as `Session.commitments` answers."""
    return session().commitments(model, target, **parameters)


def trend(model: str, target: Any = None, **parameters: Any) -> Reply:
    """What a training cost at past dates, as `Session.trend` answers."""
    return session().trend(model, target, **parameters)


def offers(accelerator: Any = None, **parameters: Any) -> Reply:
    """The current rates, as `Session.offers` answers."""
    return session().offers(accelerator, **parameters)


@dataclass(frozen=True)
class Reply:
    """The answer to another question than the cost: `document` has the fields of the JSON answer, which the reply has too."""

    question: Question
    report: Any

    @cached_property
    def document(self) -> Any:
        return self.report.document()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.document, name)

    def df(self) -> Any:
        """The rows of a list as a table of pandas, with the columns of CSV. Raises TypeError for what is no list, and ImportError
        where pandas is not installed."""
        listed = self.question.code.table
        if listed is None or listed.row is None:
            raise TypeError(f"{self.question.name} answers no list: see document")
        rows = list(self.report.rows())
        return _frame({name: [_plain(read(row)) for row in rows] for name, read in columns_of(listed.row)})

    def __str__(self) -> str:
        """What the terminal prints."""
        return "\n".join(self.question.code.lines(self.report, View(PIPED_WIDTH)))

    __repr__ = __str__


@dataclass(frozen=True)
class Picture:
    """A picture that a notebook shows."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        Path(path).write_text(self.svg, "utf-8")


@dataclass(frozen=True)
class CostAnswer:
    """The answer to a question: as text its verdict, in a notebook a table."""

    report: Advice

    @cached_property
    def answer(self) -> Answer:
        return self.report.answer

    @property
    def verdict(self) -> tuple[str, ...]:
        """What to do, in two to five lines."""
        return self.answer.verdict

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        return self.answer.estimates

    @property
    def cheapest(self) -> Estimate | None:
        return self.pick("cheapest")

    def pick(self, name: str) -> Estimate | None:
        """The `cheapest`, `fastest`, `balanced` or `surest`; None where there is none."""
        return next((pick.estimate for pick in self.answer.picks if pick.name == name), None)

    def df(self) -> Any:
        """The estimates as a table of pandas, with the columns of CSV. Raises ImportError where pandas is not installed."""
        columns = [*estimate_columns(), *shared_columns(self.answer)]
        return _frame({name: [_plain(read(estimate)) for estimate in self.estimates] for name, read in columns})

    def plot(self) -> Picture:
        """Cost against time, of everything that one can rent now."""
        from api.formats.charts.cost_and_time import figure

        return Picture(figure(self.answer, self.report.points).svg())

    def __str__(self) -> str:
        return "\n".join(self.verdict)

    def __repr__(self) -> str:
        return f"{words.training(self.report.query)}\n{self}"

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{escape(line)}</p>" for line in self.verdict)
        rows = [_cells(each, self.answer) for each in self.answer.best or self.estimates]
        if not rows:
            return lines
        head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        return f"{lines}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


HEADINGS = ("Pick", "Machine", "Region", "Bought", "Recipe", "Hours", "Cost", "Rate seen")


def _cells(each: Estimate, answer: Answer) -> Sequence[str]:
    machine = f"{words.machine(each)}, {words.accelerators(each)}"
    paid = words.cost(each, answer.query.basis)
    terms = words.bought(each), each.recipe, words.time(each), paid, words.rate_seen(each)
    return words.names_of(each, answer), machine, each.region, *terms


def _frame(columns: dict[str, list[Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(NO_PANDAS) from None
    return pandas.DataFrame(columns)


def _plain(value: Any) -> Any:
    """Money as a float and a kind as its word, which pandas can count with."""
    if isinstance(value, Decimal):
        return float(value)
    return value.value if isinstance(value, Enum) else value


__all__ = [
    "CostAnswer", "Picture", "Refused", "Reply", "Session", "ask", "commitments", "compare", "cost", "offers", "session", "trend",
]  # fmt: skip
