"""Keeps prices fresh beside a server: a process for each refresh, so that its memory is given back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import uniform

from api.settings import Settings

PAUSE_AFTER_FAILURE = timedelta(minutes=5)
STORE_AWAY = timedelta(seconds=10)  # no worker has reached it yet
JITTER = 0.1  # of a pause, at most, so that servers do not ask all at once
STOP_SECONDS = 5


class Refreshing:
    """Starts `pricing.refresher` at once and whenever it is due. In the file `note` workers say which store is theirs."""

    def __init__(self, settings: Settings, every: timedelta, note: Path) -> None:
        address = {"COSTCALC_DATABASE_URL": settings.database_url} if settings.database_url else {}
        self._environment = {**os.environ, **address}
        self._every, self._note = every, note
        self._stopped = threading.Event()
        self._process: subprocess.Popen[str] | None = None

    def run(self) -> None:
        pause = timedelta(0)
        while not self._stopped.wait(pause.total_seconds()):
            pause = self._refreshed() * uniform(1, 1 + JITTER)

    def stop(self) -> None:
        self._stopped.set()
        if self._process and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)

    def _refreshed(self) -> timedelta:
        if not self._note.exists():
            return STORE_AWAY
        arguments = f"{self._every.total_seconds():g}", self._note.read_text(), str(os.getpid())
        command = [sys.executable, "-m", "pricing.refresher", *arguments]
        self._process = subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, text=True)
        output, _ = self._process.communicate()
        if self._process.returncode:
            return min(self._every, PAUSE_AFTER_FAILURE)
        return max(timedelta(seconds=float(output)), timedelta(0))
