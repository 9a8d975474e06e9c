"""The files that `costcalc prices publish` writes: the signed edition, the open book beside it, and what was held back."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from api.formats import open_book
from api.settings import Settings
from costcalc.catalogue.catalogue import Catalogue
from pricing import editions, nightly
from pricing.edition_head import EditionHead
from pricing.editions import Edition
from pricing.packaged.catalogue import packaged_catalogue
from pricing.refresh import EDITION
from pricing.sources import SOURCES
from pricing.store.quarantine import Quarantined

LATEST, UNSIGNED, HELD_BACK = "latest", "unsigned", "held-back.md"
NO_FORMER = EditionHead("", 0, datetime.fromtimestamp(0, UTC))
NOT_SIGNED = "it is not signed, so no server will take it: set COSTCALC_EDITION_KEY (costcalc prices key makes one)"
EXPLAINING = (
    "These rates are left as they were. To let one pass, add a row with its source and date to "
    "`pricing/packaged/data/offers.csv` and run `make compact`; the next night takes it."
)


class NotMade(ValueError):
    """No edition was made; the message says why."""


class Written(Struct, frozen=True):
    """What was written: the number and the bytes of the edition, and how many rates stayed as they were."""

    number: int
    size: int
    held_back: int


def trusted(settings: Settings) -> tuple[str, ...]:
    """The public keys of this publisher: that of the key it signs with; where another process signs, those that are trusted."""
    return (editions.public_key(settings.edition_key),) if settings.edition_key else trusted_keys()


def trusted_keys() -> tuple[str, ...]:
    """The public keys of COSTCALC_EDITION_TRUSTED."""
    [trusted] = (setting for setting in SOURCES[EDITION].settings if setting.variable == "COSTCALC_EDITION_TRUSTED")
    return tuple(filter(None, map(str.strip, trusted.read(os.environ).split(","))))


def former(folder: Path, keys: Collection[str]) -> Edition | None:
    """The edition in a folder, of any age, if there is one. Raises NoEdition if it is not of these keys."""
    try:
        content = (folder / LATEST).read_bytes()
    except FileNotFoundError:
        return None
    return editions.read_at_any_age(content, keys)


def make(folder: Path, catalogue: Catalogue, odd: list[Quarantined], settings: Settings, now: datetime) -> Written:
    """Write the edition after the one in the folder, which nobody has signed yet. Raises NotMade, NoEdition, OSError."""
    before = former(folder, trusted(settings))
    night = _checked(before, catalogue, settings.edition_without, now)
    folder.mkdir(parents=True, exist_ok=True)
    _write_held_back(folder, [*night.refused, *night.held_back, *(each.reason for each in odd)])
    if night.refused:
        raise NotMade(f"no edition was made: {'; '.join(night.refused[:5])}; see {folder / HELD_BACK}")
    head = before.head if before else NO_FORMER
    content = editions.make(night.offers, now, before=head)
    (folder / UNSIGNED).write_bytes(content)
    return Written(head.number + 1, len(content), len(night.held_back))


def sign(folder: Path, published: Path, settings: Settings, now: datetime) -> Written:
    """Sign the edition in a folder that nobody has signed, if it follows the one in `published` and keeps the rules, and write
    the open book beside it. Raises NotMade, NoEdition, OSError."""
    key = settings.edition_key
    if not key:
        raise NotMade(NOT_SIGNED)
    unsigned = (folder / UNSIGNED).read_bytes()
    edition, before = editions.read_at_any_age(unsigned, ()), former(published, trusted(settings))
    head = before.head if before else NO_FORMER
    if (edition.head.number, edition.head.previous) != (head.number + 1, head.digest):
        raise NotMade(f"edition {edition.head.number} does not follow edition {head.number}, which is published")
    if fault := editions.unfit_at(edition.head, now):
        raise NotMade(f"the edition {fault}")
    night = _checked(before, edition.rates, settings.edition_without, now)
    if faults := (*night.refused, *night.held_back):
        raise NotMade(f"it is not signed: {'; '.join(faults[:5])}")
    content = editions.signed(unsigned, key)
    (folder / UNSIGNED).unlink()
    for name in (LATEST, f"{edition.head.made_at:%Y-%m-%d}"):
        (folder / name).write_bytes(content)
    _write_book(folder, published, edition)
    return Written(edition.head.number, len(content), 0)


def _checked(before: Edition | None, catalogue: Catalogue, without: Collection[str], now: datetime) -> nightly.Night:
    """The rates of the night after an edition, or after the packaged ones, with what the rules leave out."""
    packaged = packaged_catalogue()
    return nightly.checked(
        editions.passed_on(before.rates if before else packaged, now, without),
        editions.passed_on(catalogue, now, without),
        editions.passed_on(packaged, now),
        [anchor for anchor in nightly.read_anchors() if anchor.key[0] not in without],
    )


def _write_book(folder: Path, published: Path, edition: Edition) -> None:
    made_at, rates = edition.head.made_at, edition.rates
    (folder / "latest.csv").write_bytes(b"".join(open_book.latest(rates, made_at)))
    (folder / "schema.json").write_bytes(open_book.schema())
    month = f"observations-{made_at:%Y-%m}.csv"
    held = (published / month).read_bytes().decode() if (published / month).exists() else ""
    (folder / month).write_bytes(open_book.month(held, rates, made_at).encode())


def _write_held_back(folder: Path, sentences: list[str]) -> None:
    """The text of an issue, where there is anything to look at."""
    file = folder / HELD_BACK
    file.unlink(missing_ok=True)
    if sentences:
        file.write_text("\n".join([EXPLAINING, "", *(f"- {sentence}" for sentence in sentences), ""]))
