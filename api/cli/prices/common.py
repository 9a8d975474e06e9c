"""What the commands of prices share: the store, and how moments, rates and what is in quarantine are written."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from api.bootstrap import utc_now
from api.cli.failing import settings_of_environment
from costcalc.offer import Offer
from pricing.store.quarantine import Quarantined
from pricing.store.store import Store

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
MOST_LISTED = 20
"""How many rates are listed of those that a command is about."""


def the_store() -> Store:
    """The store of the settings."""
    return Store(settings_of_environment().database_url)


def filled_store() -> Store:
    """The store of the settings, with the packaged prices in it."""
    store = the_store()
    store.fill(utc_now())
    return store


def moment_in_words(moment: datetime | None) -> str:
    """To the minute."""
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "never"


def rate_in_words(offer: Offer) -> str:
    """What it is for, what it costs and when it was seen."""
    terms = " ".join(filter(None, (offer.purchase_option, offer.term, offer.payment))).replace("_", " ")
    rate = f"{offer.currency} {offer.hourly_rate:f} an hour, seen {offer.observed_at:%Y-%m-%d}"
    return f"{offer.provider} {offer.instance_type} in {offer.region}, {terms}: {rate}"


def in_quarantine(odd: Quarantined) -> str:
    """Which rate is left out, since when and why."""
    return f"{odd.origin}: left out since {moment_in_words(odd.since)}: {odd.reason}"
