"""An edition of current rates that another costcalc published: `costcalc prices publish`, or its `/prices/latest`.

It is fetched only where its entity tag has changed, and taken only where it is signed by a key that is trusted, is at most seven
days old, and newer than the last one taken. Its rates keep their sources, their dates, and whether the provider itself said them;
nothing ends because an edition lacks it, only where one says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from msgspec import DecodeError, Struct, msgpack
from platformdirs import user_cache_path

from pricing.editions import NoEdition, read
from pricing.sources.common.http import Http, HttpError
from pricing.sources.source import (
    Bounds,
    Collected,
    CredentialsMissing,
    Environment,
    SchemaChanged,
    SourceError,
    SourceSetting,
    SourceSpec,
    separated,
)

NAME = "edition"
PUBLISHED_AT: str | None = None
SIGNED_BY: str | None = None
"""The address and the public key of this project's own edition, which whoever installs it then reads; None until it has one."""
ADDRESS = SourceSetting("COSTCALC_PRICES_LATEST", "the address of an edition, whole", PUBLISHED_AT)
TRUSTED = SourceSetting(
    "COSTCALC_EDITION_TRUSTED", "public keys, separated by commas, of which one must have signed the edition", SIGNED_BY
)


class Kept(Struct):
    """The last edition that was fetched, with its tag."""

    address: str
    tag: str
    content: bytes


@dataclass(frozen=True, slots=True)
class EditionSource:
    """`folder` keeps the last edition, so that an unchanged one need not be fetched."""

    address: str
    trusted: tuple[str, ...]
    http: Http = field(repr=False)
    folder: Path

    def collect(self, now: datetime) -> Collected:
        """Its rates. Raises SourceError."""
        try:
            edition = read(self._content(), self.trusted, now)
        except ValueError as error:
            kind = SchemaChanged if isinstance(error, NoEdition) else SourceError
            raise kind(f"{NAME}: {error}") from None
        return Collected(tuple(map(edition.rates.offer, range(len(edition.rates)))), edition=edition.head)

    def _content(self) -> bytes:
        kept = self._kept()
        try:
            answer = self.http.get_unless(self.address, kept.tag if kept else "")
        except HttpError as error:
            raise SourceError(f"{NAME}: {error}; check {ADDRESS.variable}") from None
        if answer is None and kept:
            return kept.content
        if answer is None:
            raise SourceError(f"{NAME}: the edition is said to be unchanged, and was never read")
        self._keep(Kept(self.address, *answer))
        return answer[1]

    def _kept(self) -> Kept | None:
        try:
            kept = msgpack.decode((self.folder / NAME).read_bytes(), type=Kept)
        except (OSError, DecodeError):
            return None
        return kept if kept.address == self.address else None

    def _keep(self, kept: Kept) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / NAME).write_bytes(msgpack.encode(kept))
        except OSError:  # nothing can be kept here: it is fetched whole each time
            return


def build(environment: Environment, http: Http) -> EditionSource:
    """The source as its settings say. Raises CredentialsMissing."""
    if advice := missing(environment):
        raise CredentialsMissing(f"{NAME}: {advice}")
    folder = user_cache_path("costcalc", appauthor=False)
    return EditionSource(ADDRESS.read(environment), separated(TRUSTED.read(environment)), http, folder)


def missing(environment: Environment) -> str | None:
    """What to set."""
    unset = [each.variable for each in (ADDRESS, TRUSTED) if not each.read(environment)]
    return f"set {' and '.join(unset)}" if unset else None


SPEC = SourceSpec(
    name=NAME,
    label="A published edition",
    build=build,
    rates="whatever current rates the publisher may pass on",
    needs="nothing but the address of an edition and the key of who signs it",
    cannot_see="rates that the publisher read with an account or may not pass on",
    settings=(ADDRESS, TRUSTED),
    missing=missing,
    bounds=Bounds(memory_mib=128, offers=20_000),
)
