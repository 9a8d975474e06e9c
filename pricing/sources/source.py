"""What a price source is: one method that collects offers, and the words for what it could not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from costcalc.offers import Gap, Offer
from pricing.sources.common.http import Http

Environment = Mapping[str, str]


class SourceError(Exception):
    """A source could not be collected at all; its last good prices stay. The message is shown to people."""


class SchemaChanged(SourceError):
    """A provider's answer no longer has the shape we read."""


class CredentialsMissing(SourceError):
    """Names the variable to set, or the permission to ask for."""


class NotAllowed(CredentialsMissing):
    """The account is known, and may not make this one call."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What one source saw: whole-machine offers, and what it did not see.

    `gaps` are parts that it may not call or leaves out, which is how things are; `faults` are parts that broke, which makes
    a refresh end with 1. Both are named in answers, and the last good rates of such a part go on standing.
    """

    offers: tuple[Offer, ...]
    gaps: tuple[Gap, ...] = ()
    faults: tuple[Gap, ...] = ()


class Source(Protocol):
    """A price source. Fetching is thin; payload-to-offer functions are pure and tested on recordings."""

    def collect(self, now: datetime) -> Collected:
        """Every current offer, observed at `now`. Raises SourceError when nothing can be trusted."""
        ...


def nothing_missing(environment: Environment) -> str | None:
    """For sources that anybody may ask."""
    return None


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One line of `pricing.SOURCES`: command line, settings, docs and tests all read it.

    `build(environment, http)` imports its SDK itself. `settings` are the environment variables it reads, with a default
    or None; `secrets` those of them that are never shown. `missing(environment)` says what has to be set before the source
    can be asked at all, None if nothing has.
    """

    name: str
    title: str
    build: Callable[[Environment, Http], Source]
    settings: Mapping[str, str | None] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()
    missing: Callable[[Environment], str | None] = nothing_missing
