"""`costcalc prices`: asks the price sources, says how they fare, corrects what they said, and keeps the store."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import click
import numpy as np
from marshmallow import Schema
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from api.bootstrap import build_once, utc_now
from api.cli import provenance, publishing
from api.cli.completion import completer
from api.cli.failing import FAILED, settings_of_environment, stop, store_told, told
from api.cli.log import this_user
from api.cli.options import SchemaCommand, texts
from api.formats.column import Column
from api.formats.csv_export import columns_of, document
from api.formats.terminal.grid import echo_table, paragraph, terminal_width
from api.questions.declared import fields_of
from api.questions.schemas.layout import Layout
from api.questions.suggestions import many
from api.reports.prices.rates import RateRow, offer_filter
from api.settings import Setting, Settings
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.freshness import current_stock
from costcalc.fields import filled
from costcalc.query import EstimateQuery
from costcalc.units import SECONDS_PER_HOUR, in_words
from pricing import editions
from pricing import export as exporting
from pricing import refresh as refreshing
from pricing.editions import NoEdition
from pricing.recording import Recording
from pricing.sources import NOT_PUBLIC, SOURCES
from pricing.store import backups
from pricing.store.publish import SourceResult
from pricing.store.quarantine import Quarantined
from pricing.store.store import Store

SHOWN = 20  # offers that a question names
NOT_CONFIGURED = "not configured"
FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)

prices = click.Group("prices", help="Fetch live prices and check their sources.")


class WithdrawSchema(Schema):
    """The parameters of `costcalc prices withdraw`: which of a source's rates."""

    class Meta:
        """Rates are withdrawn from now on."""

        include = fields_of(EstimateQuery, "machine", "purchase")
        exclude = ("available",)


class ReleaseSchema(WithdrawSchema):
    """The parameters of `costcalc prices release`: which of a source's rates in quarantine."""

    class Meta:
        """What their machines hold is not kept."""

        exclude = ("available", "accelerator")


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
    """Tells faults of the store, and of names that no source has."""
    try:
        with store_told():
            yield
    except refreshing.UnknownSource as error:
        stop(error)


def _store() -> Store:
    return Store(settings_of_environment().database_url)


def _filled_store() -> Store:
    store = _store()
    store.fill(utc_now())
    return store


@prices.command()
@click.argument("sources", nargs=-1, shell_complete=completer("sources"))
@_faults_told()
def refresh(sources: tuple[str, ...]) -> None:
    """Fetch live rates from SOURCES (default: all) into the store. Exit status 1: some failed, the others are published."""
    specs = refreshing.chosen(sources)
    report = _watched(sources, len(specs), _filled_store())
    echo_table(RESULTS, report.results)
    _say((result.name, _told(result)) for result in report.results)
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


def _told(result: SourceResult) -> str:
    if result.missing:
        return f"not asked, {NOT_CONFIGURED}: {result.missing}"
    return "; ".join([result.error] if result.error else [*(gap.reason for gap in result.gaps), *result.notes])


@prices.command("try")
@click.argument("source", shell_complete=completer("sources"))
@click.option(
    "--save",
    type=FOLDER,
    metavar="FOLDER",
    help="Keep what the provider answered in FOLDER as a recording for the tests; secrets are cut out.",
)
@_faults_told()
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
        f"observed {_moment(min(seen, default=None))} to {_moment(max(seen, default=None))}; nothing was stored",
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


@prices.command("sources")
@click.argument("source", required=False, shell_complete=completer("sources"))
@_faults_told()
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


@prices.command()
@_faults_told()
def status() -> None:
    """Show the last result of each source, and what is in quarantine."""
    store, service = _store(), build_once(settings_of_environment())
    stock = current_stock(service.catalogue(), utc_now())
    age, within = stock.freshness.median_age_days or 0, stock.freshness.share_within_30_days or 0
    held = f"{stock.rates:,} current rates of {stock.providers} providers, {stock.first_hand:.0%} first hand"
    click.echo(f"{held}; {age:.0f} days old in the median, {within:.1%} seen within 30 days\n")
    states, odd = refreshing.status(store), refreshing.quarantined(store)
    echo_table(_states_at(utc_now()), states)
    _say((state.name, state.error or _unconfigured(state.name)) for state in states)
    for source, rates in odd.items():
        for each in rates[:SHOWN]:
            click.echo(_in_quarantine(each))
        click.echo(f"{source}: {len(rates)} in quarantine; costcalc prices release {source} lets them pass")


