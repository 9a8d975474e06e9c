"""`make bench`: every figure that is promised, measured; exits 1 if one is missed. Names choose some of them.

load, faults, refresh_memory, fresh and against take minutes, are run by their name alone, and take options:
python -m benchmarks load --help.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from importlib import import_module

from benchmarks.timing import report
from tools.cluster.program import NotInstalled

ALL = ("answers", "over_http", "hostile", "processes", "store", "page", "dearest")
LONG = ("load", "faults", "refresh_memory", "fresh", "against")


def main() -> int:
    """Runs the named benchmarks, or all but the long ones."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started ends too
    logging.disable(logging.WARNING)  # that a question took long is measured here
    if sys.argv[1:2] and sys.argv[1] in LONG:
        return 0 if import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:]) else 1
    options = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    options.add_argument("names", nargs="*", default=ALL, metavar="NAME", help=f"one of {', '.join(ALL + LONG)}")
    names = options.parse_args().names
    if unknown := set(names) - set(ALL):
        options.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    results = [_run(name) for name in names]
    return 0 if all(results) else 1


def _run(name: str) -> bool:
    try:
        return bool(import_module(f"benchmarks.{name}").run())
    except NotInstalled as error:
        return report(name, str(error), "all that it needs", False)


if __name__ == "__main__":
    sys.exit(main())
