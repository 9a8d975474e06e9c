"""`costcalc serve` on prices of its own, as benchmarks ask it."""

from __future__ import annotations

import os
from pathlib import Path

from tools.cluster.cluster import COSTCALC, free_ports, status_of
from tools.cluster.program import Program, clean_environment


def server(folder: Path, *options: str, **settings: str) -> tuple[int, Program]:
    """Its port and its program, which is not started yet."""
    folder = folder / "server"
    folder.mkdir()
    [port] = free_ports(1)
    own = {
        "COSTCALC_DATABASE_URL": f"sqlite:///{folder}/prices.sqlite3",
        "HOME": str(folder),
        "PYTHONPATH": os.getcwd(),
    }
    command = (*COSTCALC, "serve", *options, "--bind", f"127.0.0.1:{port}")
    environment = clean_environment(**own, **settings)
    return port, Program("server", command, folder / "log", environment, lambda: answers(port))


def answers(port: int) -> bool:
    return status_of(port, "/cost?model=resnet50&target=0.757") == 200
