"""What `costcalc prices` does: asks the price sources, says how they fare, corrects what they said, and keeps the store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from api.bootstrap import build_once, utc_now
from api.cli.failing import FAILED, stop
from api.cli.grid import Column, paragraph, table, terminal_width
from api.cli.log import this_user
from api.formats.csv_export import columns_of, document
from api.questions.schemas.layout import Layout
from api.questions.schemas.lists import ReleaseSchema, WithdrawSchema
from api.questions.suggestions import many
from api.reports.prices.offers import RateRow, offer_filter, rate_row
from api.settings import Setting, Settings
from costcalc.assumptions import in_words
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.freshness import Stock, current_stock
from costcalc.offers import Offer
from costcalc.units import SECONDS_PER_HOUR
from pricing import editions
from pricing import export as exporting
from pricing import refresh as refreshing
from pricing.packaged.tables import PackagedTableError
from pricing.recording import Recording
from pricing.sources import NOT_PUBLIC, SOURCES
from pricing.store import backups
from pricing.store.connection import StoreError
from pricing.store.quarantine import Quarantined
from pricing.store.store import Store

SHOWN = 20  # offers that a question names
NOT_CONFIGURED = "not configured"


def source_settings() -> Iterator[Setting]:
    """Every variable that a refresh or a price source reads, once."""
    listed = {each.variable: Setting(each.variable, each.default, each.meaning) for each in refreshing.SETTINGS}
    for spec in SOURCES.values():
        for each in spec.settings:
            meaning = f"{spec.label}: {each.meaning}"
            listed.setdefault(each.variable, Setting(each.variable, each.default, meaning, each.secret))
    yield from listed.values()


@contextmanager
def _faults_told() -> Iterator[None]:
    """Ends the command with a message where no source has a name, or where the store or the packaged prices cannot be used."""
    try:
        yield
    except refreshing.UnknownSource as error:
        stop(error)
    except (StoreError, PackagedTableError) as error:
        stop(error, FAILED)


@_faults_told()
def refresh(settings: Settings, names: tuple[str, ...]) -> int:
    """Pulls these sources, or all, into the store, and says how each fared. Returns the exit status."""
    specs = refreshing.chosen(names)
    store = Store(settings.database_url)
    store.fill(utc_now())
    report = _watched(names, len(specs), store)
    _print(RESULTS, report.results)
    _say((result.name, _told(result)) for result in report.results)
    published = report.published
    _say((f"{name}: ended, no longer listed", "; ".join(gone)) for name, gone in report.ended)
    counted = (
        many(published.new, "new rate"),
        f"{published.seen_again} seen again unchanged",
        f"{len(published.ended)} ended",
    )
    click.echo(f"snapshot {published.snapshot}: {', '.join(counted)}")
    return report.exit_code


def _watched(names: tuple[str, ...], total: int, store: Store) -> refreshing.RefreshReport:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True, markup=False, emoji=False)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("asking the price sources", total=total)

        def watch(result: refreshing.SourceResult) -> None:
            progress.update(task, advance=1)
            if not result.missing:
                told = result.error or many(len(result.offers), "offer")
                console.print(f"{result.name}: {told} ({result.seconds:.1f} s)", soft_wrap=True)

        return refreshing.refresh(names, store, os.environ, utc_now(), watch)


def _told(result: refreshing.SourceResult) -> str:
    if result.missing:
        return f"not asked, {NOT_CONFIGURED}: {result.missing}"
    return "; ".join(filter(None, [result.error] if result.error else [gap.reason for gap in result.gaps]))


@_faults_told()
def try_source(name: str, folder: Path | None) -> None:
    """Runs one source; its offers go to standard output as CSV, how it fared to standard error. Stores nothing.

    What the provider answered goes to `folder` as a recording, if there is one.
    """
    recording = refreshing.recording_of(name, os.environ)
    result = refreshing.try_source(name, os.environ, utc_now(), recording if folder else None)
    if folder:
        _save(recording, folder, name)
    if result.error:
        stop(f"{result.name}: {result.error} ({result.seconds:.1f} s)", FAILED)
    click.echo(document(columns_of(RateRow), map(rate_row, result.offers), Layout()), nl=False)
    seen = [offer.observed_at for offer in result.offers]
    click.echo(
        f"{result.name}: {many(len(result.offers), 'offer')} in {result.seconds:.1f} s, "
        f"observed {_moment(min(seen, default=None))} to {_moment(max(seen, default=None))}; nothing was stored",
        err=True,
    )
    for gap in result.gaps:
        click.echo(f"{gap.source}: {gap.reason}", err=True)
    if result.faults:
        sys.exit(FAILED)


def _save(recording: Recording, folder: Path, name: str) -> None:
    if not len(recording):
        click.echo(f"{name}: nothing to keep: no answer came over the network, or none that was read whole", err=True)
        return
    origin = f"Answers to costcalc prices try {name} on {utc_now():%Y-%m-%d}; its secrets are cut out."
    click.echo(
        f"{name}: {many(len(recording), 'answer')} kept in {recording.save(folder, origin)}; read them first", err=True
    )


def describe_all() -> None:
    """Every source: what it lists, what it needs and what it cannot see."""
    for spec in SOURCES.values():
        click.echo(f"{spec.name}: {spec.label}")
        _say((("  rates", spec.rates), ("  needs", spec.needs), ("  cannot see", spec.cannot_see)))


@_faults_told()
def describe(name: str) -> None:
    """One source: its description, its settings and how its rates come about."""
    [spec] = refreshing.chosen([name])
    click.echo(f"{spec.name}: {spec.label}\n\n{SOURCES.notes(name)}\n")
    click.echo(f"rates: {spec.rates}\nneeds: {spec.needs}\ncannot see: {spec.cannot_see}")
    most = spec.bounds
    click.echo(f"bounds: {most.document_mib} MiB an answer, {most.memory_mib} MiB of memory, {most.offers:,} offers\n")
    for setting in spec.settings:
        default = f" [{setting.default}]" if setting.default else ""
        click.echo(f"{setting.variable}: {setting.meaning}{default}")


@_faults_told()
def status(settings: Settings) -> None:
    """The current rates, how each source last fared, and the rates in quarantine."""
    store, service = Store(settings.database_url), build_once(settings)
    click.echo(_in_stock(current_stock(service.catalogue(), utc_now())) + "\n")
    states, odd = refreshing.status(store), refreshing.quarantined(store)
    _print(_states_at(utc_now()), states)
    _say((state.name, state.error or _unconfigured(state.name)) for state in states)
    for source, rates in odd.items():
        for each in rates[:SHOWN]:
            click.echo(_in_quarantine(each))
        click.echo(f"{source}: {len(rates)} in quarantine; costcalc prices release {source} lets them pass")


@_faults_told()
def export(settings: Settings, folder: Path) -> None:
    """Writes what the store knows as the next packaged edition, and says how it differs from the present one."""
    store = Store(settings.database_url)
    store.fill(utc_now())
    try:
        for line in exporting.export(store.all_offers(NOT_PUBLIC), folder, utc_now()):
            click.echo(line)
    except OSError as error:
        stop(error, FAILED)


@_faults_told()
def publish(settings: Settings, folder: Path) -> None:
    """Writes an edition of what may be passed on, as the latest and as that of the day."""
    store, now = Store(settings.database_url), utc_now().replace(microsecond=0)
    store.fill(now)
    content = editions.make(store.load_without(NOT_PUBLIC), now, settings.edition_key)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("latest", f"{now:%Y-%m-%d}"):
            (folder / name).write_bytes(content)
    except OSError as error:
        stop(error, FAILED)
    key = settings.edition_key
    signed = f"signed; to trust it, set COSTCALC_EDITION_TRUSTED={editions.public_key(key)}" if key else "not signed"
    click.echo(f"{folder / 'latest'}: {len(content) / 1000:,.0f} kB, {signed}")


@_faults_told()
def backup(settings: Settings, file: Path) -> None:
    """Copies the store into a new file."""
    backups.backup(settings.database_url, file)
    click.echo(f"{file} is a whole copy of the store")


@_faults_told()
def restore(settings: Settings, file: Path) -> None:
    """Puts a copy in the place of the store, and says where the former one lies."""
    aside = backups.restore(settings.database_url, file, utc_now())
    snapshot = Store(settings.database_url).current_snapshot_id()
    prices = f"snapshot {snapshot}" if snapshot else "in which no refresh has stored prices"
    click.echo(f"the store is {file} again, {prices}")
    if aside:
        click.echo(f"the former store is kept as {aside}")


@_faults_told()
def rebuild(settings: Settings) -> None:
    """Begins a new store where the present one is damaged or gone, and says what is lost."""
    done = backups.rebuild(settings.database_url, utc_now())
    if done.path:
        click.echo(f"the damaged store is kept as {done.path}")
    click.echo(f"lost: {done.lost}")
    own = "cannot be read, and are lost too" if done.own_runs is None else f"are taken over: {done.own_runs}"
    click.echo(f"your own measurements {own}")
    click.echo("the new store has the packaged prices: costcalc prices refresh adds today's")


@_faults_told()
def withdraw(settings: Settings, source: str, filters: dict[str, list[str]], sure: bool) -> None:
    """Takes the rates of a source that pass the filters back, once a person agrees. Raises Refused, CannotStart."""
    name, store = refreshing.withdrawable(source), Store(settings.database_url)
    store.fill(utc_now())
    offers = store.standing_offers(name)
    catalogue = Catalogue.from_offers(offers, name)
    values, _ = build_once(settings).parse(WithdrawSchema(), filters, catalogue)
    rows = catalogue.passing_rows(np.arange(len(offers)), offer_filter(values))
    wrong = [catalogue.offer(row) for row in rows.tolist()]
    if not wrong:
        stop(f"{name} has no current rate that matches these filters: nothing to withdraw", FAILED)
    _say_which(name, wrong)
    _agreed("Withdraw", len(wrong), sure)
    published = store.withdraw(name, frozenset(offer.key for offer in wrong), this_user())
    click.echo(f"snapshot {published.snapshot}: {len(published.ended)} withdrawn")


@_faults_told()
def release(settings: Settings, source: str, filters: dict[str, list[str]], sure: bool) -> None:
    """Lets odd rates of a source that pass the filters pass the checks, once a person agrees. Raises Refused, CannotStart."""
    [spec], store = refreshing.chosen([source]), Store(settings.database_url)
    service = build_once(settings)
    values, _ = service.parse(ReleaseSchema(), filters, service.catalogue())
    odd = [each for each in refreshing.quarantined(store).get(spec.name, []) if _passes(each, values)]
    if not odd:
        stop(f"{spec.name} has no rate in quarantine that matches these filters: nothing to release", FAILED)
    for each in odd:
        click.echo(_in_quarantine(each))
    _agreed("Release", len(odd), sure)
    store.release(odd, this_user())
    click.echo(f"{len(odd)} released: costcalc prices refresh {spec.name} stores what is still listed")


def _agreed(what: str, count: int, sure: bool) -> None:
    """Asks whether to do this to so many rates, unless that is sure. Ends the command where the answer is no."""
    if not sure:
        click.confirm(f"{what} {'this rate' if count == 1 else f'these {count} rates'}?", abort=True)


def _passes(odd: Quarantined, filters: Mapping[str, Sequence[str]]) -> bool:
    key = odd.key | {"purchase": odd.key["purchase_option"]}
    return all(key[name].casefold() in {each.casefold() for each in wanted} for name, wanted in filters.items())


def _in_quarantine(odd: Quarantined) -> str:
    return f"{odd.origin}: left out since {_moment(odd.since)}: {odd.reason}"


def _say_which(name: str, offers: Sequence[Offer]) -> None:
    """The offers that shall go, with their rates; the first of many."""
    for offer in offers[:SHOWN]:
        terms = " ".join(filter(None, (offer.purchase_option, offer.term, offer.payment))).replace("_", " ")
        rate = f"{offer.currency} {offer.hourly_rate:.4f} an hour"
        click.echo(f"{name}: {offer.provider} {offer.instance_type} in {offer.region}, {terms}, {rate}")
    if len(offers) > SHOWN:
        click.echo(f"and {len(offers) - SHOWN} more")


def _states_at(now: datetime) -> tuple[Column, ...]:
    return (
        Column("source", lambda state: state.name),
        Column("last success", lambda state: _moment(state.succeeded_at), figures=True),
        Column("age of\nnewest rate", lambda state: _age(state.observed_at, now), figures=True),
        Column("rows", lambda state: "" if state.offers is None else f"{state.offers:,}", figures=True),
        Column("seconds", lambda state: "" if state.seconds is None else f"{state.seconds:.1f}", figures=True, leave=1),
    )


def _in_stock(stock: Stock) -> str:
    age, within = stock.freshness.median_age_days or 0, stock.freshness.share_within_30_days or 0
    held = f"{stock.rates:,} current rates of {stock.providers} providers, {stock.first_hand:.0%} first hand"
    return f"{held}; {age:.0f} days old in the median, {within:.0%} seen within 30 days"


def _age(moment: datetime | None, now: datetime) -> str:
    return in_words((now - moment).total_seconds() / SECONDS_PER_HOUR) if moment else ""


def _unconfigured(name: str) -> str | None:
    missing = SOURCES[name].missing(os.environ) if name in SOURCES else None
    return missing and f"{NOT_CONFIGURED}: {missing}"


def _moment(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "never"


def _print(columns: Sequence[Column], rows: Iterable[Any]) -> None:
    for line in table(columns, list(rows), terminal_width()):
        click.echo(line.rstrip())


def _say(told: Iterable[tuple[str, str | None]]) -> None:
    """A paragraph for each name of which something is told."""
    for name, text in told:
        for line in paragraph(f"{name}: {text}", terminal_width(), 4) if text else ():
            click.echo(line)


RESULTS: tuple[Column, ...] = (
    Column("source", lambda result: result.name),
    Column("offers", lambda result: "" if result.missing else f"{len(result.offers):,}", figures=True),
    Column("seconds", lambda result: "" if result.missing else f"{result.seconds:.1f}", figures=True, leave=1),
)
