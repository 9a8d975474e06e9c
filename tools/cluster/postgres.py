"""A PostgreSQL server in a folder, reached through a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tools.cluster.program import installed


@dataclass
class PostgresServer:
    """`binaries` is the folder of initdb and pg_ctl. Root runs it as somebody else, for PostgreSQL refuses to run as root."""

    binaries: Path
    folder: Path
    databases: int = 0

    def initialise(self) -> None:
        """Makes its data folder. The folder must exist."""
        if os.getuid() == 0:
            shutil.chown(self.folder, unprivileged())
        command = [
            self.binaries / "initdb",
            "-D",
            self.folder / "data",
            "-A",
            "trust",
            "-U",
            "tester",
            "-E",
            "UTF8",
            "-N",
        ]
        self._run(command)

    def start(self) -> None:
        """Starts it, and returns when it takes connections."""
        options = ["-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=32MB"]
        command = [self.binaries / "pg_ctl", "-D", self.folder / "data", "-w", "-t", "60", "-l", self.folder / "log"]
        self._run([*command, "-o", " ".join(options), "start"])

    def stop(self) -> None:
        """Stops it at once, as a failing machine would."""
        if self.process is None:
            return
        self._run([self.binaries / "pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop"])

    def database(self) -> str:
        self.databases += 1
        name = f"costcalc_{self.databases}"
        with self.connected() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"postgresql://tester@/{name}?host={self.folder}"

    def cut_connections(self) -> None:
        """Ends every connection to every database but this one's own."""
        with self.connected() as connection:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> "
            connection.execute(others.encode() + b"pg_backend_pid()")

    def connected(self) -> psycopg.Connection[Any]:
        return psycopg.connect(f"postgresql://tester@/postgres?host={self.folder}", autocommit=True)

    @property
    def process(self) -> int | None:
        """The number of its first process; None where it does not run."""
        file = self.folder / "data" / "postmaster.pid"
        number = file.read_text().split()[0] if file.exists() else ""
        return int(number) if number and Path("/proc", number).exists() else None

    @property
    def owner(self) -> dict[str, Any]:
        """As whom it runs, in the words of subprocess.run."""
        return {"user": unprivileged(), "extra_groups": []} if os.getuid() == 0 else {}

    def _run(self, command: list[object]) -> None:
        subprocess.run(
            [str(part) for part in command],
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            timeout=120,
            **self.owner,
        )


def unprivileged() -> str:
    """A user of this machine that is not root."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody", "daemon") if name in names)


def binaries() -> Path:
    """The folder of the newest PostgreSQL server that is installed. Raises NotInstalled."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    return (versions[-1] if versions else Path(installed("initdb", "postgresql")).resolve()).parent
