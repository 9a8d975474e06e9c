"""A process that publishes prices until it is killed, forked from one that has everything imported."""

import os
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from support.prices import NOW, listed, many

from pricing.store.store import Store

BEGINS = "begins"
TESTS = Path(__file__).parents[1]
IMPORTED_FROM = f"{TESTS}{os.pathsep}{TESTS.parent}"  # a fork server knows no sys.path (python/cpython#117378)
FORKED = get_context("forkserver")
FORKED.set_forkserver_preload([__name__])


def start_publisher(url: str, generation: int, offers: int) -> tuple[BaseProcess, Connection]:
    """Publishes one generation of prices after the other, all at the rate generation + 1; says BEGINS before each publication
    and its generation when it stands in the store."""
    hearing, telling = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=_publish, args=(telling, url, generation, offers), daemon=True)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", IMPORTED_FROM)
        process.start()
    telling.close()
    return process, hearing


def _publish(telling: Connection, url: str, generation: int, offers: int) -> None:
    store = Store(url)
    while True:
        moment = NOW + timedelta(minutes=generation)
        publication = listed("aws", *many(offers, str(generation + 1), moment))
        telling.send(BEGINS)
        store.publish(publication, moment)
        telling.send(generation)
        generation += 1