@prices.command()
@click.argument("folder", type=FOLDER)
@_faults_told()
def export(folder: Path) -> None:
    """Write the next packaged prices into FOLDER.

    They are the present ones with what the store has learned since; the command says how they differ. Your own price sheet
    and rates read with an account are left out. With FOLDER pricing/packaged/data the tables of a checkout are renewed.
    """
    try:
        for line in exporting.export(_filled_store().all_offers(NOT_PUBLIC), folder, utc_now()):
            click.echo(line)
    except OSError as error:
        stop(error, FAILED)


@prices.command()
@click.argument("folder", type=FOLDER)
@_faults_told()
def begin(folder: Path) -> None:
    """Begin with the edition in FOLDER.

    Its rates enter the store under their dates. Without one, nothing happens.
    """
    try:
        edition = publishing.former(folder, publishing.trusted(settings_of_environment()))
    except NoEdition as error:
        stop(error, FAILED)
    store = _filled_store()
    if edition is None:
        click.echo("there is no edition yet: the next one has number 1")
        return
    offers = tuple(map(edition.rates.offer, range(len(edition.rates))))
    store.publish([SourceResult(refreshing.EDITION, 0.0, offers, edition=edition.head)], utc_now())
    click.echo(f"begun with edition {edition.head.number} of {_moment(edition.head.made_at)}: {len(offers):,} rates")


@prices.command()
@click.argument("folder", type=FOLDER)
@click.option("--unsigned", is_flag=True, help="Leave it to `costcalc prices sign`, which needs the key.")
@_faults_told()
def publish(folder: Path, unsigned: bool) -> None:
    """Write the rates that may be passed on into FOLDER.

    They are the edition after the one there. It goes to the files `latest` and that of the day, the open book to `latest.csv`,
    `schema.json` and the file of the month's observations. Rates read with an account, your own price sheet and the providers in
    COSTCALC_EDITION_WITHOUT are left out. What moved or ended without an explanation stays as it was; `held-back.md` lists it.
    Exit status 1: no edition was made, or it is not signed, so that nobody takes it.
    """
    settings, store, now = settings_of_environment(), _filled_store(), utc_now().replace(microsecond=0)
    with _not_made_told():
        made = publishing.make(folder, store.load_without(NOT_PUBLIC), store.quarantined(), settings, now)
        if made.held_back:
            click.echo(f"{made.held_back} rates stay as they were: see {folder / publishing.HELD_BACK}")
        click.echo(f"{folder / publishing.UNSIGNED}: edition {made.number}, {made.size / 1000:,.0f} kB")
        if not unsigned:
            _sign(folder, folder, settings, now)


@prices.command()
@click.argument("folder", type=FOLDER)
@click.argument("published", type=FOLDER)
@_faults_told()
def sign(folder: Path, published: Path) -> None:
    """Sign the edition in FOLDER, and write the open book.

    The edition is what `prices publish --unsigned` wrote. PUBLISHED holds the edition before it, if there is one, and the file of
    the month's observations. The edition has to follow that one, and to keep the same rules. Exit status 1: it is not signed.
    """
    with _not_made_told():
        _sign(folder, published, settings_of_environment(), utc_now())


def _sign(folder: Path, published: Path, settings: Settings, now: datetime) -> None:
    written = publishing.sign(folder, published, settings, now)
    click.echo(f"{folder / publishing.LATEST}: edition {written.number}, {written.size / 1000:,.0f} kB")
    [key] = publishing.trusted(settings)
    click.echo(f"signed; to trust it, set COSTCALC_EDITION_TRUSTED={key}")


@contextmanager
def _not_made_told() -> Iterator[None]:
    """Ends the command where no edition is made or signed."""
    try:
        yield
    except (publishing.NotMade, NoEdition, OSError) as error:
        stop(error, FAILED)


