"""A service on the packaged evidence and prices, with a clock that stands still."""

from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from unittest.mock import patch

from support.engine import MEMORY, evidence
from support.stores import packaged_edition

from api.service import Service
from api.stored import FixedPrices
from costcalc.catalogue.catalogue import Catalogue

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SNAPSHOT = "packaged-test"


@cache
def packaged_catalogue():
    return Catalogue.from_offers(packaged_edition().offers, SNAPSHOT)


@cache
def packaged_service():
    return Service(evidence(), FixedPrices(packaged_catalogue()), lambda: NOW, ("aws", "gcp"), memory=MEMORY)


@contextmanager
def commands_share_what_was_worked_out():
    """Commands that tests call in their own process stand on one evidence and one memory."""
    with (
        patch("api.bootstrap.load_evidence", lambda: packaged_service().evidence),
        patch("api.bootstrap.Service", partial(Service, memory=MEMORY)),
    ):
        yield


def service_of(prices, now=NOW):
    """The same evidence on other prices."""
    return Service(packaged_service().evidence, prices, lambda: now, memory=MEMORY)


def words(text):
    """The words of a text, for long lists of names."""
    return text.split()
