"""`costcalc mcp`: the server that an assistant starts, and what is wrong with an installation."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from api.bootstrap import build, build_once, user_name
from api.cli.failing import FAILED, settings_of_environment, stop, stopping_on_faults
from api.mcp.doctor import diagnosis


@click.group(invoke_without_command=True)
@click.pass_context
def mcp(context: click.Context) -> None:
    """Answer an assistant over the Model Context Protocol.

    It speaks over standard input and output. The assistant starts it.
    """
    if context.invoked_subcommand is not None:
        return
    if find_spec("mcp") is None:
        stop("`costcalc mcp` needs the protocol's SDK: install it with pip install 'costcalc[mcp]'", FAILED)
    from api.mcp.server import serve

    settings = settings_of_environment()
    with stopping_on_faults():
        serve(build(settings).changed(user=user_name()), settings)


@mcp.command("doctor")
def diagnose() -> None:
    """Check this installation, and say how to mend it. Exit status 1: something is wrong."""
    with stopping_on_faults():
        state = diagnosis(build_once(settings_of_environment()))
    for finding in state.findings:
        line = f"{finding.state:13}  {finding.subject}: {finding.found}"
        click.echo(f"{line}. Run: {finding.remedy}" if finding.remedy else line)
    sys.exit(0 if state.well else FAILED)