class VerifySchema(WithdrawSchema):
    """The parameters of `costcalc prices verify`: which current rates."""

    class Meta:
        """Every source's."""


@prices.command(cls=SchemaCommand, schema=VerifySchema)
@click.option("--edition", type=FILE, help="An edition, such as `latest`: who signed it, and when it expires.")
@told()
@_faults_told()
def verify(edition: Path | None, **filters: object) -> None:
    """Say who stated, brought and signed the current rates.

    They are those that match the filters. With --edition, say it of that file. Exit status 1: nobody takes it.
    """
    if edition:
        _verify_edition(edition, utc_now())
        return
    service, store = build_once(settings_of_environment()), _filled_store()
    values, _ = service.parse(VerifySchema(), texts(filters), service.catalogue())
    catalogue = store.load_current()
    rows = catalogue.passing_rows(catalogue.current_offers(utc_now()).listed, offer_filter(values))
    if not len(rows):
        stop("no current rate matches these filters", FAILED)
    shown = map(catalogue.offer, rows[:SHOWN].tolist())
    for line in provenance.of_rates(store, shown, publishing.trusted_keys()):
        click.echo(line)
    if len(rows) > SHOWN:
        click.echo(f"and {len(rows) - SHOWN:,} more: name a provider, a machine or a region")


def _verify_edition(file: Path, now: datetime) -> None:
    keys = publishing.trusted_keys()
    try:
        read = editions.read_at_any_age(file.read_bytes(), keys)
    except (NoEdition, OSError) as error:
        stop(error, FAILED)
    head = read.head
    click.echo(f"{file}: {len(read.rates):,} rates, {provenance.signed_by(head, keys)}")
    click.echo(f"digest {head.digest}, after {head.previous or 'none'}")
    fault = editions.unfit_at(head, now) or ("" if head.key else "is not signed, so nobody takes it")
    if fault:
        stop(f"it {fault}", FAILED)
    if head.expires_at:
        click.echo(f"taken until {_moment(head.expires_at)}")


@prices.command()
def key() -> None:
    """Make a key that signs editions.

    The secret half is for who publishes, the public half for everybody who is to trust it.
    """
    secret = secrets.token_hex(32)
    click.echo(f"COSTCALC_EDITION_KEY={secret}\nCOSTCALC_EDITION_TRUSTED={editions.public_key(secret)}")


@prices.command()
@click.argument("file", type=FILE)
@_faults_told()
def backup(file: Path) -> None:
    """Copy the SQLite store into the new FILE.

    The store may be in use meanwhile. FILE appears once the copy was checked.
    """
    backups.backup(settings_of_environment().database_url, file)
    click.echo(f"{file} is a complete copy of the store")


@prices.command()
@click.argument("file", type=FILE)
@_faults_told()
def restore(file: Path) -> None:
    """Replace the SQLite store with the backup FILE. Servers go on from it; the former store is kept beside it."""
    aside = backups.restore(settings_of_environment().database_url, file, utc_now())
    snapshot = _store().current_snapshot_id()
    prices = f"snapshot {snapshot}" if snapshot else "in which no refresh has stored prices"
    click.echo(f"the store is {file} again, {prices}")
    if aside:
        click.echo(f"the old store is kept as {aside}")


@prices.command()
@_faults_told()
def rebuild() -> None:
    """Start a new SQLite store where the old one is damaged or gone.

    A damaged one is set aside, and what is lost is named. Where there is a backup, restore that instead.
    """
    done = backups.rebuild(settings_of_environment().database_url, utc_now())
    if done.path:
        click.echo(f"the damaged store is kept as {done.path}")
    click.echo(f"lost: {done.lost}")
    own = "cannot be read, and are lost too" if done.own_runs is None else f"are taken over: {done.own_runs}"
    click.echo(f"your own measurements {own}")
    click.echo("the new store has the packaged prices: costcalc prices refresh adds today's")


SOURCE = click.Argument(["source"], shell_complete=completer("sources"))


