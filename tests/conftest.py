"""Servers the tests start for themselves, and stores on each kind of database."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tools.cluster.postgres import PostgresServer, binaries

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: its threads fight over a busy machine
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and tables would be narrower than where no terminal is
settings.register_profile("busy", settings(), deadline=None)  # on a busy machine an example takes what it takes
settings.load_profile("busy")
REQUIRED = os.environ.get("CI") == "true"  # there a missing server is a failure, elsewhere a skip


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    found = binaries()
    if found is None:
        (pytest.fail if REQUIRED else pytest.skip)("no PostgreSQL server is installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    server = PostgresServer(found, folder)
    try:
        server.initialise()
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store on each kind of database in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'prices.sqlite3'}"
    return request.getfixturevalue("postgres_url")
