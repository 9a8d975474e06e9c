"""kill -9 at many points of a publication: the store holds the old snapshot whole, or the new one whole."""

import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from support.prices import NOW, listed, many

from pricing.store.connection import Database
from pricing.store.store import Store

OFFERS = 400
KILLS = 20

PUBLISHER = """
import sys
from datetime import timedelta
from support.prices import NOW, listed, many
from pricing.store.store import Store

store = Store(sys.argv[1])
print("ready", flush=True)
for generation in range(int(sys.argv[2]), 10**6):
    moment = NOW + timedelta(minutes=generation)
    store.publish(listed("aws", *many(int(sys.argv[3]), str(generation + 1), moment)), moment)
    print(generation, flush=True)
"""


def publisher(url: str, generation: int) -> subprocess.Popen[str]:
    """Publishes one generation of prices after the other, all at the rate generation + 1, until it is killed."""
    here = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"}
    command = [sys.executable, "-c", PUBLISHER, url, str(generation), str(OFFERS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def whole_generation(store: Store) -> int:
    """The generation that the store holds, after checking that nothing of it is missing and nothing is over."""
    catalogue = store.load_current()
    current = [catalogue.offer(row) for row in catalogue.current_offers(NOW + timedelta(days=365)).rows]
    rates = {offer.hourly_rate for offer in current}
    assert len(current) == OFFERS
    assert len(rates) == 1, f"two generations in one snapshot: {rates}"
    generation = int(rates.pop()) - 1
    history = store.history("p3.2xlarge")
    assert len(history) == OFFERS * (generation + 1), "rows of a publication that was never finished"
    assert store.status()[0].attempted_at == NOW + timedelta(minutes=generation)
    return generation


@pytest.mark.parametrize("seed", [1])
def test_a_killed_publication_leaves_a_whole_snapshot(store_url: str, seed: int) -> None:
    store, delays = Store(store_url), random.Random(seed)
    store.publish(listed("aws", *many(OFFERS, "1")), NOW)
    generation, unfinished = 0, 0
    for _ in range(KILLS):
        process = publisher(store_url, generation + 1)
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(delays.uniform(0, 0.25))
            os.kill(process.pid, signal.SIGKILL)
            announced = [int(line) for line in process.stdout.read().split()]
        with Database(store_url).writing():
            pass  # a PostgreSQL server may still be ending the killed client's transaction
        found, last = whole_generation(store), announced[-1] if announced else generation
        assert found in (last, last + 1)
        unfinished += found == last
        generation = found
    assert unfinished > KILLS / 2, "the kills must hit publications, not the pauses between them"
    assert store.publish(listed("aws", *many(OFFERS, "9999", NOW + timedelta(days=1))), NOW).new == OFFERS
