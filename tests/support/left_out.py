"""Tests that are left out for want of a program: what the last line of a test run says of them."""

import re
from collections import Counter

NOT_INSTALLED = re.compile(r"(\S+) is not installed; on Debian: apt-get install (\S+)")


def last_line(reasons: list[str]) -> str:
    """How many tests were left out, for want of which programs, and what installs them; `reasons` has one for each test."""
    missing = Counter(match.groups() for match in map(NOT_INSTALLED.search, reasons) if match)
    others = len(reasons) - missing.total()
    parts = [f"{count} for want of {program}" for (program, _), count in missing.most_common()]
    parts += [f"{others} for a reason above"] * bool(others)
    packages = " ".join(sorted({package for _, package in missing}))
    install = f"; on Debian: apt-get install {packages}" if packages else ""
    return f"Tests left out: {', '.join(parts)}{install}"
