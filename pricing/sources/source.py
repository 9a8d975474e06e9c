"""What a price source is: one method that collects offers, and the words for what it could not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from costcalc.offer import Gap, Offer
from pricing.edition_head import EditionHead
from pricing.scope import Scope

if TYPE_CHECKING:
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


class Collected(Struct, frozen=True):
    """What one source saw: whole-machine offers, what it did not see, and which parts it read `whole`.

    `gaps` are parts that it may not call or leaves out, which is how things are; `faults` are parts that broke, which makes
    a refresh end with 1. Both are named in answers, and the last good rates of such a part go on standing. An offer of a part
    that was read whole ends where it is no longer listed. `edition` is set where all comes from a published edition. `notes` say
    in sentences how it was read, to whoever refreshes.
    """

    offers: tuple[Offer, ...]
    gaps: tuple[Gap, ...] = ()
    faults: tuple[Gap, ...] = ()
    whole: tuple[Scope, ...] = ()
    edition: EditionHead | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def together(cls, parts: Sequence[Collected]) -> Collected:
        """What all parts of a source saw, and what they did not."""
        offers, gaps, faults, whole = (
            tuple(each for part in parts for each in getattr(part, name))
            for name in ("offers", "gaps", "faults", "whole")
        )
        return cls(offers, gaps, faults, whole)


class Source(Protocol):
    """A price source. Fetching is thin; payload-to-offer functions are pure and tested on recordings."""

    def collect(self, now: datetime) -> Collected:
        """Every current offer, observed at `now`. Raises SourceError when nothing can be trusted."""


class SourceSetting(Struct, frozen=True):
    """An environment variable that a source reads. `default` is None where unset means nothing; a secret is never shown."""

    variable: str
    meaning: str
    default: str | None = None
    secret: bool = False

    def read(self, environment: Environment) -> str:
        """Its value, else its default, else an empty text."""
        return environment.get(self.variable) or self.default or ""


class Bounds(Struct, frozen=True):
    """What a source may take; beyond it, the source fails and no other one does.

    `document_mib` bounds each answer that is read whole, unpacked; `memory_mib` what its process allocates, and what a refresh
    sets aside for it; `offers` how many it may list.
    """

    document_mib: int = 8
    memory_mib: int = 64
    offers: int = 4_000


class SourceSpec(Struct, frozen=True):
    """How a source describes itself: commands, settings, documentation and the tests that all sources share derive from it.

    `build(environment, http)` makes the source and imports its SDK itself. `missing(environment)` says what has to be set
    before it can be asked, None if nothing has. `label` is the name that people read; `rates` says what it lists, `needs`
    which account and permissions it takes, `cannot_see` which prices of the provider stay out. `is_own`: the rates are those
    of whoever runs costcalc, so what looks odd is kept with a warning. `bounds`: what it may take. `at_most_every`: a refresh
    that names no source asks it no sooner again after an answer, and four times in it after a failure.
    """

    name: str
    label: str
    build: Callable[[Environment, Http], Source]
    rates: str = ""
    needs: str = "nothing"
    cannot_see: str = ""
    settings: tuple[SourceSetting, ...] = ()
    missing: Callable[[Environment], str | None] = lambda _: None
    is_own: bool = False
    bounds: Bounds = Bounds()
    at_most_every: timedelta = timedelta(0)

    @property
    def is_open(self) -> bool:
        """Whether anybody may ask it, without an account or a file."""
        return self.needs.startswith("nothing")

    @property
    def is_public(self) -> bool:
        """Whether an edition may hold its rates: never those of the user's own or read with an account."""
        return self.is_open and not self.is_own

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset(setting.variable for setting in self.settings if setting.secret)


def separated(text: str) -> tuple[str, ...]:
    """The names in a setting that separates them by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
