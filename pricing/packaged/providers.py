"""What providers are called in a sentence, and where each shows its rates: the columns of `providers.csv` that say so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pricing.packaged.tables import Table

NAMES = Table("providers.csv", "provider family", "name page")


@dataclass(frozen=True, slots=True)
class Provider:
    """Its usual name, and the address at which it shows its rates or lets one in; None where that is not known."""

    name: str
    page: str | None


def provider(code: str) -> Provider:
    """The provider of this code; one that the table lacks is called by its code."""
    return _providers().get((code, "")) or Provider(code, None)


def known_provider(word: str) -> Provider | None:
    """The provider of this code or name, in any case; None of any other word."""
    return next(
        (each for (code, _), each in _providers().items() if word.casefold() in (code, each.name.casefold())), None
    )


@cache
def _providers() -> dict[tuple[str, ...], Provider]:
    return NAMES.read(lambda row: Provider(row.text("name"), row.maybe("page")))
