"""`costcalc serve` on prices of its own, as benchmarks ask it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tools.cluster.cluster import COSTCALC, free_ports, status_of
from tools.cluster.program import Program, clean_environment


def server(folder: Path, *options: str, **settings: str) -> tuple[int, Program]:
    """Its port and its program, which is not started yet."""
    return listening(folder / "server", (*COSTCALC, "serve", *options, "--bind"), (), **settings)


def listening(folder: Path, command: Sequence[str], more: Sequence[str], **settings: str) -> tuple[int, Program]:
    """The same of what listens at the address that stands between the words of the command and those that follow."""
    folder.mkdir()
    [port] = free_ports(1)
    own = {
        "COSTCALC_DATABASE_URL": f"sqlite:///{folder}/prices.sqlite3",
        "HOME": str(folder),
        "PYTHONPATH": os.getcwd(),
    }
    words = (*command, f"127.0.0.1:{port}", *more)
    return port, Program(
        folder.name, words, folder / "log", clean_environment(**own, **settings), lambda: answers(port)
    )


def answers(port: int) -> bool:
    return status_of(port, "/cost?model=resnet50&target=0.757") == 200
