"""The topology of `make cluster`, started once for all tests of a process; each test leaves it whole."""

import pytest
import requests
from fakes.slack import SECRET
from support.asking import asking

from tools.cluster.cluster import Ports, running, status_of, wait_for

TOKEN = "a token that only tests know"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
SETTINGS = {
    "COSTCALC_API_TOKENS": TOKEN,
    "COSTCALC_SLACK_SIGNING_SECRET": SECRET,
    "COSTCALC_RATE_LIMIT": "1000000/minute",  # counted in Redis, and never reached
    "COSTCALC_WAIT_SECONDS": "20",  # a busy machine is no overload
    "COSTCALC_WORKERS": "1",
    "COSTCALC_POLL_SECONDS": "0.3",
    "OPENBLAS_NUM_THREADS": "1",
}


@pytest.fixture(scope="session")
def topology():
    with running(Ports.free(2), **SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def cluster(topology):
    """Whole before a test, and whole after it."""
    yield topology
    wait_for(lambda: all(status_of(port, "/readyz") == 200 for port in topology.ports.servers))


@pytest.fixture
def clients(cluster):
    """Clients that ask through nginx, after some of them were answered."""
    with asking(cluster.ports.nginx, **BEARER) as them:
        them.wait_for(20)
        yield them


def get(port, path, **keywords):
    return requests.get(f"http://127.0.0.1:{port}{path}", headers=BEARER, timeout=60, **keywords)
