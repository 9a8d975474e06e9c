"""Which costcalc this is: its release, and its code."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

PACKAGED = ("costcalc.evidence", "pricing.packaged", "own_runs.logs", "api.reports")
"""A package of each of those that are digested as one code."""
CODE = (".py", ".csv", ".json", ".html", ".css", ".js")


def installed_version() -> str:
    """The version of costcalc."""
    from importlib.metadata import version  # 20 ms that a question from a terminal need not wait for

    return version("costcalc")


@cache
def code_version() -> str:
    """The release and a digest of the packages' code and tables, read once: an answer's entity tag changes with either."""
    roots = [Path(str(files(package))).parent for package in PACKAGED]
    code = {file for root in roots for file in root.rglob("*") if file.suffix in CODE}
    digest = blake2b(digest_size=6)
    for file in sorted(code):
        digest.update(file.read_bytes())
    return f"{installed_version()}+{digest.hexdigest()}"
