"""`costcalc prices export`, `publish`, `sign` and the like: what is known is written for others, and their editions are read."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import click

from api.bootstrap import build_once, utc_now
from api.cli.failing import FAILED, settings_of_environment, stop, stopping_on_faults
from api.cli.options import SchemaCommand, texts
from api.cli.prices import provenance, publishing
from api.cli.prices.common import FILE, FOLDER, MOST_LISTED, filled_store, moment_in_words
from api.cli.prices.correcting import RatesSchema
from api.reports.prices.rates import offer_filter
from api.settings import Settings
from pricing import editions
from pricing import export as exporting
from pricing import refresh as refreshing
from pricing.editions import NoEdition
from pricing.sources import NOT_PUBLIC
from pricing.store.publish import SourceResult


@contextmanager
def _stopping_on_faults() -> Iterator[None]:
    """Ends the command where anything is wrong, or no edition is read, made or signed."""
    try:
        with stopping_on_faults():
            yield
    except (publishing.NotMade, NoEdition, OSError) as error:
        stop(error, FAILED)


@click.command()
@click.argument("folder", type=FOLDER)
@_stopping_on_faults()
def export(folder: Path) -> None:
    """Write the next packaged prices into FOLDER.

    They are the present ones with what the store has learned since; the command says how they differ. Your own price sheet
    and rates read with an account are left out. With FOLDER pricing/packaged/data the tables of a checkout are renewed.
    """
    for line in exporting.export(filled_store().all_offers(NOT_PUBLIC), folder, utc_now()):
        click.echo(line)


@click.command()
@click.argument("folder", type=FOLDER)
@_stopping_on_faults()
def begin(folder: Path) -> None:
    """Begin with the edition in FOLDER.

    Its rates enter the store under their dates. Without one, nothing happens.
    """
    edition, store = publishing.former(folder, publishing.trusted(settings_of_environment())), filled_store()
    if edition is None:
        click.echo("there is no edition yet: the next one has number 1")
        return
    offers = tuple(map(edition.rates.offer, range(len(edition.rates))))
    store.publish([SourceResult(refreshing.EDITION, 0.0, offers, edition=edition.head)], utc_now())
    click.echo(
        f"begun with edition {edition.head.number} of {moment_in_words(edition.head.made_at)}: {len(offers):,} rates"
    )


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--unsigned", is_flag=True, help="Leave it to `costcalc prices sign`, which needs the key.")
@_stopping_on_faults()
def publish(folder: Path, unsigned: bool) -> None:
    """Write the rates that may be passed on into FOLDER.

    They are the edition after the one there. It goes to the files `latest` and that of the day, the open book to `latest.csv`,
    `schema.json` and the file of the month's observations. Rates read with an account, your own price sheet and the providers in
    COSTCALC_EDITION_WITHOUT are left out. What moved or ended without an explanation stays as it was; `held-back.md` lists it.
    Exit status 1: no edition was made, or it is not signed, so that nobody takes it.
    """
    settings, store, now = settings_of_environment(), filled_store(), utc_now().replace(microsecond=0)
    made = publishing.make(folder, store.load_without(NOT_PUBLIC), store.quarantined(), settings, now)
    if made.held_back:
        click.echo(f"{made.held_back} rates stay as they were: see {folder / publishing.HELD_BACK}")
    click.echo(f"{folder / publishing.UNSIGNED}: edition {made.number}, {made.size / 1000:,.0f} kB")
    if not unsigned:
        _sign(folder, folder, settings, now)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("published", type=FOLDER)
@_stopping_on_faults()
def sign(folder: Path, published: Path) -> None:
    """Sign the edition in FOLDER, and write the open book.

    The edition is what `prices publish --unsigned` wrote. PUBLISHED holds the edition before it, if there is one, and the file of
    the month's observations. The edition has to follow that one, and to keep the same rules. Exit status 1: it is not signed.
    """
    _sign(folder, published, settings_of_environment(), utc_now())


def _sign(folder: Path, published: Path, settings: Settings, now: datetime) -> None:
    written = publishing.sign(folder, published, settings, now)
    click.echo(f"{folder / publishing.LATEST}: edition {written.number}, {written.size / 1000:,.0f} kB")
    [key] = publishing.trusted(settings)
    click.echo(f"signed; to trust it, set COSTCALC_EDITION_TRUSTED={key}")


@click.command(cls=SchemaCommand, schema=RatesSchema)
@click.option("--edition", type=FILE, help="An edition, such as `latest`: who signed it, and when it expires.")
@_stopping_on_faults()
def verify(edition: Path | None, **filters: object) -> None:
    """Say who stated, brought and signed the current rates.

    They are those that match the filters. With --edition, say it of that file. Exit status 1: nobody takes it.
    """
    if edition:
        _verify_edition(edition, utc_now())
        return
    service, store = build_once(settings_of_environment()), filled_store()
    values, _ = service.parse(RatesSchema(), texts(filters), service.catalogue())
    catalogue = store.load_current()
    rows = catalogue.passing_rows(catalogue.current_offers(utc_now()).listed, offer_filter(values))
    if not len(rows):
        stop("no current rate matches these filters", FAILED)
    shown = map(catalogue.offer, rows[:MOST_LISTED].tolist())
    for line in provenance.of_rates(store, shown, publishing.trusted_keys()):
        click.echo(line)
    if len(rows) > MOST_LISTED:
        click.echo(f"and {len(rows) - MOST_LISTED:,} more: name a provider, a machine or a region")


def _verify_edition(file: Path, now: datetime) -> None:
    keys = publishing.trusted_keys()
    edition = editions.read_at_any_age(file.read_bytes(), keys)
    head = edition.head
    click.echo(f"{file}: {len(edition.rates):,} rates, {provenance.signed_by(head, keys)}")
    click.echo(f"digest {head.digest}, after {head.previous or 'none'}")
    fault = editions.unfit_at(head, now) or ("" if head.key else "is not signed, so no server takes it")
    if fault:
        stop(f"it {fault}", FAILED)
    if head.expires_at:
        click.echo(f"taken until {moment_in_words(head.expires_at)}")


@click.command()
def key() -> None:
    """Make a key that signs editions.

    The secret half is for who publishes, the public half for everybody who is to trust it.
    """
    secret = secrets.token_hex(32)
    click.echo(f"COSTCALC_EDITION_KEY={secret}\nCOSTCALC_EDITION_TRUSTED={editions.public_key(secret)}")
