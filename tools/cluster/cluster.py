"""nginx before several servers of costcalc, which share PostgreSQL and Redis; settings are those of `deploy/`."""

from __future__ import annotations

import http.client
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import yaml

from tools.cluster.postgres import PostgresServer, binaries
from tools.cluster.program import NotStarted, Program, clean_environment, installed

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UPSTREAM = "server web:8000 max_fails=3 fail_timeout=1s;"
FAIL_SECONDS = 3  # after which nginx, which counts in whole seconds, asks a server again that failed
PYTHONPATH = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT)]))
COSTCALC = (sys.executable, "-c", "from api.cli.main import main; main()")
REDIS_PASSWORD = "cluster"
REDIS_PORT = 10  # behind nginx's port; the servers follow nginx's port one by one


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the parts listen on this machine."""

    nginx: int
    redis: int
    servers: tuple[int, ...]

    @classmethod
    def from_first(cls, first: int, servers: int) -> Ports:
        """nginx at the first port, the servers at the next ones, Redis ten after the first."""
        return cls(first, first + REDIS_PORT, tuple(range(first + 1, first + 1 + servers)))

    @classmethod
    def free(cls, servers: int) -> Ports:
        """Ports that nobody listens on now."""
        nginx, redis, *others = free_ports(servers + 2)
        return cls(nginx, redis, tuple(others))

    def check(self) -> None:
        """Raises NotStarted where one is no port, or somebody listens there."""
        for port in (self.nginx, *self.servers, self.redis):
            if not 0 < port < 65_536:
                raise NotStarted(f"there is no port {port}: CLUSTER_PORT may be 1 to {65_535 - REDIS_PORT}")
            if is_open(port):
                raise NotStarted(f"port {port} is taken: CLUSTER_PORT=9000 takes 9000 to {9000 + REDIS_PORT} instead")


@dataclass
class Cluster:
    """The running topology. `settings` come on top of those of `deploy/compose.yaml`."""

    folder: Path
    ports: Ports
    settings: dict[str, str]
    postgres: PostgresServer = field(init=False)
    redis: Program = field(init=False)
    nginx: Program = field(init=False)
    servers: list[Program] = field(init=False)
    database_url: str = field(init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports.nginx}"

    def start(self) -> None:
        """Starts every part, and returns when questions are answered. Raises NotStarted."""
        self.ports.check()
        check_programs()
        self._start_postgres()
        compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
        self.redis = self._redis(compose["services"]["memory"]["command"])
        self.settings = {**compose["x-costcalc"]["environment"], **self._addresses(), **self.settings}
        self.settings = {name: value for name, value in self.settings.items() if "${" not in value}
        self.servers = [self.server(port) for port in self.ports.servers]
        self.nginx = self._nginx()
        for each in (self.redis, *self.servers):
            each.start()
        for each in (self.redis, *self.servers):
            each.wait()
        self.nginx.start()
        self.nginx.wait()

    def stop(self) -> None:
        """Stops every part that was started, those first that ask others."""
        for name in ("nginx", "servers", "redis"):
            part = getattr(self, name, [])
            for each in part if isinstance(part, list) else [part]:
                each.stop()
        if hasattr(self, "postgres"):
            self.postgres.stop()

    def server(self, port: int, command: Sequence[str] = COSTCALC, **settings: str) -> Program:
        """A server of costcalc that is not started yet, at this port."""
        return Program(
            f"server-{port}",
            (*command, "serve", "--bind", f"127.0.0.1:{port}"),
            self.folder / f"server-{port}.log",
            self.environment(**settings),
            lambda: status_of(port, "/readyz") == 200,
        )

    def environment(self, **settings: str) -> dict[str, str]:
        """The environment of a server, and of a command that shall work on its prices."""
        return clean_environment(**{**self.settings, **settings}, HOME=str(self.folder), PYTHONPATH=PYTHONPATH)

    def restart(self, server: Program) -> None:
        """Restarts a server; it ends what it was asked, and nginx asks the others meanwhile."""
        server.stop()
        self.bring_back(server)

    def bring_back(self, server: Program) -> None:
        """Starts a server that went away, and returns when nginx asks it again."""
        server.start()
        server.wait()
        time.sleep(FAIL_SECONDS)

    def refresh(self, *names: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """`costcalc prices refresh` on the prices of the servers."""
        command = [*COSTCALC, "prices", "refresh", *names]
        environment = self.environment(**settings)
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    def _start_postgres(self) -> None:
        folder = self.folder / "postgresql"
        folder.mkdir()
        self.postgres = PostgresServer(binaries(), folder)
        self.postgres.initialise()
        self.postgres.start()
        self.database_url = self.postgres.database()

    def _addresses(self) -> dict[str, str]:
        return {
            "COSTCALC_DATABASE_URL": self.database_url,
            "COSTCALC_REDIS_URL": f"redis://:{REDIS_PASSWORD}@127.0.0.1:{self.ports.redis}/0",
            "COSTCALC_TRUSTED_PROXIES": "127.0.0.1",
        }

    def _redis(self, command: Sequence[str]) -> Program:
        place = ("--bind", "127.0.0.1", "--port", str(self.ports.redis), "--dir", str(self.folder))
        return Program(
            "redis",
            (installed(command[0], "redis-server"), *(_with_password(word) for word in command[1:]), *place),
            self.folder / "redis.log",
            clean_environment(),
            lambda: is_open(self.ports.redis),
        )

    def _nginx(self) -> Program:
        self._write_nginx()
        command = (installed("nginx", "nginx-light"), "-c", str(self.folder / "nginx.conf"), "-g", "daemon off;")
        log = self.folder / "nginx.log"
        return Program(
            "nginx", command, log, clean_environment(), lambda: status_of(self.ports.nginx, "/readyz") == 200
        )

    def _write_nginx(self) -> None:
        """`deploy/nginx.conf` with the ports and folders of this machine."""
        text = (DEPLOY / "nginx.conf").read_text()
        own = {
            UPSTREAM: "\n        ".join(
                UPSTREAM.replace("web:8000", f"127.0.0.1:{port}") for port in self.ports.servers
            ),
            "listen 8080;": f"listen 127.0.0.1:{self.ports.nginx};",
            "/tmp/": f"{self.folder}/",
        }
        for theirs, ours in own.items():
            if theirs not in text:
                raise NotStarted(f"deploy/nginx.conf has no {theirs!r} any more: change {__file__}")
            text = text.replace(theirs, ours)
        (self.folder / "nginx.conf").write_text(text)


def _with_password(word: str) -> str:
    """A word of Compose's command, with ours in place of the password that somebody sets there."""
    return REDIS_PASSWORD if word.startswith("${REDIS_PASSWORD") else word


def check_programs() -> None:
    """Raises NotInstalled where one is missing, before any is started."""
    binaries()
    installed("redis-server", "redis-server")
    installed("nginx", "nginx-light")


@contextmanager
def running(ports: Ports, **settings: str) -> Iterator[Cluster]:
    """A cluster in a folder of its own, which goes with it. Raises NotStarted."""
    folder = Path(tempfile.mkdtemp(prefix="costcalc-", dir="/tmp"))  # short: a socket's path may have 107 characters
    folder.chmod(0o755)  # PostgreSQL and the workers of nginx are not root
    cluster = Cluster(folder, ports, settings)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def status_of(port: int, path: str) -> int | None:
    """The status of an answer; None where there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with closing(connection), suppress(OSError, http.client.HTTPException):
        connection.request("GET", path)
        return connection.getresponse().status
    return None


def is_open(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, below those that Linux gives to connections: until they are used nobody is given them."""
    tried = random.sample(range(10_000, 32_000), 1000)
    return list(islice((port for port in tried if not is_open(port)), count))


def wait_for(true: Callable[[], bool], seconds: float = 120) -> None:
    """Returns when it is so. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        time.sleep(0.05)


def children(process: int) -> set[int]:
    """The processes that a process started."""
    return set(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
