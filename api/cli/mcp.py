"""`costcalc mcp`: the server that an assistant starts, and what is wrong with it."""

from __future__ import annotations

from importlib.util import find_spec

import click

from api.bootstrap import build, build_once
from api.cli.failing import FAILED, stop
from api.mcp.doctor import diagnosis
from api.settings import Settings


def run(settings: Settings) -> None:
    """Answers until standard input ends. Raises CannotStart."""
    if find_spec("mcp") is None:
        stop("`costcalc mcp` needs the protocol's SDK: install it with pip install 'costcalc[mcp]'", FAILED)
    from api.mcp.server import serve

    serve(build(settings), settings)


def diagnose(settings: Settings) -> int:
    """Prints every finding; 1 if anything is wrong. Raises CannotStart."""
    found = diagnosis(build_once(settings))
    for finding in found.findings:
        told = f"{finding.state:13}  {finding.subject}: {finding.found}"
        click.echo(f"{told}. Run: {finding.remedy}" if finding.remedy else told)
    return 0 if found.well else FAILED
