"""`costcalc prices withdraw` and `release`: a person corrects what a source stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
import numpy as np
from marshmallow import Schema

from api.bootstrap import build_once
from api.cli.completion import completer
from api.cli.failing import FAILED, settings_of_environment, stop, stopping_on_faults
from api.cli.log import this_user
from api.cli.options import SchemaCommand, texts
from api.cli.prices.common import MOST_LISTED, filled_store, in_quarantine, rate_in_words, the_store
from api.questions.declared import fields_of
from api.reports.prices.rates import offer_filter
from costcalc.catalogue.catalogue import Catalogue
from costcalc.query import EstimateQuery
from pricing import refresh as refreshing
from pricing.store.quarantine import Quarantined


class RatesSchema(Schema):
    """The parameters of `costcalc prices withdraw` and `verify`: which rates."""

    class Meta:
        """Whether machines are available changes too fast."""

        include = fields_of(EstimateQuery, "machine", "purchase")
        exclude = ("available",)


class ReleaseSchema(RatesSchema):
    """The parameters of `costcalc prices release`: which rates in quarantine."""

    class Meta:
        """What the machines hold is not kept with a rate in quarantine."""

        exclude = ("available", "accelerator")


SOURCE = click.Argument(["source"], shell_complete=completer("sources"))


@click.command(cls=SchemaCommand, schema=RatesSchema, params=[SOURCE])
@click.option("--yes", is_flag=True, help="Do not ask before withdrawing.")
@stopping_on_faults()
def withdraw(source: str, yes: bool, **filters: object) -> None:
    """Withdraw the wrong rates of SOURCE that match the filters. It lists them and asks first.

    SOURCE is a price source, or packaged for the prices that ship with costcalc. Nothing is deleted: answers about earlier
    dates still know the rates. A rate that the source goes on listing comes back at the next refresh.
    """
    name, store = refreshing.withdrawable(source), filled_store()
    offers = store.standing_offers(name)
    catalogue = Catalogue.from_offers(offers, name)
    values, _ = build_once(settings_of_environment()).parse(RatesSchema(), texts(filters), catalogue)
    rows = catalogue.passing_rows(np.arange(len(offers)), offer_filter(values))
    wrong = [catalogue.offer(row) for row in rows.tolist()]
    if not wrong:
        stop(f"{name} has no current rate that matches these filters: nothing to withdraw", FAILED)
    for offer in wrong[:MOST_LISTED]:
        click.echo(f"{name}: {rate_in_words(offer)}")
    if len(wrong) > MOST_LISTED:
        click.echo(f"and {len(wrong) - MOST_LISTED} more")
    _agreed("Withdraw", len(wrong), yes)
    published = store.withdraw(name, frozenset(offer.key for offer in wrong), this_user())
    click.echo(f"snapshot {published.snapshot}: {len(published.ended)} withdrawn")


@click.command(cls=SchemaCommand, schema=ReleaseSchema, params=[SOURCE])
@click.option("--yes", is_flag=True, help="Do not ask before releasing.")
@stopping_on_faults()
def release(source: str, yes: bool, **filters: object) -> None:
    """Release rates of SOURCE from quarantine. It lists them and asks first; the next refresh stores them.

    A rate that looks odd is left out, and `costcalc prices status` says why. Once the source has listed it unchanged for a
    day, it is stored without a release.
    """
    [spec], store = refreshing.chosen([source]), the_store()
    service = build_once(settings_of_environment())
    values, _ = service.parse(ReleaseSchema(), texts(filters), service.catalogue())
    odd = [each for each in refreshing.quarantined(store).get(spec.name, []) if _passes(each, values)]
    if not odd:
        stop(f"{spec.name} has no rate in quarantine that matches these filters: nothing to release", FAILED)
    for each in odd:
        click.echo(in_quarantine(each))
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
