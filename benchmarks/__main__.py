"""`make bench`: every figure that is promised, measured; exits 1 if one is missed. Names choose some of them.

Those in LONG take minutes, are run by their name alone, and take options: python -m benchmarks load --help.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module

ALL = (
    "answers", "gpuhunt_query", "over_http", "hostile", "processes", "slack", "aws_bulk", "store", "csv_export", "workbooks",
    "page",
    "dearest",
    "sweep",
)  # fmt: skip
LONG = ("load", "faults", "never_asked")


def main() -> int:
    """Runs the named benchmarks, or all but the long ones."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started ends too
    if sys.argv[1:2] and sys.argv[1] in LONG:
        return 0 if import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:]) else 1
    results = [import_module(f"benchmarks.{name}").run() for name in sys.argv[1:] or ALL]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
