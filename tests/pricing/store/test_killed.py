"""kill -9 at many points of a publication: the store holds the old snapshot whole, or the new one whole."""

import random
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from multiprocessing.connection import Connection

import pytest
from support.histories import history
from support.prices import NOW, listed, many
from support.publisher import BEGINS, start_publisher
from support.sampled import WHOLE

from pricing.store.connection import Database
from pricing.store.store import Store

OFFERS = 400
KILLS = 5  # that leave a publication unfinished


def told(hearing: Connection) -> Iterator[int | str]:
    """What a killed publisher had said."""
    with suppress(EOFError):
        while True:
            yield hearing.recv()


def whole_generation(store: Store) -> int:
    """The generation that the store holds, after checking that nothing of it is missing and nothing is over."""
    catalogue = store.load_current()
    current = [catalogue.offer(row) for row in catalogue.current_offers(NOW + timedelta(days=365)).rows]
    rates = {offer.hourly_rate for offer in current}
    assert len(current) == OFFERS
    assert len(rates) == 1, f"two generations in one snapshot: {rates}"
    generation = int(rates.pop()) - 1
    seen = history(store, "p3.2xlarge")
    assert len(seen) == OFFERS * (generation + 1), "rows of a publication that was never finished"
    assert store.status()[0].attempted_at == NOW + timedelta(minutes=generation)
    return generation


@pytest.mark.parametrize("seed", range(1, 31 if WHOLE else 2))
def test_a_killed_publication_leaves_a_whole_snapshot(store_url: str, seed: int) -> None:
    store, delays = Store(store_url), random.Random(seed)
    store.publish(listed("aws", *many(OFFERS, "1")), NOW)
    generation, unfinished = 0, 0
    while unfinished < KILLS:
        process, hearing = start_publisher(store_url, generation + 1, OFFERS)
        assert hearing.recv() == BEGINS
        time.sleep(delays.uniform(0, 0.25))
        process.kill()
        process.join()
        heard = [BEGINS, *told(hearing)]
        with Database(store_url).writing():
            pass  # a PostgreSQL server may still be ending the killed client's transaction
        found, last = whole_generation(store), max((each for each in heard if each != BEGINS), default=generation)
        assert found in (last, last + 1)
        unfinished += found == last and heard[-1] == BEGINS
        generation = found
    assert store.publish(listed("aws", *many(OFFERS, "9999", NOW + timedelta(days=1))), NOW).new == OFFERS
