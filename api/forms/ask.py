"""`/ask`: how a sentence is understood, and its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import join

from api.formats.terminal.grid import View, paragraph
from api.forms import cost
from api.forms.code import Code
from api.questions.themes import ARGUMENTS, dashed
from api.reports.ask import AskDocument, AskReport, AskSchema, ask_report

LONGEST_COMMAND = 300  # nobody uses one that names every cloud but one


def terminal(report: AskReport, view: View) -> Iterator[str]:
    """The answer as lines; if the sentence is not a question, what to type."""
    meant, answer = report.understanding, report.cost
    if rates := report.rates:
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


CODE: Code[AskReport] = Code(AskSchema, ask_report, AskDocument, terminal=terminal)
