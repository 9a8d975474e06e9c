"""The commands about live prices: refresh, try and status, and the settings that the sources read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from api.bootstrap import utc_now
from api.formats.csv_export import columns_of, document
from api.questions.schemas import Layout
from api.reports.offers import OfferRow, offer_row
from api.settings import Setting, Settings
from pricing import refresh as refreshing
from pricing.sources import SOURCES
from pricing.store.connection import StoreError
from pricing.store.store import SourceState, Store

FINE, FAILED, WRONG_USE = 0, 1, 2
NOT_CONFIGURED = "not configured"
SHORTEST_LINE = 160  # a log that nobody watches is not folded at 80 signs


def source_settings() -> Iterator[Setting]:
    """Every variable that a refresh or a price source reads, once."""
    listed = {each.variable: Setting(each.variable, each.default, each.meaning) for each in refreshing.SETTINGS}
    for spec in SOURCES.values():
        for each in spec.settings:
            meaning = f"{spec.label}: {each.meaning}"
            listed.setdefault(each.variable, Setting(each.variable, each.default, meaning, each.secret))
    yield from listed.values()


def refresh(settings: Settings, names: tuple[str, ...]) -> int:
    """Pulls these sources, or all, into the store, and says how each fared. Returns the exit status."""
    try:
        specs = refreshing.chosen(names)
        store = Store(settings.database_url)
        store.fill(utc_now())
        report = _watched(names, len(specs), store)
    except refreshing.UnknownSource as error:
        return _failed(error, WRONG_USE)
    except StoreError as error:
        return _failed(error, FAILED)
    _console().print(_results(report.results))
    published = report.published
    click.echo(f"snapshot {published.snapshot}: {published.new} new rates, {published.seen_again} seen again unchanged")
    return report.exit_code


def _watched(names: tuple[str, ...], total: int, store: Store) -> refreshing.RefreshReport:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True, markup=False, emoji=False)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("asking the price sources", total=total)

        def watch(result: refreshing.SourceResult) -> None:
            progress.update(task, advance=1)
            if not result.missing:
                told = result.error or f"{len(result.offers)} offers"
                console.print(f"{result.name}: {told} ({result.seconds:.1f} s)", soft_wrap=True)

        return refreshing.refresh(names, store, os.environ, utc_now(), watch)


def _results(results: Iterable[refreshing.SourceResult]) -> Table:
    table = Table("source", "offers", "seconds", "failed, or could not see", box=None, padding=(0, 2))
    for result in results:
        if result.missing:
            table.add_row(result.name, "", "", f"not asked, {NOT_CONFIGURED}: {result.missing}")
            continue
        silent = [result.error] if result.error else [gap.reason for gap in result.gaps]
        table.add_row(result.name, str(len(result.offers)), f"{result.seconds:.1f}", "; ".join(filter(None, silent)))
    return table


def try_source(name: str) -> int:
    """Runs one source; its offers go to standard output as CSV, how it fared to standard error. Stores nothing."""
    try:
        result = refreshing.try_source(name, os.environ, utc_now())
    except refreshing.UnknownSource as error:
        return _failed(error, WRONG_USE)
    if result.error:
        return _failed(f"{result.name}: {result.error} ({result.seconds:.1f} s)", FAILED)
    click.echo(document(columns_of(OfferRow), map(offer_row, result.offers), Layout()), nl=False)
    seen = [offer.observed_at for offer in result.offers]
    click.echo(
        f"{result.name}: {len(result.offers)} offers in {result.seconds:.1f} s, "
        f"observed {_moment(min(seen, default=None))} to {_moment(max(seen, default=None))}; nothing was stored",
        err=True,
    )
    for gap in result.gaps:
        click.echo(f"{gap.source}: {gap.reason}", err=True)
    return FAILED if result.faults else FINE


def describe_all() -> int:
    """Every source in a table: what it lists, what it needs and what it cannot see."""
    table = Table(box=None, padding=(0, 2))
    for header in ("source", "rates", "needs", "cannot see"):
        table.add_column(header, overflow="fold")
    for spec in SOURCES.values():
        table.add_row(spec.name, spec.rates, spec.needs, spec.cannot_see)
    _console().print(table)
    return FINE


def describe(name: str) -> int:
    """One source: its description, its settings and how its rates come about."""
    try:
        [spec] = refreshing.chosen([name])
    except refreshing.UnknownSource as error:
        return _failed(error, WRONG_USE)
    click.echo(f"{spec.name}: {spec.label}\n\n{SOURCES.notes(name)}\n")
    click.echo(f"rates: {spec.rates}\nneeds: {spec.needs}\ncannot see: {spec.cannot_see}\n")
    for setting in spec.settings:
        default = f" [{setting.default}]" if setting.default else ""
        click.echo(f"{setting.variable}: {setting.meaning}{default}")
    return FINE


def status(settings: Settings) -> int:
    """How each source last fared."""
    try:
        states = refreshing.status(Store(settings.database_url))
    except StoreError as error:
        return _failed(error, FAILED)
    table = Table("source", "last success", "age", "rows", "seconds", "last error", box=None, padding=(0, 2))
    for state in states:
        table.add_row(*_state(state, utc_now()))
    _console().print(table)
    return FINE


def _state(state: SourceState, now: datetime) -> tuple[str, ...]:
    return (
        state.name,
        _moment(state.succeeded_at),
        f"{(now - state.succeeded_at).total_seconds() / 3600:.1f} h" if state.succeeded_at else "",
        "" if state.offers is None else str(state.offers),
        "" if state.seconds is None else f"{state.seconds:.1f}",
        state.error or _unconfigured(state.name) or "",
    )


def _unconfigured(name: str) -> str | None:
    missing = SOURCES[name].missing(os.environ) if name in SOURCES else None
    return missing and f"{NOT_CONFIGURED}: {missing}"


def _moment(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "never"


def _console() -> Console:
    console = Console(markup=False, highlight=False, emoji=False)
    return console if console.is_terminal else Console(width=SHORTEST_LINE, markup=False, highlight=False, emoji=False)


def _failed(error: object, exit_status: int) -> int:
    click.echo(f"costcalc: {error}", err=True)
    return exit_status
