"""`costcalc ask`: how a sentence is understood, then the answer of `costcalc cost`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import join

from api.cli.cost import cost_lines
from api.cli.grid import View, paragraph
from api.cli.options import ARGUMENTS, dashed
from api.reports.ask import AskReport

LONGEST_COMMAND = 300
"""Of one that names every cloud but one nobody makes use."""


def ask_lines(report: AskReport, view: View) -> Iterator[str]:
    """The answer as lines; where the sentence is no question, what to type."""
    meant, cost = report.understanding, report.cost
    exactly = command(meant.answered)
    for line in (*meant.lines, *([f"Exactly: {exactly}"] if cost and len(exactly) <= LONGEST_COMMAND else [])):
        yield from paragraph(line, view.width, 4)
    if cost:
        yield ""
        yield from cost_lines(cost, view)


def command(parameters: Mapping[str, list[str]]) -> str:
    """The command that asks these parameters of `/cost`."""
    options = ((f"--{dashed(name)}", ",".join(values)) for name, values in parameters.items() if name not in ARGUMENTS)
    arguments = (parameters[name][0] for name in ARGUMENTS if name in parameters)
    return join(["costcalc", "cost", *arguments, *(word for pair in options for word in pair)])
