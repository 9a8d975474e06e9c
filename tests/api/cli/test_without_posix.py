"""The terminal needs no module or function that only POSIX has, as on Windows. Libraries have their own ways there."""

import subprocess
import sys

from support.live_server import clean_environment
from support.stores import filled_store

HIDDEN = """
import getpass, multiprocessing, subprocess, sys
import numpy, platformdirs.unix, requests, rich.console, sqlalchemy.dialects.sqlite
MODULES = "fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty"
FUNCTIONS = "fchmod", "fchown", "getloadavg", "getpgid", "getuid", "killpg", "nice", "sched_getaffinity", "setsid"
import os
sys.modules.update(dict.fromkeys(MODULES))  # None: importing one raises ModuleNotFoundError
for name in FUNCTIONS:
    delattr(os, name)
for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
    os.environ.pop(name, None)
"""
ASKED = "cost resnet50 0.757", "ask mi300x", "offers T4", "launch resnet50 0.757 --to skypilot", "recipes list"
COMMANDS = f"""{HIDDEN}
from api.cli.main import main
for typed in {ASKED}:
    main(typed.split(), standalone_mode=False)
from pricing.cell import limit_processor  # in which logs are read
limit_processor(5)
"""


def test_commands_answer_without_them(tmp_path):
    filled_store(tmp_path / ".local/share/costcalc")
    subprocess.run(
        [sys.executable, "-c", COMMANDS],
        env=clean_environment(tmp_path),
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )
