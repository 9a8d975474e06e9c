"""A program that runs in the foreground, with what it says in a file."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

STOP_SECONDS = 30


class NotStarted(Exception):
    """A program ended, or does not answer; the message says which and where its log is."""


class NotInstalled(NotStarted):
    """A program is missing; the message names the Debian package that has it."""

    def __init__(self, program: str, package: str) -> None:
        super().__init__(f"{program} is not installed; on Debian: apt-get install {package}")


@dataclass
class Program:
    """`command` in a process group of its own, so that Ctrl-C does not reach it before its turn.

    `answers` says whether it does its work by now.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    answers: Callable[[], bool]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Starts it without waiting for it."""
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,
            )

    def wait(self, seconds: float = 180) -> None:
        """Returns when it answers. Raises NotStarted."""
        deadline = time.monotonic() + seconds
        while not self.answers():
            ended = self.process is None or self.process.poll() is not None
            if ended or time.monotonic() > deadline:
                told = "".join(self.log.read_text(errors="replace").splitlines(keepends=True)[-5:])
                raise NotStarted(
                    f"{self.name} {'ended' if ended else 'does not answer'}; the end of {self.log}:\n{told}"
                )
            time.sleep(0.05)

    @contextmanager
    def running(self) -> Iterator[Program]:
        """It answers meanwhile. Raises NotStarted."""
        self.start()
        try:
            self.wait()
            yield self
        finally:
            self.stop()

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int | None:
        """Asks it to end, kills it if it does not, and returns its exit status."""
        if self.process is None:
            return None
        self.process.send_signal(with_signal)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int | None:
        """Ends it and its children at once, as a machine that fails."""
        if self.process is None:
            return None
        os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()


def installed(name: str, package: str) -> str:
    """The path of a program that a Debian package has. Raises NotInstalled."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        raise NotInstalled(name, package)
    return found


def clean_environment(**settings: str) -> dict[str, str]:
    """This process's environment without settings of costcalc, and then these; servers ask no cloud unless these say so."""
    kept = {name: value for name, value in os.environ.items() if not re.match("COSTCALC_|XDG_|PROMETHEUS_", name)}
    return {**kept, "COSTCALC_REFRESH": "off", **settings}
