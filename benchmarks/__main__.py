"""`make bench`: every figure that is promised, measured; exits 1 if one is missed. Names choose some of them."""

from __future__ import annotations

import sys
from importlib import import_module

ALL = (
    "answers", "gpuhunt_query", "over_http", "hostile", "processes", "slack", "aws_bulk", "store", "csv_export", "workbooks",
    "sweep",
)  # fmt: skip


def main() -> int:
    """Runs the named benchmarks, or all."""
    results = [import_module(f"benchmarks.{name}").run() for name in sys.argv[1:] or ALL]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
