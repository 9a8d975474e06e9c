"""Servers the tests start for themselves, and stores on each kind of database."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: its threads fight over a busy machine
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and tables would be narrower than where no terminal is
REQUIRED = os.environ.get("CI") == "true"  # there a missing server is a failure, elsewhere a skip


@dataclass
class PostgresServer:
    """A PostgreSQL server of our own, reached through a socket in its folder."""

    binaries: Path
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    databases: int = 0

    def start(self) -> None:
        options = ["-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=32MB"]
        command = [self.binaries / "pg_ctl", "-D", self.folder / "data", "-w", "-t", "60", "-l", self.folder / "log"]
        self._run([*command, "-o", " ".join(options), "start"])

    def stop(self) -> None:
        self._run([self.binaries / "pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop"])

    def initialise(self) -> None:
        self._run(
            [self.binaries / "initdb", "-D", self.folder / "data", "-A", "trust", "-U", "tester", "-E", "UTF8", "-N"]
        )

    def database(self) -> str:
        """The URL of a new, empty database."""
        self.databases += 1
        name = f"costcalc_{self.databases}"
        with psycopg.connect(f"postgresql://tester@/postgres?host={self.folder}", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://tester@/{name}?host={self.folder}"

    def _run(self, command: list[object]) -> None:
        user = {"user": _unprivileged(), "extra_groups": []} if os.getuid() == 0 else {}
        subprocess.run(
            [str(part) for part in command],
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            timeout=120,
            **user,
        )


def _unprivileged() -> str:
    """PostgreSQL refuses to run as root."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody", "daemon") if name in names)


def _binaries() -> Path | None:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    found = shutil.which("initdb")
    if installed:
        return installed[-1].parent
    return Path(found).resolve().parent if found else None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    binaries = _binaries()
    if binaries is None:
        (pytest.fail if REQUIRED else pytest.skip)("no PostgreSQL server is installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    if os.getuid() == 0:
        shutil.chown(folder, _unprivileged())
    server = PostgresServer(binaries, folder)
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
