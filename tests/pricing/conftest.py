"""A store to publish into."""

import pytest

from pricing.store import Store


@pytest.fixture
def store(store_url: str) -> Store:
    return Store(store_url)
