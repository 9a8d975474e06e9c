"""`costcalc settings`: every environment variable that is read, with its value."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from api.cli.failing import settings_of_environment
from api.formats.terminal.grid import paragraph, terminal_width
from api.settings import SETTINGS, Setting, shown
from pricing import refresh
from pricing.sources import SOURCES


@click.command()
def settings() -> None:
    """List every setting with its value. Secrets are masked."""
    settings_of_environment()
    for setting in [*SETTINGS, *source_settings()]:
        click.echo(f"{setting.variable}={shown(setting, os.environ)}")
        click.echo("\n".join(paragraph(f"    {setting.meaning}", terminal_width(), 4)))


def source_settings() -> Iterator[Setting]:
    """Every variable that a refresh or a price source reads, once."""
    listed = {read.variable: Setting(read.variable, read.default, read.meaning) for read in refresh.SETTINGS}
    for spec in SOURCES.values():
        for read in spec.settings:
            meaning = f"{spec.label}: {read.meaning}"
            listed.setdefault(read.variable, Setting(read.variable, read.default, meaning, read.secret))
    yield from listed.values()
