"""`costcalc prices refresh`, `try`, `sources` and `status`: the price sources are asked, listed and judged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from api.bootstrap import build_once, utc_now
from api.cli.completion import completer
from api.cli.failing import FAILED, settings_of_environment, stop, stopping_on_faults
from api.cli.prices.common import FOLDER, MOST_LISTED, filled_store, in_quarantine, moment_in_words, the_store
from api.formats.column import Column
from api.formats.csv_export import columns_of, document
from api.formats.tables import number
from api.formats.terminal.grid import echo_table, paragraph, terminal_width
from api.questions.schemas.layout import Layout
from api.questions.suggestions import many
from api.reports.prices.rates import RateRow
from costcalc.catalogue.freshness import current_stock
from costcalc.fields import filled
from costcalc.units import SECONDS_PER_HOUR, in_words
from pricing import refresh as refreshing
from pricing.recording import Recording
from pricing.sources import SOURCES
from pricing.store.publish import SourceResult
from pricing.store.store import Store

NOT_CONFIGURED = "not configured"


@click.command()
@click.argument("sources", nargs=-1, shell_complete=completer("sources"))
@stopping_on_faults()
def refresh(sources: tuple[str, ...]) -> None:
    """Fetch live rates from SOURCES (default: all) into the store. Exit status 1: some failed, the others are published."""
    specs = refreshing.chosen(sources)
    report = _watched(sources, len(specs), filled_store())
    echo_table(RESULTS, report.results)
    _say((result.name, _outcome(result)) for result in report.results)
    published = report.published
    _say((f"{name}: ended, no longer listed", "; ".join(gone)) for name, gone in report.ended)
    counted = (
        many(published.new, "new rate"),
        f"{published.seen_again} seen again unchanged",
        f"{len(published.ended)} ended",
    )
    click.echo(f"snapshot {published.snapshot}: {', '.join(counted)}")
    sys.exit(report.exit_code)


def _watched(names: tuple[str, ...], total: int, store: Store) -> refreshing.RefreshReport:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True, markup=False, emoji=False)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("asking the price sources", total=total)

        def watch(result: SourceResult) -> None:
            progress.update(task, advance=1)
            if not result.missing:
                outcome = result.error or many(len(result.offers), "offer")
                console.print(f"{result.name}: {outcome} ({result.seconds:.1f} s)", soft_wrap=True)

        return refreshing.refresh(names, store, os.environ, utc_now(), watch)


def _outcome(result: SourceResult) -> str:
    if result.missing:
        return f"not asked, {NOT_CONFIGURED}: {result.missing}"
    return "; ".join([result.error] if result.error else [*(gap.reason for gap in result.gaps), *result.notes])


@click.command("try")
@click.argument("source", shell_complete=completer("sources"))
@click.option(
    "--save",
    type=FOLDER,
    metavar="FOLDER",
    help="Keep what the provider answered in FOLDER as a recording for the tests; secrets are cut out.",
)
@stopping_on_faults()
def try_source(source: str, save: Path | None) -> None:
    """Run one SOURCE and print what it would store.

    It also says how long that took and how fresh the rates are. Nothing is stored.
    """
    recording = refreshing.recording_of(source, os.environ)
    result = refreshing.try_source(source, os.environ, utc_now(), recording if save else None)
    if save:
        _save(recording, save, source)
    if result.error:
        stop(f"{result.name}: {result.error} ({result.seconds:.1f} s)", FAILED)
    rows = (filled(RateRow, offer.machine, offer) for offer in result.offers)
    click.echo(document(columns_of(RateRow), rows, Layout()), nl=False)
    seen = [offer.observed_at for offer in result.offers]
    click.echo(
        f"{result.name}: {many(len(result.offers), 'offer')} in {result.seconds:.1f} s, "
        f"observed {moment_in_words(min(seen, default=None))} to {moment_in_words(max(seen, default=None))}; nothing was stored",
        err=True,
    )
    for line in (*(gap.reason for gap in result.gaps), *result.notes):
        click.echo(f"{result.name}: {line}", err=True)
    if result.faults:
        sys.exit(FAILED)


def _save(recording: Recording, folder: Path, name: str) -> None:
    if not len(recording):
        click.echo(f"{name}: nothing to keep: no answer came over the network, or none was read completely", err=True)
        return
    origin = f"Answers to costcalc prices try {name} on {utc_now():%Y-%m-%d}; its secrets are cut out."
    click.echo(
        f"{name}: {many(len(recording), 'answer')} kept in {recording.save(folder, origin)}; read them first", err=True
    )


@click.command("sources")
@click.argument("source", required=False, shell_complete=completer("sources"))
@stopping_on_faults()
def describe(source: str | None) -> None:
    """List the price sources, or describe one SOURCE.

    The list says what each needs and what it cannot see; the description of one has its settings too.
    """
    if not source:
        for spec in SOURCES.values():
            click.echo(f"{spec.name}: {spec.label}")
            _say((("  rates", spec.rates), ("  needs", spec.needs), ("  cannot see", spec.cannot_see)))
        return
    [spec] = refreshing.chosen([source])
    click.echo(f"{spec.name}: {spec.label}\n\n{SOURCES.notes(source)}\n")
    click.echo(f"rates: {spec.rates}\nneeds: {spec.needs}\ncannot see: {spec.cannot_see}")
    most = spec.bounds
    click.echo(f"bounds: {most.document_mib} MiB an answer, {most.memory_mib} MiB of memory, {most.offers:,} offers\n")
    for setting in spec.settings:
        default = f" [{setting.default}]" if setting.default else ""
        click.echo(f"{setting.variable}: {setting.meaning}{default}")


@click.command()
@stopping_on_faults()
def status() -> None:
    """Show the last result of each source, and what is in quarantine."""
    store, service = the_store(), build_once(settings_of_environment())
    stock = current_stock(service.catalogue(), utc_now())
    age, within = stock.freshness.median_age_days or 0, stock.freshness.share_within_30_days or 0
    held = f"{stock.rates:,} current rates of {stock.providers} providers, {stock.first_hand:.0%} first hand"
    click.echo(f"{held}; {age:.0f} days old in the median, {within:.1%} seen within 30 days\n")
    states, odd = refreshing.status(store), refreshing.quarantined(store)
    echo_table(_states_at(utc_now()), states)
    _say((state.name, state.error or _unconfigured(state.name)) for state in states)
    for source, rates in odd.items():
        for rate in rates[:MOST_LISTED]:
            click.echo(in_quarantine(rate))
        click.echo(f"{source}: {len(rates)} in quarantine; costcalc prices release {source} lets them pass")


def _states_at(now: datetime) -> tuple[Column, ...]:
    return (
        Column("source", lambda state: state.name),
        Column("last success", lambda state: moment_in_words(state.succeeded_at), is_number=True),
        Column("age of\nnewest rate", lambda state: _age(state.observed_at, now), is_number=True),
        Column("rows", lambda state: number(state.offers, ","), is_number=True),
        Column("seconds", lambda state: number(state.seconds, ".1f"), is_number=True, leave=1),
    )


def _age(moment: datetime | None, now: datetime) -> str:
    return in_words((now - moment).total_seconds() / SECONDS_PER_HOUR) if moment else ""


def _unconfigured(name: str) -> str | None:
    missing = SOURCES[name].missing(os.environ) if name in SOURCES else None
    return missing and f"{NOT_CONFIGURED}: {missing}"


def _say(lines: Iterable[tuple[str, str | None]]) -> None:
    """A paragraph for each name that has a text."""
    for name, text in lines:
        for line in paragraph(f"{name}: {text}", terminal_width(), 4) if text else ():
            click.echo(line)


RESULTS: tuple[Column, ...] = (
    Column("source", lambda result: result.name),
    Column("offers", lambda result: "" if result.missing else f"{len(result.offers):,}", is_number=True),
    Column("seconds", lambda result: "" if result.missing else f"{result.seconds:.1f}", is_number=True, leave=1),
)
