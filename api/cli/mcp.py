"""`costcalc mcp`: the server that an assistant starts, how its clients are told of it, and what is wrong."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from api.bootstrap import build, build_once
from api.cli.failing import FAILED, stop
from api.mcp.clients import CLIENTS, configuration
from api.mcp.doctor import Finding, diagnosis
from api.questions.errors import BadParameters
from api.questions.suggestions import unknown
from api.settings import SETTINGS, Settings


def run(settings: Settings) -> None:
    """Answers until standard input ends. Raises CannotStart."""
    if find_spec("mcp") is None:
        stop("`costcalc mcp` needs the protocol's SDK: install it with pip install 'costcalc[mcp]'", FAILED)
    from api.mcp.server import serve

    serve(build(settings), settings)


def configurations(client: str | None) -> str:
    """What tells a client of the server, or all of them. Raises BadParameters for a client that is not known."""
    if client is not None and client not in CLIENTS:
        raise BadParameters({"client": [unknown("client", client, CLIENTS, f"known are {', '.join(CLIENTS)}")]})
    command = [str(Path(sys.argv[0]).resolve()), "mcp"]
    told = [configuration(name, command) for name in ([client] if client else CLIENTS)]
    given = [one.variable for one in SETTINGS if one.variable in os.environ]
    if given:
        told.append(f"# The client does not know your environment: give it {', '.join(given)} in the same place.")
    return "\n\n".join(told)


def diagnose(settings: Settings) -> int:
    """Prints every finding; 1 if anything is wrong. Raises CannotStart."""
    found = diagnosis(build_once(settings))
    for finding in found.findings:
        click.echo(_line(finding))
    return 0 if found.well else FAILED


def _line(finding: Finding) -> str:
    told = f"{finding.state:13}  {finding.subject}: {finding.found}"
    return f"{told}. Run: {finding.remedy}" if finding.remedy else told
