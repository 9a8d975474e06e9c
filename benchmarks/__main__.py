"""`make bench`: this commit beside the last release, then the dearest question of each path.

Exits 1 if a figure is worse than it may be. A name runs one benchmark, which may take options: python -m benchmarks load --help.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from importlib import import_module

from benchmarks.timing import report
from tools.cluster.program import NotInstalled

USUAL = ("against", "dearest")
NAMES = (*USUAL, "load", "strangers", "refresh_memory", "fresh", "rivals")


def main() -> int:
    """Runs the named benchmark, or the usual ones."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started ends too
    logging.disable(logging.WARNING)  # that a question took long is measured here
    options = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    options.add_argument("name", nargs="?", choices=NAMES, metavar="NAME", help=f"one of {', '.join(NAMES)}")
    name, arguments = options.parse_args(sys.argv[1:2]).name, sys.argv[2:]
    results = [_run(benchmark, arguments) for benchmark in ((name,) if name else USUAL)]
    return 0 if all(results) else 1


def _run(name: str, arguments: list[str]) -> bool:
    try:
        return bool(import_module(f"benchmarks.{name}").main(arguments))
    except NotInstalled as error:
        return report(name, str(error), "all that it needs", False)


if __name__ == "__main__":
    sys.exit(main())
