"""Sources as they are written in the tables, with an address for each part that names one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

LONGEST = 60
_NAMED = re.compile(
    r"(?P<url>https?://[^\s()<>\"]+)"
    r"|(?<![\w.-])(?P<repository>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{7,40})(?:[: ](?P<path>[\w.+/-]+\w))?"
    r"|(?:(?P<authors>(?<![\w'-])[A-Z][\w'-]+(?: et al\.| and [A-Z][\w'-]+)? (?:19|20)\d\d), )?arXiv[: ](?P<paper>\d{4}\.\d{4,5})"
)
_RESULTS = re.compile(r"mlcommons/training_results_v(?P<round>[\d.]+)")
_ARCHIVED = re.compile(r"/web/(?P<year>\d{4})\d*/(?:https?:/+)?(?P<page>.+)")


class Part(NamedTuple):
    """A piece of a source's text, and where it leads; None where it is words alone."""

    text: str
    url: str | None = None


def parts(source: str) -> Iterator[Part]:
    """The pieces of a source, in order."""
    end = 0
    for match in _NAMED.finditer(source):
        if match.start() > end:
            yield Part(source[end : match.start()])
        yield Part(match[0], _address(match))
        end = match.end()
    if end < len(source):
        yield Part(source[end:])


def brief(source: str) -> Iterator[Part]:
    """The publications that a source names, each by its round, its repository, its authors or its page; its first words where
    it names none."""
    named: dict[str, str] = {}
    for match in _NAMED.finditer(source):
        named.setdefault(_publication(match), _address(match))
    for number, (name, url) in enumerate(named.items()):
        yield Part(f"{', ' * bool(number)}{name}", url)
    if not named:
        yield Part(source if len(source) <= LONGEST else f"{source[:LONGEST].rsplit(' ', 1)[0]} ...")


def _publication(match: re.Match[str]) -> str:
    if match["paper"]:
        return match["authors"] or f"arXiv:{match['paper']}"
    if match["url"]:
        return _page(match["url"])
    results = _RESULTS.fullmatch(match["repository"])
    if results is None:
        return match["repository"]
    organisation = (match["path"] or "").partition("/")[0]
    return ", ".join(filter(None, [f"MLPerf Training v{results['round']}", organisation]))


def _page(url: str) -> str:
    """Its host and the first two parts of its path; of an archived page those of the original, with the year."""
    address = urlsplit(url)
    if address.hostname == "web.archive.org" and (archived := _ARCHIVED.match(address.path)):
        return f"{_page('https://' + archived['page'])}, archived in {archived['year']}"
    host, folders = (address.hostname or "").removeprefix("www."), address.path.strip("/").split("/")
    return "/".join(filter(None, folders[:2] if host == "github.com" else [host, *folders[:2]]))


def _address(match: re.Match[str]) -> str:
    if match["url"]:
        return match["url"]
    if match["paper"]:
        return f"https://arxiv.org/abs/{match['paper']}"
    path = f"/{match['path']}" if match["path"] else ""
    return f"https://github.com/{match['repository']}/tree/{match['commit']}{path}"
