"""`costcalc serve` in a process of its own, with a home folder of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from support.stores import filled_store

COSTCALC = Path(sys.executable).with_name("costcalc")
PATIENCE = 180  # seconds, for a busy machine


@dataclass
class LiveServer:
    """`costcalc serve` in a process of its own."""

    url: str
    process: subprocess.Popen
    log: Path
    home: Path

    def get(self, path, **keywords):
        return requests.get(self.url + path, timeout=60, **keywords)

    def wait_until_ready(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if self.get("/readyz").ok:
                    return
            except requests.RequestException:
                pass
            time.sleep(0.1)
        pytest.fail(f"not ready after {PATIENCE} s: {self.log.read_text()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def clean_environment(home, **variables):
    """What a new user's shell would hand over; a server asks no cloud, unless a test wants it to."""
    kept = {name: value for name, value in os.environ.items() if not re.match("COSTCALC_|XDG_|PROMETHEUS_", name)}
    return {**kept, "COSTCALC_REFRESH": "off", "HOME": str(home), **variables}


def start_server(home, program=(COSTCALC,), **variables):
    """The server on a free port; its own announcement says which. Its store is a copy, unless the home has been lived in."""
    if "COSTCALC_DATABASE_URL" not in variables and not (home / ".local").exists():
        filled_store(home / ".local/share/costcalc")
    log = home / "server.log"
    with log.open("w") as output:
        command = [*program, "serve", "--bind", "127.0.0.1:0"]
        process = subprocess.Popen(command, env=clean_environment(home, **variables), stdout=output, stderr=output)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found:
            return LiveServer(found.group(0), process, log, home)
        time.sleep(0.05)
    process.kill()
    process.wait()
    pytest.fail(f"the server did not start: {log.read_text()}")
