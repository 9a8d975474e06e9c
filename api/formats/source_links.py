"""Sources as they are written in the tables, with an address for each part that names one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

LONGEST = 60
_NAMED = re.compile(
    r"(?P<url>https?://[^\s()<>\"]+)"
    r"|(?P<repository>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{7,40})(?:[: ](?P<path>[\w.+/-]+\w))?"
    r"|arXiv:(?P<paper>\d{4}\.\d{4,5})"
)


class Part(NamedTuple):
    """A piece of a source's text, and where it leads; None where it is words alone."""

    text: str
    url: str | None = None


def parts(source: str) -> Iterator[Part]:
    """The pieces of a source, in order."""
    end = 0
    for found in _NAMED.finditer(source):
        if found.start() > end:
            yield Part(source[end : found.start()])
        yield Part(found[0], _address(found))
        end = found.end()
    if end < len(source):
        yield Part(source[end:])


def brief(source: str) -> Iterator[Part]:
    """The addresses that a source names, by their hosts; its first words where it names none."""
    named = {urlsplit(part.url).hostname or "": part.url for part in parts(source) if part.url}
    for number, (host, url) in enumerate(named.items()):
        yield Part(f"{', ' * bool(number)}{host}", url)
    if not named:
        yield Part(source if len(source) <= LONGEST else f"{source[:LONGEST].rsplit(' ', 1)[0]} ...")


def _address(found: re.Match[str]) -> str:
    if found["url"]:
        return found["url"]
    if found["paper"]:
        return f"https://arxiv.org/abs/{found['paper']}"
    path = f"/{found['path']}" if found["path"] else ""
    return f"https://github.com/{found['repository']}/tree/{found['commit']}{path}"
