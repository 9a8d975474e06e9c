"""The packaged evidence and prices, and a way to ask questions of them."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from support.engine import answer, evidence
from support.services import packaged_catalogue

from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.storage_and_egress import Market
from costcalc.evidence import Evidence
from costcalc.query import EstimateQuery
from pricing.packaged.rate_moves import rate_moves

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
Ask = Callable[..., Answer]


@pytest.fixture(scope="session")
def packaged_evidence() -> Evidence:
    return evidence()


@pytest.fixture(scope="session")
def packaged_prices() -> Catalogue:
    return packaged_catalogue()


@pytest.fixture(scope="session")
def ask(packaged_evidence: Evidence, packaged_prices: Catalogue) -> Ask:
    """Asks the packaged data; keywords are those of a query, `prices` another catalogue, `exchange` the rates by currency."""

    def ask(target, model="resnet50", prices=packaged_prices, exchange=None, **parameters):
        return answer(
            EstimateQuery(model, target, **parameters),
            packaged_evidence,
            prices,
            NOW,
            Market(exchange or {}, moves=rate_moves()),
        )

    return ask