@prices.command(cls=SchemaCommand, schema=WithdrawSchema, params=[SOURCE])
@click.option("--yes", is_flag=True, help="Do not ask before withdrawing.")
@told()
@_faults_told()
def withdraw(source: str, yes: bool, **filters: object) -> None:
    """Withdraw the wrong rates of SOURCE that match the filters. It lists them and asks first.

    SOURCE is a price source, or packaged for the prices that ship with costcalc. Nothing is deleted: answers about earlier
    dates still know the rates. A rate that the source goes on listing comes back at the next refresh.
    """
    name, store = refreshing.withdrawable(source), _filled_store()
    offers = store.standing_offers(name)
    catalogue = Catalogue.from_offers(offers, name)
    values, _ = build_once(settings_of_environment()).parse(WithdrawSchema(), texts(filters), catalogue)
    rows = catalogue.passing_rows(np.arange(len(offers)), offer_filter(values))
    wrong = [catalogue.offer(row) for row in rows.tolist()]
    if not wrong:
        stop(f"{name} has no current rate that matches these filters: nothing to withdraw", FAILED)
    for offer in wrong[:SHOWN]:
        terms = " ".join(filter(None, (offer.purchase_option, offer.term, offer.payment))).replace("_", " ")
        rate = f"{offer.currency} {offer.hourly_rate:.4f} an hour"
        click.echo(f"{name}: {offer.provider} {offer.instance_type} in {offer.region}, {terms}, {rate}")
    if len(wrong) > SHOWN:
        click.echo(f"and {len(wrong) - SHOWN} more")
    _agreed("Withdraw", len(wrong), yes)
    published = store.withdraw(name, frozenset(offer.key for offer in wrong), this_user())
    click.echo(f"snapshot {published.snapshot}: {len(published.ended)} withdrawn")


@prices.command(cls=SchemaCommand, schema=ReleaseSchema, params=[SOURCE])
@click.option("--yes", is_flag=True, help="Do not ask before releasing.")
@told()
@_faults_told()
def release(source: str, yes: bool, **filters: object) -> None:
    """Release rates of SOURCE from quarantine. It lists them and asks first; the next refresh stores them.

    A rate that looks odd is left out, and `costcalc prices status` says why. Once the source has listed it unchanged for a
    day, it is stored without a release.
    """
    [spec], store = refreshing.chosen([source]), _store()
    service = build_once(settings_of_environment())
    values, _ = service.parse(ReleaseSchema(), texts(filters), service.catalogue())
    odd = [each for each in refreshing.quarantined(store).get(spec.name, []) if _passes(each, values)]
    if not odd:
        stop(f"{spec.name} has no rate in quarantine that matches these filters: nothing to release", FAILED)
    for each in odd:
        click.echo(_in_quarantine(each))
    _agreed("Release", len(odd), yes)
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


def _states_at(now: datetime) -> tuple[Column, ...]:
    return (
        Column("source", lambda state: state.name),
        Column("last success", lambda state: _moment(state.succeeded_at), is_number=True),
        Column("age of\nnewest rate", lambda state: _age(state.observed_at, now), is_number=True),
        Column("rows", lambda state: "" if state.offers is None else f"{state.offers:,}", is_number=True),
        Column(
            "seconds", lambda state: "" if state.seconds is None else f"{state.seconds:.1f}", is_number=True, leave=1
        ),
    )


def _age(moment: datetime | None, now: datetime) -> str:
    return in_words((now - moment).total_seconds() / SECONDS_PER_HOUR) if moment else ""


def _unconfigured(name: str) -> str | None:
    missing = SOURCES[name].missing(os.environ) if name in SOURCES else None
    return missing and f"{NOT_CONFIGURED}: {missing}"


def _moment(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "never"


def _say(lines: Iterable[tuple[str, str | None]]) -> None:
    """A paragraph for each name of which something is told."""
    for name, text in lines:
        for line in paragraph(f"{name}: {text}", terminal_width(), 4) if text else ():
            click.echo(line)


RESULTS: tuple[Column, ...] = (
    Column("source", lambda result: result.name),
    Column("offers", lambda result: "" if result.missing else f"{len(result.offers):,}", is_number=True),
    Column("seconds", lambda result: "" if result.missing else f"{result.seconds:.1f}", is_number=True, leave=1),
)
